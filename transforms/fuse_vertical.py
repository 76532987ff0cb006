"""A loop that produces an array becomes one loop with the loop that consumes it."""

from __future__ import annotations

from ..patterns.generators import Collect, MultiLoop
from ..staging.builder import Builder
from ..staging.dataclass import dataclass
from ..staging.decisions import decide, decline
from ..staging.nodes import ORDERED, Block, Program, Stmt
from ..staging.replay import replay_program
from ..staging.traversal import effects, free_vars, operands
from ..staging.types import Array
from .analyses.definitions import Definitions, define, loop_of
from .analyses.dependence import Dependence
from .analyses.ranges import Ranges
from .analyses.uses import Uses, find_uses
from .fuse_filter import FilterMatch, MergeFilter, match_filter
from .merge_loops import Member, merged_sources, name_of
from .peel import peel, peelable


def fuse_vertical(program: Program) -> Program:
    """Merges a producer of an array with a consumer that reads it only at its own index.

    The consumer may be a map, a reduction or a fold, and may run over the rows of what the producer
    computes (or the other way round): then the loop of higher rank becomes a loop over rows. A
    filter merges with a loop over what it keeps, its condition before the consumer's own. The
    array stays a result of the merged loop; simplify drops it if nobody else reads it.

    Before:
        program f(n; x: f64[n]) {
          b: f64[n] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = sqrt(v)
            collect w
          }
          s: f64 = loop (j < n) {
            v: f64 = b[j]
            reduce sum (v)
          }
          return s
        }

    After:
        program f(n; x: f64[n]) {
          b: f64[n], s: f64 = loop (i < n) {
            v: f64 = x[i]
            w: f64 = sqrt(v)
            collect w
            reduce sum (w)
          }
          return s
        }

    Requires: the same extents, or a filter's length; nothing between the two needs the one and is
    needed by the other.
    Does not: merge with a consumer that reads another element (it needs the whole array), or with
    the consumer of a reduction; merge loops with ordered effects; let work that may fault run where
    a filter's condition does not hold.
    """
    definitions = define(program)
    uses = find_uses(program)
    return replay_program(program, lambda builder: _FuseVertical(builder, definitions, uses))


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """A block's statements, those to be merged together, and how."""

    groups: list[tuple[Stmt, ...]]
    ranks: dict[Stmt, int]
    filters: dict[Stmt, FilterMatch]


class _FuseVertical(MergeFilter):
    def __init__(self, builder: Builder, definitions: Definitions, uses: Uses) -> None:
        super().__init__(builder, definitions)
        self.uses = uses

    def run(self, block: Block) -> None:
        found = _Arranger(block, self.definitions, self.uses).arrange()
        for group in found.groups:
            if group[-1] in found.filters:
                self.merge_filter(found.filters[group[-1]])
            elif len(group) > 1:
                self.merge([Member(s, peel(s, found.ranks[s])) for s in group])
            else:
                super().run(Block((), group, ()))


class _Arranger:
    """Finds the merges of one block, consumers in order, for each its producers in order."""

    def __init__(self, block: Block, definitions: Definitions, uses: Uses) -> None:
        self.graph = Dependence(block)
        self.definitions = definitions
        self.uses = uses
        self.ranks: dict[int, int] = {}  # of the statements that are merged
        self.filters: dict[Stmt, FilterMatch] = {}

    def arrange(self) -> _Arrangement:
        graph = self.graph
        for k, stmt in enumerate(graph.stmts):
            if not _mergeable(stmt):
                continue
            for producer in sorted(graph.needs[k]):
                if _mergeable(graph.stmts[producer]) and producer not in graph.groups[k]:
                    self._try(producer, k)
            self._try_filter(k)
        ranks = {graph.stmts[k]: rank for k, rank in self.ranks.items()}
        return _Arrangement(graph.schedule(), ranks, self.filters)

    def _try(self, producer: int, consumer: int) -> None:
        graph = self.graph
        first, second = graph.stmts[producer], graph.stmts[consumer]
        if self._filters(first, second) or not self._share_anything(first, second):
            return
        if any(graph.stmts[k] in self.filters for k in graph.groups[producer] | {consumer}):
            return  # merged with a filter in this round: the next one sees the merged loop
        id, sources = f"fuse_vertical.{name_of(first, second)}", merged_sources((first, second))
        rank = self._common_rank(producer, consumer)
        if rank is None:
            decline(id, self._why_not(first, second), sources)
            return
        if not graph.can_merge(producer, consumer, self._forwarded(producer, consumer, rank)):
            decline(id, "a statement between them needs the whole array", sources)
            return
        reason = "each element is read only where it is made"
        if decide(id, True, (True, False), reason, sources, neutral=False):
            graph.merge(producer, consumer)
            self.ranks.update(dict.fromkeys(graph.groups[consumer], rank))

    def _share_anything(self, producer: Stmt, consumer: Stmt) -> bool:
        """Whether the domains begin alike or the consumer reads an array: else a merge is no
        question."""
        if _prefix(loop_of(producer).domain, loop_of(consumer).domain):
            return True
        free = free_vars(consumer.op)
        return any(isinstance(b.type, Array) and b in free for b in producer.binders)

    def _filters(self, producer: Stmt, consumer: Stmt) -> bool:
        """Whether the consumer runs over what the producer keeps: the filter's case."""
        return loop_of(consumer).domain[0] in producer.binders

    def _common_rank(self, producer: int, consumer: int) -> int | None:
        """The number of first indices over which the two can run together."""
        graph = self.graph
        fixed = {self.ranks[k] for k in (producer, consumer) if k in self.ranks}
        first, second = graph.stmts[producer], graph.stmts[consumer]
        most = self._greatest_rank(first, second)
        for rank in range(most, 0, -1):
            if fixed <= {rank} and _has_rank(first, rank) and _has_rank(second, rank):
                return rank
        return None

    def _greatest_rank(self, producer: Stmt, consumer: Stmt) -> int:
        """The most first indices that the domains share and that all reads are made with."""
        first, second = loop_of(producer), loop_of(consumer)
        rank = _prefix(first.domain, second.domain)
        free = free_vars(second)
        used = [b for b in producer.binders if b in free]
        if any(b in operands(second) for b in used):
            return 0
        for binder in used:
            source = self.definitions.source(binder)
            assert source is not None
            if not isinstance(source.generator, Collect) or source.generator.cond is not None:
                return 0
            for use in self.uses.within(binder, consumer):
                indices = () if use.read is None else use.read.indices
                rank = min(rank, _prefix(indices, second.body.params))
        return rank

    def _forwarded(self, producer: int, consumer: int, rank: int) -> list[tuple[int, int]]:
        """The dependences between the two groups that end when the loops are one."""
        graph = self.graph
        return [
            (p, c)
            for p in graph.groups[producer]
            for c in graph.groups[consumer]
            if p in graph.needs[c] and self._greatest_rank(graph.stmts[p], graph.stmts[c]) >= rank
        ]

    def _why_not(self, producer: Stmt, consumer: Stmt) -> str:
        first, second = loop_of(producer), loop_of(consumer)
        if not _prefix(first.domain, second.domain):
            return "the loops run over different domains"
        free = free_vars(second)
        sources = [self.definitions.source(b) for b in producer.binders if b in free]
        if not all(s and isinstance(s.generator, Collect) for s in sources):
            return "what the producer combines is complete only after its loop"
        if self._greatest_rank(producer, consumer) == 0:
            return "the consumer needs the whole result, not only the element at its own index"
        return "a reduction over several indices has no loop over the first ones alone"

    def _try_filter(self, k: int) -> None:
        graph, stmt = self.graph, self.graph.stmts[k]
        if len(graph.groups[k]) > 1:
            return
        match = match_filter(stmt, self.definitions, self.uses, Ranges(self.definitions))
        if match is None:
            return
        if isinstance(match, str):
            decline(f"fuse_vertical.{name_of(stmt)}", match, stmt.sources)
            return
        producer = graph.position.get(match.source.stmt.binders[0])
        if producer is None or len(graph.groups[producer]) > 1:
            return  # in another block; or merged in this round: the next one sees the merged loop
        both = (match.source.stmt, stmt)
        id, sources = f"fuse_vertical.{name_of(*both)}", merged_sources(both)
        if not graph.can_merge(producer, k, [(producer, k)]):
            decline(id, "a statement between them needs the filter's result", sources)
            return
        reason = "what the filter keeps is used where it is found"
        if decide(id, True, (True, False), reason, sources, neutral=False):
            graph.merge(producer, k)
            self.filters[stmt] = match


def _mergeable(stmt: Stmt) -> bool:
    return isinstance(stmt.op, MultiLoop) and not effects(stmt.op) & ORDERED


def _has_rank(stmt: Stmt, rank: int) -> bool:
    loop = loop_of(stmt)
    return len(loop.domain) == rank or peelable(loop)


def _prefix(a: tuple[object, ...], b: tuple[object, ...]) -> int:
    """The length of the common beginning."""
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            return count
        count += 1
    return count
