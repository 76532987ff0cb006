"""Several loops over one domain replayed as one loop: the step that both fusions share.

    xs = loop (i < n) { collect f(i) }
    s = loop (j < n) { v = xs[j]; reduce + v }
      becomes
    xs, s = loop (i < n) { a = f(i); collect a; reduce + a }

The loops' indices become one, their preludes one after the other (equal work is shared by the
builder), their generators all stay. Inside, an element of an earlier member that a later one reads
at its own index is the value itself. Who no longer reads the array is for simplify to find out.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import Collect, MultiLoop, binder_slices, canonical
from ..staging.builder import Builder
from ..staging.dataclass import dataclass
from ..staging.locations import Location
from ..staging.nodes import Cast, Fact, Index, Node, Operand, Stmt, Var
from ..staging.types import Array
from .analyses.definitions import Definitions, loop_of
from .analyses.demand import Demand


@dataclass(frozen=True, slots=True)
class Member:
    """A loop to be merged: its statement, and the loop as it takes part (perhaps peeled)."""

    stmt: Stmt
    loop: MultiLoop


@dataclass(frozen=True, slots=True)
class Element:
    """The element of an array at the indices of the loop that is being built."""

    indices: tuple[Operand, ...]
    value: Operand


class MergeLoops(Demand):
    """Replays with `merge`; reads of merged producers become their values."""

    def __init__(self, builder: Builder, definitions: Definitions) -> None:
        super().__init__(builder, definitions)
        self.elements: dict[Var, Element] = {}

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        if isinstance(stmt.op, Index):
            value = self.element(stmt.op, stmt.sources)
            return None if value is None else (value,)
        return None

    def element(self, op: Index, sources: tuple[Location, ...]) -> Operand | None:
        """What a read of a merged producer at the loop's own indices gives; None for others."""
        found = self.elements.get(op.array) if isinstance(op.array, Var) else None
        indices = tuple(self.operand(i) for i in op.indices)
        if found is None or indices[: len(found.indices)] != found.indices:
            return None
        return self.read(found.value, indices[len(found.indices) :], op, sources)

    def read(
        self,
        value: Operand,
        rest: tuple[Operand, ...],
        op: Index,
        sources: tuple[Location, ...],
    ) -> Operand:
        """An element as the array would have held it; `rest` indexes into an array value."""
        if rest:
            (value,) = self.builder.emit(Index(value, rest, op.bounds), (), sources)
        assert isinstance(op.array.type, Array)
        (value,) = self.builder.emit(Cast(value, op.array.type.element), (), sources)
        return value

    def merge(self, members: Sequence[Member]) -> None:
        """Emits the members as one loop and binds all their results."""
        elements = dict(self.elements)
        first = members[0].loop
        domain = tuple(self.operand(d) for d in first.domain)
        with self.env.scope():
            indices = self.fresh(first.body.params)
            self.builder.open(indices)
            for member in members:
                self.env.bind(zip(member.loop.body.params, indices, strict=True))
            generators = self.bodies(members, indices)
        loop = canonical(MultiLoop(domain, self.builder.close(generators)))
        self.elements = elements
        stmts = [m.stmt for m in members]
        self.emit_as(loop, stmts)

    def bodies(
        self, members: Sequence[Member], indices: tuple[Operand, ...]
    ) -> list[Operand | Node]:
        """Replays the bodies one after the other, into the open loop over `indices`."""
        return [g for member in members for g in self._member(member, indices)]

    def _member(self, member: Member, indices: tuple[Operand, ...]) -> tuple[Operand | Node, ...]:
        """Replays one body; its unconditional arrays become known element by element."""
        body = member.loop.body
        self.run(body)
        results = self.results(body)
        slices = binder_slices(member.loop.generators, member.loop.domain)
        for result, part in zip(results, slices, strict=True):
            if isinstance(result, Collect) and result.cond is None and not result.value.stmts:
                (array,) = member.stmt.binders[part]
                self.elements[array] = Element(indices, result.value.operands[0])
        return results

    def emit_as(self, loop: MultiLoop, stmts: Sequence[Stmt]) -> None:
        """Emits the loop whose results are those of the statements, in order."""
        binders = tuple(b for s in stmts for b in s.binders)
        names = tuple(b.name for b in binders)
        facts: tuple[frozenset[Fact], ...] = tuple(b.facts for b in binders)
        found = self.builder.emit(loop, names, merged_sources(stmts), facts)
        self.env.bind(zip(binders, found, strict=True))


def merged_sources(stmts: Sequence[Stmt]) -> tuple[Location, ...]:
    """The user's lines of all statements, each once."""
    return tuple(dict.fromkeys(place for s in stmts for place in s.sources))


def name_of(*stmts: Stmt) -> str:
    """What a decision is about, in the user's names: "label", "label_total"; a loop without a name
    is its generator at its line: "reduce@12"."""
    return "_".join(map(_one_name, stmts))


def _one_name(stmt: Stmt) -> str:
    named = next((b.name for b in stmt.binders if b.name), "")
    if named:
        return named
    kind = type(loop_of(stmt).generators[0]).__name__.lower()
    return f"{kind}@{stmt.sources[0].line}" if stmt.sources else kind
