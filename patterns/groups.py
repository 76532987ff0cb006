"""Elements grouped by an integer key: every aggregate is a Fold at the key."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.errors import Limitation
from ..staging.primitives import Primitive
from ..staging.reps import Rep, lift, unknown_attribute
from ..staging.scalars import ScalarRep, constant
from . import emit, sizes
from .arrays import ArrayRep
from .conversions import as_array, as_float, binary, widened
from .sizes import Size
from .vocabulary import Patterns, Predicate, Selector


class Groups:
    """Elements grouped by a key `0 <= key < size`; a key outside raises IndexError when the program
    runs.
    """

    __slots__ = ("key", "size", "source")

    def __init__(self, source: Patterns, key: Selector, size: Size) -> None:
        self.source, self.key, self.size = source, key, size

    @staticmethod
    def of(source: Patterns, key: Predicate, size: object) -> Groups:
        """From the arguments of `group_by`."""
        extent = sizes.count(size)
        if callable(key) and not isinstance(key, Rep):
            return Groups(source, lambda *i: source.call(key, *i), extent)
        keys = as_array(lift(key))
        sizes.unify_shapes(source.domain, keys.domain, "the keys of group_by and its elements")
        return Groups(source, keys.at, extent)

    def sum(self, f: Selector | None = None) -> ArrayRep:
        """The sum of each group, [size] or [size, d]; 0 for an empty one."""
        return self._fold(p.ADD, "sum", lambda *i: widened(lift(self.source.call(f, *i))))

    def prod(self, f: Selector | None = None) -> ArrayRep:
        """The product of each group; 1 for an empty one."""
        return self._fold(p.MULTIPLY, "prod", lambda *i: widened(lift(self.source.call(f, *i))))

    def count(self) -> ArrayRep:
        """The number of elements of each group."""
        one = constant(np.int64(1))
        return self._fold(p.ADD, "count", lambda *_: one)

    def any(self, f: Selector | None = None) -> ArrayRep:
        """Whether any element of each group is true."""
        return self._fold(p.LOGICAL_OR, "any", self._truth(f))

    def all(self, f: Selector | None = None) -> ArrayRep:
        """Whether every element of each group is true."""
        return self._fold(p.LOGICAL_AND, "all", self._truth(f))

    def mean(self, f: Selector | None = None) -> Any:
        """The mean of each group, [size] or [size, d]; NaN for an empty one."""
        total = self._fold(p.ADD, "sum", lambda *i: as_float(self.source.call(f, *i)))
        count: Any = self.count()
        for _ in range(total.ndim - 1):
            count = count[..., None]
        return apply_ufunc(np.true_divide, (total, count))

    def _truth(self, f: Selector | None) -> Selector:
        return lambda *i: ScalarRep(emit.condition(self.source.call(f, *i)))

    def _fold(self, primitive: Primitive, name: str, value: Selector) -> ArrayRep:
        def location(*indices: ScalarRep) -> object:
            return sizes.scalar_of(self.key(*indices), "a group's key")

        return as_array(
            emit.fold(self.source.domain, location, value, binary(primitive, name), (self.size,))
        )

    def __repr__(self) -> str:
        return "<staged grouping>"

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("min", "max", "argmin", "argmax", "reduce", "map"):
            raise Limitation(
                f"{name} of groups",
                why="an empty group has no such value, and a Fold starts from an identity",
                instead="sum, prod, count, mean, any or all of the groups, or .filter(...) "
                "for one group",
            )
        raise unknown_attribute(self, name)
