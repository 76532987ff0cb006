"""What filter gives: the kept elements of a collection, compacted."""

from __future__ import annotations

from typing import Any

from ..staging.context import trace
from ..staging.descriptions import described
from ..staging.scalars import ScalarRep
from . import emit, sizes
from .arrays import ArrayRep
from .collections import Collection, Rows
from .conversions import as_array
from .sizes import Size
from .vocabulary import Patterns, Predicate


def kept(source: Patterns, predicate: Predicate) -> Any:
    """The elements where the predicate holds: an array of numbers, or rows of one.

    A conditional Collect of the elements themselves.
    """
    found = as_array(emit.collect_if(source.domain, source.holds(predicate), source.at))
    return found if found.ndim == 1 else Rows(found, 0)


class Selection(Collection):
    """The kept elements of a collection of tuples: a conditional Collect of positions, read through
    on demand.
    """

    __slots__ = ("positions", "source")

    def __repr__(self) -> str:
        return f"<the elements that a filter keeps of {described(self.source)}>"

    def __init__(self, source: Patterns, predicate: Predicate) -> None:
        self.source = source
        (extent,) = source.domain
        self.positions: ArrayRep = as_array(
            emit.collect_if((extent,), source.holds(predicate), lambda *i: i[0])
        )

    @property
    def domain(self) -> tuple[Size, ...]:
        return self.positions.sizes

    def at(self, *indices: ScalarRep) -> Any:
        return self.source.at(self._original(*indices))

    def call(self, f: Any, *indices: ScalarRep) -> Any:
        return self.source.call(f, self._original(*indices))

    def _original(self, *indices: ScalarRep) -> ScalarRep:
        extent = trace().canonical(self.source.domain[0])
        position = self.positions.element(*indices)
        return sizes.index(sizes.index_operand(position), extent)
