"""A MultiLoop inside a parallel loop's body: serial loops with accumulators beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...patterns.generators import (
    BucketCollect,
    BucketReduce,
    Collect,
    Fold,
    Generator,
    MultiLoop,
    Reduce,
    Scan,
    Scatter,
    binder_slices,
)
from ...patterns.reducers import arg_start, scalar_primitive
from ...staging import primitives as p
from ...staging.nodes import (
    Block,
    Bounds,
    Cast,
    Const,
    Operand,
    Stmt,
    Var,
    operand_dim,
    size_operand,
)
from ...staging.types import Array, Scalar
from ..kernel_ir import Assign, Convert, Expr, If, Let, Literal, Local, Statement, Store
from .block import BlockLowering
from .buckets import begin_bucket
from .reduce import (
    Place,
    accumulate,
    combine_general,
    combined,
    fill,
    first_of,
    held_expr,
    sums_wide,
)
from .running import Running, check_not_empty, empty_error
from .scan_step import begin_scan
from .scope import (
    INT,
    TRUTH,
    Stored,
    Uniform,
    Varying,
    array_type,
    integer,
    prim,
    truth,
)


def lower_nested(b: BlockLowering, stmt: Stmt, op: MultiLoop, varying: bool) -> None:
    """Emits the loop; `varying` says that it runs over lanes (see `may_strip`)."""
    from .jam import jam_loop

    jam_loop(b, stmt, op, [b.env], varying)


def begin_all(b: BlockLowering, stmt: Stmt, op: MultiLoop, varying: bool) -> list[Running]:
    """What stands before the loop, for every generator."""
    slices = binder_slices(op.generators, op.domain)
    return [
        begin(b, stmt, op, g, stmt.binders[s], varying)
        for g, s in zip(op.generators, slices, strict=True)
    ]


def step_all(
    b: BlockLowering, op: MultiLoop, running: Sequence[Running], indices: tuple[Expr, ...]
) -> None:
    """One iteration of every generator."""
    for generator, run in zip(op.generators, running, strict=True):
        conditionally(b, generator, partial(run.step, indices))


def conditionally(b: BlockLowering, generator: Generator, step: Callable[[], None]) -> None:
    """Runs `step` where the generator's condition holds, pinned to a lane if it varies."""
    if generator.cond is None:
        step()
        return
    with b.pin():
        cond = b.expr(generator.cond)
        then: list[Statement] = []
        with b.nested(then):
            step()
        b.out.append(If(cond, then))


def begin(
    b: BlockLowering,
    stmt: Stmt,
    op: MultiLoop,
    generator: Generator,
    binders: tuple[Var, ...],
    varying: bool,
) -> Running:
    """What stands before the loop for one generator."""
    if isinstance(generator, Collect):
        if generator.cond is None:
            return begin_collect(b, generator, binders[0])
        return begin_filter(b, op, generator, binders)
    if isinstance(generator, Fold):
        return begin_fold(b, stmt, generator, binders[0])
    if isinstance(generator, Scan):
        return begin_scan(b, generator, binders)
    if isinstance(generator, BucketReduce | BucketCollect):
        return begin_bucket(b, op, generator, binders)
    if isinstance(generator, Scatter):
        from .scatter import begin_scatter

        return begin_scatter(b, stmt, op, generator, binders[0])
    assert isinstance(generator, Reduce)
    if varying:
        return begin_lane_reduce(b, stmt, op, generator, binders)
    return begin_reduce(b, stmt, op, generator, binders)


def begin_collect(b: BlockLowering, generator: Collect, binder: Var) -> Running:
    """A dense array in scratch."""
    type_ = array_type(binder)
    buffer = b.scope.scratch(binder.name or "array", type_.element.dtype, b.shape(type_))
    b.env[binder] = Stored(buffer)

    def step(indices: tuple[Expr, ...]) -> None:
        b.deliver(
            generator.value,
            generator.value.results[0],
            lambda at, value: b.out.append(Store(buffer, at, value)),
            indices,
        )

    return Running(step, lambda: None)


def begin_filter(
    b: BlockLowering, op: MultiLoop, generator: Collect, binders: tuple[Var, ...]
) -> Running:
    """A compacted array: scratch for the whole domain, and a count."""
    size, binder = binders
    type_ = array_type(binder)
    domain = b.shape(Array(type_.element, tuple(map(operand_dim, op.domain))))
    inner = b.shape(Array(type_.element, type_.shape[1:]))
    whole = tuple(size_operand(d) if isinstance(d, int) else d for d in domain)
    buffer = b.scope.scratch(binder.name or "kept", type_.element.dtype, (whole, *inner))
    count = Local(b.scope.names.fresh(size.name, "count"), INT)
    b.out.append(Let(count, integer(0)))
    b.env[size], b.env[binder] = Uniform(count), Stored(buffer)

    def step(indices: tuple[Expr, ...]) -> None:
        b.deliver(
            generator.value,
            generator.value.results[0],
            lambda at, value: b.out.append(Store(buffer, at, value)),
            (count,),
        )
        b.out.append(Assign(count, prim(p.ADD, count, integer(1))))

    return Running(step, lambda: None)


def begin_fold(b: BlockLowering, stmt: Stmt, generator: Fold, binder: Var) -> Running:
    """An array of accumulators in scratch."""
    type_ = array_type(binder)
    if generator.init is not None:
        from .scatter import begun

        own = begun(b, generator.init, binder)
        b.env[binder] = Stored(own)
        return Running(lambda indices: fold_step(b, stmt, generator, Place(own)), lambda: None)
    buffer = b.scope.scratch(binder.name or "bins", type_.element.dtype, b.shape(type_))
    b.env[binder] = Stored(buffer)
    assert generator.reducer.identity is not None
    extents = tuple(b.expr(size_operand(d)) for d in type_.shape)
    fill(b, Place(buffer), extents, generator.reducer.identity[0])
    return Running(lambda indices: fold_step(b, stmt, generator, Place(buffer)), lambda: None)


def fold_step(b: BlockLowering, stmt: Stmt, generator: Fold, place: Place) -> None:
    """One update of a Fold: the location, its check, the accumulation."""
    b.block(generator.value)
    at = tuple(held_expr(b, b.expr(x), "at") for x in generator.location)
    if generator.bounds is Bounds.CHECKED:
        for axis, extent in enumerate(generator.shape):
            b.check_index(at[axis], axis, b.expr(extent), stmt)
    cell = Place(place.target, (*place.prefix, *at))
    value = generator.value.operands[-1]
    accumulate(b, generator.reducer, (cell,), Block((), (), ()), (value,))


def begin_reduce(
    b: BlockLowering, stmt: Stmt, op: MultiLoop, generator: Reduce, binders: tuple[Var, ...]
) -> Running:
    """Accumulators in locals and scratch."""
    if sums_wide(generator.reducer) or in_blocks(op, generator):
        if isinstance(binders[0].type, Scalar):
            return begin_sum(b, op, generator, binders[0])
    reducer = generator.reducer
    places = [component_place(b, binder) for binder in binders]
    first = begin_values(b, stmt, op, generator, places, binders)

    def step(indices: tuple[Expr, ...]) -> None:
        is_first = None
        if reducer.identity is None:
            is_first = first_of(indices) if first is None else prim(p.LOGICAL_NOT, first)
        accumulate(b, reducer, places, generator.value, generator.value.operands, is_first)
        if first is not None:
            b.out.append(Assign(first, truth(True)))

    def after() -> None:
        if first is not None:
            b.fault_if(prim(p.LOGICAL_NOT, first), stmt, *empty_error(reducer.name))

    return Running(step, after)


def in_blocks(op: MultiLoop, generator: Reduce) -> bool:
    """Whether the reduction's order has blocks that its domain can fill."""
    order = generator.reducer.order
    if order is None or order.block == 0 or len(op.domain) != 1 or generator.reducer.width > 1:
        return False
    return not isinstance(op.domain[0], Const) or int(op.domain[0].value.item()) > order.block


def begin_sum(b: BlockLowering, op: MultiLoop, generator: Reduce, binder: Var) -> Running:
    """A scalar float sum or product: in float64 for float32, and in blocks if it is so ordered."""
    reducer = generator.reducer
    assert reducer.identity is not None
    assert isinstance(binder.type, Scalar)
    dtype = np.dtype(np.float64) if sums_wide(reducer) else binder.type.dtype
    start = Literal(reducer.identity[0].value.astype(dtype))
    names = b.scope.names
    total = Local(names.fresh(binder.name, "acc"), dtype)
    b.out.append(Let(total, start))
    blocked = in_blocks(op, generator)
    part = Local(names.fresh(f"{total.name}_block"), dtype) if blocked else total
    place = Place(part)

    def close_block() -> None:
        combine = scalar_primitive(reducer)
        if combine is None:
            combine_general(b, reducer, [Place(total)], [Uniform(part)])
        else:
            b.out.append(Assign(total, combined(combine, total, part)))

    def after() -> None:
        assert isinstance(binder.type, Scalar)
        if dtype == binder.type.dtype:
            b.env[binder] = Uniform(total)
        else:
            b.bind_scalar(binder, Convert(total, binder.type.dtype), varying=False)

    return Running(
        lambda indices: accumulate(
            b, reducer, [place], generator.value, generator.value.operands, None
        ),
        after,
        reducer.order.block if blocked and reducer.order is not None else 0,
        lambda: b.out.append(Let(part, start)),
        close_block,
    )


def component_place(b: BlockLowering, binder: Var) -> Place:
    """The accumulator of one component, which its binder then names."""
    if isinstance(binder.type, Scalar):
        local = Local(b.scope.names.fresh(binder.name, "acc"), binder.type.dtype)
        b.env[binder] = Uniform(local)
        return Place(local)
    type_ = array_type(binder)
    buffer = b.scope.scratch(binder.name or "acc", type_.element.dtype, b.shape(type_))
    b.env[binder] = Stored(buffer)
    return Place(buffer)


def begin_values(
    b: BlockLowering,
    stmt: Stmt,
    op: MultiLoop,
    generator: Reduce,
    places: list[Place],
    binders: tuple[Var, ...],
) -> Local | None:
    """Identities into the accumulators; without them the check for an empty domain, or, with a
    condition, the local that says whether there was a value (which is returned)."""
    identity = generator.reducer.identity
    for k, (place, binder) in enumerate(zip(places, binders, strict=True)):
        shape = binder.type.shape if isinstance(binder.type, Array) else ()
        if isinstance(place.target, Local):
            start = place.dtype.type(0) if identity is None else identity[k].value
            b.out.append(Let(place.target, Literal(start)))
        elif identity is not None:
            fill(b, place, tuple(b.expr(size_operand(d)) for d in shape), identity[k])
    if identity is not None:
        return None
    if generator.cond is None:
        check_not_empty(b, stmt, op.domain, generator.reducer.name)
        return None
    seen = Local(b.scope.names.fresh("seen"), TRUTH)
    b.out.append(Let(seen, truth(False)))
    return seen


def begin_lane_reduce(
    b: BlockLowering, stmt: Stmt, op: MultiLoop, generator: Reduce, binders: tuple[Var, ...]
) -> Running:
    """Accumulators with one element a lane."""
    assert b.strip is not None
    strip, reducer = b.strip, generator.reducer
    if reducer.identity is None:
        with b.nested_here():
            b.iteration, saved = strip.base, b.iteration
            check_not_empty(b, stmt, op.domain, reducer.name)
            b.iteration = saved
    start_values = reducer.identity or own_index_start(op, generator)
    wide = np.dtype(np.float64) if sums_wide(reducer) else None
    places: list[Place] = []
    for k, binder in enumerate(binders):
        assert isinstance(binder.type, Scalar)
        dtype = wide or binder.type.dtype
        buffer = b.scope.scratch(binder.name or "acc", dtype, (strip.width,))
        b.env[binder] = Varying(None, None, buffer)
        places.append(Place(buffer, (strip.lane,)))
        start = start_values[k].value.astype(dtype) if start_values else dtype.type(0)
        b.lanes().body.append(Store(buffer, (strip.lane,), Literal(start)))

    def step(indices: tuple[Expr, ...]) -> None:
        first = None
        if start_values is None and all(isinstance(i, Local) for i in indices):
            first = first_of(indices)  # index + 1 and so on are never the first
        with b.pin():
            accumulate(b, reducer, places, generator.value, generator.value.operands, first)

    def narrow() -> None:
        (binder,), (place,) = binders, places
        assert isinstance(binder.type, Scalar)
        buffer = b.scope.scratch(binder.name or "acc", binder.type.dtype, (strip.width,))
        with b.pin():
            b.out.append(Store(buffer, (strip.lane,), Convert(place.read(), binder.type.dtype)))
        b.env[binder] = Varying(None, None, buffer)

    return Running(step, narrow if wide else lambda: None)


def own_index_start(op: MultiLoop, generator: Reduce) -> tuple[Const, ...] | None:
    """What an argmin over the loop's own index may start from, see `arg_start`."""
    if len(op.domain) != 1 or len(generator.value.operands) != 2:
        return None
    index: Operand = generator.value.operands[1]
    for stmt in reversed(op.body.stmts):
        if index in stmt.binders and isinstance(stmt.op, Cast):
            index = stmt.op.arg
    return arg_start(generator.reducer) if index is op.body.params[0] else None
