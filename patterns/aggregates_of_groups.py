"""The aggregates of groups: one definition for staged and eager ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Aggregates:
    """Each group is a collection, and an aggregate of the groups is that of each.

    sizes : [m], how many elements each group has
    """

    __slots__ = ()

    sizes: Any

    def map(self, f: Callable[[Any], Any], /) -> Any:
        """`f` of each group, which is a collection: [m] of numbers, [m, d] of arrays."""
        raise NotImplementedError(type(self).__name__)

    def _each(self, name: str, *args: Any, **options: Any) -> Any:
        def aggregate(group: Any) -> Any:
            return getattr(group, name)(*args, **options)

        return self.map(aggregate)

    def reduce(self, f: Callable[..., Any], **declared: Any) -> Any:
        """Each group's elements combined by `f(a, b)`."""
        return self._each("reduce", f, **declared)

    def sum(self, f: Callable[..., Any] | None = None, /) -> Any:
        """The sum of each group, [m] or [m, d]."""
        return self._each("sum", f)

    def prod(self, f: Callable[..., Any] | None = None, /) -> Any:
        """The product of each group."""
        return self._each("prod", f)

    def min(self, f: Callable[..., Any] | None = None, /) -> Any:
        """The least element of each group."""
        return self._each("min", f)

    def max(self, f: Callable[..., Any] | None = None, /) -> Any:
        """The greatest element of each group."""
        return self._each("max", f)

    def mean(self, f: Callable[..., Any] | None = None, /) -> Any:
        """The mean of each group."""
        return self._each("mean", f)

    def any(self, f: Callable[..., Any] | None = None, /) -> Any:
        """Whether any element of each group is true."""
        return self._each("any", f)

    def all(self, f: Callable[..., Any] | None = None, /) -> Any:
        """Whether all elements of each group are true."""
        return self._each("all", f)

    def count(self, predicate: Callable[..., Any] | None = None) -> Any:
        """The number of elements of each group, or of those for which the predicate holds."""
        if predicate is None:
            return self.sizes.copy()
        return self._each("count", predicate)
