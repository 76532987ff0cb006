"""Conditional-Reduce: a reduction for every key becomes one pass that sorts values by key."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..patterns.generators import MultiLoop, Reduce
from ..patterns.reducers import scalar_primitive
from ..staging.decisions import decide, decline
from ..staging.nodes import Apply, Cast, Const, Operand, Program, Stmt, Var
from ..staging.primitives import ADD, EQUAL, SELECT
from ..staging.replay import replay_program
from ..staging.traversal import walk_stmts
from ..staging.types import I64, Array, Scalar, Type
from .analyses.conjuncts import conjuncts
from .analyses.definitions import Definitions, define
from .analyses.nest import Nest
from .analyses.ranges import Ranges, keeps_values
from .hoist_reduction import Hoist, HoistReductions, Key
from .merge_loops import merged_sources, name_of


def reduce_conditionally(program: Program) -> Program:
    """Turns reductions under `key == j`, repeated for every j of a range, into one Fold by key.

    DMLL's Conditional-Reduce rule. The range may be one of several outer indices: the others become
    dimensions of the value. A sum of `select(key == j, v, 0)` counts as a sum of v under the
    condition (for floats up to the sign of a zero sum, which the semantics leave free). The values
    of one key combine in index order as before: neither associativity nor commutativity is needed.

    Before:
        program f(n, k; x: f64[n], key: i64[n], r: f64[k]) {
          ys: f64[k] = loop (j < k) {
            s: f64 = loop (i < n) {
              l: i64 = key[i]
              own: i64 = j as i64
              c: bool = l == own
              where c: reduce sum {
                v: f64 = x[i]
                yield v
              }
            }
            collect s
          }
          return ys
        }

    After:
        program f(n, k; x: f64[n], key: i64[n], r: f64[k]) {
          s: f64[k] = loop (i < n) {
            l: i64 = key[i]
            t1: i64~ = l as i64~
            t2: bool = t1 >= 0
            t3: bool = t1 < k
            t4: bool = t2 and t3
            where t4: fold sum into [k] {
              v: f64 = x[i]
              yield t1: v
            }
          }
          ys: f64[k] = loop (j < k) {
            t5: f64 = s[j]
            collect t5
          }
          return ys
        }

    Requires: an integer key that does not depend on j, computed by work that may run even if there
    is no j; a reducer with an identity; a value that does not depend on j. A key that is not
    provably in the range is tested for it.
    Does not: use float keys (nan and -0.0 do not compare by their bits).
    """
    definitions = define(program)
    plan = list(_plan(program, definitions))
    if not plan:
        return program
    return replay_program(program, lambda builder: HoistReductions(builder, definitions, plan))


def _plan(program: Program, definitions: Definitions) -> Iterator[Hoist]:
    hoisted: set[Stmt] = set()
    for outer in walk_stmts(program.body):
        if not isinstance(outer.op, MultiLoop):
            continue
        for inner in outer.op.body.stmts:
            if not isinstance(inner.op, MultiLoop):
                continue
            search = _Search(outer, inner, definitions, hoisted)
            found = [h for h in map(search.generator, range(len(inner.op.generators))) if h]
            yield from found
            if len(found) == len(inner.op.generators):
                hoisted.add(inner)


class _Search:
    """Matches the generators of one inner loop."""

    def __init__(
        self, outer: Stmt, inner: Stmt, definitions: Definitions, hoisted: set[Stmt]
    ) -> None:
        self.outer, self.inner = outer, inner
        self.definitions = definitions
        self.ranges = Ranges(definitions)
        self.nest = Nest(outer, inner, definitions)
        self.hoisted = hoisted

    def generator(self, position: int) -> Hoist | None:
        """The hoist of one generator; None, with the reason recorded, where there is none."""
        reduce = self.nest.inner.generators[position]
        if not isinstance(reduce, Reduce) or reduce.reducer.width != 1:
            return None
        cond, value = self._selected(reduce)
        keys: dict[int, Key] = {}
        others: list[Operand] = []
        for part in conjuncts(cond, self.definitions):
            key = self._key(part)
            if key is None or key.position in keys:
                others.append(part)
            else:
                keys[key.position] = key
        if not keys:
            return None
        selected = tuple(keys[k] for k in sorted(keys))
        rows = tuple(k for k in self.nest.outer_positions(value) if k not in keys)
        hoist = Hoist(self.outer, self.inner, position, selected, tuple(others), value, rows)
        sources = merged_sources((self.outer, self.inner))
        reason = self._why_not(hoist)
        id = f"reduce_conditionally.{name_of(self.inner)}"
        if reason is not None:
            decline(id, reason, sources)
            return None
        tested = "" if all(k.proven for k in selected) else ", tested against the range"
        why = f"the key selects the index of the outer loop{tested}: one pass serves all keys"
        return hoist if decide(id, True, (True, False), why, sources, neutral=False) else None

    def _selected(self, reduce: Reduce) -> tuple[Operand | None, Operand]:
        """The condition and the value; a sum of select(c, v, 0) is a sum of v where c holds."""
        (value,) = reduce.value.operands
        stmt = self.definitions.stmt(value)
        if reduce.cond is not None or stmt is None:
            return reduce.cond, value
        if scalar_primitive(reduce.reducer) is not ADD or isinstance(value.type, Array):
            return None, value
        if isinstance(stmt.op, Apply) and stmt.op.primitive is SELECT:
            cond, chosen, other = stmt.op.args
            if isinstance(other, Const) and not other.value:
                return cond, chosen
        if isinstance(stmt.op, Cast) and stmt.op.arg.type.dtype.kind == "b":  # type: ignore[union-attr]
            return stmt.op.arg, Const(1, stmt.op.to)
        return None, value

    def _key(self, part: Operand) -> Key | None:
        """`key == j` for an outer index j."""
        stmt = self.definitions.stmt(part)
        if stmt is None or not isinstance(stmt.op, Apply) or stmt.op.primitive is not EQUAL:
            return None
        for index, key in (stmt.op.args, stmt.op.args[::-1]):
            found = self._outer_index(index)
            if found is None:
                continue
            key = self._plain(key)
            assert isinstance(key.type, Scalar)
            extent = self.nest.outer.domain[found]
            proven = key.type.dtype.kind in "biu" and self.ranges.inside(key, extent)
            return Key(found, key, proven)
        return None

    def _outer_index(self, operand: Operand) -> int | None:
        """The position of the outer index that the operand is, perhaps cast."""
        plain, narrowest = operand, operand.type
        stmt = self.definitions.stmt(plain)
        while stmt is not None and isinstance(stmt.op, Cast):
            plain = stmt.op.arg
            narrowest = min(narrowest, plain.type, key=_greatest)
            stmt = self.definitions.stmt(plain)
        params = self.nest.outer.body.params
        if not isinstance(plain, Var) or plain not in params:
            return None
        position = params.index(plain)
        extent = self.nest.outer.domain[position]
        known = int(extent.value.item()) if isinstance(extent, Const) else _greatest(I64)
        # A narrower integer wraps: two indices would have one key.
        return position if known - 1 <= _greatest(narrowest) else None

    def _plain(self, operand: Operand) -> Operand:
        """The operand before casts that keep every value."""
        stmt = self.definitions.stmt(operand)
        while stmt is not None and isinstance(stmt.op, Cast) and keeps_values(stmt.op):
            operand = stmt.op.arg
            stmt = self.definitions.stmt(operand)
        return operand

    def _why_not(self, hoist: Hoist) -> str | None:
        nest = self.nest
        reason = nest.why_not(hoist.reduce)
        if reason is not None:
            return reason
        keys = [k.operand for k in hoist.keys]
        for key in keys:
            assert isinstance(key.type, Scalar)
            if key.type.dtype.kind not in "biu":
                return "the key is no integer: nan and -0.0 do not compare by their bits"
        if any(nest.outer_positions(o) for o in (*keys, *hoist.conds)):
            return "the key or the condition depends on the outer loop's index"
        selected = {k.position for k in hoist.keys}
        if selected & set(nest.outer_positions(hoist.value)):
            return "the value depends on the outer loop's index"
        if nest.unsafe((*keys, *hoist.conds), self.ranges):
            return "the key's computation may fault, and the outer loop may run zero times"
        if hoist.rows and scalar_primitive(hoist.reduce.reducer) is None:
            return "the reducer has no elementwise form"
        if nest.repeats(hoist.value, self.hoisted):
            return "the value's computation in the outer loop would be repeated"
        return None


def _greatest(type_: Type) -> float:
    """The greatest integer that the type holds; floats decline later, with their own reason."""
    assert isinstance(type_, Scalar)
    integer = type_.dtype.kind in "iu"
    return float(np.iinfo(type_.dtype.name).max) if integer else float("inf")
