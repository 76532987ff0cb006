"""Staged collections that are no arrays: rows and columns, ranges, and what zip makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..staging.arithmetic import numpy_ufunc
from ..staging.context import trace
from ..staging.descriptions import described
from ..staging.errors import StagingTypeError
from ..staging.nodes import Operand
from ..staging.reps import lift, not_rewritten
from ..staging.scalars import ScalarRep
from . import sizes
from .conversions import as_array
from .sizes import Size
from .vocabulary import Patterns, Predicate, Selector

if TYPE_CHECKING:
    from .arrays import ArrayRep


class Collection(Patterns):
    """A collection that is no array; as an array it is what `map` of its elements gives."""

    __slots__ = ()

    @property
    def operand(self) -> Operand:
        return lift(Patterns.map(self, self._single)).operand

    def _single(self, *parts: Any) -> Any:
        if len(parts) == 1:
            return parts[0]
        raise StagingTypeError(
            f"{described(self)} is used as an array",
            why="its elements are tuples",
            instead=".map(lambda a, b: ...) of what the array holds",
        )

    def __iter__(self) -> Iterator[Any]:
        length = sizes.static(self.domain[0])
        if length is None:
            raise not_rewritten(
                f"{described(self)} is iterated outside of a staged function's own source",
                "its length is known only when the compiled program runs",
                ".map(f), or a for statement in a function that parloom stages",
            )
        return iter([self[k] for k in range(length)])

    def staged_element(self, i: ScalarRep) -> Any:
        """Element i of a loop over the collection."""
        return self[i]

    def __getitem__(self, i: object) -> Any:
        index = sizes.scalar_of(i, "an index of a collection")
        if not sizes.in_range(index, self.domain[0]):
            return as_array(self)[i]
        return self.at(sizes.index(sizes.index_operand(index), self.domain[0]))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> object:
        return numpy_ufunc(ufunc, method, inputs, options)

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise StagingTypeError(
            "NumPy tried to make an array out of a staged collection", instead=".map(f)"
        )


_ALONG = {0: "rows", 1: "columns"}


class Rows(Collection):
    """The sub-arrays of an array along one axis."""

    __slots__ = ("array", "axis")

    def __repr__(self) -> str:
        along = _ALONG.get(self.axis, f"sub-arrays along axis {self.axis}")
        return f"<the {along} of {described(self.array)}>"

    def __init__(self, array: ArrayRep, axis: int) -> None:
        self.array = array
        self.axis = axis

    @property
    def operand(self) -> Operand:
        return self.array.operand if self.axis == 0 else super().operand

    @property
    def domain(self) -> tuple[Size, ...]:
        return (self.array.sizes[self.axis],)

    def at(self, *indices: ScalarRep) -> Any:
        return self.array.fixed(self.axis, indices[0])

    def __getitem__(self, i: object) -> Any:
        key: tuple[object, ...] = (slice(None),) * self.axis + (i,)
        return self.array[key]


class Range(Collection):
    """`start + step * i` for i < size: Python's integers."""

    __slots__ = ("start", "step", "length")

    def __repr__(self) -> str:
        return "<staged range>"

    def __init__(self, start: Operand, step: int, length: Size) -> None:
        self.start, self.step, self.length = start, step, length

    @staticmethod
    def of(*bounds: object) -> Range:
        """From the arguments of Python's `range`; the step is a Python integer."""
        if len(bounds) == 1:
            return Range(sizes.as_operand(0), 1, sizes.count(bounds[0]))
        start, stop, *rest = bounds
        step = rest[0] if rest else 1
        if not isinstance(step, int) or step == 0:
            raise StagingTypeError("the step of a range must be a Python integer other than 0")
        first, last = (
            sizes.index_operand(sizes.scalar_of(b, "a range's bound")) for b in (start, stop)
        )
        span = sizes.subtract(last, first) if step > 0 else sizes.subtract(first, last)
        return Range(first, step, sizes.divide_up(sizes.greatest(span, 0), abs(step)))

    @property
    def domain(self) -> tuple[Size, ...]:
        return (self.length,)

    def at(self, *indices: ScalarRep) -> ScalarRep:
        (i,) = indices
        if self.step == 1 and sizes.static(self.start) == 0:
            return i
        return ScalarRep(sizes.add(self.start, sizes.multiply(i.operand, self.step)))


class Zip(Collection):
    """Several collections side by side; elements are tuples, functions take them as several
    arguments.
    """

    __slots__ = ("parts",)

    def __repr__(self) -> str:
        return "<staged zip>"

    def __init__(self, parts: Sequence[Patterns]) -> None:
        self.parts = tuple(parts)
        for part in self.parts[1:]:
            sizes.unify_shapes(self.parts[0].domain, part.domain, "the sizes of a zip")

    @property
    def domain(self) -> tuple[Size, ...]:
        return tuple(map(trace().canonical, self.parts[0].domain))

    def at(self, *indices: ScalarRep) -> tuple[Any, ...]:
        return tuple(part.at(*indices) for part in self.parts)

    def call(self, f: Selector | None, *indices: ScalarRep) -> Any:
        element = self.at(*indices)
        return element if f is None else f(*element)

    def filter(self, predicate: Predicate) -> Any:
        """The tuples for which the predicate holds, in order."""
        from .selections import Selection

        return Selection(self, predicate)
