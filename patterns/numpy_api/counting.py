"""np.average, np.cov, np.bincount and other statistics."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.context import trace
from ...staging.errors import Limitation, StagingTypeError
from ...staging.nodes import Check, ErrorKind
from ...staging.numpy_functions import define_function
from ...staging.scalars import ScalarRep
from ..arrays import ArrayRep
from ..conversions import as_array, lifted, with_axes
from ..groups import Groups
from ..reductions import NOT_GIVEN


@define_function(np.average)
def average(
    a: object,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: Any = False,
) -> Any:
    """The mean, or the weighted one; with `returned` the sums of the weights too."""
    x: Any = with_axes(a)
    keep = {"keepdims": bool(keepdims is not NOT_GIVEN and keepdims)}
    if weights is None:
        found = x.mean(axis, **keep)
        ones: Any = lifted(np.ones_like(x, dtype=found.dtype))
        total = ones.sum(axis, **keep)
        return (found, total) if returned else found
    w: Any = as_array(lifted(weights))
    to = np.result_type(x.dtype, w.dtype, *([] if x.dtype.kind == "f" else [np.float64]))
    if w.ndim != x.ndim:
        if not isinstance(axis, int) or w.ndim != 1:
            raise StagingTypeError("np.average takes weights of the array's shape, or a vector")
        w = w[(slice(None), *(None,) * (x.ndim - axis % x.ndim - 1))]
    w = w.broadcast(x.sizes) + np.zeros_like(x, dtype=w.dtype)
    total = w.sum(axis, dtype=to, **keep)
    found = (x * w).sum(axis, dtype=to, **keep) / total
    return (found, total) if returned else found


@define_function(np.cov)
def cov(
    m: object,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """The covariances of variables, the rows, over their observations."""
    x = _variables(m, rowvar)
    if y is not None:
        x = np.concatenate([x, _variables(y, rowvar)])
    x = x.astype(np.result_type(x.dtype, np.float64) if dtype is None else dtype)
    less = ddof if ddof is not None else 0 if bias else 1
    away = x - x.mean(axis=1, keepdims=True)
    found = away @ away.T / np.maximum(lifted(x.shape[1]) - less, 0)
    return found[0, 0] if _is_vector(m) and y is None else found


def _is_vector(m: object) -> bool:
    return as_array(lifted(m)).ndim == 1


def _variables(m: object, rowvar: bool) -> Any:
    x: Any = as_array(lifted(m))
    if x.ndim > 2:
        raise StagingTypeError("np.cov takes a vector or a matrix")
    return x[None] if x.ndim == 1 else x if rowvar else x.T


@define_function(np.corrcoef)
def corrcoef(x: object, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """The correlations of variables, the rows."""
    c: Any = cov(x, y, rowvar, dtype=dtype)
    if isinstance(c, ScalarRep):
        return c / c
    d = np.sqrt(np.diagonal(c))
    return np.clip(c / d[:, None] / d[None, :], -1, 1)


@define_function(np.bincount)
def bincount(x: object, /, weights: Any = None, minlength: Any = 0) -> Any:
    """How often each integer from 0 up occurs, or the sum of its weights."""
    values: Any = as_array(lifted(x))
    if values.ndim != 1 or values.dtype.kind not in "iub":
        raise StagingTypeError("np.bincount takes a vector of integers")
    least = values.min(initial=0)
    fine = np.greater_equal(least, 0)
    trace().emit(Check(fine.operand, ErrorKind.VALUE, "np.bincount of negative integers"))
    greatest: Any = values.astype(np.int64).max(initial=-1)
    return _grouped(values, np.maximum(greatest + 1, minlength), weights)


def _grouped(keys: ArrayRep, size: Any, weights: Any) -> Any:
    if weights is None:
        return Groups.of(keys, keys, size).count()
    given = as_array(lifted(weights)).astype(np.float64)
    return Groups.of(given, keys, size).sum()


@define_function(np.histogram)
def histogram(
    a: object, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """How many elements fall into each of several bins of one width, and the bins' edges."""
    if not isinstance(bins, int):
        raise Limitation("np.histogram with edges", instead="a number of bins, and range=")
    x: Any = with_axes(a).ravel()
    x = x if x.dtype.kind == "f" else x.astype(float)
    low, high = (x.min(), x.max()) if range is None else (lifted(v) for v in range)
    low, high = (v.astype(np.float64) for v in (low, high))
    flat = np.equal(low, high)
    low, high = np.where(flat, low - 0.5, low), np.where(flat, high + 0.5, high)
    edges: Any = np.linspace(low, high, bins + 1)
    width = high - low

    def key(v: Any) -> Any:
        place: Any = ((v - low) / width * bins).astype(np.int64)
        place = np.minimum(np.maximum(place, 0), bins - 1)
        place = place - (v < edges[place]).astype(np.int64)
        up = np.logical_and(np.greater_equal(v, edges[place + 1]), np.not_equal(place, bins - 1))
        return place + up.astype(np.int64)

    inside = np.logical_and(np.greater_equal(x, low), np.less_equal(x, high))
    kept = x[inside]
    keys = kept.map(key)
    given = None if weights is None else as_array(lifted(weights)).ravel()[inside]
    found: Any = _grouped(keys, bins, given)
    if density:
        return found / np.diff(edges) / found.sum(), edges
    return found, edges
