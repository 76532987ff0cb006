"""np.digitize and np.interp: which interval a number is in, and what follows from that."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.context import trace
from ...staging.errors import Limitation
from ...staging.nodes import Check, ErrorKind
from ...staging.numpy_functions import define_function
from ...staging.reps import lift
from .. import sizes
from ..conversions import as_array


@define_function(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Which of the intervals between the bins, in ascending or descending order, each x is in."""
    edges: Any = as_array(lift(bins))
    rises, falls = np.any(edges[1:] > edges[:-1]), np.any(edges[1:] < edges[:-1])
    fine = np.logical_not(rises & falls)
    trace().emit(Check(lift(fine).operand, ErrorKind.VALUE, "the bins must be in order"))
    side: Any = "left" if right else "right"
    up = np.searchsorted(edges, x, side)
    down = edges.shape[0] - np.searchsorted(edges[::-1], x, side)
    return np.where(falls, down, up)


@define_function(np.interp)
def interp(
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: None = None,
) -> Any:
    """The piecewise linear function through the points (xp, fp), whose xp are in order; `left` and
    `right` of them its first and last value, unless given.
    """
    if period is not None:
        raise Limitation("np.interp with a period", instead="x % period, and a point at each end")
    points: Any = as_array(lift(xp)).astype(np.float64)
    values: Any = as_array(lift(fp))
    if values.dtype.kind == "c":
        raise Limitation("np.interp of complex values", instead="real and imaginary parts apart")
    values = values.astype(np.float64)
    sizes.unify_shapes(points.sizes, values.sizes, "the points of np.interp")
    sizes.check_not_empty(points.sizes[0], "array of sample points is empty")
    given: Any = lift(x)
    at: Any = np.multiply(given, np.float64(1))
    last = points.shape[0] - 1
    place = np.searchsorted(points, at, "right") - 1
    low = np.maximum(place, 0)
    high = np.minimum(low + 1, last)
    here, there, a, b = points[low], points[high], values[low], values[high]
    slope = (b - a) / (there - here)
    found = slope * (at - here) + a
    # Where an infinity spoils it, from the other end; a constant stays what it is.
    other = slope * (at - there) + b
    other = np.where(np.isnan(other) & (a == b), a, other)
    found = np.where(np.isnan(found), other, found)
    found = np.where((here == at) | (low == last), a, found)
    found = np.where(at < points[0], values[0] if left is None else left, found)
    found = np.where(at > points[last], values[last] if right is None else right, found)
    several = np.greater(last, 0)  # of one point, its value
    return np.where(np.isnan(at) & several, at, found)
