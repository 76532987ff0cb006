"""Reading `x[key]`: a view where the key has no array, a loop where it has."""

from __future__ import annotations

from typing import Any

from ..staging.scalars import ScalarRep
from . import emit
from .arrays import ArrayRep
from .conversions import as_array
from .keys import Along, Selected, nonzero, select


def read(x: ArrayRep, key: object) -> Any:
    """`x[key]`"""
    selected = select(x, key)
    if selected.mask is not None:
        return compress(x.seen(selected.view), selected.mask, selected.axis)
    if selected.along:
        return gather(x, selected)
    seen = x.seen(selected.view)
    return seen if selected.view.shape else seen.element()


def gather(x: ArrayRep, selected: Selected) -> Any:
    """The elements of x that a key with arrays of positions selects."""

    def element(*indices: ScalarRep) -> ScalarRep:
        return x.seen(selected.at(indices)).element()

    return as_array(emit.collect(selected.result_shape, element))


def compress(x: ArrayRep, mask: ArrayRep, axis: int) -> ArrayRep:
    """`x[mask]`, `x[:, mask]`: the elements or sub-arrays where the mask, over x's axes from `axis`
    on, holds.
    """
    if axis != 0:
        found = nonzero(mask)
        along = tuple(Along(axis + k, positions) for k, positions in enumerate(found))
        return as_array(gather(x, Selected(x.view, along, found[0].sizes, axis)))

    def rows(*indices: ScalarRep) -> Any:
        found: Any = x
        for index in indices:
            found = found.fixed(0, index)
        return found

    return as_array(emit.collect_if(mask.sizes, mask.element, rows))


__all__ = ["compress", "gather", "read"]
