"""The one parallel node: a MultiLoop over a domain with a tuple of generators.

    names = loop (i < n, j < m) { prelude statements; generators }

    generator ::= Collect(cond, value)
               |  Reduce(cond, value, reducer)
               |  Fold(cond, value, reducer, shape, init)
               |  Scatter(cond, value, init, conflict)
               |  Scan(value, reducer)
               |  BucketCollect(cond, value, keys)
               |  BucketReduce(cond, value, reducer, keys)

Semantics
* The domain is the product of the extents; iterations are independent; results are as if run in
  index order, the last index fastest.
* The body's statements (the prelude) run for every index, before and visible to every generator.
  `cond` is a variable of the prelude (or from outside); the `value` block has no parameters, sits
  in the body's scope and runs only where `cond` holds.
* Canonical form: a generator without a condition has no statements in its `value` block, they stand
  in the prelude. `canonical` establishes it; staging and every pass keep it.
* A fused loop is one MultiLoop with several generators; the work that they share is its prelude.
* An array value adds its dimensions behind the domain's. Its sizes must be visible outside the
  loop.
* Indices and sizes are weak integers, as Python's; what a Collect stores is strong.
"""

from __future__ import annotations

import enum
from dataclasses import replace
from typing import ClassVar

from ..staging.dataclass import dataclass
from ..staging.nodes import (
    Block,
    Bounds,
    Effects,
    Node,
    Op,
    Operand,
    Stmt,
    Var,
    operand_dim,
    size_operand,
)
from ..staging.types import I64, INDEX, Array, Exists, Type
from .reducers import Reducer


@dataclass(frozen=True, slots=True)
class Generator(Node):
    """One way in which a loop produces results.

    Subclasses have `cond`, the condition or None, and `value`, the block that runs where it holds.

    conditional : whether it may have a condition
    spreads : whether a partial result has many places, so that few of them are better than many
    """

    conditional: ClassVar[bool] = True
    spreads: ClassVar[bool] = False

    cond: Operand | None
    value: Block

    @property
    def effects(self) -> Effects:
        """The generator's own effects, without those of its block."""
        return Effects.NONE

    @property
    def sequential(self) -> str:
        """Why the indices must run one after the other; "" where they need not."""
        return ""

    @property
    def start(self) -> Operand | None:
        """The array that the result begins as, and whose storage it may take over."""
        return None

    @property
    def places(self) -> tuple[tuple[Operand, Operand], ...]:
        """Where the value goes: for each axis that is computed the index, and its size."""
        return ()

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        """The types of the generator's binders, which start at the statement's binder `first`."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, slots=True)
class Collect(Generator):
    """An array over the domain; with a condition, the compacted values of those indices that pass.

    `value` returns the element (a scalar or an array). Binders: `ys`; with a condition, `m, ys`
    where m is the number kept and `ys` has m elements whatever the rank of the domain.
    """

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        (value,) = self.value.operands
        if self.cond is None:
            return (append_shape(tuple(operand_dim(d) for d in domain), value.type),)
        return (INDEX, append_shape((Exists(first),), value.type))


@dataclass(frozen=True, slots=True)
class Combining(Generator):
    """A generator that combines values."""

    reducer: Reducer

    @property
    def sequential(self) -> str:
        return _unless_associative(self.reducer)


def _unless_associative(reducer: Reducer) -> str:
    return (
        "" if reducer.associative else f"the reducer {reducer.name} is not known to be associative"
    )


@dataclass(frozen=True, slots=True)
class Reduce(Combining):
    """All values combined by the reducer.

    `value` returns one operand for each component of the reducer. Without values the result is the
    reducer's identity; without an identity that is a ValueError naming `reducer.name`. Binders: one
    a component.
    """

    @property
    def effects(self) -> Effects:
        return Effects.NONE if self.reducer.identity is not None else Effects.FAULT

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        return tuple(v.type for v in self.value.operands)


@dataclass(frozen=True, slots=True)
class Fold(Combining):
    """Accumulates at computed locations of an array.

    `a = init, or the identity, of shape + value's shape; for each index where cond:
    a[location] = reducer(a[location], value)`.

    `value` returns the location (an integer for each dimension of `shape`), then the value (one
    operand). A location outside the shape is an IndexError, unless `bounds` says that it is PROVEN
    inside (negative ones are outside). The reducer has one component, and an identity unless there
    is an `init`. Partial results begin with the identity, and combine with `init` in the end.
    Binder: the array.
    """

    spreads: ClassVar[bool] = True

    shape: tuple[Operand, ...]
    bounds: Bounds = Bounds.CHECKED
    init: Operand | None = None

    @property
    def effects(self) -> Effects:
        return Effects.FAULT if self.bounds is Bounds.CHECKED else Effects.NONE

    @property
    def sequential(self) -> str:
        if self.reducer.identity is None:
            return f"the reducer {self.reducer.name} has no identity"
        return _unless_associative(self.reducer)

    @property
    def start(self) -> Operand | None:
        return self.init

    @property
    def places(self) -> tuple[tuple[Operand, Operand], ...]:
        return tuple(zip(self.location, self.shape, strict=True))

    @property
    def location(self) -> tuple[Operand, ...]:
        """Where the value goes, as operands of the value block."""
        return self.value.operands[:-1]

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        return (
            append_shape(tuple(operand_dim(d) for d in self.shape), self.value.operands[-1].type),
        )


@dataclass(frozen=True, slots=True)
class Scan(Combining):
    """The values up to each index combined: its own among them, unless the scan is `exclusive`.

    The domain has one axis, and there is no condition. `value` returns one operand for each
    component of the reducer. An exclusive scan begins with the reducer's identity. Binders: one
    array a component.
    """

    conditional: ClassVar[bool] = False

    exclusive: bool = False

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        outer = tuple(operand_dim(d) for d in domain)
        return tuple(append_shape(outer, v.type) for v in self.value.operands)


class Conflict(enum.Enum):
    """What several values at one location of a Scatter mean.

    PROVEN : there are none, the staging code vouches for it
    UNIQUE : a ValueError
    FIRST, LAST : the one of the first or the last index stays
    """

    PROVEN = "proven"
    UNIQUE = "unique"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Scatter(Generator):
    """A new array that differs from `init` at computed locations.

    `value` returns the location, an integer for each of the first axes of `init`, then the value,
    which has the other axes. Locations are checked as a Fold's. Binder: the array.
    """

    init: Operand
    conflict: Conflict
    bounds: Bounds = Bounds.CHECKED

    @property
    def effects(self) -> Effects:
        checked = self.bounds is Bounds.CHECKED or self.conflict is Conflict.UNIQUE
        return Effects.FAULT if checked else Effects.NONE

    @property
    def sequential(self) -> str:
        return "" if self.conflict is Conflict.PROVEN else "several values may go to one place"

    @property
    def start(self) -> Operand | None:
        return self.init

    @property
    def places(self) -> tuple[tuple[Operand, Operand], ...]:
        return tuple(zip(self.location, self.shape, strict=True))

    @property
    def location(self) -> tuple[Operand, ...]:
        """Where the value goes, as operands of the value block."""
        return self.value.operands[:-1]

    @property
    def shape(self) -> tuple[Operand, ...]:
        """The sizes of the axes of the location."""
        assert isinstance(self.init.type, Array)
        return tuple(map(size_operand, self.init.type.shape[: len(self.location)]))

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        return (self.init.type,)


@dataclass(frozen=True, slots=True)
class BucketCollect(Generator):
    """The values by their keys: groups in the order in which their keys are first met.

    `value` returns the key, `keys` scalars, then the values. Two keys are equal where their parts
    are: 0.0 equals -0.0, and all NaN are one; the group has the parts that were met first. Binders:
    `m, total`, the numbers of groups and of values; an array [m] for each part of the key; `starts,
    sizes` of [m]; an array [total] for each value. Group j is what stands from `starts[j]` on,
    `sizes[j]` values, at least one, in index order.
    """

    spreads: ClassVar[bool] = True

    keys: int

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        key, values = self.value.operands[: self.keys], self.value.operands[self.keys :]
        groups = [append_shape((Exists(first),), t) for t in (*(k.type for k in key), I64, I64)]
        held = [append_shape((Exists(first + 1),), v.type) for v in values]
        return (INDEX, INDEX, *groups, *held)


@dataclass(frozen=True, slots=True)
class BucketReduce(Combining):
    """The values of each key combined, in the order in which the keys are first met.

    `value` returns the key, `keys` scalars, then one operand for each component of the reducer.
    Keys are equal as in `BucketCollect`. A group begins with its first value. Binders: `m`, the
    number of groups; an array [m] for each part of the key; an array [m] for each component.
    """

    spreads: ClassVar[bool] = True

    keys: int

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Type, ...]:
        held = (append_shape((Exists(first),), v.type) for v in self.value.operands)
        return (INDEX, *held)


@dataclass(frozen=True, slots=True)
class Mapping:
    """How a target runs a loop: decided by its mapping pass, carried as data, without meaning."""


@dataclass(frozen=True, slots=True)
class MultiLoop(Op):
    """`body.params` are the indices, `body.stmts` the prelude, `body.results` the generators.

    `mapping` is None until a target's mapping pass has decided.
    """

    domain: tuple[Operand, ...]
    body: Block
    mapping: Mapping | None = None
    makes_arrays: ClassVar[bool] = True

    @property
    def generators(self) -> tuple[Generator, ...]:
        """The generators, in binder order."""
        found = tuple([g for g in self.body.results if isinstance(g, Generator)])
        assert len(found) == len(self.body.results)
        return found

    @property
    def effects(self) -> Effects:
        found = Effects.NONE
        for generator in self.generators:
            found |= generator.effects
        return found

    def signature(self) -> tuple[Type, ...]:
        types: list[Type] = []
        for generator in self.generators:
            types.extend(generator.results(self.domain, len(types)))
        return tuple(types)


def append_shape(outer: tuple[int | Var | Exists, ...], value: Type) -> Array:
    """The type of an array over `outer` whose elements are of type `value`."""
    if isinstance(value, Array):
        return Array(value.element.strong, (*outer, *value.shape))
    return Array(value.strong, outer)


def binder_slices(generators: tuple[Generator, ...], domain: tuple[Operand, ...]) -> list[slice]:
    """For each generator the slice of the statement's binders that belong to it."""
    slices: list[slice] = []
    start = 0
    for generator in generators:
        stop = start + len(generator.results(domain, start))
        slices.append(slice(start, stop))
        start = stop
    return slices


def canonical(loop: MultiLoop) -> MultiLoop:
    """The loop with the statements of unconditional generators moved into the prelude."""
    moved: list[Stmt] = []
    generators: list[Generator] = []
    for generator in loop.generators:
        if generator.cond is None and generator.value.stmts:
            moved.extend(generator.value.stmts)
            generator = replace(generator, value=Block((), (), generator.value.results))
        generators.append(generator)
    if not moved:
        return loop
    body = Block(loop.body.params, (*loop.body.stmts, *moved), tuple(generators))
    return MultiLoop(loop.domain, body)
