"""How values become staged arrays: array operands, NumPy arrays of the surroundings, lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from ..staging import reps
from ..staging.context import trace
from ..staging.errors import Limitation, ShapeError
from ..staging.nodes import Bounds, Index, Operand
from ..staging.reps import Rep
from ..staging.scalars import ScalarRep
from ..staging.types import Array
from .arrays import ArrayRep
from .conversions import as_array


def rep_of_array(operand: Operand) -> Rep:
    """The Rep for an array operand; one without axes is its element."""
    assert isinstance(operand.type, Array)
    if operand.type.rank == 0:
        return ScalarRep(trace().emit(Index(operand, (), Bounds.PROVEN))[0])
    t = trace()
    given = operand in t.builder.scopes[0].params or any(
        operand is c.param for c in t.captured.values()
    )
    return ArrayRep.of(operand, given)


def lift_array(array: np.ndarray) -> Rep:
    """A NumPy array of the user's surroundings: a hidden argument, read again at each call."""
    if array.dtype.kind not in "biufc" or array.dtype.itemsize > 16 or array.dtype == np.longdouble:
        raise Limitation(
            f"an array of dtype {array.dtype} in a staged function",
            why="staged arrays hold bools, integers and floating-point numbers of up to 64 bits",
        )
    native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    return rep_of_array(trace().capture(native, "captured", lambda: native))


def lift_sequence(values: Sequence[object]) -> Rep:
    """A list or tuple: of numbers, a constant array; with staged elements, an array of them."""
    if _holds_staged(values):
        from .numpy_api.joining import stack

        return as_array(stack(values))
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError(
            "a list whose elements differ in length is no array", why=str(error)
        ) from error
    return lift_array(array)


def _holds_staged(values: Sequence[object]) -> bool:
    return any(
        isinstance(v, Rep)
        or (isinstance(v, list | tuple) and _holds_staged(cast(Sequence[object], v)))
        for v in values
    )


reps.register_rep(Array, rep_of_array)
reps.register_lift(np.ndarray, lift_array)
reps.register_lift(list, lift_sequence)
reps.register_lift(tuple, lift_sequence)
