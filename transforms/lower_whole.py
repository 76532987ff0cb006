"""Whole-array statements as loops: what a function that is compiled has in their place."""

from __future__ import annotations

from collections.abc import Iterable

from .kernel_ir import Buffer, Expr, Fill, If, Load, Merge, Statement, Store
from .lower_block import BlockLowering
from .lower_reduce import combined, converted, nest


def as_loops(b: BlockLowering, statements: Iterable[Statement]) -> list[Statement]:
    """The statements with every Fill and Merge element by element; the bits are the same.

    NumPy runs a function that is whole-array statements only. One loop in it, and it is compiled.
    """
    found: list[Statement] = []
    with b.nested(found):
        for statement in statements:
            _spell(b, statement)
    return found


def _spell(b: BlockLowering, statement: Statement) -> None:
    if isinstance(statement, If):
        then, orelse = as_loops(b, statement.then), as_loops(b, statement.orelse)
        b.out.append(If(statement.cond, then, orelse))
    elif isinstance(statement, Fill | Merge):
        buffer = statement.buffer
        nest(
            b,
            extents_of(b, buffer),
            lambda at: b.out.append(Store(buffer, at, _element(statement, at))),
        )
    else:
        b.out.append(statement)


def _element(statement: Fill | Merge, at: tuple[Expr, ...]) -> Expr:
    if isinstance(statement, Fill):
        return statement.value
    here, other = Load(statement.buffer, at), Load(statement.other, at)
    if statement.primitive is None:
        return converted(other, here.dtype)
    return combined(statement.primitive, here, other)


def extents_of(b: BlockLowering, buffer: Buffer) -> tuple[Expr, ...]:
    """A buffer's extents as expressions."""
    assert not any(isinstance(d, tuple) for d in buffer.shape)
    return tuple(b.expr(d) for d in buffer.shape if not isinstance(d, tuple))


def copied(b: BlockLowering, target: Buffer, source: Buffer) -> None:
    """Copies one buffer into another of the same shape, element by element."""
    nest(
        b,
        extents_of(b, target),
        lambda at: b.out.append(Store(target, at, Load(source, at))),
    )
