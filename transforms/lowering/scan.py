"""Scans: results in the order of the indices, in a parallel loop and inside of another loop.

A chunk of a parallel loop scans alone, and keeps its total. `combine` gives each chunk the total of
those before it, and `adjust` combines that with the chunk's results, which is a pass over memory,
but no chain of dependent operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...patterns.generators import Scan
from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Var
from ...staging.types import Scalar, Type
from ..kernel_ir import (
    Buffer,
    Expr,
    Fill,
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
from .parts import Part, combine_places, result_and_state, result_buffer, state_place
from .reduce import (
    Place,
    combined,
    converted,
    copy,
    held_expr,
    hold_result,
    nest,
)
from .scan_step import extents, scan_step
from .scope import KernelScope, Stored, Uniform, integer, prim


@dataclass(frozen=True, slots=True)
class Component:
    """One component of a scan in a kernel.

    out : its results
    total : the state in which a chunk leaves what all of its values gave
    before : the state for the totals of the chunks before it
    """

    type: Type
    out: Buffer
    total: Buffer
    before: Buffer

    @property
    def place(self) -> Place:
        """The total as a place."""
        return state_place(self.total, Var(self.type))


def scan_part(scope: KernelScope, generator: Scan, binders: tuple[Var, ...]) -> Part:
    """Chunks write their part of the outputs, as if there were nothing before them."""
    reducer = generator.reducer
    components = tuple(
        component(scope, reducer, binder, param.type)
        for binder, param in zip(binders, reducer.block.params, strict=False)
    )
    running = [
        Place(Local(scope.names.fresh(c.out.name, "acc"), c.total.dtype))
        if isinstance(c.type, Scalar)
        else Place(c.total)
        for c in components
    ]
    outputs = tuple(c.out for c in components)

    def step(b: BlockLowering, indices: tuple[Expr, ...]) -> None:
        first = None
        if reducer.identity is None:
            first = prim(p.EQUAL, indices[0], scope.start)
        scan_step(b, generator, running, outputs, indices, first)

    part = Part(Output(Finish.DENSE, binders, outputs, tuple(c.total for c in components)), step)
    for k, (c, place) in enumerate(zip(components, running, strict=True)):
        begin(part, reducer, c, place, k)
    if reducer.order is not None and reducer.order.chunks > 1:
        add_combine(scope, part, reducer, components)
        part.adjust.append(lambda b, index: adjust(b, reducer, components, index))
    return part


def component(scope: KernelScope, reducer: Reducer, binder: Var, type_: Type) -> Component:
    """The buffers of one component; float32 sums are kept in float64."""
    out = result_buffer(scope, binder, Space.OUTPUT)
    _, total = result_and_state(scope, Var(type_, f"{binder.name}_total"), reducer)
    before = replace(total, name=scope.names.fresh(f"{out.name}_before"))
    return Component(type_, out, total, before)


def begin(part: Part, reducer: Reducer, c: Component, place: Place, k: int) -> None:
    """The identity, and a scalar's way into a local and back."""
    if reducer.identity is not None:
        value = Literal(reducer.identity[k].value.astype(c.total.dtype))
        part.init.append(lambda b: b.out.append(Fill(c.total, value)))
    if isinstance(place.target, Local):
        local, zero = place.target, (integer(0),)
        part.before.append(lambda b: b.out.append(Let(local, Load(c.total, zero))))
        part.after.append(lambda b: b.out.append(Store(c.total, zero, local)))


def add_combine(
    scope: KernelScope, part: Part, reducer: Reducer, components: Sequence[Component]
) -> None:
    """What stands before another chunk is the total up to here, which then takes its total in."""
    others = {
        s: replace(s, name=scope.names.fresh(f"other_{s.name}"))
        for c in components
        for s in (c.total, c.before)
    }
    part.others = others
    part.output = replace(part.output, state=tuple(others))

    def combine(b: BlockLowering) -> None:
        for c in components:
            b.out.append(Merge(others[c.before], c.total))
        sources = [state_place(others[c.total], Var(c.type)) for c in components]
        combine_places(b, reducer, [c.place for c in components], sources, 0)

    part.combine.append(combine)


def adjust(
    b: BlockLowering, reducer: Reducer, components: Sequence[Component], index: Local
) -> None:
    """The results at one index, after what stands before the chunk."""
    primitive = scalar_primitive(reducer) if len(components) == 1 else None
    if primitive is not None:
        (c,) = components
        before = state_place(c.before, Var(c.type))

        def one(at: tuple[Expr, ...]) -> None:
            here = (index, *at)
            new = combined(primitive, before.read(at), Load(c.out, here))
            b.out.append(Store(c.out, here, converted(new, c.out.dtype)))

        nest(b, extents(b, c.type), one)
        return
    params, width = reducer.block.params, reducer.width
    for k, c in enumerate(components):
        first, second = params[k], params[width + k]
        if isinstance(c.type, Scalar):
            b.env[first] = Uniform(Load(c.before, (integer(0),)))
            b.env[second] = Uniform(held_expr(b, Load(c.out, (index,)), second.name))
        else:
            b.env[first] = Stored(c.before)
            b.env[second] = Stored(c.out, prefix=(index,))
    b.block(reducer.block)
    places = [Place(c.out, (index,)) for c in components]
    new = [hold_result(b, r, k, places) for k, r in enumerate(reducer.block.operands)]
    for place, value, c in zip(places, new, components, strict=True):
        if isinstance(value, Uniform):
            b.out.append(place.write(converted(value.expr, place.dtype)))
        else:
            copy(b, place, Place(value.buffer, value.prefix), extents(b, c.type))
