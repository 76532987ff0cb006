"""Python's integers on their way into an integer type that does not hold all of them.

NumPy 2 raises OverflowError where one is out of bounds, and so does a staged program.
"""

from __future__ import annotations

import numpy as np

from .context import trace
from .errors import OutOfBounds
from .nodes import Apply, Cast, Check, Const, ErrorKind, Operand
from .primitives import COMPARISONS, GREATER_EQUAL, LESS_EQUAL, SELECT
from .types import WEAK_INT, Scalar

# NumPy compares by value, and np.where converts as astype does.
UNCHECKED = (*COMPARISONS, SELECT)


def narrowed(value: Operand, to: Scalar) -> Operand:
    """The operand in another scalar type. Where a Python integer meets an integer type that may not
    hold it there is a check; a constant is checked now.
    """
    if value.type == to:
        return value
    if needs_check(value, to):
        check(value, to.dtype)
    return trace().emit(Cast(value, to))[0]


def needs_check(value: Operand, to: Scalar) -> bool:
    """Whether the operand is a Python integer that the integer type is not known to hold."""
    if value.type != WEAK_INT or to.weak or to.dtype.kind not in "iu":
        return False
    low, high = limits(to.dtype)
    if isinstance(value, Const):
        return not holds(to.dtype, value)
    t = trace()
    natural = value in t.naturals or value in t.sizes
    below = [int(b.value.item()) for b in t.naturals.get(value, ()) if isinstance(b, Const)]
    below.append(2**63)
    return not ((low <= -(2**63) or natural) and min(below) - 1 <= high)


def check(value: Operand, dtype: np.dtype[np.generic]) -> None:
    """Raises OverflowError for a constant out of bounds; emits the check of any other value."""
    if isinstance(value, Const):
        raise OutOfBounds(
            f"Python integer {value.value.item()} out of bounds for {dtype}",
            instead=f"a wider dtype, or np.int64({value.value.item()}), which does not yield",
        )
    low, high = limits(dtype)
    t = trace()
    message = f"Python integer out of bounds for {dtype}"
    for primitive, limit in ((GREATER_EQUAL, low), (LESS_EQUAL, high)):
        if -(2**63) < limit < 2**63 - 1:
            (fine,) = t.emit(Apply(primitive, (value, Const(limit, WEAK_INT))))
            t.emit(Check(fine, ErrorKind.OVERFLOW, message))


def holds(dtype: np.dtype[np.generic], value: Operand) -> bool:
    """Whether the operand is a constant that the integer dtype holds."""
    low, high = limits(dtype)
    return isinstance(value, Const) and low <= int(value.value.item()) <= high


def limits(dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """The least and the greatest integer of a dtype.

    >>> limits(np.dtype(np.int8))
    (-128, 127)
    """
    info = np.iinfo(dtype.name)
    return int(info.min), int(info.max)
