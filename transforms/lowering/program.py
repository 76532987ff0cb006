"""The kernels of a mapped program: one for every loop that the driver runs in one go."""

from __future__ import annotations

from collections.abc import Sequence

from ...patterns.generators import MultiLoop
from ...staging.nodes import Block, Contiguous, Op, Program, Var
from ...staging.traversal import blocks
from ...staging.types import Array
from ..analyses.storage import Reuse, find_reuse
from ..kernel_ir import Kernel
from .loop import lower_loop
from .names import KernelNames
from .scope import KernelScope
from .sequential import is_kernel, lower_sequential


def lower_program(program: Program, reuse: Reuse | None = None) -> dict[Op, Kernel]:
    """A kernel for every outermost parallel loop, and for every sequential one that needs no
    other; in program order.

    reuse : what may happen in place, found here if it is not given
    """
    reuse = find_reuse(program) if reuse is None else reuse
    strided = frozenset(
        q for q in program.params if isinstance(q.type, Array) and Contiguous() not in q.facts
    )
    names = KernelNames()
    kernels: dict[Op, Kernel] = {}

    def visit(block: Block) -> None:
        for stmt in block.stmts:
            if stmt.op in kernels:
                continue
            if isinstance(stmt.op, MultiLoop):
                kernels[stmt.op] = lower_loop(
                    stmt, KernelScope(strided, reuse), names.fresh(loop_name(stmt.binders))
                )
            elif is_kernel(stmt.op):
                name = names.fresh(loop_name(stmt.binders))
                kernels[stmt.op] = lower_sequential(stmt, KernelScope(strided, reuse), name)
            else:
                for inner in blocks(stmt.op):
                    visit(inner)

    visit(program.body)
    return kernels


def loop_name(binders: Sequence[Var]) -> str:
    """A kernel's name: those of the values that it computes, as far as the user named them."""
    named = [b.name for b in binders if b.name]
    return "_".join(named[:3]) or "loop"
