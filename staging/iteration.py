"""Iteration over staged values: what `for`, `range`, `zip`, `enumerate` and `len` do in rewritten
code.

A collection takes part when its class has `staged_length()`, the number of elements, and
`staged_element(i)`, the element at a staged index inside it. Arrays and collections have both; so
have the three below, which compose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Protocol, cast, runtime_checkable

import numpy as np

from .arithmetic import apply_ufunc
from .context import trace
from .errors import StagingTypeError
from .nodes import Check, ErrorKind
from .reps import Rep, can_lift, index_of, lift
from .scalars import ScalarRep, lift_scalar, select
from .scalars import cast as convert
from .types import WEAK_INT


@runtime_checkable
class StagedIterable(Protocol):
    """A collection whose loop is recorded."""

    def staged_length(self) -> int | ScalarRep:
        """The number of elements."""
        ...

    def staged_element(self, i: ScalarRep) -> object:
        """Element `i`, which is inside."""
        ...


def is_staged_iterable(value: object) -> bool:
    """Whether a loop over the value is recorded rather than run while staging.

    >>> is_staged_iterable([1, 2]), is_staged_iterable(StagedEnumerate([1], 0))
    (False, True)
    """
    return hasattr(type(value), "staged_element")


class StagedSequence:
    """Base of the collections here; iterating one outside of rewritten code is refused."""

    def staged_length(self) -> Any:
        """The number of elements; a negative one means none."""
        raise NotImplementedError

    def staged_element(self, i: Any) -> Any:
        """Element `i`, which is inside."""
        raise NotImplementedError

    def collected(self) -> Any:
        """The elements as a collection, like `[v for v in self]`."""
        return comprehension()(self, lambda element: element, None)

    def __iter__(self) -> Iterator[Any]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise StagingTypeError(
            "a staged range, zip or enumerate was iterated by code that parloom did not rewrite",
            why="its length is known only when the compiled program runs",
            instead="a for statement in a staged function, or pm.range(n).map(f)",
        )


class StagedRange(StagedSequence):
    """`range` with staged bounds: Python's integers `start + step * i`."""

    def __init__(self, *bounds: object) -> None:
        start, stop, step = _bounds(bounds)
        self.start: Any = start
        self.stop: Any = stop
        self.step = step

    def staged_length(self) -> Any:
        if _is(self.step, 1) and _is(self.start, 0):
            return self.stop  # negative: the loop runs zero times
        if isinstance(self.step, int):
            return self._length(self.step > 0)
        up, down = self._length(True), self._length(False)
        return select(self.step > 0, lift_scalar(up), lift_scalar(down))

    def __getitem__(self, place: Any) -> Any:
        found = self.collected()[place]
        return convert(found, WEAK_INT) if isinstance(found, ScalarRep) else found

    def _length(self, up: bool) -> Any:
        """The number of integers, for a step of this sign."""
        span: Any = self.stop - self.start if up else self.start - self.stop
        step = self.step if up else -self.step
        return apply_ufunc(np.maximum, ((span + step - 1) // step, 0))

    def staged_element(self, i: Any) -> Any:
        if _is(self.step, 1) and _is(self.start, 0):
            return i
        return self.start + i * self.step


def _bounds(bounds: tuple[object, ...]) -> tuple[Any, Any, Any]:
    for bound in bounds:
        if isinstance(bound, Rep) and not _is_integer(bound):
            raise StagingTypeError(f"range() needs integers, found {bound.type}", instead="int(x)")
    if len(bounds) == 1:
        return 0, bounds[0], 1
    start, stop, *rest = bounds
    step: Any = rest[0] if rest else 1
    if _is(step, 0):
        raise StagingTypeError("range() arg 3 must not be zero")
    if isinstance(step, Rep):
        some = apply_ufunc(np.not_equal, (step, 0)).operand
        trace().emit(Check(some, ErrorKind.VALUE, "range() arg 3 must not be zero"))
    return start, stop, step


def _is_integer(rep: Rep) -> bool:
    return isinstance(rep, ScalarRep) and rep.dtype.kind in "iu"


def _is(value: object, known: int) -> bool:
    return isinstance(value, int) and value == known


class StagedReversed(StagedSequence):
    """`reversed` of a staged collection."""

    def __init__(self, part: StagedIterable) -> None:
        self.part = part

    def staged_length(self) -> Any:
        return self.part.staged_length()

    def staged_element(self, i: Any) -> Any:
        from .control import count_operand

        extent = count_operand(self.staged_length())
        place: Any = ScalarRep(extent) - i - 1
        return self.part.staged_element(index_of(place.operand, extent))


class StagedZip(StagedSequence):
    """`zip` where a collection is staged; the shortest ends it, unless `strict`."""

    def __init__(self, *parts: object, strict: bool = False) -> None:
        self.parts = tuple(map(as_iterable, parts))
        self.strict = strict

    def staged_length(self) -> Any:
        from .context import trace
        from .control import count_operand
        from .reps import rep_of

        lengths = [count_operand(part.staged_length()) for part in self.parts]
        shortest = lengths[0]
        for length in lengths[1:]:
            if self.strict:
                shortest = trace().unify(shortest, length, "the lengths of zip(strict=True)")
            elif trace().canonical(length) != trace().canonical(shortest):
                shortest = apply_ufunc(np.minimum, (rep_of(shortest), rep_of(length))).operand
        return rep_of(shortest)

    def staged_element(self, i: ScalarRep) -> tuple[object, ...]:
        return tuple(part.staged_element(i) for part in self.parts)


class StagedEnumerate(StagedSequence):
    """`enumerate` of a staged collection."""

    def __init__(self, part: object, start: Any = 0) -> None:
        self.part = part
        self.start = start

    def staged_length(self) -> Any:
        return as_iterable(self.part).staged_length()

    def staged_element(self, i: ScalarRep) -> tuple[object, object]:
        index = i if _is(self.start, 0) else self.start + i
        return index, as_iterable(self.part).staged_element(i)


def unpacked(value: Any, count: int) -> Any:
    """What `a, b = value` unpacks: of a collection as long as the program finds, the elements, with
    a check that there are `count`; of anything else, itself.
    """
    if not is_staged_iterable(value) or isinstance(value, StagedSequence):
        return value
    length = value.staged_length()
    if isinstance(length, int):
        return value
    fits = apply_ufunc(np.equal, (length, count)).operand
    trace().emit(Check(fits, ErrorKind.VALUE, f"the values to unpack are not {count}"))
    return tuple(value[k] for k in range(count))


Comprehension = Callable[[StagedIterable, Callable[[Any], Any], Callable[[Any], Any] | None], Any]
_comprehensions: list[Comprehension] = []


def register_comprehension(comprehension: Comprehension) -> None:
    """Says what a comprehension over a staged collection gives: its arguments are the collection,
    the element and the condition, if any, as functions of one element of the collection."""
    _comprehensions.append(comprehension)


def comprehension() -> Comprehension:
    """What was registered last."""
    return _comprehensions[-1]


def as_iterable(value: object) -> StagedIterable:
    """The value as a staged collection; lists of numbers and arrays are lifted."""
    if is_staged_iterable(value):
        return cast(StagedIterable, value)
    if isinstance(value, range):
        return StagedRange(value.start, value.stop, value.step)
    if can_lift(value):
        lifted = lift(value)
        if is_staged_iterable(lifted):
            return cast(StagedIterable, lifted)
    raise StagingTypeError(
        f"a {type(value).__name__} cannot be iterated together with a staged collection",
        why="the loop is recorded, so every element must be a value of the program",
        instead="a list of numbers or an array",
    )
