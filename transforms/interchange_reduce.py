"""Column-to-Row Reduce: a reduction for every column becomes one reduction over rows."""

from __future__ import annotations

from collections.abc import Iterator

from ..patterns.generators import Collect, MultiLoop, Reduce
from ..patterns.reducers import scalar_primitive
from ..staging.decisions import decide, decline
from ..staging.nodes import Index, Program, Stmt
from ..staging.replay import replay_program
from ..staging.traversal import walk_stmts
from .analyses.definitions import Definitions, define
from .analyses.nest import Nest
from .analyses.ranges import Ranges
from .analyses.uses import Around, find_uses
from .hoist_reduction import Hoist, HoistReductions
from .merge_loops import merged_sources, name_of


def interchange_reduce(program: Program) -> Program:
    """Interchanges a map over columns with the reductions over rows inside of it.

    DMLL's Column-to-Row Reduce rule. The rows are read in the order in which they lie in memory,
    and the reduction can merge with others over the same rows. What does not depend on the column
    is computed once for each row. Every element combines its values in the same order as before.

    Before:
        program f(n, d; x: f64[n, d], y: f64[n]) {
          g: f64[d] = loop (j < d) {
            s: f64 = loop (i < n) {
              a: f64 = x[i, j]
              b: f64 = y[i]
              v: f64 = a * b
              reduce sum (v)
            }
            collect s
          }
          return g
        }

    After:
        program f(n, d; x: f64[n, d], y: f64[n]) {
          s: f64[d] = loop (i < n) {
            b: f64 = y[i]
            t1: f64[d] = loop (j < d) {
              a: f64 = x[i, j]
              v: f64 = a * b
              collect v
            }
            reduce sum (t1)
          }
          g: f64[d] = loop (j < d) {
            t2: f64 = s[j]
            collect t2
          }
          return g
        }

    Requires: a reducer with an identity, made of one primitive; a condition that does not depend on
    the column; reads that run along a row when the column's index moves.
    Does not: interchange inside of another loop (there the sum stays in a register), unless over
    what a filter keeps; interchange where some read runs along a row already.
    """
    definitions = define(program)
    plan = list(_plan(program, definitions))
    if not plan:
        return program
    return replay_program(program, lambda builder: HoistReductions(builder, definitions, plan))


def _plan(program: Program, definitions: Definitions) -> Iterator[Hoist]:
    around = find_uses(program).around
    hoisted: set[Stmt] = set()
    for outer in walk_stmts(program.body):
        if not isinstance(outer.op, MultiLoop):
            continue
        inside = any(f.kind is Around.LOOP for f in around[outer])
        for inner in outer.op.body.stmts:
            if not isinstance(inner.op, MultiLoop):
                continue
            nest = Nest(outer, inner, definitions)
            found = [
                hoist
                for k in range(len(inner.op.generators))
                if (hoist := _match(outer, inner, k, nest, inside, hoisted)) is not None
            ]
            yield from found
            if len(found) == len(inner.op.generators):
                hoisted.add(inner)


def _match(
    outer: Stmt, inner: Stmt, position: int, nest: Nest, inside: bool, hoisted: set[Stmt]
) -> Hoist | None:
    reduce = nest.inner.generators[position]
    if not isinstance(reduce, Reduce) or reduce.reducer.width != 1:
        return None
    (value,) = reduce.value.operands
    rows = nest.outer_positions(value)
    if not rows:
        return None
    conds = () if reduce.cond is None else (reduce.cond,)
    hoist = Hoist(outer, inner, position, (), conds, value, rows)
    sources = merged_sources((outer, inner))
    reason = _why_not(hoist, nest, inside, hoisted)
    id = f"interchange_reduce.{name_of(inner)}"
    if reason is not None:
        decline(id, reason, sources)
        return None
    why = "the reads run along rows when the outer index moves fastest"
    return hoist if decide(id, True, (True, False), why, sources, neutral=False) else None


def _why_not(hoist: Hoist, nest: Nest, inside: bool, hoisted: set[Stmt]) -> str | None:
    reason = nest.why_not(hoist.reduce)
    if reason is not None:
        return reason
    if inside and not _over_filter(nest):
        return "inside another loop the reduction stays in a register"
    if any(nest.outer_positions(c) for c in hoist.conds):
        return "the condition depends on the outer loop's index"
    if nest.unsafe(hoist.conds, Ranges(nest.definitions)):
        return "the condition may fault, and the outer loop may run zero times"
    if scalar_primitive(hoist.reduce.reducer) is None:
        return "the reducer has no elementwise form"
    if nest.repeats(hoist.value, hoisted):
        return "the value's computation in the outer loop would be repeated for every row"
    if not _runs_along_rows(nest):
        return "the reads do not run along rows when the outer index moves fastest"
    return None


def _over_filter(nest: Nest) -> bool:
    """Whether the inner loop runs over what a filter keeps: interchanged, it merges with it."""
    source = nest.definitions.source(nest.inner.domain[0])
    return source is not None and isinstance(source.generator, Collect)


def _runs_along_rows(nest: Nest) -> bool:
    """Whether reads with both loops' indices have the inner loop's in front: all, at least one."""
    outer, inner = set(nest.outer.body.params), set(nest.inner.body.params)
    found = False
    for stmt in walk_stmts(nest.inner.body):
        if not isinstance(stmt.op, Index):
            continue
        axes = [nest.depends(i) for i in stmt.op.indices]
        rows = [k for k, axis in enumerate(axes) if axis & inner]
        columns = [k for k, axis in enumerate(axes) if axis & outer]
        if rows and columns:
            if min(columns) < max(rows):
                return False
            found = True
    return found
