"""Whole-array statements as loops: what a kernel that is compiled has in their place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..kernel_ir import Buffer, Expr, Fill, Function, If, Kernel, Load, Merge, Statement, Store
from ..kernel_walk import bound, parameters
from .block import BlockLowering
from .names import KernelNames
from .reduce import combined, converted, nest
from .scope import KernelScope, integer


def spelled(kernel: Kernel) -> Kernel:
    """The kernel with every Fill and Merge element by element; the bits are the same."""
    names = KernelNames()
    for function in kernel.functions:
        inside = (*function.params, *bound(list(function.body)))
        names.used.update(variable.name for variable in inside)
    scope = KernelScope(names=names, inputs=dict(kernel.inputs))
    init, combine, finish = (
        _function(scope, function, kernel.fault)
        for function in (kernel.init, kernel.combine, kernel.finish)
    )
    inputs = tuple(scope.inputs.items())
    return replace(kernel, inputs=inputs, init=init, combine=combine, finish=finish)


def _function(scope: KernelScope, function: Function, fault: Buffer) -> Function:
    body = _as_loops(BlockLowering(scope, {}, [], integer(0)), function.body)
    return replace(function, params=parameters(body, (), fault), body=tuple(body))


def _as_loops(b: BlockLowering, statements: Iterable[Statement]) -> list[Statement]:
    found: list[Statement] = []
    with b.nested(found):
        for statement in statements:
            _spell(b, statement)
    return found


def _spell(b: BlockLowering, statement: Statement) -> None:
    if isinstance(statement, If):
        then, orelse = _as_loops(b, statement.then), _as_loops(b, statement.orelse)
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
