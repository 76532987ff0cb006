"""Branches, sequential loops and checks inside a kernel, in row form."""

from __future__ import annotations

from collections.abc import Sequence

from ..staging import primitives as p
from ..staging.errors import Limitation
from ..staging.nodes import Block, Check, ForLoop, Op, Operand, Stmt, Var, While
from ..staging.nodes import If as Branch
from ..staging.types import Array, Scalar
from .kernel_ir import Assign, For, If, Let, Local, Statement, Store
from .kernel_ir import While as WhileLoop
from .lower_block import BlockLowering
from .lower_reduce import Place, hold, scratch_like, settled
from .lower_scope import INT, Stored, Uniform, array_type, integer, prim


def lower_control(b: BlockLowering, stmt: Stmt, op: Op) -> None:
    """Emits one control statement."""
    if isinstance(op, Check):
        b.fault_if(prim(p.LOGICAL_NOT, b.expr(op.cond)), stmt, op.kind, op.message)
    elif isinstance(op, Branch):
        lower_branch(b, stmt, op)
    elif isinstance(op, While):
        lower_while(b, stmt, op)
    else:
        assert isinstance(op, ForLoop)
        lower_for(b, stmt, op)


def lower_branch(b: BlockLowering, stmt: Stmt, op: Branch) -> None:
    """Both branches set the results' locals and scratch arrays."""
    places = [result_place(b, binder) for binder in stmt.binders]
    cond = b.expr(op.cond)
    branches: list[list[Statement]] = []
    for block in (op.then, op.orelse):
        out: list[Statement] = []
        with b.nested(out):
            b.block(block)
            for place, result in zip(places, block.operands, strict=True):
                set_place(b, place, result, first=True)
        branches.append(out)
    b.out.append(If(cond, *branches))
    for binder, place in zip(stmt.binders, places, strict=True):
        bind_place(b, binder, place)


def result_place(b: BlockLowering, binder: Var) -> Place:
    """Where a result of a branch or a loop's state lives."""
    if isinstance(binder.type, Scalar):
        return Place(Local(b.scope.names.fresh(binder.name), binder.type.dtype))
    return Place(scratch_like(b, array_type(binder), binder.name or "state"))


def bind_place(b: BlockLowering, binder: Var, place: Place) -> None:
    """Lets the variable name the place."""
    if isinstance(place.target, Local):
        b.env[binder] = Uniform(place.target)
    else:
        b.env[binder] = Stored(place.target)


def set_place(b: BlockLowering, place: Place, result: Operand, first: bool) -> None:
    """Copies an operand into a place."""
    if isinstance(place.target, Local):
        value = b.expr(result)
        b.out.append(Let(place.target, value) if first else Assign(place.target, value))
        return
    target = place.target
    b.deliver(Block((), (), ()), result, lambda at, v: b.out.append(Store(target, at, v)))


def begin_state(b: BlockLowering, params: Sequence[Var], init: Sequence[Operand]) -> list[Place]:
    """Loop state with its first values."""
    sizes = [d for q in params if isinstance(q.type, Array) for d in q.type.shape]
    if any(size is param for size in sizes for param in params):
        raise Limitation("loop state that changes its size inside a parallel loop")
    places = [result_place(b, param) for param in params]
    for place, value in zip(places, init, strict=True):
        set_place(b, place, value, first=True)
    for param, place in zip(params, places, strict=True):
        bind_place(b, param, place)
    return places


def next_state(b: BlockLowering, places: Sequence[Place], body: Block) -> None:
    """The body's results become the state, all at once."""
    held = [hold_copy(b, r, places, k) for k, r in enumerate(body.operands)]
    for place, value, result in zip(places, held, body.operands, strict=True):
        if isinstance(value, Uniform):
            b.out.append(place.write(value.expr))
        else:
            set_place(b, place, result, first=False)


def hold_copy(
    b: BlockLowering, result: Operand, places: Sequence[Place], position: int
) -> Stored | Uniform:
    """The operand in a local, or in a buffer that is no part of the state, which changes."""
    held = hold(b, result)
    if isinstance(held, Uniform):
        return Uniform(settled(b, held.expr, places[:position]))
    if all(held.buffer is not place.target for place in places):
        return held
    assert isinstance(result, Var)
    buffer = scratch_like(b, array_type(result), result.name or "state")
    set_place(b, Place(buffer), result, first=True)
    b.env[result] = Stored(buffer)
    return Stored(buffer)


def lower_while(b: BlockLowering, stmt: Stmt, op: While) -> None:
    """`while True: test; if not cond: break; body`, the state in places."""
    places = begin_state(b, op.body.params, op.init)
    for param, place in zip(op.cond.params, places, strict=True):
        bind_place(b, param, place)
    test: list[Statement] = []
    with b.nested(test):
        b.block(op.cond)
        cond = b.expr(op.cond.operands[0])
    body: list[Statement] = []
    with b.nested(body):
        b.block(op.body)
        next_state(b, places, op.body)
    b.out.append(WhileLoop(test, cond, body))
    for binder, place in zip(stmt.binders, places, strict=True):
        bind_place(b, binder, place)


def lower_for(b: BlockLowering, stmt: Stmt, op: ForLoop) -> None:
    """A counted loop with state."""
    index_param, *params = op.body.params
    places = begin_state(b, params, op.init)
    index = Local(b.scope.names.fresh(index_param.name, "i"), INT)
    b.env[index_param] = Uniform(index)
    count = b.expr(op.count)
    body: list[Statement] = []
    with b.nested(body):
        b.block(op.body)
        next_state(b, places, op.body)
    b.out.append(For(index, integer(0), count, body))
    for binder, place in zip(stmt.binders, places, strict=True):
        bind_place(b, binder, place)
