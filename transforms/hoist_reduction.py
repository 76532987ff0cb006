"""A reduction inside a loop computed once in front of it, for all of the loop's indices.

    r = loop (j < k) { s = loop (i < n) { reduce + f(i, j) }; g(s, j) }
      becomes
    h = loop (i < n) { the same values, for every j }
    r = loop (j < k) { s = h[j]; g(s, j) }

What Conditional-Reduce and Column-to-Row Reduce have in common. With keys, the value goes to one
place of h only: a Fold. The indices without a key become the value's own dimensions: an array that
is reduced elementwise. In both cases every element combines its values in the order of i, as
before, so that no fact about the reducer is needed but its identity.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import (
    Collect,
    Fold,
    Generator,
    MultiLoop,
    Reduce,
    binder_slices,
    canonical,
)
from ..patterns.reducers import Reducer, binary, declared, scalar_primitive
from ..staging.builder import Builder
from ..staging.dataclass import dataclass
from ..staging.nodes import (
    Apply,
    Block,
    Bounds,
    Cast,
    Const,
    Index,
    Operand,
    Stmt,
    Var,
    size_operand,
)
from ..staging.primitives import GREATER_EQUAL, LESS, LOGICAL_AND
from ..staging.types import INDEX, Array, Scalar
from .analyses.definitions import Definitions, loop_of
from .analyses.demand import Demand
from .analyses.nest import Nest
from .analyses.ranges import Ranges
from .analyses.speculation import speculatable


@dataclass(frozen=True, slots=True)
class Key:
    """`key == j`: the outer index at `position` selects by the value of `operand`."""

    position: int
    operand: Operand
    proven: bool


@dataclass(frozen=True, slots=True)
class Hoist:
    """One reduction to compute in front of the outer loop.

    position : the generator's position in the inner loop
    keys : the outer indices that select by key, in order of position; empty: none does
    conds : the other parts of its condition
    value : what is reduced, an operand of the inner loop
    rows : the positions of the outer indices that become dimensions of the value
    """

    outer: Stmt
    inner: Stmt
    position: int
    keys: tuple[Key, ...]
    conds: tuple[Operand, ...]
    value: Operand
    rows: tuple[int, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The outer indices' positions in the order of the hoisted array's dimensions."""
        return (*(k.position for k in self.keys), *self.rows)

    @property
    def reduce(self) -> Reduce:
        """The generator."""
        generator = loop_of(self.inner).generators[self.position]
        assert isinstance(generator, Reduce)
        return generator


class HoistReductions(Demand):
    """Replays with the planned reductions hoisted."""

    def __init__(self, builder: Builder, definitions: Definitions, plan: Sequence[Hoist]) -> None:
        super().__init__(builder, definitions)
        self.ranges = Ranges(definitions)
        self.by_outer: dict[Stmt, list[Hoist]] = {}
        self.by_inner: dict[Stmt, list[Hoist]] = {}
        self.made: dict[Hoist, Operand] = {}
        for hoist in plan:
            self.by_outer.setdefault(hoist.outer, []).append(hoist)
            self.by_inner.setdefault(hoist.inner, []).append(hoist)

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        for hoist in self.by_outer.get(stmt, ()):
            self._hoist(hoist)
        if stmt in self.by_inner:
            return self._reads(stmt, self.by_inner[stmt])
        return None

    # The loop in front.

    def _hoist(self, hoist: Hoist) -> None:
        loop = loop_of(hoist.inner)
        domain = tuple(self.operand(d) for d in loop.domain)
        with self.env.scope():
            self.builder.open(self.fresh(loop.body.params))
            generator = self._generator(hoist)
        hoisted = canonical(MultiLoop(domain, self.builder.close((generator,))))
        name = hoist.inner.binders[binder_slices(loop.generators, loop.domain)[hoist.position]][0]
        (self.made[hoist],) = self.builder.emit(hoisted, (name.name,), hoist.inner.sources)

    def _generator(self, hoist: Hoist) -> Generator:
        keys = [self.demand(k.operand) for k in hoist.keys]
        locations = [self.builder.emit(Cast(key, INDEX))[0] for key in keys]
        cond = self._condition(hoist, locations)
        if cond is None:
            value = Block((), (), (*locations, self._value(hoist)))
        else:
            self.builder.open()
            with self.env.scope():
                operand = self._value(hoist)
            value = self.builder.close((*locations, operand))
        reducer = self._reducer(hoist, value.operands[-1])
        if not keys:
            return Reduce(cond, value, reducer)
        shape = tuple(self.operand(self._extent(hoist, k.position)) for k in hoist.keys)
        return Fold(cond, value, reducer, shape, Bounds.PROVEN)

    def _condition(self, hoist: Hoist, locations: Sequence[Operand]) -> Operand | None:
        parts: list[Operand] = []
        for key, location in zip(hoist.keys, locations, strict=True):
            if not key.proven:
                extent = self.operand(self._extent(hoist, key.position))
                zero = Const(0, INDEX)
                parts.extend(self.builder.emit(Apply(GREATER_EQUAL, (location, zero))))
                parts.extend(self.builder.emit(Apply(LESS, (location, extent))))
        parts.extend(self.demand(c) for c in hoist.conds)
        if not parts:
            return None
        cond = parts[0]
        for part in parts[1:]:
            (cond,) = self.builder.emit(Apply(LOGICAL_AND, (cond, part)))
        return cond

    def _value(self, hoist: Hoist) -> Operand:
        if not hoist.rows:
            return self.demand(hoist.value)
        self._shared_work(hoist)
        params = loop_of(hoist.outer).body.params
        with self.env.scope():
            self.builder.open(self.fresh([params[k] for k in hoist.rows]))
            value = self.demand(hoist.value)
        body = self.builder.close((Collect(None, Block((), (), (value,))),))
        domain = tuple(self.operand(self._extent(hoist, k)) for k in hoist.rows)
        return self.builder.emit(MultiLoop(domain, body), (), hoist.inner.sources)[0]

    def _shared_work(self, hoist: Hoist) -> None:
        """Computes once what is the same for all rows, unless it may fault where no row is."""
        nest = Nest(hoist.outer, hoist.inner, self.definitions)
        for stmt in reversed(nest.work(hoist.value)):
            own = nest.inside_inner.issuperset(stmt.binders)
            shared = own and not any(nest.outer_positions(b) for b in stmt.binders)
            work = [w for b in stmt.binders for w in nest.work(b)]
            if shared and all(speculatable(w.op, self.ranges) for w in work):
                for binder in stmt.binders:
                    self.demand(binder)

    def _reducer(self, hoist: Hoist, value: Operand) -> Reducer:
        reducer = hoist.reduce.reducer
        if not hoist.rows:
            mapped = self.node(reducer)
            assert isinstance(mapped, Reducer)
            return mapped
        primitive = scalar_primitive(reducer)
        assert primitive is not None, "planned only for known primitives"
        lifted = binary(primitive, value.type, reducer.name)
        return declared(lifted, associative=reducer.associative, commutative=reducer.commutative)

    def _extent(self, hoist: Hoist, position: int) -> Operand:
        return loop_of(hoist.outer).domain[position]

    # What stays inside.

    def _reads(self, stmt: Stmt, hoists: Sequence[Hoist]) -> tuple[Operand, ...]:
        """The inner loop's results: reads of what was hoisted, a smaller loop for the rest."""
        loop = loop_of(stmt)
        by_position = {h.position: h for h in hoists}
        slices = binder_slices(loop.generators, loop.domain)
        results: dict[Var, Operand] = {}
        rest: list[int] = []
        for k, part in enumerate(slices):
            if k in by_position:
                (binder,) = stmt.binders[part]
                results[binder] = self._read(by_position[k], binder, stmt)
            else:
                rest.append(k)
        if rest:
            results.update(self._remaining(stmt, loop, rest))
        return tuple(results[b] for b in stmt.binders)

    def _remaining(self, stmt: Stmt, loop: MultiLoop, rest: list[int]) -> dict[Var, Operand]:
        slices = binder_slices(loop.generators, loop.domain)
        binders = [b for k in rest for b in stmt.binders[slices[k]]]
        body = Block(loop.body.params, loop.body.stmts, tuple(loop.generators[k] for k in rest))
        names = [b.name for b in binders]
        op = self.op(MultiLoop(loop.domain, body, loop.mapping))
        found = self.builder.emit(op, names, stmt.sources)
        return dict(zip(binders, found, strict=True))

    def _read(self, hoist: Hoist, binder: Var, stmt: Stmt) -> Operand:
        """The element of the hoisted array at the outer loop's indices."""
        params = loop_of(hoist.outer).body.params
        place = tuple(self.operand(params[k]) for k in hoist.places)
        array = self.made[hoist]
        if isinstance(binder.type, Scalar):
            element = self.builder.emit(Index(array, place, Bounds.PROVEN), (), stmt.sources)[0]
            return self.builder.emit(Cast(element, binder.type), (binder.name,), stmt.sources)[0]
        type_ = self.type(binder.type)
        assert isinstance(type_, Array)
        indices = tuple(Var(INDEX, f"e{axis}") for axis in range(type_.rank))
        self.builder.open(indices)
        element = self.builder.emit(Index(array, (*place, *indices), Bounds.PROVEN))[0]
        body = self.builder.close((Collect(None, Block((), (), (element,))),))
        row = MultiLoop(tuple(size_operand(d) for d in type_.shape), body)
        return self.builder.emit(row, (binder.name,), stmt.sources)[0]
