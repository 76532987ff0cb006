"""Branches, sequential loops, checks and updates inside a kernel, in row form."""

from __future__ import annotations

from collections.abc import Sequence

from ...staging import primitives as p
from ...staging.errors import Limitation
from ...staging.nodes import Block, Bounds, Check, ForLoop, Op, Operand, Stmt, Update, Var, While
from ...staging.nodes import If as Branch
from ...staging.types import Array, Scalar
from ..kernel_ir import Assign, Buffer, For, If, Let, Local, Space, Statement, Store
from ..kernel_ir import While as WhileLoop
from .block import BlockLowering
from .reduce import Place, hold, scratch_like, settled
from .scope import INT, Produced, Stored, Uniform, array_type, integer, prim


def lower_control(b: BlockLowering, stmt: Stmt, op: Op) -> None:
    """Emits one control statement."""
    if isinstance(op, Check):
        b.fault_if(prim(p.LOGICAL_NOT, b.expr(op.cond)), stmt, op.kind, op.message)
    elif isinstance(op, Update):
        lower_update(b, stmt, op)
    elif isinstance(op, Branch):
        lower_branch(b, stmt, op)
    elif isinstance(op, While):
        lower_while(b, stmt, op)
    else:
        assert isinstance(op, ForLoop)
        lower_for(b, stmt, op)


def lower_update(b: BlockLowering, stmt: Stmt, op: Update) -> None:
    """A store: into the array itself where it may be written to, else into a copy of it."""
    (binder,) = stmt.binders
    value = b.expr(op.value)
    indices = tuple(map(b.expr, op.indices))
    if op.bounds is Bounds.CHECKED:
        b.check_bounds(stmt, op)
    target = whole_buffer(b, op.array) if stmt in b.scope.reuse.updates else None
    if target is None:
        target = scratch_like(b, array_type(binder), binder.name or "updated")
        set_place(b, Place(target), op.array, first=True)
    b.out.append(Store(target, indices, value))
    b.env[binder] = Stored(target)


def whole_buffer(b: BlockLowering, operand: Operand) -> Buffer | None:
    """The scratch buffer that holds the array, and it alone; None if there is none."""
    assert isinstance(operand, Var)
    value = b.value(operand)
    if isinstance(value, Produced):
        value = b.materialise(value.stmt)
    if not isinstance(value, Stored) or value.lanes or value.prefix:
        return None
    return value.buffer if value.buffer.space is Space.PRIVATE else None


def lower_branch(b: BlockLowering, stmt: Stmt, op: Branch) -> None:
    """Both branches set the results' locals and scratch arrays; an array that both leave in one
    buffer stays there."""
    cond = b.expr(op.cond)
    branches: list[list[Statement]] = [[], []]
    found: list[list[Buffer | None]] = []
    for block, out in zip((op.then, op.orelse), branches, strict=True):
        with b.nested(out):
            b.block(block)
            found.append([buffer_of(b, result) for result in block.operands])
    for binder, *sides in zip(
        stmt.binders, *found, op.then.operands, op.orelse.operands, strict=True
    ):
        first, second, *results = sides
        if first is not None and first is second:
            b.env[binder] = Stored(first)
            continue
        place = result_place(b, binder)
        for out, result in zip(branches, results, strict=True):
            with b.nested(out):
                set_place(b, place, result, first=True)
        bind_place(b, binder, place)
    b.out.append(If(cond, *branches))


def buffer_of(b: BlockLowering, result: Operand) -> Buffer | None:
    """The buffer that holds a branch's result already."""
    if not isinstance(result, Var) or isinstance(result.type, Scalar):
        return None
    value = b.value(result)
    if not isinstance(value, Stored) or value.lanes or value.prefix:
        return None
    return value.buffer


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


def begin_state(b: BlockLowering, op: ForLoop | While, params: Sequence[Var]) -> list[Place]:
    """Loop state with its first values."""
    sizes = [d for q in params if isinstance(q.type, Array) for d in q.type.shape]
    if any(size is param for size in sizes for param in params):
        raise Limitation("loop state that changes its size inside a parallel loop")
    places: list[Place] = []
    for k, (param, value) in enumerate(zip(params, op.init, strict=True)):
        moved = whole_buffer(b, value) if (op, k) in b.scope.reuse.moved else None
        places.append(result_place(b, param) if moved is None else Place(moved))
        if moved is None:
            set_place(b, places[-1], value, first=True)
    for param, place in zip(params, places, strict=True):
        bind_place(b, param, place)
    return places


def next_state(b: BlockLowering, places: Sequence[Place], body: Block) -> None:
    """The body's results become the state, all at once."""
    held = [hold_copy(b, r, places, k) for k, r in enumerate(body.operands)]
    for place, value, result in zip(places, held, body.operands, strict=True):
        if isinstance(value, Uniform):
            b.out.append(place.write(value.expr))
        elif value.buffer is not place.target:  # else it is there already
            set_place(b, place, result, first=False)


def hold_copy(
    b: BlockLowering, result: Operand, places: Sequence[Place], position: int
) -> Stored | Uniform:
    """The operand in a local, or in a buffer that is no part of the state, which changes."""
    held = hold(b, result)
    if isinstance(held, Uniform):
        return Uniform(settled(b, held.expr, places[:position]))
    own = held.buffer is places[position].target
    if own or all(held.buffer is not place.target for place in places):
        return held
    assert isinstance(result, Var)
    buffer = scratch_like(b, array_type(result), result.name or "state")
    set_place(b, Place(buffer), result, first=True)
    b.env[result] = Stored(buffer)
    return Stored(buffer)


def lower_while(b: BlockLowering, stmt: Stmt, op: While) -> None:
    """`while True: test; if not cond: break; body`, the state in places."""
    places = begin_state(b, op, op.body.params)
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
    places = begin_state(b, op, params)
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
