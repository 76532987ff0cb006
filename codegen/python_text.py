"""Kernel IR as readable Python: the text that Numba compiles and that plain Python runs as well.

Each statement stands under the user's line that it comes from. The text begins with the helper
functions that its expressions use (python_expressions.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..staging.dataclass import dataclass
from ..staging.locations import Location
from ..transforms.kernel_ir import (
    Assign,
    Buffer,
    Fault,
    Fill,
    For,
    Function,
    If,
    Kernel,
    Let,
    Local,
    Merge,
    Note,
    Statement,
    Store,
    While,
)
from ..transforms.kernel_walk import leaves
from . import transcendental
from .python_expressions import Expressions
from .python_literals import comment
from .scalar_functions import FUNCTIONS, source

# What variables must not be called.
RESERVED = frozenset([*FUNCTIONS, *transcendental.FUNCTIONS, "fma"])


@dataclass(slots=True)
class Printer(Expressions):
    """Prints functions."""

    last: Location | None = None

    def function(self, function: Function, prefix: str) -> list[str]:
        """The lines of one function."""
        self.last = None
        self.renamed = renamings(function)
        params = ", ".join(map(self.name, function.params))
        body = list(self.statements(function.body, 1))
        return [f"def {prefix}_{function.name}({params}):", *(body or ["    pass"])]

    def statements(self, body: Sequence[Statement], depth: int) -> Iterator[str]:
        """The lines of a statement list."""
        indent = "    " * depth
        empty = True
        for statement in body:
            if isinstance(statement, Note):
                yield from self.note(statement, indent)
                continue
            empty = False
            yield from self.statement(statement, indent, depth)
        if empty:
            yield f"{indent}pass"

    def note(self, note: Note, indent: str) -> Iterator[str]:
        """The user's line, once as long as it stays the same."""
        if note.source != self.last and note.source.text:
            yield f"{indent}# {comment(note.source)}"
        self.last = note.source

    def statement(self, statement: Statement, indent: str, depth: int) -> Iterator[str]:
        """One statement."""
        if isinstance(statement, Let | Assign):
            yield f"{indent}{self.name(statement.local)} = {self.text(statement.value)}"
        elif isinstance(statement, Store):
            target = self.element(statement.buffer, statement.indices)
            yield f"{indent}{target} = {self.text(statement.value)}"
        elif isinstance(statement, Fill):
            yield f"{indent}{self.name(statement.buffer)}[...] = {self.text(statement.value)}"
        elif isinstance(statement, Merge):
            yield f"{indent}{self.merge(statement)}"
        elif isinstance(statement, For):
            yield f"{indent}for {self.name(statement.index)} in {self.range(statement)}:"
            yield from self.statements(statement.body, depth + 1)
        elif isinstance(statement, If):
            yield f"{indent}if {self.text(statement.cond)}:"
            yield from self.statements(statement.then, depth + 1)
            if statement.orelse:
                yield f"{indent}else:"
                yield from self.statements(statement.orelse, depth + 1)
        elif isinstance(statement, While):
            yield f"{indent}while True:"
            yield from self.statements(statement.test, depth + 1)
            yield f"{indent}    if not {self.text(statement.cond, 4)}:"
            yield f"{indent}        break"
            yield from self.statements(statement.body, depth + 1)
        else:
            assert isinstance(statement, Fault)
            for slot, found in enumerate(statement.record):
                text = str(found) if isinstance(found, int) else self.text(found)
                yield f"{indent}fault[{slot}] = {text}"
            yield f"{indent}return"

    def range(self, loop: For) -> str:
        """The iterable of a loop."""
        start, stop = self.text(loop.start), self.text(loop.stop)
        if loop.step != 1:
            return f"range({start}, {stop}, {loop.step})"
        return f"range({stop})" if start == "0" else f"range({start}, {stop})"

    def merge(self, statement: Merge) -> str:
        """A whole-array update by NumPy."""
        target, other = self.name(statement.buffer), self.name(statement.other)
        if statement.primitive is None:
            return f"{target}[...] = {other}"
        ufunc = statement.primitive.function.__name__
        return f"np.{ufunc}({target}, {other}, out={target})"


def renamings(function: Function) -> dict[str, str]:
    """New names for variables that are called like a helper function."""
    used = {
        leaf.name
        for leaf in leaves((function.params, function.body))
        if isinstance(leaf, Local | Buffer)
    }
    found: dict[str, str] = {}
    for name in sorted(used & RESERVED):
        count = 1
        while f"{name}_{count}" in used:
            count += 1
        found[name] = f"{name}_{count}"
        used.add(found[name])
    return found


def print_kernels(kernels: Sequence[Kernel]) -> str:
    """One text for all kernels: the helpers, then `label_init`, `label_chunk`, ... of each."""
    printer = Printer()
    functions = [
        "\n".join(printer.function(function, kernel.name))
        for kernel in kernels
        for function in kernel.functions
    ]
    helpers = source(printer.helpers)
    head = "import numpy as np"
    if printer.intrinsics:
        head += f"\nfrom parloom.codegen.numba.intrinsics import {', '.join(printer.intrinsics)}"
    names = sorted({*printer.functions, *re.findall(r"\bc_\w+", helpers)})
    if names:
        head += f"\nfrom parloom.codegen.transcendental import {', '.join(names)}"
    parts = (head, helpers, *functions)
    return "\n\n\n".join(part.rstrip() for part in parts if part) + "\n"
