"""Kernel text run by Python itself, with the bits of native code.

Native code types a bare number as int64 or float64, and a loop's index as int64. Python's own
numbers neither wrap nor give inf where they divide by zero, so here they become NumPy's.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any

import numpy as np

FILENAME = "<parloom kernels>"


def load(text: str, filename: str = FILENAME) -> dict[str, Any]:
    """The namespace of a text; tracebacks call it by the file's name.

    >>> f = load("def f(a):\\n    return 1.0 / a[0]")["f"]
    >>> with np.errstate(all="ignore"):
    ...     print(f([0.0]))
    inf
    """
    typed = _Typed()
    tree = ast.fix_missing_locations(typed.visit(ast.parse(text, filename)))
    namespace: dict[str, Any] = {**typed.numbers, "range": _range}
    exec(compile(tree, filename, "exec"), namespace)
    return namespace


def _range(*bounds: Any) -> Iterator[np.int64]:
    return map(np.int64, builtins.range(*bounds))


class _Typed(ast.NodeTransformer):
    """Gives each number of the text a name, under which it stands in `numbers`.

    No variable of a kernel begins with an underscore.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, np.generic] = {}
        self._names: dict[tuple[type, int | float], str] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        value = node.value
        if type(value) is float or (type(value) is int and value < 2**63):
            assert isinstance(value, int | float)
            name = self._names.setdefault((type(value), value), f"_number_{len(self._names)}")
            self.numbers[name] = np.int64(value) if type(value) is int else np.float64(value)
            return ast.Name(name, ast.Load())
        return node  # least integers and large unsigned ones stand in np.int64(...), np.uint64(...)
