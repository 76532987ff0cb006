"""Calls of a library's routines while staging."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..staging.context import trace
from ..staging.errors import ShapeError
from ..staging.nodes import Operand
from ..staging.reps import Rep, lift, rep_of
from ..staging.scalars import ScalarRep, cast
from ..staging.types import Scalar
from .arrays import ArrayRep
from .conversions import as_array, strong
from .library import Library, Routine


def call(routine: Routine, *args: Rep | Operand) -> tuple[Any, ...]:
    """The routine's results for arrays, numbers and sizes; strong, as a library sees them."""
    operands = tuple(strong(a).operand if isinstance(a, Rep) else a for a in args)
    results = trace().emit(Library(routine, operands))
    return tuple(rep_of(o) for o in results[routine.counts :])


def call_one(routine: Routine, *args: Rep | Operand) -> Any:
    """The routine's only result."""
    (found,) = call(routine, *args)
    return found


def as_floats(value: object) -> ArrayRep:
    """An array as np.linalg takes it: integers and bools as float64."""
    x = as_array(strong(lift(value)))
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def as_number(value: object, dtype: Any) -> ScalarRep:
    """A number as a scalar of a dtype."""
    rep = lift(value)
    if not isinstance(rep, ScalarRep):
        raise ShapeError(f"expected a number, found {rep.type}")
    return cast(rep, Scalar(np.dtype(dtype)))
