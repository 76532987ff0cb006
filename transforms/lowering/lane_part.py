"""The parallel loop over lanes: its reductions as parts, and the chunk's blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...patterns.generators import MultiLoop, Reduce
from ...staging import primitives as p
from ...staging.nodes import Stmt, Var
from ..kernel_ir import Assign, Expr, Let, Literal, Local, Store
from .block import BlockLowering
from .lanes import Dealt, deal, dealt, independent, primitive_of
from .parts import Part, reduce_frame
from .reduce import Place, blend, combined
from .scope import KernelScope, Uniform, integer, prim


def lane_part(
    scope: KernelScope,
    stmt: Stmt,
    generator: Reduce,
    binders: tuple[Var, ...],
    lanes: int,
) -> Part:
    """The part of a parallel loop's reduction: totals in locals, a block at a time by lanes."""
    reducer = generator.reducer
    part, state, seen = reduce_frame(scope, stmt, reducer, binders)
    totals = [
        Local(scope.names.fresh(v.name, "acc"), s.dtype)
        for v, s in zip(binders, state, strict=True)
    ]
    d = dealt(scope, generator, [t.name for t in totals], [t.dtype for t in totals], lanes)
    part.dealt = d
    places = [Place(t) for t in totals]

    def before(b: BlockLowering) -> None:
        for total, start in zip(totals, d.start, strict=False):
            b.out.append(Let(total, Literal(start)))

    def close_block(b: BlockLowering) -> None:
        found = [d.result(k) for k in range(reducer.width)]
        if not independent(reducer):
            blend(b, reducer, places, found, None)
        else:
            for k, (place, value) in enumerate(zip(places, found, strict=True)):
                b.out.append(place.write(combined(primitive_of(reducer, k), place.read(), value)))
        if seen is not None:
            met = d.result(reducer.width) if d.seen else prim(p.LESS, scope.start, scope.stop)
            b.out.append(Assign(seen, prim(p.LOGICAL_OR, seen, met)))

    def after(b: BlockLowering) -> None:
        for total, buffer in zip(totals, state, strict=True):
            b.out.append(Store(buffer, (integer(0),), total))

    part.before.append(before)
    part.after.append(after)
    part.close_block.append(close_block)
    return part


def lanes_loop(
    b: BlockLowering, op: MultiLoop, parts: Sequence[Part], span: tuple[Expr, Expr]
) -> None:
    """One block of indices over lanes: the reductions, and the arrays beside them."""
    (param,) = op.body.params
    reductions = [q.dealt for q in parts if q.dealt is not None]

    def body(inner: BlockLowering, index: Expr, step: Callable[[Dealt], None]) -> None:
        inner.env[param] = Uniform(index)
        inner.block(op.body)
        for part in parts:
            if part.dealt is None:
                part.step(inner, (index,))
            else:
                step(part.dealt)

    deal(b, span, reductions, body)
