"""The CPU targets: `cpu` compiles the kernels' text through Numba, `python` runs it as it is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...patterns.generators import MultiLoop
from ...staging.nodes import Block, Contiguous, Op, Program, Var
from ...staging.passes import Options, Result, run
from ...staging.traversal import blocks
from ...staging.types import Array
from ...transforms.kernel_ir import Kernel
from ...transforms.kernel_walk import has_loops
from ...transforms.lower import lower_loop
from ...transforms.lower_names import Names
from ...transforms.pipelines import CPU
from ..python_text import print_kernels
from ..report import Report
from ..runtime.launch import Code
from ..runtime.program import run_program
from ..target import cpu_problems, refuse
from . import code


@dataclass(slots=True)
class CpuProgram:
    """A compiled program: call it with arguments in the order of the program's parameters."""

    result: Result
    kernels: Mapping[Op, Kernel]
    text: str
    code: Code

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """The results: new arrays and NumPy scalars.

        Raises what the program's checks raise, ShapeError where the arguments' sizes do not fit.
        """
        return run_program(self.result.program, self.kernels, self.code, arguments)

    def report(self) -> Report:
        """The program at every stage, the decisions, the text that runs."""
        return Report(self.result, {"python": self.text})


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """Parallel kernels on the CPU's cores.

    name : "cpu", compiled; "python", the same text run by Python, for reading and tests
    """

    name: str = "cpu"
    printer: str = field(default="numba")

    def compile(self, traced: Any, options: Mapping[str, object]) -> CpuProgram:
        """Maps, lowers, prints and compiles a traced program.

        Raises Limitation, before anything is printed, for what the target cannot do.
        """
        refuse(cpu_problems(traced.program), self.name)
        limit = options.get("limit")
        choices = {k: v for k, v in options.items() if k != "limit"}
        assert limit is None or isinstance(limit, int)
        result = run(traced.program, CPU, options=Options(choices, limit))
        kernels = lower_program(result.program)
        ordered = list(kernels.values())
        text = print_kernels(ordered)
        if self.printer == "plain":
            return CpuProgram(result, kernels, text, code.plain(text))
        loops = print_kernels(ordered, lambda function: has_loops(function.body))
        whole = print_kernels(ordered, lambda function: not has_loops(function.body))
        return CpuProgram(result, kernels, text, code.native(loops, whole, ordered, key(loops)))


def lower_program(program: Program) -> dict[Op, Kernel]:
    """A kernel for every loop of the program's sequential part, in program order."""
    strided = frozenset(
        q for q in program.params if isinstance(q.type, Array) and Contiguous() not in q.facts
    )
    names = Names()
    kernels: dict[Op, Kernel] = {}

    def visit(block: Block) -> None:
        for stmt in block.stmts:
            if isinstance(stmt.op, MultiLoop):
                if stmt.op not in kernels:
                    kernels[stmt.op] = lower_loop(
                        stmt, strided, names.fresh(loop_name(stmt.binders))
                    )
                continue
            for inner in blocks(stmt.op):
                visit(inner)

    visit(program.body)
    return kernels


def loop_name(binders: Sequence[Var]) -> str:
    """A kernel's name: those of the values that it computes, as far as the user named them."""
    named = [b.name for b in binders if b.name]
    return "_".join(named[:3]) or "loop"


def key(text: str) -> str:
    """What the disk cache knows a text by: its code, without the comments that quote the user."""
    bare = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    return hashlib.sha256(bare.encode()).hexdigest()
