"""Elements grouped by any key, eagerly: what buckets.py stages as a BucketCollect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from ..staging.errors import ShapeError, StagingTypeError
from . import semantics
from .aggregates_of_groups import Aggregates
from .eager_collections import Collection
from .eager_patterns import Patterns, Predicate, Selector, gather, wrapped
from .semantics import KEY_KINDS, Index


class Group(Collection):
    """The elements of one group, in their order."""

    def __init__(self, source: Patterns, places: list[Index]) -> None:
        self.source, self.places = source, places

    @property
    def extents(self) -> tuple[int]:
        return (len(self.places),)

    def at(self, *indices: int) -> Any:
        return self.source.at(*self.places[indices[0]])

    def call(self, f: Selector, *indices: int) -> Any:
        return self.source.call(f, *self.places[indices[0]])

    def elements(self) -> np.ndarray:
        places = tuple(np.array(axis, np.intp) for axis in zip(*self.places, strict=True))
        return np.asarray(self.source.elements()[places])


class Buckets(Aggregates):
    """Groups in the order in which their keys are first met; none is empty.

    >>> from .eager import asarray
    >>> groups = asarray([1.0, 2.0, 4.0]).group_by([7, 3, 7])
    >>> groups.keys, groups.sum()
    (Array([7, 3]), Array([5., 2.]))
    """

    def __init__(self, source: Patterns, key: Callable[[Index], Any]) -> None:
        self.source = source
        single: list[bool] = []

        def place(index: Index) -> tuple[tuple[Any, ...], Index]:
            found = key(index)
            single.append(not isinstance(found, tuple))
            parts: tuple[Any, ...] = cast(Any, found) if isinstance(found, tuple) else (found,)
            return tuple(map(_key_part, parts)), index

        found = semantics.bucket_collect(source.extents, place)
        self.places: list[list[Index]] = [places for _, places in found]
        columns = list(zip(*(key for key, _ in found), strict=True)) or [()]
        keys = tuple(wrapped(np.array(column)) for column in columns)
        self.keys: Any = keys[0] if all(single) else keys
        self.sizes = wrapped(np.array([len(p) for p in self.places], np.int64))

    @staticmethod
    def of(source: Patterns, key: Predicate) -> Buckets:
        """From the argument of `group_by`."""
        if callable(key):
            return Buckets(source, lambda index: source.call(key, *index))
        keys = np.asarray(key)
        if keys.shape != source.extents:
            raise ShapeError(
                f"the keys of group_by and its elements: {keys.shape} and {source.extents}"
                " do not fit together"
            )
        return Buckets(source, lambda index: keys[index])

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[Group]:
        return (Group(self.source, places) for places in self.places)

    def map(self, f: Selector) -> Any:
        """`f` of each group, which is a collection: [m] of numbers, [m, d] of arrays."""
        return gather((len(self),), lambda j: f(Group(self.source, self.places[j[0]])))


def _key_part(value: Any) -> Any:
    """A part of a key."""
    found = np.asarray(value)
    if found.ndim:
        raise StagingTypeError("a group's key must be a number, found an array")
    if found.dtype.kind not in KEY_KINDS:
        raise StagingTypeError(
            f"a group's key must be an integer, a truth value or a float, found {found.dtype}"
        )
    return found[()]
