"""A filter merged into the loop over what it keeps: the consumer runs over the whole domain, under
the filter's condition. The part of vertical fusion that composes conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..patterns.generators import Collect, Generator, MultiLoop, binder_slices
from ..staging.dataclass import dataclass
from ..staging.nodes import Apply, Block, Const, If, Index, Operand, Stmt, Var
from ..staging.primitives import LOGICAL_AND
from ..staging.traversal import free_vars, map_fields
from ..staging.types import BOOL
from .analyses.costs import stmts_cost
from .analyses.definitions import Definitions, Source
from .analyses.ranges import Ranges
from .analyses.speculation import speculatable
from .analyses.uses import Uses
from .merge_loops import Element, MergeLoops, merged_sources
from .peel import peel, peelable

SPECULATED = 12  # additions that may run for the elements that the filter drops

_NOTHING = Block((), (), ())


@dataclass(frozen=True, slots=True)
class FilterMatch:
    """A filter and its consumer, ready to be merged.

    source : the filter (its length is the consumer's extent)
    consumer : the consumer's statement; `loop` is the loop as it takes part (over one index)
    arrays : the filtered arrays that it reads, each with the generator that produces it
    speculate : whether its work may run where the condition does not hold
    """

    source: Source
    consumer: Stmt
    loop: MultiLoop
    arrays: dict[Var, Generator]
    speculate: bool


def match_filter(
    consumer: Stmt, definitions: Definitions, uses: Uses, ranges: Ranges
) -> FilterMatch | str | None:
    """The match, the reason why there is none, or None where the loop is not over a filter."""
    loop = consumer.op
    assert isinstance(loop, MultiLoop)
    source = definitions.source(loop.domain[0])
    if source is None or not isinstance(source.generator, Collect):
        return None
    if len(loop.domain) > 1 and not peelable(loop):
        return "a reduction over the filter's rows and columns at once has no loop over rows"
    index, arrays = loop.body.params[0], _arrays(source, consumer)
    for use in uses.of(index):
        read = use.index
        if read is None or read.array not in arrays or index in read.indices[1:]:
            return "the position among the kept elements is used, which only the filter counts"
        if read.indices[0] is not index:
            return "the filter's result is read at another index than the loop's own"
    for array in arrays:
        if any(
            u.read is None or u.read.indices[0] is not index for u in uses.within(array, consumer)
        ):
            return "the filter's result is read at another index than the loop's own"
    kept = sum(isinstance(g, Collect) and g.cond is None for g in loop.generators)
    if not all(g.conditional for g in loop.generators):
        return "a scan runs over all that the filter keeps"
    (_, filtered) = source.stmt.binders[_slice(source)]
    others = len(uses.of(filtered)) - len(uses.within(filtered, consumer))
    if kept > 1 or (kept == 1 and others):
        return "two arrays of the filter's length would each need a length of their own"
    one = peel(consumer, 1)
    if one is not loop:
        definitions.enter(one.body)
    return FilterMatch(
        source, consumer, one, arrays, _may_speculate(one, arrays, definitions, ranges)
    )


def _arrays(source: Source, consumer: Stmt) -> dict[Var, Generator]:
    """The arrays filtered by the same condition in the same loop that the consumer uses."""
    free = free_vars(consumer.op)
    found: dict[Var, Generator] = {}
    loop = source.loop
    for g, part in zip(loop.generators, binder_slices(loop.generators, loop.domain), strict=True):
        if isinstance(g, Collect) and g.cond is not None and g.cond == source.generator.cond:
            _, array = source.stmt.binders[part]
            if array in free:
                found[array] = g
    return found


def _slice(source: Source) -> slice:
    return binder_slices(source.loop.generators, source.loop.domain)[source.position]


def _may_speculate(
    loop: MultiLoop, arrays: dict[Var, Generator], definitions: Definitions, ranges: Ranges
) -> bool:
    work = [s for g in arrays.values() for s in g.value.stmts] + list(loop.body.stmts)
    others = [s for s in work if not (isinstance(s.op, Index) and s.op.array in arrays)]
    cheap = stmts_cost(tuple(others)) <= SPECULATED
    return cheap and all(speculatable(s.op, ranges) for s in others)


class MergeFilter(MergeLoops):
    """Replays with `merge_filter`."""

    def merge_filter(self, match: FilterMatch) -> None:
        """Emits filter and consumer as one loop over the filter's domain."""
        elements = dict(self.elements)
        loop = match.source.loop
        domain = tuple(self.operand(d) for d in loop.domain)
        with self.env.scope():
            self.builder.open(self.fresh(loop.body.params))
            self.run(loop.body)
            filters = self.results(loop.body)
            assert match.source.generator.cond is not None
            cond = self.operand(match.source.generator.cond)
            # Stand-ins: every use of the position and the arrays is a read that becomes its value.
            position = match.loop.body.params[0]
            self.env.bind((v, v) for v in (position, *match.arrays))
            if match.speculate:
                self._kept_values(match)
            consumers = [self._consumer(g, cond, match) for g in match.loop.generators]
        merged = MultiLoop(domain, self.builder.close((*filters, *consumers)))
        self.elements = elements
        self._bind(merged, match)

    def _kept_values(self, match: FilterMatch) -> None:
        """Computes what the filter would have kept at this index, in the innermost open block."""
        position = match.loop.body.params[0]
        for array, generator in match.arrays.items():
            (value,) = self.inline(generator.value, ())
            self.elements[array] = Element((position,), value)

    def _consumer(self, generator: Generator, cond: Operand, match: FilterMatch) -> Generator:
        """The generator over the filter's domain: its condition after the filter's."""
        if match.speculate:
            for var in free_vars(Block((), (), (generator,))):
                self.demand(var)
        both = self._condition(generator, cond, match)
        bare = map_fields(replace(generator, cond=None, value=_NOTHING), self.operand, self.block)
        return replace(bare, cond=both, value=self._value(generator.value, match))

    def _condition(self, generator: Generator, cond: Operand, match: FilterMatch) -> Operand:
        own = generator.cond
        if own is None:
            return cond
        if match.speculate:
            (both,) = self.builder.emit(Apply(LOGICAL_AND, (cond, self.operand(own))))
            return both
        then = self._guarded(Block((), (), (own,)), match)
        (both,) = self.builder.emit(If(cond, then, Block((), (), (Const(False, BOOL),))))
        return both

    def _value(self, value: Block, match: FilterMatch) -> Block:
        return self.block(value) if match.speculate else self._guarded(value, match)

    def _guarded(self, block: Block, match: FilterMatch) -> Block:
        """A block that runs only where the filter's condition holds, with all that it needs."""
        elements = dict(self.elements)
        self.builder.open()
        with self.env.scope():
            self._kept_values(match)
            for var in free_vars(block):
                self.demand(var)
            self.run(block)
            results = self.results(block)
        self.elements = elements
        return self.builder.close(results)

    def _bind(self, merged: MultiLoop, match: FilterMatch) -> None:
        """Binds the results; the kept values of a map over a filter come with their own length."""
        filters, consumers = match.source.stmt, match.consumer
        first = len(match.source.loop.generators)
        slices = binder_slices(merged.generators, merged.domain)[first:]
        names = [b.name for b in filters.binders]
        targets: list[Sequence[Var]] = []
        own = binder_slices(match.loop.generators, match.loop.domain)
        for g, part in zip(match.loop.generators, own, strict=True):
            binders = list(consumers.binders[part])
            if isinstance(g, Collect) and g.cond is None:
                length = match.loop.domain[0]
                assert isinstance(length, Var)
                binders.insert(0, length)
            targets.append(binders)
            names.extend(b.name for b in binders)
        found = self.builder.emit(merged, names, merged_sources((filters, consumers)))
        self.env.bind(zip(filters.binders, found[: len(filters.binders)], strict=True))
        for target, part in zip(targets, slices, strict=True):
            self.env.bind(zip(target, found[part], strict=True))
