"""Eager collections that are no arrays: rows and columns, ranges, and what zip makes."""

from __future__ import annotations

import builtins
import operator
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..staging.errors import ShapeError
from ..staging.nodes import Bounds
from . import semantics
from .eager_patterns import Patterns, Predicate, Selector, checked, wrapped


class Collection(Patterns):
    """A collection that is no array; to NumPy it is the array of its elements."""

    @property
    @abstractmethod
    def extents(self) -> tuple[int]:
        """The number of elements."""

    def __len__(self) -> int:
        return self.extents[0]

    def __iter__(self) -> Iterator[Any]:
        return (self.at(k) for k in builtins.range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if hasattr(key, "__index__"):
            k = operator.index(key)
            k += len(self) if k < 0 else 0
            semantics.check_inside((k,), self.extents, Bounds.CHECKED, None)
            return self.at(k)
        return wrapped(self.elements()[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.elements(), dtype=dtype, copy=copy)


class Rows(Collection):
    """The sub-arrays of an array along one axis."""

    def __init__(self, array: np.ndarray, axis: int) -> None:
        self.array = np.moveaxis(array, axis, 0)

    @property
    def extents(self) -> tuple[int]:
        return (len(self.array),)

    def at(self, *indices: int) -> Any:
        return wrapped(self.array[indices])

    def elements(self) -> np.ndarray:
        return np.asarray(self.array)


class Range(Collection):
    """Python's range, with the patterns; elements are Python integers."""

    def __init__(self, *bounds: int) -> None:
        self.range = builtins.range(*map(int, bounds))

    @property
    def extents(self) -> tuple[int]:
        return (len(self.range),)

    def at(self, *indices: int) -> int:
        return self.range[indices[0]]

    def elements(self) -> np.ndarray:
        return np.array(self.range, np.int64)


class Zip(Collection):
    """Several collections side by side: elements are tuples, functions take them as arguments."""

    def __init__(self, parts: Sequence[Patterns]) -> None:
        self.parts = tuple(parts)
        first = self.parts[0].extents
        for part in self.parts[1:]:
            if part.extents != first:
                raise ShapeError(
                    f"the sizes of a zip: {first} and {part.extents} do not fit together"
                )

    @property
    def extents(self) -> Any:
        return self.parts[0].extents

    def at(self, *indices: int) -> tuple[Any, ...]:
        return tuple(part.at(*indices) for part in self.parts)

    def call(self, f: Selector, *indices: int) -> Any:
        return f(*self.at(*indices))

    def elements(self) -> np.ndarray:
        return checked(semantics.collect(self.extents, lambda index: self.at(*index)))

    def filter(self, predicate: Predicate) -> Zip:
        """The tuples for which the predicate holds, in order."""
        mask = self.holds(predicate)
        return Zip([_selected(part, mask) for part in self.parts])


def _selected(part: Patterns, mask: np.ndarray) -> Patterns:
    """The elements of one part of a zip where the mask is true."""
    if isinstance(part, Zip):
        return Zip([_selected(inner, mask) for inner in part.parts])
    return Patterns.filter(part, mask)  # type: ignore[no-any-return]
