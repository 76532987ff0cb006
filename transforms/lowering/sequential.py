"""A sequential loop without parallel loops inside becomes a kernel of one call.

    Before:  k: i64~, s: f64 = while (i: i64~ = 0, t: f64 = 1.0_f64) { ... } do (...) { ... }
    After:   kernel k_s: chunk(start, stop, ..., k, s), run once

Such a loop has nothing to launch while it runs, so it need not be interpreted step by step. Loops
that launch parallel loops, call back into Python, or change the size of their state stay with the
driver.
"""

from __future__ import annotations

from collections import Counter

from ...patterns.generators import MultiLoop
from ...patterns.reducers import Order
from ...staging.nodes import Effects, ForLoop, Op, Stmt, Var, While, size_operand
from ...staging.traversal import blocks, effects, walk_stmts
from ...staging.types import Array, Exists, Scalar
from ..kernel_ir import RECORD, Buffer, Finish, Function, Kernel, Output, Space, Statement, Store
from ..kernel_walk import parameters
from .block import BlockLowering
from .scope import INT, KernelScope, Stored, host_shape, integer
from .whole import copied


def is_kernel(op: Op) -> bool:
    """Whether a sequential loop can run in one call."""
    if not isinstance(op, While | ForLoop):
        return False
    if any(isinstance(s.op, MultiLoop) for block in blocks(op) for s in walk_stmts(block)):
        return False
    if effects(op) & (Effects.CALLBACK | Effects.PRINT | Effects.LIBRARY):
        return False
    if has_complex(op):
        return False  # the driver knows all functions of complex numbers
    types = [t for t in op.signature() if isinstance(t, Array)]
    return not any(isinstance(d, Exists) for t in types for d in t.shape)


def has_complex(op: Op) -> bool:
    """Whether a value of the loop is complex."""
    inside = [v.type for b in blocks(op) for s in walk_stmts(b) for v in s.binders]
    return any(
        (t.element if isinstance(t, Array) else t).dtype.kind == "c"
        for t in (*op.signature(), *inside)
    )


def lower_sequential(stmt: Stmt, scope: KernelScope, name: str) -> Kernel:
    """The kernel of a loop for which `is_kernel` holds."""
    for taken in ("start", "stop", "fault"):
        scope.names.fresh(taken)
    out: list[Statement] = []
    b = BlockLowering(scope, {}, out, integer(0))
    b.statement(stmt, Counter())
    outputs = tuple(output(b, binder) for binder in stmt.binders)
    fault = Buffer("fault", INT, (RECORD,), Space.FAULT)
    given = (scope.start, scope.stop)
    chunk = Function("chunk", (*given, *parameters(out, given, fault)), tuple(out))
    nothing = [Function(n, (), ()) for n in ("init", "combine", "finish", "adjust")]
    one = (size_operand(1),)
    return Kernel(
        name,
        one,
        ((),),
        Order(1, 1),
        tuple(scope.inputs.items()),
        outputs,
        tuple(scope.private),
        fault,
        tuple(scope.sites),
        nothing[0],
        chunk,
        nothing[1],
        nothing[2],
        nothing[3],
        stmt.sources,
    )


def output(b: BlockLowering, binder: Var) -> Output:
    """Writes a result of the loop to its output."""
    name = b.scope.names.fresh(f"{binder.name or 'state'}_out")
    if isinstance(binder.type, Scalar):
        buffer = Buffer(name, binder.type.dtype, (1,), Space.OUTPUT)
        b.out.append(Store(buffer, (integer(0),), b.expr(binder)))
    else:
        shape = host_shape(binder.type.shape)
        buffer = Buffer(name, binder.type.element.dtype, shape, Space.OUTPUT)
        value = b.value(binder)
        assert isinstance(value, Stored)
        copied(b, buffer, value.buffer)
    return Output(Finish.DENSE, (binder,), (buffer,))
