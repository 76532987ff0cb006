"""np.isclose, np.nan_to_num and other questions about values, as compositions of ufuncs."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.control import if_then_else
from ...staging.errors import Limitation
from ...staging.numpy_functions import define_function
from ...staging.scalars import ScalarRep
from .. import emit, sizes
from ..conversions import as_array, lifted
from ..sizes import Size


@define_function(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """|a - b| <= atol + rtol |b|, equal infinities too."""
    x, y = lifted(a), lifted(b)
    near = np.absolute(x - y) <= atol + rtol * np.absolute(y)
    found = (near & np.isfinite(y)) | np.equal(x, y)
    return found | (np.isnan(x) & np.isnan(y)) if equal_nan else found


@define_function(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close."""
    return np.all(isclose(a, b, rtol, atol, equal_nan))


@define_function(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether the shapes and all elements are equal."""
    return _equal(lifted(a1), lifted(a2), equal_nan, broadcast=False)


@define_function(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether the shapes fit together, and all elements are equal after broadcasting."""
    return _equal(lifted(a1), lifted(a2), equal_nan=False, broadcast=True)


def _equal(x: Any, y: Any, equal_nan: bool, broadcast: bool) -> Any:
    """Elements are compared only where the shapes fit; whether they do may be known at run time."""
    if x.ndim != y.ndim and not broadcast:
        return False

    def same(a: Any, b: Any) -> Any:
        found = np.equal(a, b)
        return found | (np.isnan(a) & np.isnan(b)) if equal_nan else found

    fits: Any = True
    shape: list[Size] = list((x if x.ndim >= y.ndim else y).sizes) if x.ndim or y.ndim else []
    for axis in range(1, min(x.ndim, y.ndim) + 1):
        m, n = x.sizes[-axis], y.sizes[-axis]
        if broadcast and (sizes.is_one(m) or sizes.is_one(n)):
            shape[-axis] = n if sizes.is_one(m) else m
        elif not sizes.same(m, n):
            equal = x.shape[-axis] == y.shape[-axis]
            fits = equal if fits is True else fits & equal
    if fits is True:
        return np.all(same(x, y))

    def element(v: Any, indices: tuple[ScalarRep, ...]) -> Any:
        behind = indices[len(indices) - v.ndim :]
        places = [0 if sizes.is_one(n) else i for i, n in zip(behind, v.sizes, strict=True)]
        return v[tuple(places)] if places else v

    def compare() -> Any:
        return np.all(emit.collect(shape, lambda *i: same(element(x, i), element(y, i))))

    return if_then_else(fits, compare, lambda: np.False_)


@define_function(np.isposinf)
def isposinf(x: Any) -> Any:
    """Whether each element is infinity."""
    return np.isinf(lifted(x)) & (lifted(x) > 0)


@define_function(np.isneginf)
def isneginf(x: Any) -> Any:
    """Whether each element is minus infinity."""
    return np.isinf(lifted(x)) & (lifted(x) < 0)


def _real(x: Any, name: str) -> Any:
    found: Any = lifted(x)
    if found.dtype.kind == "c":
        raise Limitation(f"{name} of complex numbers")
    return found


@define_function(np.real)
def real(val: Any) -> Any:
    """Real numbers themselves."""
    return _real(val, "np.real")


@define_function(np.imag)
def imag(val: Any) -> Any:
    """Zeros for real numbers."""
    return np.zeros_like(_real(val, "np.imag"))


@define_function(np.isreal)
def isreal(x: Any) -> Any:
    """True for real numbers."""
    return np.ones_like(_real(x, "np.isreal"), dtype=bool)


@define_function(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """False for real numbers."""
    return np.zeros_like(_real(x, "np.iscomplex"), dtype=bool)


@define_function(np.isrealobj)
def isrealobj(x: Any) -> bool:
    """Whether the dtype is real."""
    return bool(lifted(x).dtype.kind != "c")


@define_function(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex."""
    return bool(lifted(x).dtype.kind == "c")


@define_function(np.isscalar)
def isscalar(element: Any) -> bool:
    """Whether a number."""
    return isinstance(element, ScalarRep) or np.isscalar(element)


@define_function(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """0 for real numbers from 0 up, pi for others."""
    found = np.arctan2(0.0, _real(z, "np.angle"))
    return found * (180 / np.pi) if deg else found


@define_function(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaNs replaced, infinities by the greatest and the least number."""
    value = _real(x, "np.nan_to_num")
    if value.dtype.kind != "f":
        return value if isinstance(value, ScalarRep) else value.copy()
    limits: Any = np.finfo(value.dtype)
    kind = value.dtype.type
    high, low = (d if v is None else v for v, d in ((posinf, limits.max), (neginf, limits.min)))
    found = np.where(np.isnan(value), kind(nan), value)
    found = np.where(isposinf(value), kind(high), found)
    found = np.where(isneginf(value), kind(low), found)
    if copy:
        return found
    as_array(value)[...] = found
    return value


@define_function(np.sinc)
def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x), 1 at 0."""
    value: Any = lifted(x)
    tiny = np.pi * np.where(value == 0, 1.0e-20, value)
    return np.sin(tiny) / tiny


@define_function(np.fix)
def fix(x: Any) -> Any:
    """Rounded towards 0."""
    return np.trunc(lifted(x))
