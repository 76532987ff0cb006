"""Scatters: values at computed places of an array, in a parallel loop and inside of another."""

from __future__ import annotations

from collections.abc import Sequence

from ...patterns.generators import Conflict, MultiLoop, Scatter
from ...patterns.scatter_semantics import SAME_PLACE
from ...staging import primitives as p
from ...staging.nodes import Bounds, ErrorKind, Stmt, Var
from ...staging.types import Array
from ..kernel_ir import (
    Buffer,
    Expr,
    Fault,
    Finish,
    If,
    Load,
    Output,
    Space,
    Statement,
    Store,
)
from .block import BlockLowering
from .control import set_place, whole_buffer
from .parts import Part, result_buffer
from .reduce import Place, held_expr, nest, scratch_like
from .running import Running
from .scope import INT, KernelScope, Stored, array_type, host_shape, integer, prim


def scatter_part(
    scope: KernelScope, stmt: Stmt, op: MultiLoop, generator: Scatter, binder: Var
) -> Part:
    """Chunks write into the output, which begins as the array that the loop begins with."""
    out = result_buffer(scope, binder, Space.OUTPUT)
    marks = marks_of(scope, generator)
    assert isinstance(generator.init, Var)
    taken = binder in scope.reuse.taken
    return Part(
        Output(Finish.DENSE, (binder,), (out,), start=generator.init, taken=taken),
        lambda b, indices: scatter_step(b, stmt, op, generator, out, marks, indices),
        [lambda b: clear(b, generator, marks)],
    )


def begin_scatter(
    b: BlockLowering, stmt: Stmt, op: MultiLoop, generator: Scatter, binder: Var
) -> Running:
    """Into the array's own scratch where it may be written to, else into a copy of it."""
    out = begun(b, generator.init, binder)
    marks = marks_of(b.scope, generator)
    clear(b, generator, marks)
    b.env[binder] = Stored(out)
    return Running(
        lambda indices: scatter_step(b, stmt, op, generator, out, marks, indices), lambda: None
    )


def begun(b: BlockLowering, init: object, binder: Var) -> Buffer:
    """The scratch of a result that begins as an array."""
    assert isinstance(init, Var)
    buffer = whole_buffer(b, init) if binder in b.scope.reuse.taken else None
    if buffer is None:
        buffer = scratch_like(b, array_type(binder), binder.name or "updated")
        set_place(b, Place(buffer), init, first=True)
    return buffer


def marks_of(scope: KernelScope, generator: Scatter) -> Buffer | None:
    """For each place the number of the value that went there, from 1 on; None where no one asks."""
    if generator.conflict not in (Conflict.UNIQUE, Conflict.FIRST):
        return None
    assert isinstance(generator.init.type, Array)
    shape = host_shape(generator.init.type.shape[: len(generator.location)])
    return scope.scratch("written", INT, shape)


def clear(b: BlockLowering, generator: Scatter, marks: Buffer | None) -> None:
    """No place has been written to."""
    if marks is not None:
        extents = [b.expr(size) for size in generator.shape]
        nest(b, extents, lambda at: b.out.append(Store(marks, at, integer(0))))


def scatter_step(
    b: BlockLowering,
    stmt: Stmt,
    op: MultiLoop,
    generator: Scatter,
    out: Buffer,
    marks: Buffer | None,
    indices: tuple[Expr, ...],
) -> None:
    """One value: its location, the checks, the store."""
    b.block(generator.value)
    at = location(b, stmt, generator)
    value = generator.value.operands[-1]

    def write() -> None:
        b.hand_over([b.env], value, lambda e, v: b.out.append(Store(out, (*at, *e), v)))

    if marks is None:
        write()
        return
    sizes = [b.expr(extent) for extent in op.domain]
    number = held_expr(b, prim(p.ADD, flat(indices, sizes), integer(1)), "number")
    earlier = held_expr(b, Load(marks, at), "earlier")
    free = prim(p.EQUAL, earlier, integer(0))
    then: list[Statement] = []
    if generator.conflict is Conflict.UNIQUE:
        site = b.scope.site(ErrorKind.VALUE, SAME_PLACE, stmt.sources, filled=True)
        place = flat(at, [b.expr(size) for size in generator.shape])
        numbers = [prim(p.SUBTRACT, n, integer(1)) for n in (earlier, number)]
        clash = Fault(site, b.iteration, (*numbers, place))
        b.out.append(If(prim(p.LOGICAL_NOT, free), (clash,)))
        b.out.append(Store(marks, at, number))
        write()
        return
    with b.nested(then):
        b.out.append(Store(marks, at, number))
        write()
    b.out.append(If(free, then))


def location(b: BlockLowering, stmt: Stmt, generator: Scatter) -> tuple[Expr, ...]:
    """Where the value goes, in locals, checked."""
    at = tuple(held_expr(b, b.expr(x), "at") for x in generator.location)
    if generator.bounds is Bounds.CHECKED:
        for axis, extent in enumerate(generator.shape):
            b.check_index(at[axis], axis, b.expr(extent), stmt)
    return at


def flat(indices: Sequence[Expr], sizes: Sequence[Expr]) -> Expr:
    """The number of the indices in C order."""
    number = indices[0]
    for index, size in zip(indices[1:], sizes[1:], strict=True):
        number = prim(p.ADD, prim(p.MULTIPLY, number, size), index)
    return number
