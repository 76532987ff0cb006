"""Elements grouped by an integer key, eagerly: what groups.py stages as Folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..staging.errors import ShapeError, StagingTypeError
from ..staging.nodes import Bounds
from . import semantics
from .eager_patterns import Patterns, Predicate, Selector, as_float, wrapped


class Groups:
    """Elements grouped by a key `0 <= key < size`; a key outside raises IndexError.

    >>> from .eager import asarray
    >>> asarray([1.0, 2.0, 4.0]).group_by([0, 2, 0], size=3).mean()
    Array([2.5, nan, 2. ])
    """

    def __init__(self, source: Patterns, keys: np.ndarray, size: int) -> None:
        self.source, self.keys, self.size = source, keys, size

    @staticmethod
    def of(source: Patterns, key: Predicate, size: Any) -> Groups:
        """From the arguments of `group_by`."""
        if callable(key):
            keys = source.values(key)
        else:
            keys = np.asarray(key)
            if keys.shape != source.extents:
                raise ShapeError(
                    f"the keys of group_by and its elements: {keys.shape} and {source.extents}"
                    " do not fit together"
                )
        if keys.size and keys.dtype.kind not in "iu":
            raise StagingTypeError(f"an index must be an integer, found {keys.dtype}")
        flat = keys.ravel().astype(np.int64)
        count = max(int(size), 0)
        for found in flat[(flat < 0) | (flat >= count)][:1]:
            semantics.check_inside((int(found),), (count,), Bounds.CHECKED, None)
        return Groups(source, flat, count)

    def sum(self, f: Selector | None = None) -> Any:
        """The sum of each group, [size] or [size, d]; 0 for an empty one."""
        return self._each(np.sum, self.source.values(f))

    def prod(self, f: Selector | None = None) -> Any:
        """The product of each group; 1 for an empty one."""
        return self._each(np.prod, self.source.values(f))

    def count(self) -> Any:
        """The number of elements of each group."""
        return wrapped(np.bincount(self.keys, minlength=self.size).astype(np.int64))

    def any(self, f: Selector | None = None) -> Any:
        """Whether any element of each group is true."""
        return self._each(np.any, self.source.values(f))

    def all(self, f: Selector | None = None) -> Any:
        """Whether every element of each group is true."""
        return self._each(np.all, self.source.values(f))

    def mean(self, f: Selector | None = None) -> Any:
        """The mean of each group, [size] or [size, d]; NaN for an empty one."""
        total = self._each(np.sum, as_float(self.source.values(f)))
        count = self.count().reshape((-1,) + (1,) * (total.ndim - 1))
        with np.errstate(all="ignore"):
            return total / count

    def _each(self, reduction: Callable[..., Any], values: np.ndarray) -> Any:
        """NumPy's reduction of each group over axis 0."""
        nothing = reduction(values[:0], axis=0)
        result = np.empty((self.size, *values.shape[1:]), np.asarray(nothing).dtype)
        for group in range(self.size):
            result[group] = reduction(values[self.keys == group], axis=0)
        return wrapped(result)
