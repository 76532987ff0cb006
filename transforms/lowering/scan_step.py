"""One step of a scan, wherever its accumulators and results live; a scan inside of a loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...patterns.generators import Scan
from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.nodes import Var, size_operand
from ...staging.types import Array, Scalar, Type
from ..kernel_ir import Buffer, Expr, Let, Literal, Local, Prim, Store
from .block import BlockLowering
from .reduce import (
    Place,
    accumulate,
    combined,
    converted,
    copy,
    fill,
    first_of,
    held_expr,
    sums_wide,
)
from .running import Running
from .scope import Stored, array_type


def scan_step(
    b: BlockLowering,
    generator: Scan,
    running: Sequence[Place],
    outputs: Sequence[Buffer],
    indices: tuple[Expr, ...],
    first: Expr | None,
) -> None:
    """One value into the accumulators, and these into the results; `first`: there was none yet."""
    reducer, values = generator.reducer, generator.value.operands
    primitive = scalar_primitive(reducer) if len(running) == 1 else None
    if primitive is None:
        if generator.exclusive:
            store(b, reducer, running, outputs, indices)
        accumulate(b, reducer, running, generator.value, values, first)
        if not generator.exclusive:
            store(b, reducer, running, outputs, indices)
        return
    (place,), (out,) = running, outputs

    def one(at: tuple[Expr, ...], value: Expr) -> None:
        old = place.read(at)
        new = combined(primitive, old, value)
        if first is not None:
            new = Prim(p.SELECT, (first, converted(value, place.dtype), new), place.dtype)
        if not generator.exclusive:
            old = new = held_expr(b, new, "")
        b.out.append(Store(out, (*indices, *at), converted(old, out.dtype)))
        b.out.append(place.write(new, at))

    b.deliver(generator.value, values[0], one)


def store(
    b: BlockLowering,
    reducer: Reducer,
    running: Sequence[Place],
    outputs: Sequence[Buffer],
    indices: tuple[Expr, ...],
) -> None:
    """The accumulators as results."""
    for place, out, param in zip(running, outputs, reducer.block.params, strict=False):
        copy(b, Place(out, indices), place, extents(b, param.type))


def extents(b: BlockLowering, type_: Type) -> tuple[Expr, ...]:
    """The sizes of a component that is an array."""
    dims = type_.shape if isinstance(type_, Array) else ()
    return tuple(b.expr(size_operand(d)) for d in dims)


def begin_scan(b: BlockLowering, generator: Scan, binders: tuple[Var, ...]) -> Running:
    """Accumulators, and the results in scratch."""
    reducer = generator.reducer
    wide = np.dtype(np.float64) if sums_wide(reducer) else None
    places: list[Place] = []
    outputs: list[Buffer] = []
    for k, (binder, param) in enumerate(zip(binders, reducer.block.params, strict=False)):
        type_ = array_type(binder)
        name, dtype = binder.name or "scan", wide or type_.element.dtype
        outputs.append(b.scope.scratch(name, type_.element.dtype, b.shape(type_)))
        b.env[binder] = Stored(outputs[-1])
        identity = None if reducer.identity is None else reducer.identity[k]
        if isinstance(param.type, Scalar):
            local = Local(b.scope.names.fresh(name, "acc"), dtype)
            start = dtype.type(0) if identity is None else identity.value.astype(dtype)
            b.out.append(Let(local, Literal(start)))
            places.append(Place(local))
            continue
        inner = Array(type_.element, type_.shape[1:])
        places.append(Place(b.scope.scratch(f"{name}_acc", dtype, b.shape(inner))))
        if identity is not None:
            fill(b, places[-1], tuple(b.expr(size_operand(d)) for d in inner.shape), identity)

    def step(indices: tuple[Expr, ...]) -> None:
        first = first_of(indices) if reducer.identity is None else None
        scan_step(b, generator, places, outputs, indices, first)

    return Running(step, lambda: None)
