"""np.unique and the functions of sets, as compositions of sorting and searching."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...staging.errors import Limitation
from ...staging.numpy_functions import define_function
from ...staging.reps import lift
from ...staging.scalars import ScalarRep
from .. import emit
from ..arrays import ArrayRep
from ..conversions import as_array
from .creation import full


class Distinct(NamedTuple):
    """A vector's elements in order, where each run of equal ones begins, and where they stood."""

    ordered: Any
    begins: Any
    order: Any


def _distinct(x: ArrayRep, equal_nan: bool) -> Distinct:
    order: Any = np.argsort(x)
    ordered: Any = x[order]

    def begins(i: ScalarRep) -> Any:
        here, before = ordered[i], ordered[np.maximum(i - 1, 0)]
        differs = here != before
        if equal_nan and x.dtype.kind == "f":
            differs = differs & ((here == here) | (before == before))
        return (i == 0) | differs

    return Distinct(ordered, emit.collect(x.sizes, begins), order)


@define_function(np.unique)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    *,
    equal_nan: bool = True,
) -> Any:
    """The distinct elements in order; where each stands first, which of them each element is, and
    how often it occurs.
    """
    x: Any = as_array(lift(ar))
    flat: Any = x.ravel()
    if flat.dtype.kind == "c":
        raise Limitation("np.unique of complex numbers")
    found = _distinct(flat, equal_nan)
    parts = [found.ordered[found.begins]]
    if return_index:
        parts.append(found.order[found.begins])
    if return_inverse:
        ranks = np.cumsum(found.begins) - 1
        inverse = np.zeros_like(ranks)
        np.put(inverse, found.order, ranks)
        parts.append(np.reshape(inverse, x.shape))
    if return_counts:
        ends = np.concatenate([np.flatnonzero(found.begins), full(1, flat.shape[0])])
        parts.append(np.diff(ends))
    return parts[0] if len(parts) == 1 else tuple(parts)


@define_function(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """The distinct elements of either array, in order."""
    both = [as_array(lift(a)).ravel() for a in (ar1, ar2)]
    return unique(np.concatenate(both))


@define_function(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False
) -> Any:
    """Which elements are among the others; NaN is among none."""
    x, others = as_array(lift(element)), as_array(lift(test_elements)).ravel()
    dtype = np.result_type(x.dtype, others.dtype)
    ordered: Any = np.sort(others.astype(dtype))
    wanted: Any = x.astype(dtype)
    count = np.searchsorted(ordered, wanted, "right") - np.searchsorted(ordered, wanted, "left")
    found = (count > 0) & (wanted == wanted)
    return np.logical_not(found) if invert else found


@define_function(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """The distinct elements of the first array that are not in the second."""
    x: Any = as_array(lift(ar1)).ravel()
    candidates: Any = x if assume_unique else unique(x)
    return candidates[isin(candidates, ar2, invert=True)]
