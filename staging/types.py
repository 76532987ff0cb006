"""Types of the pattern IR.

    type    ::=  scalar | scalar "[" dim {"," dim} "]"
    scalar  ::=  "bool" | "i8" .. "i64" | "u8" .. "u64" | "f32" | "f64" | "c64" | "c128",
                 with "~" when weak
    dim     ::=  integer | variable | exists

A dimension is a static `int`, or the `Var` that holds the size: sizes are ordinary i64 values of
the program, so two dimensions are *equal by construction* exactly when they are the same variable.
`Exists(k)` appears only in op signatures: "the size that binder k of this statement holds" (a
filter's length).

A weak scalar is a Python number of the user's program: it yields to any NumPy dtype of its kind
(NEP 50).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .dataclass import dataclass

if TYPE_CHECKING:
    from .nodes import Var

_SHORT = {"b": "bool", "i": "i", "u": "u", "f": "f", "c": "c"}


@dataclass(frozen=True, slots=True)
class Exists:
    """In a signature: the dimension that the statement's binder number `binder` holds."""

    binder: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number or truth value.

    >>> str(Scalar(np.dtype("float64"))), str(Scalar(np.dtype("int64"), weak=True))
    ('f64', 'i64~')
    """

    dtype: np.dtype[np.generic]
    weak: bool = False

    def __str__(self) -> str:
        kind = _SHORT.get(self.dtype.kind, self.dtype.kind)
        width = "" if kind == "bool" else str(self.dtype.itemsize * 8)
        return f"{kind}{width}{'~' if self.weak else ''}"

    @property
    def strong(self) -> Scalar:
        """The same scalar type as NumPy would store it."""
        return Scalar(self.dtype) if self.weak else self


@dataclass(frozen=True, slots=True)
class Array:
    """A dense array; `shape` has one dimension per axis, outermost first."""

    element: Scalar
    shape: tuple[int | Var | Exists, ...]

    def __str__(self) -> str:
        return f"{self.element}[{', '.join(map(str, self.shape))}]"

    @property
    def rank(self) -> int:
        return len(self.shape)


Type = Scalar | Array

BOOL = Scalar(np.dtype(np.bool_))
I64 = Scalar(np.dtype(np.int64))
F32 = Scalar(np.dtype(np.float32))
F64 = Scalar(np.dtype(np.float64))
WEAK_BOOL = BOOL  # Python's bool and NumPy's promote alike
WEAK_INT = Scalar(np.dtype(np.int64), weak=True)
WEAK_FLOAT = Scalar(np.dtype(np.float64), weak=True)
WEAK_COMPLEX = Scalar(np.dtype(np.complex128), weak=True)
INDEX = WEAK_INT  # sizes and loop indices are Python's integers
