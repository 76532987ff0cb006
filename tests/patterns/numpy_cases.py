"""A case for every function of NumPy, and every method of its arrays, that works on staged values:
what the function is tried on. The parameters' names say which of INPUTS a case gets.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.patterns.numpy_layout_cases import LAYOUTS, METHODS, NEW, VALUES, Case
from tests.patterns.numpy_library_cases import LIBRARY

_RNG = np.random.default_rng(7)
X = _RNG.normal(size=(4, 3))
INPUTS: Mapping[str, Any] = {
    "x": X,
    "y": _RNG.normal(size=(4, 3)),
    "s": np.array([[0.0, -0.0, 1.5], [np.inf, -np.inf, np.nan], [2.5, -2.5, 1e300]]),
    "v": _RNG.normal(size=6),
    "w": np.array([0.5, 2.0, 1.0, 0.25, 3.0, 1.5]),
    "i": np.array([3, 0, 5, 1, 3, 2]),
    "j": np.array([-7, 2, 6, -1, 3, 12], np.int32),
    "u": np.array([3, 200, 7, 1, 0, 255], np.uint8),
    "m": np.array([True, False, True, True, False, True]),
    "t": _RNG.normal(size=(2, 4, 3)),
    "f": _RNG.normal(size=6).astype(np.float32),
    "n": 5,
}


def _unary(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda x, s, f, i: (ufunc(x), ufunc(s), ufunc(f), ufunc(i), ufunc(f[0]))


def _floats(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda x, s, f: (ufunc(x), ufunc(s), ufunc(f))


def _binary(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda x, y, s, f, w: (
        ufunc(x, y),
        ufunc(s, x[0]),
        ufunc(f, w),
        ufunc(f, 2),
        ufunc(x, 0),
    )


def _both(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda x, y, s, i, j: (ufunc(x, y), ufunc(s, x[0]), ufunc(i, j), ufunc(j, 2))


def _integers(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda i, j, u: (ufunc(i, j), ufunc(u, u[::-1]), ufunc(j, 3))


def _truth(name: str) -> Case:
    ufunc: Any = getattr(np, name)
    return lambda m, i, x, y: (ufunc(m, i), ufunc(x, y))


UFUNCS: Mapping[str, Case] = {
    **{
        name: _unary(name)
        for name in (
            "absolute ceil conjugate deg2rad rad2deg degrees radians exp exp2 expm1 fabs floor "
            "isfinite isinf isnan negative positive reciprocal rint sign square trunc arctan "
            "arcsinh cbrt cos sin tan sinh cosh tanh fix abs"
        ).split()
    },
    **{
        name: _floats(name)
        for name in (
            "sqrt log log10 log1p log2 arccos arccosh arcsin arctanh signbit spacing modf sinc"
        ).split()
    },
    **{
        name: _binary(name)
        for name in (
            "arctan2 copysign float_power heaviside hypot logaddexp logaddexp2 nextafter"
        ).split()
    },
    **{
        name: _both(name)
        for name in (
            "add subtract multiply divide true_divide floor_divide remainder mod fmod divmod fmax "
            "fmin maximum minimum equal not_equal less less_equal greater greater_equal"
        ).split()
    },
    **{name: _integers(name) for name in "bitwise_and bitwise_or bitwise_xor gcd lcm".split()},
    **{name: _truth(name) for name in "logical_and logical_or logical_xor".split()},
    "logical_not": lambda m, i, x: (np.logical_not(m), np.logical_not(i), np.logical_not(x)),
    "invert": lambda m, j, u: (np.invert(m), np.invert(j), np.invert(u)),
    "bitwise_count": lambda i, j, u: (
        np.bitwise_count(i),
        np.bitwise_count(j),
        np.bitwise_count(u),
    ),
    "left_shift": lambda i, u: (np.left_shift(i, 2), np.left_shift(u, 1)),
    "right_shift": lambda j, u: (np.right_shift(j, 2), np.right_shift(u, 1)),
    "power": lambda w, x, i: (np.power(w, 1.5), np.power(x, 2), np.power(i, 3)),
    "matmul": lambda x: np.matmul(x, x.T),
    "vecdot": lambda x, y: np.vecdot(x, y),
    "matvec": lambda t, x: np.matvec(t, x[0]),
    "vecmat": lambda t, x: np.vecmat(x[:, 0], t),
}
"""NumPy's ufuncs, and those of its functions that are called like one."""

REDUCTIONS: Mapping[str, Case] = {
    "sum": lambda x, i: (
        np.sum(x),
        np.sum(x, 0),
        np.sum(x, axis=(0, 1), keepdims=True),
        np.sum(x, axis=-1, dtype=np.float32),
        np.sum(x, axis=0, initial=2.0, where=x > 0),
        np.sum(i),
    ),
    "prod": lambda x, i: (np.prod(x, 1), np.prod(i), np.prod(x, initial=3.0, where=x > 0)),
    "mean": lambda x, i: (np.mean(x, 0), np.mean(i), np.mean(x, axis=1, where=x < 1.0)),
    "var": lambda x: (
        np.var(x),
        np.var(x, 0, ddof=1),
        np.var(x, axis=1, keepdims=True, where=x < 1),
    ),
    "std": lambda x: (np.std(x), np.std(x, axis=1, ddof=1)),
    "min": lambda x, i: (
        np.min(x),
        np.min(x, 0, keepdims=True),
        np.min(x, initial=-9.0),
        np.min(i),
    ),
    "max": lambda x, i: (np.max(x, axis=1, initial=0.5, where=x > 0), np.max(i)),
    "amin": lambda x: np.amin(x, 0),
    "amax": lambda x: np.amax(x, 0),
    "ptp": lambda x: (np.ptp(x), np.ptp(x, axis=0)),
    "argmin": lambda x: (np.argmin(x), np.argmin(x, axis=0), np.argmin(x, 1, keepdims=True)),
    "argmax": lambda x: (np.argmax(x), np.argmax(x, axis=1)),
    "any": lambda x: (np.any(x > 1), np.any(x > 1, axis=0), np.any(x > 0, axis=1, where=x < 1)),
    "all": lambda x: (np.all(x < 9), np.all(x > 0, axis=1, keepdims=True)),
    "count_nonzero": lambda x: (np.count_nonzero(x > 0), np.count_nonzero(x > 0, axis=0)),
    "average": lambda x, y, v, w: (
        np.average(x),
        np.average(x, 0, returned=True),
        np.average(v, weights=w),
        np.average(x, axis=1, weights=y * y, keepdims=True),
    ),
    "cov": lambda x, v, w: (np.cov(x), np.cov(v, w), np.cov(x, rowvar=False, bias=True), np.cov(v)),
    "corrcoef": lambda x, v, w: (np.corrcoef(x), np.corrcoef(v, w)),
    "nansum": lambda s, i: (np.nansum(s[:, 1:] * 0.5, 0), np.nansum(i)),
    "nanprod": lambda s: np.nanprod(s[1:], axis=1),
    "nanmean": lambda s, i: (
        np.nanmean(s[1:, 2]),
        np.nanmean(i),
        np.nanmean(s[:, 2], keepdims=True),
    ),
    "nanvar": lambda s: (np.nanvar(s[:2, 2]), np.nanvar(s[::2], axis=0, ddof=1)),
    "nanstd": lambda s: np.nanstd(s[::2], axis=1),
    "nanmin": lambda s: (np.nanmin(s, 0), np.nanmin(s), np.nanmin(s[1:2, 2:], 1)),
    "nanmax": lambda s: (np.nanmax(s, axis=1, keepdims=True), np.nanmax(s)),
    "nanargmin": lambda s: (np.nanargmin(s), np.nanargmin(s, axis=0)),
    "nanargmax": lambda s: np.nanargmax(s, axis=1),
    "bincount": lambda i, w: (np.bincount(i), np.bincount(i, w), np.bincount(i, minlength=9)),
    "histogram": lambda v, w: (
        np.histogram(v, 4),
        np.histogram(w, bins=3, range=(0.0, 2.0)),
        np.histogram(v, 5, weights=w, density=True),
    ),
    "trapezoid": lambda x, v, w: (
        np.trapezoid(v),
        np.trapezoid(x, axis=0, dx=0.5),
        np.trapezoid(v, w),
    ),
    "cumsum": lambda x, i: (np.cumsum(x), np.cumsum(x, axis=1), np.cumsum(i)),
    "cumprod": lambda x: np.cumprod(x, axis=0),
    "nancumsum": lambda v: np.nancumsum(v),
    "nancumprod": lambda v: np.nancumprod(v),
    "cumulative_sum": lambda v: np.cumulative_sum(v, include_initial=True),
    "cumulative_prod": lambda v: np.cumulative_prod(v),
    "dot": lambda x, y: (np.dot(x, y.T), np.dot(x[0], y[0]), np.dot(x, 2.0)),
    "vdot": lambda x, y: np.vdot(x, y),
    "inner": lambda x, y: np.inner(x, y),
    "outer": lambda v, w: np.outer(v, w),
    "trace": lambda x: (np.trace(x), np.trace(x, 1), np.trace(x, offset=-1)),
}

FUNCTIONS: Mapping[str, Case] = {**UFUNCS, **REDUCTIONS, **VALUES, **LAYOUTS, **NEW, **LIBRARY}

__all__ = ["FUNCTIONS", "INPUTS", "METHODS", "Case"]
