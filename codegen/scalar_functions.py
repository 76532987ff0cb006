"""Scalar functions with NumPy's values: the helpers of kernel text, plain Python and Numba alike.

What Python or Numba computes otherwise than NumPy is spelled out here: division and remainder by
zero and of the least integer, shifts by the width or more, conversions out of range, minima with
NaN. Each helper stands in a kernel's text by its source.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from .transcendental import c_pow


def minimum(a: Any, b: Any) -> Any:
    """The smaller; NaN if either is."""
    return a if a < b or a != a else b


def maximum(a: Any, b: Any) -> Any:
    """The greater; NaN if either is."""
    return a if a > b or a != a else b


def equal_signed(a: Any, b: Any) -> Any:
    """int64 == uint64, as numbers."""
    return (a >= 0) & (np.uint64(a) == b)


def less_signed(a: Any, b: Any) -> Any:
    """int64 < uint64, as numbers."""
    return (a < 0) | (np.uint64(a) < b)


def less_equal_signed(a: Any, b: Any) -> Any:
    """int64 <= uint64, as numbers."""
    return (a < 0) | (np.uint64(a) <= b)


def floor_divide(a: Any, b: Any) -> Any:
    """Signed integers: rounds down, 0 for a zero divisor, wraps for the least integer by -1."""
    if b == 0:
        return a - a
    if b + 1 == 0:
        return np.negative(a)
    return a // b


def floor_divide_unsigned(a: Any, b: Any) -> Any:
    """Unsigned integers: 0 for a zero divisor."""
    return a // b if b != 0 else a - a


def remainder(a: Any, b: Any) -> Any:
    """Signed integers: the sign of the divisor, 0 for a zero divisor."""
    if b == 0 or b + 1 == 0:
        return a - a
    return a % b


def remainder_unsigned(a: Any, b: Any) -> Any:
    """Unsigned integers: 0 for a zero divisor."""
    return a % b if b != 0 else a - a


def floor_divide_float(a: Any, b: Any) -> Any:
    """Floats, as NumPy rounds the quotient of the exact remainder."""
    if b == 0:
        return a / b
    rest = np.fmod(a, b)
    quotient = (a - rest) / b
    if rest != 0 and (b < 0) != (rest < 0):
        quotient = quotient - 1
    if quotient == 0:
        return np.copysign(quotient, a / b)
    whole = np.floor(quotient)
    return whole + 1 if quotient - whole > 0.5 else whole


def remainder_float(a: Any, b: Any) -> Any:
    """Floats: the sign of the divisor."""
    rest = np.fmod(a, b)
    if b == 0:
        return rest
    if rest == 0:
        return np.copysign(rest, b)
    return rest + b if (b < 0) != (rest < 0) else rest


def power_int(a: Any, b: Any, one: Any) -> Any:
    """Signed integers, wrapping; a negative exponent gives 0 unless |a| is 1."""
    if b < 0:
        if a == 1:
            return a
        return one - 2 * (b & 1) if a + 1 == 0 else a - a
    result = one
    while b > 0:
        if b & 1 == 1:
            result = result * a
        a = a * a
        b = b >> 1
    return result


def power_unsigned(a: Any, b: Any, one: Any) -> Any:
    """Unsigned integers, wrapping."""
    result = one
    while b > 0:
        if b & one == one:
            result = result * a
        a = a * a
        b = b >> one
    return result


def power_float(x: Any, y: Any) -> Any:
    """C's pow, and NumPy's shorter ways for some exponents."""
    if y == 2.0:
        return x * x
    if y == 0.5:
        return np.sqrt(x)
    if y == -1.0:
        return 1.0 / x
    return c_pow(x, y)


def left_shift(a: Any, b: Any, width: Any) -> Any:
    """0 for a count outside of 0 .. width - 1."""
    return a << b if b >= 0 and b < width else a - a


def right_shift(a: Any, b: Any, width: Any) -> Any:
    """Signed integers: the sign for a count outside of 0 .. width - 1."""
    if b >= 0 and b < width:
        return a >> b
    return a - a - 1 if a < 0 else a - a


def right_shift_unsigned(a: Any, b: Any, width: Any) -> Any:
    """Unsigned integers: 0 for a count of width or more."""
    return a >> b if b < width else a - a


def sign(a: Any) -> Any:
    """Integers: -1, 0 or 1."""
    return 1 if a > 0 else (-1 if a < 0 else 0)


def sign_float(a: Any) -> Any:
    """Floats: -1, 0 or 1; NaN for NaN."""
    return 1.0 if a > 0 else (-1.0 if a < 0 else (0.0 if a == 0 else a))


def to_int32(a: Any) -> Any:
    """A float truncated; the least integer for NaN and outside of the range."""
    if a > -2147483649.0 and a < 2147483648.0:
        return np.int32(a)
    return np.int32(-2147483648)


def to_int64(a: Any) -> Any:
    """A float truncated; the least integer for NaN and outside of the range."""
    if a >= -9223372036854775808.0 and a < 9223372036854775808.0:
        return np.int64(a)
    return np.int64(-9223372036854775807) - 1


def to_uint64(a: Any) -> Any:
    """A float truncated; negative ones wrap, 2**63 for NaN and below the range, 0 above it."""
    if a >= 0.0:
        return np.uint64(a) if a < 18446744073709551616.0 else np.uint64(0)
    if a >= -9223372036854775808.0:
        return np.uint64(np.int64(a))
    return np.uint64(9223372036854775808)


def float_bits(a: Any) -> Any:
    """The bits of a float64, as an unsigned integer."""
    return np.float64(a).view(np.uint64)


def complex_multiply(a: Any, b: Any) -> Any:
    """The product by its parts."""
    return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def complex_absolute(a: Any) -> Any:
    """The length."""
    return np.hypot(a.real, a.imag)


def complex_divide(a: Any, b: Any) -> Any:
    """The quotient by Smith's algorithm, as NumPy divides."""
    if abs(b.real) >= abs(b.imag):
        if b.real == 0 and b.imag == 0:
            return complex(a.real / abs(b.real), a.imag / abs(b.real))
        ratio = b.imag / b.real
        scale = 1.0 / (b.real + b.imag * ratio)
        return complex((a.real + a.imag * ratio) * scale, (a.imag - a.real * ratio) * scale)
    ratio = b.real / b.imag
    scale = 1.0 / (b.imag + b.real * ratio)
    return complex((a.real * ratio + a.imag) * scale, (a.imag * ratio - a.real) * scale)


FUNCTIONS: dict[str, FunctionType] = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, FunctionType) and value.__module__ == __name__
}


def source(names: Iterable[str]) -> str:
    """The source of these functions, without annotations and docstrings, for a kernel's text."""
    return "\n\n".join(_bare(FUNCTIONS[name]) for name in names)


def _bare(function: FunctionType) -> str:
    text = inspect.getsource(function)
    text = re.sub(r": Any(?=[,)])", "", text).replace(" -> Any:", ":")
    return re.sub(r'\n    """.*?"""', "", text, flags=re.DOTALL).rstrip() + "\n"
