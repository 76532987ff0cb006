"""What each generator means: one function each, over Python callables.

Eager mode passes the user's lambdas, the reference interpreter passes blocks of the IR; both run
these loops. An index is a tuple with one integer an axis of the domain, and a domain is given by
its extents.

>>> collect((3,), lambda i: i[0] * i[0])
array([0, 1, 4])
>>> collect((5,), lambda i: i[0] / 2, cond=lambda i: i[0] % 2 == 1)
array([0.5, 1.5])
>>> reduce((4,), lambda i: (i[0],), lambda a, b: (a[0] + b[0],))
(6,)
>>> fold((4,), lambda i: ((i[0] % 2,), i[0]), lambda a, b: a + b, lambda: np.zeros(2, int))
array([2, 4])
>>> list(scan(4, lambda i: (i[0],), lambda a, b: (a[0] + b[0],)))
[(0,), (1,), (3,), (6,)]
>>> bucket_collect((4,), lambda i: ((i[0] % 2,), i[0]))
[((0,), [0, 2]), ((1,), [1, 3])]
>>> bucket_reduce((4,), lambda i: ((i[0] % 2,), (i[0],)), lambda a, b: (a[0] + b[0],))
[((0,), (2,)), ((1,), (4,))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..staging import errors
from ..staging.assumptions import AssumptionFailed
from ..staging.errors import (
    AssertionFailed,
    CheckFailed,
    InternalError,
    OutOfBounds,
    ParloomError,
    ShapeError,
    StagedIndexError,
)
from ..staging.locations import Location
from ..staging.nodes import Bounds, ErrorKind
from .reducers import Order

Index = tuple[int, ...]
Extents = tuple[int, ...]
Where = Sequence[Location] | None
Condition = Callable[[Index], bool] | None
Key = tuple[Any, ...]
Components = TypeVar("Components", bound=tuple[Any, ...])
Partial = TypeVar("Partial")

_CHECKS: dict[ErrorKind, type[ParloomError]] = {
    ErrorKind.VALUE: CheckFailed,
    ErrorKind.INDEX: StagedIndexError,
    ErrorKind.ASSERTION: AssertionFailed,
    ErrorKind.OVERFLOW: OutOfBounds,
    ErrorKind.TYPE: errors.TypeFailed,
    ErrorKind.ZERO_DIVISION: errors.DivisionFailed,
    ErrorKind.RUNTIME: errors.RunFailed,
    ErrorKind.NOT_IMPLEMENTED: errors.NotImplementedFailed,
    ErrorKind.ASSUMPTION: AssumptionFailed,
}
# NumPy's words.
EMPTY_REDUCTION = "zero-size array to reduction operation {name} which has no identity"
EMPTY_POSITION = "attempt to get {name} of an empty sequence"
OUT_OF_BOUNDS = "index {index} is out of bounds for axis {axis} with size {size}"


def failed_check(kind: ErrorKind, message: str, where: Where) -> ParloomError:
    """The error of a check that did not hold."""
    return _CHECKS[kind](message, where=where)


class Element(NamedTuple):
    """What a Collect's array holds: the dtype, and the shape of one value (() for scalars)."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def indices(extents: Extents) -> Iterator[Index]:
    """The domain's indices, last one fastest."""
    return product(*map(range, extents))


def collect(
    extents: Extents,
    value: Callable[[Index], Any],
    *,
    cond: Condition = None,
    element: Element | None = None,
) -> np.ndarray:
    """The values over the domain; with a condition, those of the indices that pass, compacted.

    They stand in index order. Without an `element` it is found from the values, as
    `common_element` says.
    """
    found = [value(i) for i in indices(extents) if cond is None or cond(i)]
    dtype, inner = common_element(found) if element is None else element
    outer = extents if cond is None else (len(found),)
    result = np.empty((len(found), *inner), dtype)
    for k, item in enumerate(found):
        result[k] = item
    return result.reshape((*outer, *inner)) if found else np.empty((*outer, *inner), dtype)


def common_element(values: Sequence[Any]) -> Element:
    """The dtype and shape that fit all values: NumPy's promotion, in which Python numbers yield.

    No values: float64 scalars, as np.array([]) has it, for there is nothing to tell by.

    >>> common_element([np.float32(1), 2.5]).dtype, common_element([1, 2.5]).dtype
    (dtype('float32'), dtype('float64'))
    """
    if not values:
        return Element(np.dtype(np.float64), ())
    shapes = dict.fromkeys(np.shape(v) for v in values)
    if len(shapes) > 1:
        first, second, *_ = shapes
        raise ShapeError(
            f"the values of one collection have different shapes: {first} and {second}",
            instead="return values of one shape",
        )
    kinds = dict.fromkeys(_promotes_as(v) for v in values)
    operands = [k(0) if isinstance(k, type) else k for k in kinds]
    return Element(np.result_type(*operands), next(iter(shapes)))


def _promotes_as(value: Any) -> Any:
    """A dtype; for a Python number its class, for its zero promotes as weak."""
    for kind in (int, float, complex):
        if type(value) is kind:
            return kind
    return np.asarray(value).dtype


def reduce(
    extents: Extents,
    value: Callable[[Index], Components],
    combine: Callable[[Components, Components], Components],
    *,
    cond: Condition = None,
    identity: Components | None = None,
    order: Order | None = None,
    name: str = "reduce",
    where: Where = None,
) -> Components:
    """All values combined, each a tuple of components.

    Nothing to combine: the identity, or ValueError naming `name` when there is none.
    """

    def part(first: range) -> Components | None:
        total = identity
        for index in product(first, *map(range, extents[1:])):
            if cond is None or cond(index):
                found = value(index)
                total = found if total is None else combine(total, found)
        return total

    total = in_order(extents[0], order, part, combine, lambda: identity)
    if total is not None:
        return total
    if identity is not None:
        return identity
    raise empty_reduction(name, where)


def empty_reduction(name: str, where: Where = None) -> CheckFailed:
    """The error of a reduction of nothing that has no identity, in NumPy's words."""
    return CheckFailed(EMPTY_REDUCTION.format(name=name), where=where)


def fold(
    extents: Extents,
    update: Callable[[Index], tuple[Index, Any]],
    combine: Callable[[Any, Any], Any],
    initial: Callable[[], np.ndarray],
    *,
    rank: int = 1,
    cond: Condition = None,
    order: Order | None = None,
    bounds: Bounds = Bounds.CHECKED,
    where: Where = None,
    begin: np.ndarray | None = None,
) -> np.ndarray:
    """`a = initial()`, then for each index `location, v = update(index)` and
    `a[location] = combine(a[location], v)`.

    A location has `rank` integers, for the first axes of the array. Where `order` asks for partial
    results each is such an array, and two are combined place by place. With `begin`, the result is
    combined with it, or, where nothing is cut, begins as it.
    """
    whole = order is None or order.chunks == 1
    start = begin.copy if begin is not None and whole else initial

    def part(first: range) -> np.ndarray:
        total = start()
        for index in product(first, *map(range, extents[1:])):
            if cond is None or cond(index):
                location, found = update(index)
                check_inside(location, total.shape[:rank], bounds, where)
                total[location] = combine(total[location], found)
        return total

    def join(total: np.ndarray, partial: np.ndarray) -> np.ndarray:
        for place in indices(total.shape[:rank]):
            total[place] = combine(total[place], partial[place])
        return total

    folded = in_order(extents[0], None if whole else order, part, join, initial)
    if folded is None:
        return start() if begin is None else begin.copy()
    return folded if begin is None or whole else join(begin.copy(), folded)


def scan(
    extent: int,
    value: Callable[[Index], Components],
    combine: Callable[[Components, Components], Components],
    *,
    identity: Components | None = None,
    exclusive: bool = False,
    order: Order | None = None,
) -> Iterator[Components]:
    """The values up to each index combined, without its own where the scan is `exclusive`.

    Where `order` cuts the domain, each chunk combines from the identity (without one: from its
    first value), and what all chunks before it gave stands before each of its results.
    """
    before: Components | None = None
    for piece in cut(range(extent), order.chunk_length(extent) if order else max(extent, 1)):
        total = identity
        for i in piece:
            found = value((i,))
            after = found if total is None else combine(total, found)
            own = total if exclusive else after
            assert own is not None, "an exclusive scan has an identity"
            yield own if before is None else combine(before, own)
            total = after
        assert total is not None, "no chunk is empty"
        before = total if before is None else combine(before, total)


KEY_KINDS = "biuf"
"""The kinds of dtypes that the parts of a key may have."""


def bucket_collect(
    extents: Extents,
    value: Callable[[Index], tuple[Key, Any]],
    *,
    cond: Condition = None,
) -> list[tuple[Key, list[Any]]]:
    """The keys in the order in which they are first met, each with its values in index order.

    `value` gives a key, a tuple of numbers, and a value. Keys are equal as `identity_of` says.
    """
    found: dict[object, tuple[Key, list[Any]]] = {}
    for index in indices(extents):
        if cond is None or cond(index):
            key, item = value(index)
            found.setdefault(identity_of(key), (key, []))[1].append(item)
    return list(found.values())


def bucket_reduce(
    extents: Extents,
    value: Callable[[Index], tuple[Key, Components]],
    combine: Callable[[Components, Components], Components],
    *,
    cond: Condition = None,
    order: Order | None = None,
) -> list[tuple[Key, Components]]:
    """The keys in the order in which they are first met, each with its values combined.

    Where `order` cuts the domain, each chunk combines its own values of a key.
    """

    def add(found: dict[object, tuple[Key, Components]], key: Key, item: Components) -> None:
        identity = identity_of(key)
        if identity in found:
            key, total = found[identity]
            item = combine(total, item)
        found[identity] = key, item

    def part(first: range) -> dict[object, tuple[Key, Components]]:
        found: dict[object, tuple[Key, Components]] = {}
        for index in product(first, *map(range, extents[1:])):
            if cond is None or cond(index):
                add(found, *value(index))
        return found

    def join(
        found: dict[object, tuple[Key, Components]], later: dict[object, tuple[Key, Components]]
    ) -> dict[object, tuple[Key, Components]]:
        for key, item in later.values():
            add(found, key, item)
        return found

    return list((in_order(extents[0], order, part, join, dict) or {}).values())


def identity_of(key: Key) -> tuple[object, ...]:
    """What equal keys have in common: all NaN are one, 0.0 equals -0.0.

    >>> identity_of((np.float64("nan"), 0.0)) == identity_of((np.float32("nan"), -0.0))
    True
    """
    return tuple([part if part == part else "nan" for part in key])


def in_order(
    extent: int,
    order: Order | None,
    part: Callable[[range], Partial | None],
    join: Callable[[Partial, Partial], Partial],
    start: Callable[[], Partial | None],
) -> Partial | None:
    """Partial results of ranges of first indices, combined as `order` says; None: no range had any.

    part : the result of a range, in index order from the identity (without one: the first value)
    start : the identity, from which the blocks of a chunk combine
    """
    if order is None:
        return part(range(extent))
    block, lanes = order.block, order.lanes

    def dealt(piece: range) -> Partial | None:
        if lanes == 0:
            return part(piece)
        found = [part(piece[lane::lanes]) for lane in range(lanes)]
        while len(found) > 1:
            half = len(found) // 2
            found = [chain(pair) for pair in zip(found[:half], found[half:], strict=True)]
        return found[0]

    def chain(partials: Iterable[Partial | None]) -> Partial | None:
        total: Partial | None = None
        for found in partials:
            if found is not None:
                total = found if total is None else join(total, found)
        return total

    def chunk(piece: range) -> Partial | None:
        if block == 0:
            return dealt(piece)
        return chain((start(), *map(dealt, cut(piece, block))))

    return chain(map(chunk, cut(range(extent), order.chunk_length(extent))))


def cut(whole: range, length: int) -> Iterator[range]:
    """The range in pieces of `length`, the last one shorter.

    >>> list(cut(range(5), 3))
    [range(0, 3), range(3, 5)]
    """
    return (whole[k : k + length] for k in range(0, len(whole), length))


def check_inside(index: Index, shape: tuple[int, ...], bounds: Bounds, where: Where) -> None:
    """Raises IndexError unless 0 <= index < size on every axis; InternalError if it was PROVEN."""
    for axis, (i, size) in enumerate(zip(index, shape, strict=True)):
        if 0 <= i < size:
            continue
        if bounds is Bounds.PROVEN:
            raise InternalError(
                f"an index proven inside is {i}, axis {axis} has size {size}", where=where
            )
        raise out_of_bounds(i, axis, size, where)


def out_of_bounds(index: int, axis: int, size: int, where: Where = None) -> StagedIndexError:
    """The error of an index outside its axis, in NumPy's words."""
    found = OUT_OF_BOUNDS.format(index=index, axis=axis, size=size)
    return StagedIndexError(found, where=where)
