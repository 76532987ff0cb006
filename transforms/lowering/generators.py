"""The generators of a parallel loop: what each adds to the five functions of its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

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
)
from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.nodes import Apply, Effects, Stmt, Var
from ...staging.traversal import block_effects, walk_stmts
from ...staging.types import Scalar
from ..kernel_ir import (
    Assign,
    Buffer,
    Expr,
    Finish,
    Let,
    Literal,
    Load,
    Local,
    Merge,
    Output,
    Space,
    Store,
)
from .block import BlockLowering
from .bucket_part import bucket_part
from .jam import jam_block
from .nested import fold_step
from .parts import (
    ONE,
    Part,
    combine_places,
    reduce_frame,
    result_and_state,
    result_buffer,
    state_place,
    with_state,
)
from .reduce import (
    Place,
    accumulate,
    accumulate_copies,
    combined,
    converted,
    fill,
    nest,
)
from .scan import scan_part
from .scatter import scatter_part
from .scope import (
    INT,
    Env,
    KernelScope,
    array_type,
    host_shape,
    integer,
    prim,
    truth,
)
from .whole import extents_of


def make_part(
    scope: KernelScope, stmt: Stmt, op: MultiLoop, generator: Generator, binders: tuple[Var, ...]
) -> Part:
    """The part of one generator."""
    if isinstance(generator, Collect):
        if generator.cond is None:
            return dense_part(scope, generator, binders[0])
        return filter_part(scope, op, generator, binders)
    if isinstance(generator, Fold):
        return fold_part(scope, stmt, generator, binders[0])
    if isinstance(generator, Scan):
        return scan_part(scope, generator, binders)
    if isinstance(generator, BucketReduce | BucketCollect):
        return bucket_part(scope, op, generator, binders)
    if isinstance(generator, Scatter):
        return scatter_part(scope, stmt, op, generator, binders[0])
    assert isinstance(generator, Reduce)
    return reduce_part(scope, stmt, op, generator, binders)


def dense_part(scope: KernelScope, generator: Collect, binder: Var) -> Part:
    """Chunks write their part of the output."""
    out = result_buffer(scope, binder, Space.OUTPUT)

    def step(b: BlockLowering, indices: tuple[Expr, ...]) -> None:
        b.deliver(
            generator.value,
            generator.value.results[0],
            lambda at, value: b.out.append(Store(out, at, value)),
            indices,
        )

    return Part(Output(Finish.DENSE, (binder,), (out,)), step)


def filter_part(
    scope: KernelScope, op: MultiLoop, generator: Collect, binders: tuple[Var, ...]
) -> Part:
    """Chunks write what they keep from their start on, and count it."""
    size, binder = binders
    type_ = array_type(binder)
    inner = host_shape(type_.shape[1:])
    name = scope.names.fresh(binder.name or "kept")
    flat = Buffer(name, type_.element.dtype, (op.domain, *inner), Space.OUTPUT)
    counts = Buffer(scope.names.fresh(size.name or "count"), INT, ONE, Space.STATE)
    at = Local(scope.names.fresh("at"), INT)
    first = Local(scope.names.fresh("first"), INT)

    def before(b: BlockLowering) -> None:
        origin: Expr = scope.start
        for extent in op.domain[1:]:
            origin = prim(p.MULTIPLY, origin, b.expr(extent))
        b.out.extend((Let(first, origin), Let(at, first)))

    def step(b: BlockLowering, indices: tuple[Expr, ...]) -> None:
        b.deliver(
            generator.value,
            generator.value.results[0],
            lambda inner_at, value: b.out.append(Store(flat, (at, *inner_at), value)),
        )
        b.out.append(Assign(at, prim(p.ADD, at, integer(1))))

    def after(b: BlockLowering) -> None:
        b.out.append(Store(counts, (integer(0),), prim(p.SUBTRACT, at, first)))

    output = Output(Finish.COMPACTED, binders, (flat,), (counts,))
    return Part(output, lambda b, indices: step(b, ()), [before], [after])


def fold_part(scope: KernelScope, stmt: Stmt, generator: Fold, binder: Var) -> Part:
    """Private accumulators for each chunk; float32 sums are kept in float64."""
    if generator.init is not None and in_one_chunk(generator):
        return folded_part(scope, stmt, generator, binder)
    result, state = result_and_state(scope, binder, generator.reducer)
    if generator.init is not None:
        result = result_buffer(scope, binder, Space.OUTPUT)
    place = Place(state)
    finish = Finish.STATE if result is state else Finish.CONVERTED
    part = Part(
        Output(finish, (binder,), (result,), (state,)),
        lambda b, indices: fold_step(b, stmt, generator, place),
    )
    with_state(scope, part, generator.reducer, (binder,), (state,), len(generator.shape))
    if generator.init is not None:
        part.output = starting(scope, generator, part.output)
        part.finish.append(lambda b: onto(b, generator, result, state))
    elif result is not state:
        part.finish.append(lambda b: b.out.append(Merge(result, state)))
    return part


def in_one_chunk(generator: Fold) -> bool:
    """Whether the fold runs in order, whatever the extent."""
    order = generator.reducer.order
    return order is None or order.chunks == 1


def starting(scope: KernelScope, generator: Fold, output: Output) -> Output:
    """The output of a fold that begins as an array."""
    assert isinstance(generator.init, Var)
    taken = output.binders[0] in scope.reuse.taken
    return replace(output, start=generator.init, taken=taken)


def folded_part(scope: KernelScope, stmt: Stmt, generator: Fold, binder: Var) -> Part:
    """The output, which begins as the array that the fold begins with, is the accumulator."""
    out = result_buffer(scope, binder, Space.OUTPUT)
    output = starting(scope, generator, Output(Finish.DENSE, (binder,), (out,)))
    return Part(output, lambda b, indices: fold_step(b, stmt, generator, Place(out)))


def onto(b: BlockLowering, generator: Fold, result: Buffer, state: Buffer) -> None:
    """What all chunks gave, combined with the array that the fold begins with."""
    primitive = scalar_primitive(generator.reducer)
    if primitive is None:
        places = (Place(result),), (Place(state),)
        combine_places(b, generator.reducer, *places, len(generator.shape))
        return

    def one(at: tuple[Expr, ...]) -> None:
        before = converted(Load(result, at), state.dtype)
        new = combined(primitive, before, Load(state, at))
        b.out.append(Store(result, at, converted(new, result.dtype)))

    nest(b, extents_of(b, result), one)


def reduce_part(
    scope: KernelScope, stmt: Stmt, op: MultiLoop, generator: Reduce, binders: tuple[Var, ...]
) -> Part:
    """Scalars run in locals, arrays in the state; blocks of a float sum begin anew."""
    reducer = generator.reducer
    part, state, met = reduce_frame(scope, stmt, reducer, binders)
    blocked = reducer.order is not None and reducer.order.block > 0
    running = [
        running_place(scope, binder, s, blocked) for binder, s in zip(binders, state, strict=True)
    ]

    def step(b: BlockLowering, indices: tuple[Expr, ...]) -> None:
        first = None if met is None else prim(p.LOGICAL_NOT, met)
        accumulate(b, reducer, running, generator.value, generator.value.operands, first)
        if met is not None:
            b.out.append(Assign(met, truth(True)))

    part.step = step
    if len(running) == 1 and scalar_primitive(reducer) is not None and may_jam(generator):
        part.jam = partial(jam_reduce, generator, running[0])
    for k, (place, buffer) in enumerate(zip(running, state, strict=True)):
        add_running(part, reducer, place, buffer, k, blocked)
    if blocked:
        places = tuple(map(state_place, state, binders))
        part.close_block.append(lambda b: combine_places(b, reducer, places, running, 0))
    return part


def may_jam(generator: Reduce) -> bool:
    """Whether several rows can be combined side by side: always without a condition; under one if
    the value is cheap enough to compute in vain, and the identity stands for it then."""
    if generator.cond is None:
        return True
    if generator.reducer.identity is None:
        return False
    work = [s.op for s in walk_stmts(generator.value)]
    cheap = all(op.primitive.cost <= 4 for op in work if isinstance(op, Apply))
    return cheap and not block_effects(generator.value) & Effects.FAULT


def jam_reduce(generator: Reduce, place: Place, b: BlockLowering, envs: Sequence[Env]) -> None:
    """Several rows' values, one after the other, into one accumulator."""
    jam_block(b, generator.value, envs)
    (result,) = generator.value.operands
    accumulate_copies(b, generator.reducer, place, envs, result, generator.cond)


def running_place(scope: KernelScope, binder: Var, state: Buffer, blocked: bool) -> Place:
    """Where a component accumulates inside a chunk."""
    if isinstance(binder.type, Scalar):
        return Place(Local(scope.names.fresh(binder.name, "acc"), state.dtype))
    if blocked:
        return Place(scope.scratch(f"{state.name}_block", state.dtype, state.shape))
    return Place(state)


def add_running(
    part: Part,
    reducer: Reducer,
    place: Place,
    state: Buffer,
    k: int,
    blocked: bool,
) -> None:
    """Moves a component between the state and its running place, or begins a block with its
    identity."""
    scalar = isinstance(place.target, Local)
    if blocked:
        assert reducer.identity is not None
        identity = reducer.identity[k]

        def open_block(b: BlockLowering) -> None:
            if isinstance(place.target, Local):
                b.out.append(Let(place.target, Literal(identity.value.astype(place.dtype))))
            else:
                fill(b, place, extents_of(b, state), identity)

        part.open_block.append(open_block)
    elif scalar:
        assert isinstance(place.target, Local)
        local = place.target
        part.before.append(lambda b: b.out.append(Let(local, Load(state, (integer(0),)))))
        part.after.append(lambda b: b.out.append(Store(state, (integer(0),), local)))
