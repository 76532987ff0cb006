"""Runs in which everything whose rounding is free is rounded otherwise: how far results may differ.

A float sum may be added in any order, a library's `exp` may be off by some units, a zero that is
the least may have either sign. Where a program has such a place, its noisy text calls one of the
functions below, which changes the value by as much at random. What several noisy runs have in
common is determined; how far they lie apart bounds the rest. (Stochastic arithmetic, as in
J. Vignes, A stochastic arithmetic for reliable scientific computation, 1993.)
"""

from __future__ import annotations

import enum
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np


class Kind(enum.Enum):
    """What about a value is free; the functions that a noisy run wraps around it and its part."""

    EXACT = ("", "")
    ULPS = ("_ulps", "")  # a transcendental function
    SUM = ("_zero", "_terms")  # a float sum
    ROUGH = ("_rough", "")  # a product of many, a variance: rounded at each step
    ZERO = ("_zero", "")  # the sign of a zero

    @property
    def outside(self) -> str:
        """What is called on the value."""
        return self.value[0]

    @property
    def inside(self) -> str:
        """What is called on the part that is added up."""
        return self.value[1]


class Noise:
    """The noise of one run, and whether it has met anything."""

    def __init__(self, run: int) -> None:
        self.run = run
        self.random = np.random.default_rng(run)
        self.met = False

    def names(self) -> dict[str, Any]:
        """The functions that a noisy text calls."""
        return {"_ulps": self.ulps, "_terms": self.terms, "_rough": self.rough, "_zero": self.zero}

    def ulps(self, value: Any) -> Any:
        """Off by at most four units."""
        return self._off(value, 4)

    def rough(self, value: Any) -> Any:
        """Off by several roundings; what overflows in one order need not in another."""
        found = self._off(value, 16)
        if self.run == 1 and self.met and not np.all(np.isfinite(found)):
            array = np.asarray(found)
            return _as(value, np.where(np.isfinite(array), array, 1).astype(array.dtype))
        return found

    def terms(self, value: Any) -> Any:
        """Terms of a sum, each off by a unit; not where every sum of them is exact."""
        return value if _whole(value) else self._off(value, 2)

    def zero(self, value: Any) -> Any:
        """Zeros of the other sign, or of a random one."""
        if not _is_float(value):
            return value
        array = np.asarray(value)
        if not (array == 0).any():
            return value
        self.met = True
        sign = (-1.0, 1.0, 0.0)[self.run % 3] or self.random.choice([-1.0, 1.0], array.shape)
        zeros = array.dtype.type(0) * sign
        return _as(value, np.where(array == 0, zeros, array).astype(array.dtype))

    def _off(self, value: Any, units: int) -> Any:
        if not _is_float(value):
            return value
        self.met = True
        array = np.asarray(value)
        eps = np.finfo(array.dtype).eps
        away = self.random.uniform(-units, units, array.shape) * eps
        with np.errstate(all="ignore"):
            return _as(value, (array * (1 + away)).astype(array.dtype))


def _is_float(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fc"


def _as(value: Any, array: Any) -> Any:
    """In the form of `value`: a Python number, a NumPy scalar, an array of the same class."""
    found: Any = value
    return array.view(type(found)) if isinstance(value, np.ndarray) else type(found)(array)


def _whole(value: Any) -> bool:
    """Whether sums of these and of products of two are exact: small whole numbers."""
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return array.dtype.kind != "c"
    most = {8: 2**15, 4: 2**7}[array.dtype.itemsize]
    return bool(np.all((array == np.rint(array)) & (np.abs(array) <= most)))


@contextmanager
def quiet() -> Generator[None]:
    """NumPy without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
