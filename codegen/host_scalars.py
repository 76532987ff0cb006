"""Scalars of the sequential part as Python expressions with exactly NumPy's values.

An operator stands where NumPy's scalars compute with it what the ufunc computes; everything else
calls the ufunc itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..staging import primitives as p
from ..staging.nodes import Apply, Cast
from ..staging.types import Scalar
from .python_literals import literal

# Which operators mean the primitive, by the kind of operands that have one dtype.
_NUMBERS = {
    p.ADD: "+",
    p.SUBTRACT: "-",
    p.MULTIPLY: "*",
    p.DIVIDE: "/",
    p.FLOOR_DIVIDE: "//",
    p.REMAINDER: "%",
    p.NEGATIVE: "-",
    **{comparison: comparison.symbol for comparison in p.COMPARISONS},
}
_BITS = {
    p.BITWISE_AND: "&",
    p.BITWISE_OR: "|",
    p.BITWISE_XOR: "^",
    p.INVERT: "~",
}
_TRUTHS = {
    **_BITS,
    p.LOGICAL_AND: "&",
    p.LOGICAL_OR: "|",
    p.LOGICAL_XOR: "^",
    p.LOGICAL_NOT: "~",
}
_OPERATORS = {"b": _TRUTHS, "i": {**_NUMBERS, **_BITS}, "u": {**_NUMBERS, **_BITS}, "f": _NUMBERS}


def primitive(op: Apply, args: Sequence[str]) -> str:
    """A primitive, its arguments names or constants."""
    if op.primitive is p.SELECT:
        return f"{args[1]} if {args[0]} else {args[2]}"
    symbol = _symbol(op)
    if symbol:
        return f" {symbol} ".join(args) if len(args) == 2 else f"{symbol}{args[0]}"
    if op.primitive is p.ABSOLUTE and _dtypes(op).pop().kind in "iuf":
        return f"abs({args[0]})"
    if op.primitive is p.POWER:
        return f"power({', '.join(args)})"
    return f"np.{op.primitive.function.__name__}({', '.join(args)})"


def _symbol(op: Apply) -> str:
    """The operator that means the primitive for these operands, "" if there is none."""
    dtypes = _dtypes(op)
    if len(dtypes) > 1:
        return ""
    return _OPERATORS.get(dtypes.pop().kind, {}).get(op.primitive, "")


def _dtypes(op: Apply) -> set[np.dtype[np.generic]]:
    """The dtypes of the operands."""
    return {a.type.dtype for a in op.args if isinstance(a.type, Scalar)}


def is_silent(op: Apply | Cast) -> bool:
    """Whether NumPy never warns while it computes this."""
    if isinstance(op, Cast):
        return isinstance(op.arg.type, Scalar) and op.arg.type.dtype == op.to.dtype
    quiet = (p.SELECT, *_TRUTHS, *p.COMPARISONS)
    return op.primitive in quiet and (op.primitive is p.SELECT or bool(_symbol(op)))


def converted(text: str, source: np.dtype[np.generic], target: np.dtype[np.generic]) -> str:
    """A conversion as NumPy's astype does it; a complex number loses its imaginary part."""
    if source.kind == "c" and target.kind not in "cb":
        text, source = f"{text}.real", source.type(0).real.dtype
    if source.kind == "f" and target.kind in "iu":
        return f"{text}.astype(np.{target.name})"
    return f"np.{target.name}({text})"


def constant(value: np.generic) -> str:
    """A constant of its dtype, once plain.py has loaded the text."""
    if value.dtype.kind == "b":
        return f"np.{bool(value)}_"
    text = literal(value)[0]
    return f"np.float64({text})" if text in ("np.inf", "np.nan") else text
