"""Elements of an array are computed anew where they are read: the array need not be stored."""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import Collect
from ..staging.builder import Builder
from ..staging.decisions import decide, decline
from ..staging.nodes import ORDERED, Apply, Bounds, Cast, Index, Operand, Program, Stmt, Var
from ..staging.replay import replay_program
from ..staging.traversal import effects
from ..staging.types import Array
from .costs import cost
from .definitions import Definitions, Source, bound_inside, define
from .demand import Demand, needs
from .merge_loops import name_of
from .ranges import Ranges
from .uses import Around, Frame, Use, Uses, find_uses

TRIVIAL = 1  # additions that may be repeated for every read: what a load costs
REPEATED = 8  # additions that the reads of an element may repeat in all, where each reads it once


def recompute_elements(program: Program) -> Program:
    """Replaces reads of an array by the element's computation, where that beats storing the array.

    It does when an element costs no more than a load, or when no loop around the read repeats it
    (so the work stays the same: the simplest vertical fusion, at any index inside the array).

    Before:
        b = loop (i < n) { v = x[i]; w = v * 2.0; collect w }
        c = loop (i < m) { j = i + 1; v = b[j]; w = sqrt(v); collect w }
    After:
        b = loop (i < n) { v = x[i]; w = v * 2.0; collect w }
        c = loop (i < m) { j = i + 1; v = x[j]; u = v * 2.0; w = sqrt(u); collect w }

    Requires: all uses of the array are reads inside its bounds.
    Does not: remove the loop that nobody reads any more (simplify does); touch filters.
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
        op = stmt.op
        if not isinstance(op, Index) or not isinstance(op.array, Var):
            return None
        source = self.arrays.get(op.array)
        if source is None:
            return None
        value = self._element(source, tuple(self.operand(i) for i in op.indices), op, stmt)
        # A Collect stores strong scalars.
        assert isinstance(op.array.type, Array)
        return self.builder.emit(Cast(value, op.array.type.element), (), stmt.sources)

    def _element(
        self, source: Source, indices: tuple[Operand, ...], read: Index, stmt: Stmt
    ) -> Operand:
        """The element at `indices`, computed in the innermost open block."""
        outside = dict(self.env)
        for var in bound_inside(source.loop.body):
            self.env.pop(var, None)
        params = source.loop.body.params
        self.env.update(zip(params, indices, strict=False))
        (value,) = source.generator.value.operands
        rest = indices[len(params) :]
        row = self.definitions.source(value) if rest else None
        if row is not None and set(row.stmt.binders) <= bound_inside(source.loop.body):
            result = self._element(row, rest, read, stmt)
        elif rest:
            (result,) = self.builder.emit(Index(self.demand(value), rest, read.bounds))
        else:
            result = self.demand(value)
        self.env = outside
        return result


def recomputed(definitions: Definitions, uses: Uses) -> dict[Var, Source]:
    """The arrays to recompute, each with the generator that says how."""
    ranges = Ranges(definitions)
    found: dict[Var, Source] = {}
    for array in definitions.stmts:
        source = definitions.source(array)
        if source is None or not isinstance(source.generator, Collect):
            continue
        if source.generator.cond is None and uses.of(array):
            if _worth_it(array, source, definitions, uses, ranges):
                found[array] = source
    return found


def _worth_it(
    array: Var, source: Source, definitions: Definitions, uses: Uses, ranges: Ranges
) -> bool:
    reads = uses.of(array)
    if effects(source.loop) & ORDERED or not all(_inside(u, ranges) for u in reads):
        return False
    work = element_cost(source, definitions)
    if work is None:
        return False
    id, sources = f"recompute_elements.{name_of(source.stmt)}", source.stmt.sources
    if work <= TRIVIAL:
        reason = "an element costs no more than loading it"
        return decide(id, True, (True, False), reason, sources, neutral=False)
    around = uses.around[source.stmt]
    if len(source.loop.generators) > 1 or not all(_once(u, around) for u in reads):
        return False
    if work * (len(reads) - 1) > REPEATED:
        where = f"it is read in {len(reads)} places and costs {work} additions an element"
        decline(id, where, sources)
        return False
    reason = "no loop reads an element twice"
    return decide(id, True, (True, False), reason, sources, neutral=False)


def _inside(use: Use, ranges: Ranges) -> bool:
    """Whether the use is a read that cannot be outside of the array."""
    if use.read is None:
        return False
    return use.read.bounds is Bounds.PROVEN or ranges.index_inside(use.read)


def _once(use: Use, around: tuple[Frame, ...]) -> bool:
    """Whether the loops between the array and the read never read an element twice: all of their
    indices are indices of the read."""
    assert use.read is not None
    between = use.frames[len(around) :]
    if any(f.kind is Around.REPEAT for f in between):
        return False
    return {i for f in between for i in f.indices} <= set(use.read.indices)


def element_cost(source: Source, definitions: Definitions) -> int | None:
    """The additions for one element, a load not counted; None when it cannot be had alone."""
    stmts = _element(source, definitions)
    if stmts is None:
        return None
    if all(isinstance(s.op, Apply | Cast | Index) for s in stmts):
        loads = sum(isinstance(s.op, Index) for s in stmts)
        return sum(cost(s.op) for s in stmts) - min(loads, 1)
    return sum(cost(s.op) for s in stmts)


def _element(source: Source, definitions: Definitions) -> list[Stmt] | None:
    """The statements of the loop's body that one element needs, of its row those of one element."""
    (value,) = source.generator.value.operands
    inside = bound_inside(source.loop.body)
    if not isinstance(value.type, Array) or value not in inside:
        return _needed(value, inside, definitions)
    row = definitions.source(value)
    if row is None or not isinstance(row.generator, Collect) or row.generator.cond is not None:
        return None
    inner = _element(row, definitions)
    if inner is None:
        return None
    own = bound_inside(row.loop.body)
    found = dict.fromkeys(inner)
    for stmt in inner:
        for need in needs(stmt):
            if need not in own:
                found.update(dict.fromkeys(_needed(need, inside, definitions)))
    return list(found)


def _needed(operand: Operand, inside: set[Var], definitions: Definitions) -> list[Stmt]:
    """The statements inside that compute the operand."""
    found: dict[Stmt, None] = {}
    pending: list[Operand] = [operand]
    while pending:
        stmt = definitions.stmt(pending.pop())
        if stmt is not None and stmt not in found and inside.issuperset(stmt.binders):
            found[stmt] = None
            pending.extend(needs(stmt))
    return list(found)
