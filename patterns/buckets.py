"""Elements grouped by any key: one BucketCollect of their positions; each group is a collection."""

from __future__ import annotations

from typing import Any, NoReturn, cast

from ..staging.context import trace
from ..staging.errors import StagingTypeError
from ..staging.nodes import Block, Bounds, Index, Operand
from ..staging.reps import Rep, lift, rep_of, unknown_attribute
from ..staging.scalars import ScalarRep
from ..staging.scalars import cast as cast_scalar
from ..staging.types import I64
from . import emit, sizes
from .aggregates_of_groups import Aggregates
from .collections import Collection
from .conversions import as_array, flat_index, strong
from .generators import BucketCollect
from .semantics import KEY_KINDS
from .sizes import Size
from .vocabulary import Patterns, Predicate, Selector


class Group(Collection):
    """The elements of one group, in their order: read through their positions."""

    __slots__ = ("places", "size", "source", "start")

    def __init__(self, source: Patterns, places: Operand, start: Operand, size: Size) -> None:
        self.source, self.places, self.start, self.size = source, places, start, size

    def __repr__(self) -> str:
        return "<a group>"

    @property
    def domain(self) -> tuple[Size, ...]:
        return (self.size,)

    def at(self, *indices: ScalarRep) -> Any:
        return self.source.at(*self._original(*indices))

    def call(self, f: Selector | None, *indices: ScalarRep) -> Any:
        return self.source.call(f, *self._original(*indices))

    def _original(self, index: ScalarRep) -> tuple[ScalarRep, ...]:
        place = sizes.add(self.start, index.operand)
        (found,) = trace().emit(Index(self.places, (place,), Bounds.PROVEN))
        return sizes.unraveled(sizes.index_operand(ScalarRep(found)), self.source.domain)


class Buckets(Aggregates):
    """Groups in the order in which their keys are first met; none is empty.

    Keys are numbers, or tuples of numbers: all NaN are one key, and 0.0 equals -0.0.

    keys : [m], or a tuple of such arrays
    sizes : [m], how many elements each group has
    """

    __slots__ = ("_count", "_places", "_starts", "keys", "sizes", "source")

    def __init__(self, source: Patterns, key: Selector) -> None:
        self.source = source
        parts: list[int] = []

        def generate(indices: tuple[ScalarRep, ...]) -> list[BucketCollect]:
            found = key(*indices)
            given: tuple[object, ...] = cast(Any, found) if isinstance(found, tuple) else (found,)
            parts.append(len(given) if isinstance(found, tuple) else 0)
            place = cast_scalar(ScalarRep(flat_index(source.domain, indices)), I64)
            values = [*map(_key_part, given), place.operand]
            return [BucketCollect(None, Block((), (), tuple(values)), len(given))]

        count, _, *arrays = emit.loop(source.domain, generate, ("groups", "", "keys"))
        *keys, starts, lengths, self._places = arrays
        self._count, self._starts = count, starts
        found = tuple(as_array(rep_of(k)) for k in keys)
        self.keys: Any = found if parts[0] else found[0]
        self.sizes = as_array(rep_of(lengths))

    @staticmethod
    def of(source: Patterns, key: Predicate) -> Buckets:
        """From the argument of `group_by`."""
        if callable(key) and not isinstance(key, Rep):
            return Buckets(source, lambda *i: source.call(key, *i))
        keys = as_array(lift(key))
        sizes.unify_shapes(source.domain, keys.domain, "the keys of group_by and its elements")
        return Buckets(source, keys.at)

    def map(self, f: Selector) -> Any:
        """`f` of each group, which is a collection: [m] of numbers, [m, d] of arrays."""

        def each(j: ScalarRep) -> Any:
            return f(self._group(j))

        return emit.collect((self._count,), each)

    def _group(self, j: ScalarRep) -> Group:
        size = sizes.index_operand(self.sizes.element(j))
        sizes.know(size)
        (start,) = trace().emit(Index(self._starts, (j.operand,), Bounds.PROVEN))
        return Group(self.source, self._places, sizes.index_operand(ScalarRep(start)), size)

    def __repr__(self) -> str:
        return "<staged groups>"

    def __getattr__(self, name: str) -> NoReturn:
        raise unknown_attribute(self, name)


def _key_part(value: object) -> Operand:
    """A part of a key, in the type that an array of keys has."""
    part = sizes.scalar_of(value, "a group's key")
    if part.dtype.kind not in KEY_KINDS:
        raise StagingTypeError(
            f"a group's key must be an integer, a truth value or a float, found {part.dtype}",
            instead="a tuple of numbers, (z.real, z.imag) say" if part.dtype.kind == "c" else "",
        )
    return strong(part).operand
