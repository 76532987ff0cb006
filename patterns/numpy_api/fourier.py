"""np.fft: transforms of one axis by NumPy, those of several axes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.context import trace
from ...staging.errors import StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import lift
from .. import sizes
from ..conversions import as_array
from ..library_calls import call_one
from ..reductions import axes_of, axis_number
from ..routines.fourier import Fourier
from ..sizes import Size

NORMS = ("backward", "ortho", "forward")


def _half(n: Size) -> Size:
    """n // 2 + 1"""
    return sizes.add(sizes.divide_up(sizes.subtract(n, 1), 2), 1)


def _twice(n: Size) -> Size:
    """2 * (n - 1)"""
    return sizes.multiply(sizes.subtract(n, 1), sizes.as_operand(2))


def _same(n: Size) -> Size:
    return n


DEFAULTS: dict[str, Callable[[Size], Size]] = {"irfft": _twice, "hfft": _twice}
"""How many points are meant by default, where it is not the size along the axis."""

RESULTS: dict[str, Callable[[Size], Size]] = {"rfft": _half, "ihfft": _half}
"""The size of the result for so many points, where it is not the same."""


def transform(name: str, a: object, n: object, axis: int, norm: str | None) -> Any:
    """A transform along one axis."""
    x = as_array(lift(a))
    norm = norm or "backward"
    if norm not in NORMS:
        raise StagingTypeError(f"the norm {norm!r}", instead=", ".join(map(repr, NORMS)))
    along = axis_number(axis, x.ndim)
    length = trace().canonical(x.sizes[along])
    points = DEFAULTS.get(name, _same)(length) if n is None else sizes.extent(n)
    size = RESULTS.get(name, _same)(points)
    return call_one(Fourier(name, along, norm), x, points, size)


def _define(name: str) -> None:
    def call(a: object, n: object = None, axis: int = -1, norm: str | None = None) -> Any:
        return transform(name, a, n, axis, norm)

    define_function(getattr(np.fft, name))(call)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _define(_name)


def several(
    name: str, last: str, a: object, s: Any, axes: Sequence[int] | None, norm: str | None
) -> Any:
    """Transforms along axes, the last axis first; `last` is that one's, which comes last where it
    gives real numbers."""
    x: Any = as_array(lift(a))
    if axes is None:
        axes = range(-len(s), 0) if s is not None else range(x.ndim)
    points = [None] * len(axes) if s is None else list(s)
    steps = list(zip([name] * (len(axes) - 1) + [last], axes, points, strict=True))
    ordered = steps if last == "irfft" else steps[::-1]
    for each, axis, n in ordered:
        x = transform(each, x, n, axis, norm)
    return x


def _define_several(function: Any, name: str, last: str, two: bool) -> None:
    default = (-2, -1) if two else None

    def call(a: object, s: Any = None, axes: Any = default, norm: str | None = None) -> Any:
        return several(name, last, a, s, axes, norm)

    define_function(function)(call)


_define_several(np.fft.fft2, "fft", "fft", True)
_define_several(np.fft.ifft2, "ifft", "ifft", True)
_define_several(np.fft.fftn, "fft", "fft", False)
_define_several(np.fft.ifftn, "ifft", "ifft", False)
_define_several(np.fft.rfft2, "fft", "rfft", True)
_define_several(np.fft.irfft2, "ifft", "irfft", True)
_define_several(np.fft.rfftn, "fft", "rfft", False)
_define_several(np.fft.irfftn, "ifft", "irfft", False)


@define_function(np.fft.fftshift)
def fftshift(x: object, axes: Any = None) -> Any:
    """The zero frequency moved to the middle."""
    return _rolled(x, axes, lambda n: n // 2)


@define_function(np.fft.ifftshift)
def ifftshift(x: object, axes: Any = None) -> Any:
    """The inverse of np.fft.fftshift."""
    return _rolled(x, axes, lambda n: n - n // 2)


def _rolled(x: object, axes: Any, shift: Callable[[Any], Any]) -> Any:
    from .joining import concatenate

    found: Any = as_array(lift(x))
    for along in axes_of(axes, found.ndim):
        n: Any = found.shape[along]
        cut = apply_ufunc(np.subtract, (n, shift(n)))
        before = (slice(None),) * along
        found = concatenate(
            [found[(*before, slice(cut, None))], found[(*before, slice(cut))]], along
        )
    return found
