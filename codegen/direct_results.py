"""Which results of a program a launch may write to arrays of the user's.

Those of an outermost loop in which nothing can fail, with nothing behind it that can: an error
leaves the user's arrays as they were. The loop must write the result itself, and know its size.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..staging.nodes import Effects, Op, Program, Stmt, Var
from ..staging.traversal import effects
from ..staging.types import Array
from ..transforms.kernel_ir import Buffer, Finish, Kernel, Space

FAILS = Effects.FAULT | Effects.CHECK | Effects.CALLBACK

Place = tuple[Op, Buffer]


def direct_results(program: Program, kernels: Mapping[Op, Kernel]) -> dict[int, Place]:
    """The loop and its buffer, by the position of the result; one position for each."""
    found: dict[Var, Place] = {}
    for stmt in reversed(program.body.stmts):
        if may_fail(stmt, kernels):
            break
        kernel = kernels.get(stmt.op)
        if kernel is not None:
            found.update((var, (stmt.op, b)) for var, b in written(kernel).items())
    results = program.body.operands
    return {
        k: found[var]
        for k, var in enumerate(results)
        if isinstance(var, Var) and var in found and var not in results[:k]
    }


def may_fail(stmt: Stmt, kernels: Mapping[Op, Kernel]) -> bool:
    """Whether the statement may raise, but for memory."""
    kernel = kernels.get(stmt.op)
    return bool(effects(stmt.op) & FAILS if kernel is None else kernel.sites)


def written(kernel: Kernel) -> dict[Var, Buffer]:
    """The arrays that the kernel's functions write as they are."""
    return {
        binder: buffer
        for output in kernel.outputs
        if output.finish not in (Finish.COMPACTED, Finish.COUNTED)
        for binder, buffer in zip(output.binders, output.results, strict=True)
        if buffer.space is Space.OUTPUT and isinstance(binder.type, Array)
    }
