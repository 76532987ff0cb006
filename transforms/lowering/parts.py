"""A generator's part in the five functions of a kernel: its partial results, how they begin, how
those of two chunks combine, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

import numpy as np

from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Stmt, Var
from ...staging.types import Scalar
from ..kernel_ir import (
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
from .block import BlockLowering
from .lanes import Dealt
from .reduce import (
    Place,
    combine_general,
    combined,
    nest,
    sums_wide,
)
from .running import empty_error
from .scope import (
    TRUTH,
    Env,
    KernelScope,
    Stored,
    Uniform,
    host_shape,
    integer,
    prim,
    truth,
)
from .whole import extents_of

ONE = (1,)
Hook = Callable[[BlockLowering], None]
Hooks = list[Hook]
Adjust = Callable[[BlockLowering, Local], None]


@dataclass(slots=True)
class Part:
    """One generator on its way through the five functions: hooks, and its output.

    jam : for several indices at once, given an environment for each; None where that cannot be
    before, after : around the whole chunk; open_block, close_block : around each block of indices
    adjust : for one index of a chunk that is not the first
    step : for one index, given the domain's indices
    keeps : whether `step` is for every index, whatever the condition: it keeps what comes later
    dealt : a reduction over lanes, which has a step of its own (lanes.py)
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
    adjust: list[Adjust] = field(default_factory=list[Adjust])
    jam: Callable[[BlockLowering, Sequence[Env]], None] | None = None
    others: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    keeps: bool = False
    dealt: Dealt | None = None


def result_buffer(scope: KernelScope, binder: Var, space: Space, suffix: str = "") -> Buffer:
    """A buffer with a binder's dtype and shape; a scalar has one element."""
    name = scope.names.fresh((binder.name or "result") + suffix)
    if isinstance(binder.type, Scalar):
        return Buffer(name, binder.type.dtype, ONE, space)
    return Buffer(name, binder.type.element.dtype, host_shape(binder.type.shape), space)


def result_and_state(scope: KernelScope, binder: Var, reducer: Reducer) -> tuple[Buffer, Buffer]:
    """What the binder gets, and the partial results: another buffer for float32 sums, which are
    kept in float64."""
    state = result_buffer(scope, binder, Space.STATE)
    if not sums_wide(reducer):
        return state, state
    name = scope.names.fresh(f"{state.name}_sum")
    return replace(state, space=Space.OUTPUT), replace(state, name=name, dtype=np.dtype("f8"))


def reduce_frame(
    scope: KernelScope, stmt: Stmt, reducer: Reducer, binders: tuple[Var, ...]
) -> tuple[Part, tuple[Buffer, ...], Local | None]:
    """A reduction's part without its steps: the buffer of each component's partial results, and
    the local that says whether there was a value, for a reducer without identity."""
    pairs = [result_and_state(scope, binder, reducer) for binder in binders]
    results, state = tuple(r for r, _ in pairs), tuple(s for _, s in pairs)
    finish = Finish.STATE if results == state else Finish.CONVERTED
    part = Part(Output(finish, binders, results, state), lambda b, indices: None)
    met = None
    if reducer.identity is None:
        seen = Buffer(scope.names.fresh("seen_state"), TRUTH, ONE, Space.STATE)
        part.output = replace(part.output, state=(*state, seen))
        met = Local(scope.names.fresh("seen"), TRUTH)
        add_seen(part, stmt, reducer, met, seen)
    with_state(scope, part, reducer, binders, state, 0)
    if results != state:
        part.finish.append(lambda b: b.out.append(Merge(results[0], state[0])))
    return part, state, met


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
