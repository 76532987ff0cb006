"""NumPy's ufuncs of numbers that are compositions of others, each defined once, on scalars.

The loop, and so the types of arguments and result, is NumPy's own (`ufunc.resolve_dtypes`); a
definition gets its arguments in the loop's types.
"""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.control import while_loop
from ...staging.errors import Limitation, StagingTypeError
from ...staging.primitives import FMOD, ufunc_loop
from ...staging.scalars import ScalarRep, apply_primitive, cast, define_ufunc, narrow
from ...staging.types import Scalar

Definition = Callable[..., Any]


def composed(*ufuncs: np.ufunc) -> Callable[[Definition], Definition]:
    """Registers a ufunc as a composition of others."""

    def register(definition: Definition) -> Definition:
        for ufunc in ufuncs:
            define_ufunc(ufunc)(_in_loop(ufunc, definition))
        return definition

    return register


def _in_loop(ufunc: np.ufunc, definition: Definition) -> Callable[..., ScalarRep]:
    def on_scalars(*args: ScalarRep) -> ScalarRep:
        types = tuple(a.scalar for a in args)
        name = f"np.{ufunc.__name__}"
        try:
            loop, result = ufunc_loop(ufunc, types)
        except TypeError as error:
            names = ", ".join(map(str, types))
            raise StagingTypeError(f"{name} is not defined for {names}") from error
        if any(t.dtype.kind == "c" for t in loop):
            raise Limitation(f"{name} of complex numbers")
        given = [narrow(a, t) for a, t in zip(args, loop, strict=True)]
        return cast(definition(*given), result)

    return on_scalars


@composed(np.conjugate)
def conjugate(x: Any) -> Any:
    """Real numbers are their own."""
    return x


@composed(np.fabs)
def fabs(x: Any) -> Any:
    """The absolute value, of integers as a float."""
    return np.absolute(x)


@composed(np.float_power)
def float_power(x: Any, y: Any) -> Any:
    """The power, in float64 at least."""
    return np.power(x, y)


@composed(np.deg2rad, np.radians)
def deg2rad(x: Any) -> Any:
    """Degrees as radians; the factor is rounded to the dtype, as NumPy's is."""
    return x * _quotient(math.pi, 180.0, x.scalar)


@composed(np.rad2deg, np.degrees)
def rad2deg(x: Any) -> Any:
    """Radians as degrees."""
    return x * _quotient(180.0, math.pi, x.scalar)


def _quotient(a: float, b: float, type_: Scalar) -> Any:
    dtype: Any = type_.dtype.type
    return dtype(dtype(a) / dtype(b))


@composed(np.reciprocal)
def reciprocal(x: Any) -> Any:
    """1 / x; of integers the quotient without its fraction."""
    if x.dtype.kind == "f":
        return np.divide(1.0, x)
    if x.dtype.kind == "u":
        return np.where(x == 1, x, 0)
    return np.where(np.absolute(x) == 1, x, _of_zero(x))


def _of_zero(x: Any) -> Any:
    """What NumPy's integer reciprocal gives: the quotient's, and for 0 the least integer of the
    wide dtypes (x86's), cut to the narrow ones.
    """
    wide = np.iinfo(x.dtype).min if x.dtype.itemsize >= 4 else 0
    return np.where(x == 0, x.dtype.type(wide), x.dtype.type(0))


@composed(np.fmax)
def fmax(a: Any, b: Any) -> Any:
    """The greater; a NaN gives way."""
    return np.where((a >= b) | np.isnan(b), a, b)


@composed(np.fmin)
def fmin(a: Any, b: Any) -> Any:
    """The smaller; a NaN gives way."""
    return np.where((a <= b) | np.isnan(b), a, b)


@composed(np.heaviside)
def heaviside(x: Any, h: Any) -> Any:
    """0 below 0, 1 above, h at 0."""
    return np.where(x == 0, h, _sign_step(x))


def _sign_step(x: Any) -> Any:
    one = x.dtype.type(1)
    return np.where(x < 0, one - one, np.where(x > 0, one, x))


@composed(np.fmod)
def fmod(a: Any, b: Any) -> Any:
    """The remainder with the sign of a; of integers 0 for a zero divisor."""
    if a.dtype.kind == "f":
        return apply_primitive(FMOD, a, b)
    rest = np.remainder(a, b)
    return np.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)


@composed(np.logaddexp)
def logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), without overflow."""
    return _log_of_sum(x, y, np.exp, np.log1p, math.log(2.0))


@composed(np.logaddexp2)
def logaddexp2(x: Any, y: Any) -> Any:
    """log2(2**x + 2**y), without overflow."""
    scale = x.dtype.type(1 / math.log(2.0))
    return _log_of_sum(x, y, np.exp2, lambda v: scale * np.log1p(v), 1.0)


def _log_of_sum(x: Any, y: Any, power: Any, log1p: Any, log_of_two: float) -> Any:
    away = x - y
    other = np.maximum(x, y) + log1p(power(-np.absolute(away)))
    return np.where(x == y, x + x.dtype.type(log_of_two), np.where(np.isnan(away), away, other))


@composed(np.signbit)
def signbit(x: Any) -> Any:
    """Whether the sign is -, of zeros and NaNs too."""
    return np.copysign(x.dtype.type(1), x) < 0


@composed(np.spacing)
def spacing(x: Any) -> Any:
    """The distance to the next number away from 0; NaN of infinities."""
    infinity = np.copysign(x.dtype.type(np.inf), x)
    away = np.nextafter(x, infinity) - x
    return np.where(np.isinf(x), x.dtype.type(np.nan), np.where(x == 0, np.absolute(away), away))


@composed(np.gcd)
def gcd(a: Any, b: Any) -> Any:
    """The greatest common divisor, by Euclid."""
    found, _ = while_loop(
        lambda state: state[1] != 0,
        lambda state: (state[1], np.remainder(state[0], state[1])),
        (np.absolute(a), np.absolute(b)),
        unroll=False,
    )
    return found


@composed(np.lcm)
def lcm(a: Any, b: Any) -> Any:
    """The least common multiple, 0 with 0."""
    return np.floor_divide(np.absolute(a), np.gcd(a, b)) * np.absolute(b)


@composed(np.bitwise_count)
def bitwise_count(x: Any) -> Any:
    """The number of ones in the absolute value, added up in neighbouring pairs, fours, bytes, as
    in Warren, Hacker's Delight, 5-1.
    """
    bits: Any = np.absolute(x).astype(np.uint64)
    pairs, fours, bytes_ = (
        np.uint64(m) for m in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F)
    )
    bits = bits - ((bits >> 1) & pairs)
    bits = (bits & fours) + ((bits >> 2) & fours)
    bits = (bits + (bits >> 4)) & bytes_
    return (bits * np.uint64(0x0101010101010101)) >> 56
