"""Elements of an array are computed anew where they are read: the array need not be stored."""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import Collect, MultiLoop
from ..staging.builder import Builder
from ..staging.dataclass import dataclass
from ..staging.decisions import decide, decline
from ..staging.nodes import ORDERED, Bounds, Cast, Index, Operand, Program, Stmt, Var
from ..staging.replay import replay_program
from ..staging.traversal import effects
from ..staging.types import Array
from .analyses.costs import cost
from .analyses.definitions import Definitions, Source, bound_inside, define
from .analyses.demand import Demand
from .analyses.ranges import Ranges
from .analyses.uses import Around, Frame, Use, Uses, find_uses
from .merge_loops import name_of
from .trampoline import Steps, run

TRIVIAL = 1  # additions that may be repeated for every read: what a load costs
REPEATED = 8  # additions that the reads of an element may repeat in all, where each reads it once


def recompute_elements(program: Program) -> Program:
    """Replaces reads of an array by the element's computation, where that beats storing the array.

    It does when an element costs no more than a load, or when no loop around the read repeats it
    (so the work stays the same: the simplest vertical fusion, at any index inside the array).

    Before:
        program f(n; x: f64[n]) {
          b: f64[n] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = v * 2.0_f64
            collect w
          }
          m: i64~ = n - 1
          c: f64[m] = loop (i < m) {
            j: i64~ = i + 1
            v: f64 = b[j]
            w: f64 = sqrt(v)
            collect w
          }
          return c
        }

    After:
        program f(n; x: f64[n]) {
          m: i64~ = n - 1
          c: f64[m] = loop (i < m) {
            j: i64~ = i + 1
            v: f64 = x[j]
            w: f64 = v * 2.0_f64
            w_2: f64 = sqrt(w)
            collect w_2
          }
          return c
        }

    Requires: all uses of the array are reads inside its bounds.
    Does not: touch filters; remove, of a loop with several results, those that nobody reads any
    more (eliminate_dead_code does).
    """
    definitions = define(program)
    arrays = recomputed(definitions, find_uses(program))
    if not arrays:
        return program
    return replay_program(program, lambda builder: _Recompute(builder, definitions, arrays))


class _Recompute(Demand):
    def __init__(
        self, builder: Builder, definitions: Definitions, arrays: dict[Var, Source]
    ) -> None:
        super().__init__(builder, definitions)
        self.arrays = arrays

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        found: Sequence[Operand] | None = run(self.replacing(stmt))
        return found

    def replacing(self, stmt: Stmt) -> Steps:
        op = stmt.op
        if isinstance(op, MultiLoop) and self.arrays.keys() >= set(stmt.binders):
            return stmt.binders  # nothing reads them any more: the loop is dropped
        if not isinstance(op, Index) or not isinstance(op.array, Var):
            return None
        source = self.arrays.get(op.array)
        if source is None:
            return None
        indices = tuple(self.operand(i) for i in op.indices)
        value = yield self._element(source, indices, op)
        # A Collect stores strong scalars.
        assert isinstance(op.array.type, Array)
        return self.builder.emit(Cast(value, op.array.type.element), (), stmt.sources)

    def _element(self, source: Source, indices: tuple[Operand, ...], read: Index) -> Steps:
        """The element at `indices`, computed in the innermost open block."""
        with self.env.scope():
            params = source.loop.body.params
            self.env.forget(bound_inside(source.loop.body))
            self.env.bind(zip(params, indices, strict=False))
            (value,) = source.generator.value.operands
            rest = indices[len(params) :]
            row = self.definitions.source(value) if rest else None
            if row is not None and set(row.stmt.binders) <= bound_inside(source.loop.body):
                return (yield self._element(row, rest, read))
            result = yield self.demanding(value)
            if rest:
                (result,) = self.builder.emit(Index(result, rest, read.bounds))
            return result


def recomputed(definitions: Definitions, uses: Uses) -> dict[Var, Source]:
    """The arrays to recompute, each with the generator that says how."""
    choice = _Choice(definitions, uses)
    for array in definitions.stmts:
        source = definitions.source(array)
        if source is None or not isinstance(source.generator, Collect):
            continue
        if source.generator.cond is None and choice.worth_it(array, source):
            choice.found[array] = source
    return choice.found


@dataclass(frozen=True, slots=True)
class _Work:
    """The statements that compute one element; `shared` are the same for all of its row."""

    stmts: tuple[Stmt, ...]
    shared: tuple[Stmt, ...] = ()


class _Choice:
    """Decides array by array, producers first: what they cost counts where they are recomputed."""

    def __init__(self, definitions: Definitions, uses: Uses) -> None:
        self.definitions = definitions
        self.uses = uses
        self.ranges = Ranges(definitions)
        self.found: dict[Var, Source] = {}
        self.costs: dict[Var, int] = {}

    def worth_it(self, array: Var, source: Source) -> bool:
        """Whether to compute the array's elements where they are read."""
        reads = self.uses.of(array)
        if not reads or not all(self._inside(u) for u in reads):
            return False
        work = None if effects(source.loop) & ORDERED else self._work(source)
        if work is None:
            return False
        additions = self.costs[array] = self._cost(work.stmts)
        id, sources = f"recompute_elements.{name_of(source.stmt)}", source.stmt.sources
        if additions <= TRIVIAL:
            reason = "an element costs no more than loading it"
            return decide(id, True, (True, False), reason, sources, neutral=False)
        around = self.uses.around[source.stmt]
        if len(source.loop.generators) > 1 or not all(_once(u, around) for u in reads):
            return False
        if self._cost(work.shared) > TRIVIAL:
            decline(id, "all elements of a row share work", sources)
            return False
        if additions * (len(reads) - 1) > REPEATED:
            where = f"it is read in {len(reads)} places and costs {additions} additions an element"
            decline(id, where, sources)
            return False
        reason = "no loop reads an element twice"
        return decide(id, True, (True, False), reason, sources, neutral=False)

    def _inside(self, use: Use) -> bool:
        """Whether the use is a read that cannot be outside of the array."""
        if use.read is None:
            return False
        return use.read.bounds is Bounds.PROVEN or self.ranges.index_inside(use.read)

    def _cost(self, stmts: tuple[Stmt, ...]) -> int:
        """The additions, one load not counted; a recomputed array's element costs its own work."""
        total = loads = 0
        for stmt in stmts:
            read = stmt.op.array if isinstance(stmt.op, Index) else None
            if read in self.found:
                total += self.costs[read]  # type: ignore[index]
            else:
                total += cost(stmt.op)
                loads += read is not None
        return total - min(loads, 1)

    def _work(self, source: Source) -> _Work | None:
        """What one element needs; None when it cannot be had without its row."""
        (value,) = source.generator.value.operands
        inside = bound_inside(source.loop.body)
        if not isinstance(value.type, Array) or value not in inside:
            return _Work(tuple(self._needed((value,), inside)))
        row = self.definitions.source(value)
        if row is None or not isinstance(row.generator, Collect) or row.generator.cond is not None:
            return None
        work = self._work(row)
        if work is None:
            return None
        own = bound_inside(row.loop.body)
        outer = [n for s in work.stmts for n in self.definitions.needs(s) if n not in own]
        shared = (*self._needed(outer, inside), *work.shared)
        return _Work((*work.stmts, *shared), shared)

    def _needed(self, operands: Sequence[Operand], inside: set[Var]) -> list[Stmt]:
        """The statements inside that compute the operands."""
        found: dict[Stmt, None] = {}
        pending = list(operands)
        while pending:
            stmt = self.definitions.stmt(pending.pop())
            if stmt is not None and stmt not in found and inside.issuperset(stmt.binders):
                found[stmt] = None
                pending.extend(self.definitions.needs(stmt))
        return list(found)


def _once(use: Use, around: tuple[Frame, ...]) -> bool:
    """Whether the loops between the array and the read never read an element twice: all of their
    indices are indices of the read."""
    assert use.read is not None
    between = use.frames[len(around) :]
    if any(f.kind is Around.REPEAT for f in between):
        return False
    return {i for f in between for i in f.indices} <= set(use.read.indices)
