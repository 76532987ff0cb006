"""Accumulation: how a value meets an accumulator, for every kind of reducer and of place."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Block, Const, Operand, Var, size_operand
from ...staging.types import Array, Scalar
from ..kernel_ir import (
    Assign,
    Buffer,
    Convert,
    Expr,
    Fma,
    If,
    Let,
    Literal,
    Load,
    Local,
    Prim,
    Statement,
    Store,
)
from ..kernel_walk import leaves
from .block import BlockLowering
from .scope import Env, Sink, Stored, Uniform, integer, prim


@dataclass(frozen=True, slots=True)
class Place:
    """Where an accumulator lives: a local, or a buffer (from `prefix` on, when it is an array)."""

    target: Local | Buffer
    prefix: tuple[Expr, ...] = ()

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.target.dtype

    def read(self, indices: tuple[Expr, ...] = ()) -> Expr:
        """The value, or an element of it."""
        if isinstance(self.target, Local):
            return self.target
        return Load(self.target, (*self.prefix, *indices))

    def write(self, value: Expr, indices: tuple[Expr, ...] = ()) -> Statement:
        """The statement that sets it."""
        if isinstance(self.target, Local):
            return Assign(self.target, value)
        return Store(self.target, (*self.prefix, *indices), value)


def sums_wide(reducer: Reducer) -> bool:
    """Whether the accumulator is wider than the values: float32 sums are kept in float64."""
    type_ = reducer.block.params[0].type
    scalar = type_.element if isinstance(type_, Array) else type_
    one = reducer.width == 1 and scalar.dtype == np.float32
    return one and scalar_primitive(reducer) is p.ADD


def accumulate(
    b: BlockLowering,
    reducer: Reducer,
    places: Sequence[Place],
    values: Block,
    results: Sequence[Operand],
    first: Expr | None = None,
) -> None:
    """`places = reducer(places, results)`, or the values themselves where `first` holds.

    Emits the statements of `values`, in row form, at the current point.
    """
    if len(results) == 1 and (primitive := scalar_primitive(reducer)) is not None:
        (place,) = places
        b.deliver(values, results[0], combining(b, primitive, place, first))
        return
    b.block(values)
    held = [hold(b, r) for r in results]
    if b.pinned is not None and all(isinstance(v, Uniform) for v in held):
        blend(b, reducer, places, [v.expr for v in held if isinstance(v, Uniform)], first)
        return
    if first is None:
        combine_general(b, reducer, places, held)
        return
    then: list[Statement] = []
    orelse: list[Statement] = []
    with b.nested(then):
        copy_all(b, places, held, reducer)
    with b.nested(orelse):
        combine_general(b, reducer, places, held)
    b.out.append(If(first, then, orelse))


def combining(
    b: BlockLowering, primitive: p.Primitive, place: Place, first: Expr | None = None
) -> Sink:
    """A sink that combines each scalar into its element of the accumulator."""

    def combine(indices: tuple[Expr, ...], value: Expr) -> None:
        new = combined(primitive, place.read(indices), value)
        if first is not None:
            new = Prim(p.SELECT, (first, converted(value, place.dtype), new), place.dtype)
        b.out.append(place.write(new, indices))

    return combine


def accumulate_copies(
    b: BlockLowering,
    reducer: Reducer,
    place: Place,
    envs: Sequence[Env],
    result: Operand,
    cond: Operand | None,
) -> None:
    """One accumulator takes the values of several copies, in their order, element by element.

    Where a copy's condition does not hold it takes the identity: no branch, no new value (the sign
    of a zero excepted).
    """
    primitive = scalar_primitive(reducer)
    assert primitive is not None
    combine = combining(b, primitive, place)
    if cond is None:
        b.hand_over(envs, result, combine)
        return
    assert reducer.identity is not None
    identity = Literal(reducer.identity[0].value)

    def masked(indices: tuple[Expr, ...], value: Expr) -> None:
        combine(indices, Prim(p.SELECT, (b.expr(cond), value, identity), value.dtype))

    b.hand_over(envs, result, masked)


def blend(
    b: BlockLowering,
    reducer: Reducer,
    places: Sequence[Place],
    values: Sequence[Expr],
    first: Expr | None,
) -> None:
    """Scalars in a lane loop, free of branches: all loads, then selects, then all stores."""
    block, width = reducer.block, reducer.width
    for k, (place, value) in enumerate(zip(places, values, strict=True)):
        name = block.params[k].name
        b.env[block.params[k]] = Uniform(held_expr(b, place.read(), name))
        b.env[block.params[width + k]] = Uniform(value)
    b.block(block)
    new = [
        held_expr(b, settled(b, b.expr(r), places[:k]), "") for k, r in enumerate(block.operands)
    ]
    for place, value, result in zip(places, values, new, strict=True):
        if first is not None:
            result = Prim(p.SELECT, (first, converted(value, place.dtype), result), place.dtype)
        b.out.append(place.write(result))


def combined(primitive: p.Primitive, a: Expr, value: Expr) -> Expr:
    """The primitive in the accumulator's dtype; a product added to a float sum is fused."""
    value = converted(value, a.dtype)
    if primitive is p.ADD and a.dtype.kind == "f" and a.dtype.itemsize >= 4:
        if isinstance(value, Prim) and value.primitive in (p.MULTIPLY, p.SQUARE):
            return Fma(value.args[0], value.args[-1], a)
    return Prim(primitive, (a, value), a.dtype)


def converted(value: Expr, dtype: np.dtype[np.generic]) -> Expr:
    """The value in this dtype."""
    return value if value.dtype == dtype else Convert(value, dtype)


def hold(b: BlockLowering, result: Operand) -> Stored | Uniform:
    """A value that may be read several times: a local, or an array in a buffer."""
    if isinstance(result.type, Scalar):
        return Uniform(held_expr(b, b.expr(result), result.name if isinstance(result, Var) else ""))
    assert isinstance(result, Var)
    value = b.value(result)
    if isinstance(value, Stored) and not value.lanes:
        return value  # nothing writes to it before it has been read
    buffer = scratch_like(b, result.type, result.name or "value")
    b.deliver(Block((), (), ()), result, lambda at, v: b.out.append(Store(buffer, at, v)))
    b.env[result] = Stored(buffer)
    return Stored(buffer)


def held_expr(b: BlockLowering, value: Expr, name: str) -> Expr:
    """The expression, in a local unless it is one."""
    if isinstance(value, Local | Literal):
        return value
    local = Local(b.scope.names.fresh(name), value.dtype)
    b.out.append(Let(local, value))
    return local


def scratch_like(b: BlockLowering, type_: Array, name: str) -> Buffer:
    """A scratch buffer for an array of this type."""
    return b.scope.scratch(name, type_.element.dtype, b.shape(type_))


def combine_general(
    b: BlockLowering, reducer: Reducer, places: Sequence[Place], held: Sequence[Stored | Uniform]
) -> None:
    """Any reducer: its block on the accumulators and the held values."""
    block = reducer.block
    for k, (place, value) in enumerate(zip(places, held, strict=True)):
        a, v = block.params[k], block.params[reducer.width + k]
        b.env[v] = value
        b.env[a] = Uniform(place.read()) if isinstance(a.type, Scalar) else whole(place)
    b.block(block)
    new = [hold_result(b, r, k, places) for k, r in enumerate(block.operands)]
    copy_all(b, places, new, reducer)


def hold_result(
    b: BlockLowering, result: Operand, position: int, places: Sequence[Place]
) -> Stored | Uniform:
    """A new component, in a local or in scratch if it reads one that is set before it is."""
    if isinstance(result.type, Scalar):
        return Uniform(settled(b, b.expr(result), places[:position]))
    buffer = scratch_like(b, result.type, "combined")
    b.deliver(Block((), (), ()), result, lambda at, v: b.out.append(Store(buffer, at, v)))
    return Stored(buffer)


def settled(b: BlockLowering, value: Expr, set_before: Sequence[Place]) -> Expr:
    """The value, in a local of its own if it reads a place that is set before it is used."""
    if any(leaf is place.target for leaf in leaves(value) for place in set_before):
        local = Local(b.scope.names.fresh(""), value.dtype)
        b.out.append(Let(local, value))
        return local
    return value


def whole(place: Place) -> Stored:
    """An array accumulator that a reducer's block reads as a whole."""
    assert isinstance(place.target, Buffer)
    return Stored(place.target, prefix=place.prefix)


def copy_all(
    b: BlockLowering,
    places: Sequence[Place],
    values: Sequence[Stored | Uniform],
    reducer: Reducer,
) -> None:
    """Sets every accumulator to its value."""
    for place, value, param in zip(places, values, reducer.block.params, strict=False):
        if isinstance(value, Uniform):
            b.out.append(place.write(converted(value.expr, place.dtype)))
            continue
        assert isinstance(param.type, Array)
        extents = tuple(b.expr(size_operand(d)) for d in param.type.shape)
        copy(b, place, Place(value.buffer, value.prefix), extents)


def copy(b: BlockLowering, place: Place, source: Place, extents: Sequence[Expr]) -> None:
    """Copies an array into an accumulator."""
    nest(
        b,
        extents,
        lambda at: b.out.append(place.write(converted(source.read(at), place.dtype), at)),
    )


def nest(
    b: BlockLowering,
    extents: Sequence[Expr],
    inside: Callable[[tuple[Expr, ...]], None],
) -> None:
    """Serial loops over the extents around what `inside(indices)` emits."""
    with b.serial(extents, ["e"] * len(extents)) as indices:
        inside(indices)


def fill(b: BlockLowering, place: Place, extents: Sequence[Expr], value: Const) -> None:
    """Sets an accumulator, or every element of it, to a constant."""
    literal = Literal(value.value.astype(place.dtype))
    nest(b, extents, lambda at: b.out.append(place.write(literal, at)))


def first_of(indices: Sequence[Expr]) -> Expr:
    """Whether all indices are 0."""
    tests = [prim(p.EQUAL, index, integer(0)) for index in indices]
    found = tests[0]
    for test in tests[1:]:
        found = prim(p.LOGICAL_AND, found, test)
    return found
