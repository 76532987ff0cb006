"""The generators of a parallel loop: what each adds to the four functions of its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..patterns.generators import Collect, Fold, Generator, MultiLoop, Reduce
from ..patterns.reducers import Reducer, scalar_primitive
from ..staging import primitives as p
from ..staging.nodes import Apply, Effects, Stmt, Var
from ..staging.traversal import block_effects, walk_stmts
from ..staging.types import Scalar
from .kernel_ir import (
    Assign,
    Buffer,
    Expr,
    Fill,
    Finish,
    If,
    Let,
    Literal,
    Load,
    Local,
    Merge,
    Output,
    Space,
    Statement,
    Store,
)
from .lower_block import BlockLowering
from .lower_jam import jam_block
from .lower_nested import empty_error, fold_step
from .lower_reduce import (
    Place,
    accumulate,
    accumulate_copies,
    combine_general,
    combined,
    fill,
    nest,
    sums_wide,
)
from .lower_scope import (
    INT,
    TRUTH,
    Env,
    KernelScope,
    Stored,
    Uniform,
    array_type,
    host_shape,
    integer,
    prim,
    truth,
)
from .lower_whole import extents_of

ONE = (1,)
Hook = Callable[[BlockLowering], None]
Hooks = list[Hook]


@dataclass(slots=True)
class Part:
    """One generator on its way through the four functions: hooks, and its output.

    jam : for several indices at once, given an environment for each; None where that cannot be
    before, after : around the whole chunk; open_block, close_block : around each block of indices
    step : for one index, given the domain's indices
    """

    output: Output
    step: Callable[[BlockLowering, tuple[Expr, ...]], None]
    before: Hooks = field(default_factory=list[Hook])
    after: Hooks = field(default_factory=list[Hook])
    open_block: Hooks = field(default_factory=list[Hook])
    close_block: Hooks = field(default_factory=list[Hook])
    init: Hooks = field(default_factory=list[Hook])
    combine: Hooks = field(default_factory=list[Hook])
    finish: Hooks = field(default_factory=list[Hook])
    jam: Callable[[BlockLowering, Sequence[Env]], None] | None = None
    others: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])


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
    assert isinstance(generator, Reduce)
    return reduce_part(scope, stmt, op, generator, binders)


def result_buffer(scope: KernelScope, binder: Var, space: Space, suffix: str = "") -> Buffer:
    """A buffer with a binder's dtype and shape; a scalar has one element."""
    name = scope.names.fresh((binder.name or "result") + suffix)
    if isinstance(binder.type, Scalar):
        return Buffer(name, binder.type.dtype, ONE, space)
    return Buffer(name, binder.type.element.dtype, host_shape(binder.type.shape), space)


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
    result, state = result_and_state(scope, binder, generator.reducer)
    place = Place(state)
    finish = Finish.STATE if result is state else Finish.CONVERTED
    part = Part(
        Output(finish, (binder,), (result,), (state,)),
        lambda b, indices: fold_step(b, stmt, generator, place),
    )
    with_state(scope, part, generator.reducer, (binder,), (state,), len(generator.shape))
    if result is not state:
        part.finish.append(lambda b: b.out.append(Merge(result, state)))
    return part


def result_and_state(scope: KernelScope, binder: Var, reducer: Reducer) -> tuple[Buffer, Buffer]:
    """What the binder gets, and the partial results: another buffer for float32 sums, which are
    kept in float64."""
    state = result_buffer(scope, binder, Space.STATE)
    if not sums_wide(reducer):
        return state, state
    name = scope.names.fresh(f"{state.name}_sum")
    return replace(state, space=Space.OUTPUT), replace(state, name=name, dtype=np.dtype("f8"))


def reduce_part(
    scope: KernelScope, stmt: Stmt, op: MultiLoop, generator: Reduce, binders: tuple[Var, ...]
) -> Part:
    """Scalars run in locals, arrays in the state; blocks of a float sum begin anew."""
    reducer = generator.reducer
    pairs = [result_and_state(scope, binder, reducer) for binder in binders]
    results, state = tuple(r for r, _ in pairs), tuple(s for _, s in pairs)
    blocked = reducer.order is not None and reducer.order.block > 0
    running = [
        running_place(scope, binder, s, blocked) for binder, s in zip(binders, state, strict=True)
    ]
    seen = None
    buffers = state
    if reducer.identity is None:
        seen = Buffer(scope.names.fresh("seen_state"), TRUTH, ONE, Space.STATE)
        buffers = (*state, seen)
    finish = Finish.STATE if results == state else Finish.CONVERTED
    part = Part(Output(finish, binders, results, buffers), lambda b, indices: None)
    met = Local(scope.names.fresh("seen"), TRUTH)

    def step(b: BlockLowering, indices: tuple[Expr, ...]) -> None:
        first = prim(p.LOGICAL_NOT, met) if seen is not None else None
        accumulate(b, reducer, running, generator.value, generator.value.operands, first)
        if seen is not None:
            b.out.append(Assign(met, truth(True)))

    part.step = step
    if len(running) == 1 and scalar_primitive(reducer) is not None and may_jam(generator):
        part.jam = partial(jam_reduce, generator, running[0])
    with_state(scope, part, reducer, binders, state, 0)
    for place, buffer, binder, k in zip(running, state, binders, range(len(state)), strict=True):
        add_running(part, reducer, place, buffer, binder, k, blocked)
    if seen is not None:
        add_seen(part, stmt, reducer, met, seen)
    if results != state:
        part.finish.append(lambda b: b.out.append(Merge(results[0], state[0])))
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
    binder: Var,
    k: int,
    blocked: bool,
) -> None:
    """Moves a component between the state and its running place."""
    scalar = isinstance(place.target, Local)
    if blocked:
        assert reducer.identity is not None
        identity = reducer.identity[k]

        def open_block(b: BlockLowering) -> None:
            if isinstance(place.target, Local):
                b.out.append(Let(place.target, Literal(identity.value.astype(place.dtype))))
            else:
                fill(b, place, extents_of(b, state), identity)

        def close_block(b: BlockLowering) -> None:
            combine_places(b, reducer, (state_place(state, binder),), (place,), 0)

        part.open_block.append(open_block)
        part.close_block.append(close_block)
    elif scalar:
        assert isinstance(place.target, Local)
        local = place.target
        part.before.append(lambda b: b.out.append(Let(local, Load(state, (integer(0),)))))
        part.after.append(lambda b: b.out.append(Store(state, (integer(0),), local)))


def add_seen(part: Part, stmt: Stmt, reducer: Reducer, met: Local, seen: Buffer) -> None:
    """The flag of a reduction without identity."""
    zero = (integer(0),)
    part.before.append(lambda b: b.out.append(Let(met, Load(seen, zero))))
    part.after.append(lambda b: b.out.append(Store(seen, zero, met)))
    part.init.append(lambda b: b.out.append(Fill(seen, Literal(np.bool_(False)))))
    part.finish.append(
        lambda b: b.fault_if(
            prim(p.LOGICAL_NOT, Load(seen, zero)), stmt, *empty_error(reducer.name)
        )
    )


def state_place(state: Buffer, binder: Var) -> Place:
    """A component's state as a place: a scalar is its only element."""
    return Place(state, (integer(0),) if isinstance(binder.type, Scalar) else ())


def with_state(
    scope: KernelScope,
    part: Part,
    reducer: Reducer,
    binders: Sequence[Var],
    state: Sequence[Buffer],
    outer: int,
) -> None:
    """`init` and `combine` of the part's state; its first `outer` axes are a Fold's locations."""
    others = tuple(replace(s, name=scope.names.fresh(f"other_{s.name}")) for s in state)
    part.others = dict(zip(state, others, strict=True))

    def init(b: BlockLowering) -> None:
        for k, buffer in enumerate(state):
            if reducer.identity is not None:
                value = reducer.identity[k].value.astype(buffer.dtype)
                b.out.append(Fill(buffer, Literal(value)))

    def combine(b: BlockLowering) -> None:
        places = tuple(state_place(s, v) for s, v in zip(state, binders, strict=True))
        sources = tuple(state_place(s, v) for s, v in zip(others, binders, strict=True))
        if reducer.identity is not None:
            combine_places(b, reducer, places, sources, outer)
            return
        combine_seen(b, scope, part, reducer, places, sources)

    part.init.append(init)
    part.combine.append(combine)


def combine_seen(
    b: BlockLowering,
    scope: KernelScope,
    part: Part,
    reducer: Reducer,
    places: Sequence[Place],
    sources: Sequence[Place],
) -> None:
    """Combining without an identity: a chunk that had no value is passed over."""
    seen = part.output.state[-1]
    name = f"other_{seen.name}"
    other = part.others.setdefault(seen, replace(seen, name=scope.names.fresh(name)))
    zero = (integer(0),)
    both: list[Statement] = []
    only: list[Statement] = []
    with b.nested(both):
        combine_places(b, reducer, places, sources, 0)
    with b.nested(only):
        for place, source in zip(places, sources, strict=True):
            b.out.append(Merge(array_buffer(place), array_buffer(source)))
        b.out.append(Store(seen, zero, truth(True)))
    choice = If(Load(seen, zero), both, only)
    b.out.append(If(Load(other, zero), (choice,)))


def combine_places(
    b: BlockLowering,
    reducer: Reducer,
    places: Sequence[Place],
    sources: Sequence[Place],
    outer: int,
) -> None:
    """`places = reducer(places, sources)`, at every location of the first `outer` axes."""
    primitive = scalar_primitive(reducer) if len(places) == 1 else None
    extents = () if places[0].prefix else extents_of(b, array_buffer(places[0]))
    if primitive is not None and not isinstance(sources[0].target, Local):
        whole = array_buffer(places[0]), array_buffer(sources[0])
        if all(buffer.space is Space.STATE for buffer in whole):
            b.out.append(Merge(*whole, primitive))
            return
    if primitive is not None:
        (place,), (source,) = places, sources

        def one(at: tuple[Expr, ...]) -> None:
            b.out.append(place.write(combined(primitive, place.read(at), source.read(at)), at))

        nest(b, extents, one)
        return

    def general(at: tuple[Expr, ...]) -> None:
        targets = [replace(q, prefix=(*q.prefix, *at)) for q in places]
        held: list[Stored | Uniform] = []
        for source, param in zip(sources, reducer.block.params, strict=False):
            if isinstance(param.type, Scalar):
                held.append(Uniform(source.read(at)))
            else:
                held.append(Stored(array_buffer(source), prefix=(*source.prefix, *at)))
        combine_general(b, reducer, targets, held)

    nest(b, extents[:outer], general)


def array_buffer(place: Place) -> Buffer:
    """The buffer of an accumulator that is no local."""
    assert isinstance(place.target, Buffer)
    return place.target
