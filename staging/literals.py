"""Constants as text, to the bit.

    literal ::= decimal | "inf" | "nan" | hex | "True" | "False"     with "_" scalar behind it
             |  scalar "(" part "," part ")"                         a complex number

A Python number (a weak i64 or f64) has no suffix: `1`, `0.5`. `nan` is the NaN with NumPy's bits;
any other NaN, and a float whose decimal text would not give back its bits, is written as the bits
themselves: `0x7ff8000000000001_f64`.
"""

from __future__ import annotations

import re

import numpy as np

from .nodes import Const
from .types import BOOL, WEAK_FLOAT, WEAK_INT, Scalar

_DTYPES = ("bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
SCALARS: dict[str, Scalar] = {
    str(scalar): scalar
    for code in _DTYPES
    for scalar in (Scalar(np.dtype(code)), Scalar(np.dtype(code), weak=True))
}

_NAMES = "|".join(sorted((name for name in SCALARS if "~" not in name), key=len, reverse=True))
_DIGITS = r"0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf|nan|True|False"
_BEHIND = rf"_(?:{_NAMES})(?:~|(?![A-Za-z0-9_]))"
LITERAL = re.compile(rf"(?:{_DIGITS})(?:{_BEHIND}|(?![A-Za-z0-9_]))")
"""A literal without its sign, as one token."""

_BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}


def text_of(const: Const) -> str:
    """The constant as a literal.

    >>> text_of(Const(1, WEAK_INT)), text_of(Const(-0.0, Scalar(np.dtype("f4"))))
    ('1', '-0.0_f32')
    """
    kind, scalar = const.type.dtype.kind, const.type
    if kind == "c":
        parts = Const(const.value.real, _part(scalar)), Const(const.value.imag, _part(scalar))
        return f"{scalar}({', '.join(_float_text(part) for part in parts)})"
    if scalar in (WEAK_INT, WEAK_FLOAT, BOOL):
        return _float_text(const) if kind == "f" else str(const.value)
    return f"{_float_text(const) if kind == 'f' else const.value}_{scalar}"


def _part(scalar: Scalar) -> Scalar:
    """The float type of a complex type's parts, without weakness."""
    return Scalar(np.dtype(f"f{scalar.dtype.itemsize // 2}"))


def _float_text(const: Const) -> str:
    """The float without its suffix: decimal if that gives back the bits, else the bits."""
    text = str(const.value)
    negative = bool(np.signbit(const.value))
    digits = text.removeprefix("-")
    if _float(digits, negative, const.type) == const:
        return f"-{digits}" if negative else digits
    return hex(int.from_bytes(const.value.tobytes(), "little"))


def read(token: str, negative: bool = False) -> Const:
    """The constant of a `LITERAL` token and the sign before it; ValueError when it is none.

    >>> read("2.5_f32", negative=True)
    -2.5
    """
    digits, _, name = token.partition("_")
    scalar = SCALARS[name] if name else _unmarked(digits)
    kind = scalar.dtype.kind
    if kind == "b":
        if negative or digits not in ("True", "False"):
            raise ValueError(f"{token} is no truth value")
        return Const(digits == "True", scalar)
    if kind == "f":
        return _float(digits, negative, scalar)
    number = -int(digits) if negative else int(digits)
    info = np.iinfo(scalar.dtype.name)
    if kind not in "iu" or not info.min <= number <= info.max:
        raise ValueError(f"{number} is no {scalar}")
    return Const(number, scalar)


def _unmarked(digits: str) -> Scalar:
    """The type of a literal without a suffix."""
    if digits in ("True", "False"):
        return BOOL
    is_float = digits in ("inf", "nan") or ("x" not in digits and set(digits) & set(".e"))
    return WEAK_FLOAT if is_float or "x" in digits else WEAK_INT


def read_complex(scalar: Scalar, parts: tuple[tuple[str, bool], ...]) -> Const:
    """The complex constant of two (token, negative) float literals."""
    if scalar.dtype.kind != "c" or len(parts) != 2:
        raise ValueError(f"{scalar} is written as one literal")
    values = np.array([_float(*part, _part(scalar)).value for part in parts], _part(scalar).dtype)
    return Const(values.view(scalar.dtype)[0], scalar)


def _float(digits: str, negative: bool, scalar: Scalar) -> Const:
    if digits.startswith("0x"):
        raw = int(digits, 16).to_bytes(scalar.dtype.itemsize, "little")
        bits = np.frombuffer(raw, _BITS[scalar.dtype.itemsize])
    else:
        bits = np.array([digits], scalar.dtype).view(_BITS[scalar.dtype.itemsize])
    if negative:
        bits = bits ^ bits.dtype.type(1 << (8 * scalar.dtype.itemsize - 1))
    return Const(bits.view(scalar.dtype)[0], scalar)
