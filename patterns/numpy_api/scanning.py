"""np.cumsum and its kin, and the `accumulate` of ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc, define_ufunc_method
from ...staging.errors import ShapeError, StagingTypeError
from ...staging.nodes import size_operand
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, cast, constant, select
from ...staging.types import BOOL, Scalar
from .. import emit, reducers
from ..arrays import ArrayRep
from ..conversions import as_array, with_axes
from ..reductions import axis_number
from ..scans import accumulated

WIDE = (np.add, np.multiply)
_LOGICAL = (np.logical_and, np.logical_or, np.logical_xor)


@define_ufunc_method("accumulate")
def accumulate(ufunc: np.ufunc, array: object, axis: Any = 0, dtype: Any = None) -> ArrayRep:
    """`ufunc.accumulate(array, axis)`: the elements along an axis combined up to each one."""
    rep = lift(array)
    if isinstance(rep, ScalarRep):
        raise StagingTypeError("cannot accumulate on a scalar")
    x = as_array(rep)
    return _along(
        ufunc, x, axis_number(axis, x.ndim), combination_type(ufunc, "accumulate", x.scalar, dtype)
    )


def _along(ufunc: np.ufunc, x: ArrayRep, axis: int, to: Scalar, nan: Any = None) -> ArrayRep:
    """The accumulation in the type `to`; NaNs count as `nan` if that is given."""

    def change(element: ScalarRep) -> Rep:
        if to == BOOL:
            return ScalarRep(emit.condition(element))
        value = cast(element, to)
        if nan is None or to.dtype.kind not in "fc":
            return value
        missing = apply_ufunc(np.isnan, (value,))
        assert isinstance(missing, ScalarRep)
        return select(missing, cast(constant(nan), to), value)

    def combine(a: object, b: object) -> Rep:
        return apply_ufunc(ufunc, (a, b))

    return accumulated(x, axis, combine, change, ufunc.__name__)


def combination_type(ufunc: np.ufunc, method: str, given: Scalar, dtype: Any) -> Scalar:
    """The type in which a ufunc's method combines elements: integer sums and products widen."""
    if dtype is not None:
        return Scalar(np.dtype(dtype))
    if ufunc in _LOGICAL:
        return BOOL
    if ufunc in WIDE:
        return reducers.sum_type(given)
    one = ScalarRep(cast(constant(1), given).operand)
    found = emit.element_type(apply_ufunc(ufunc, (one, one)).type)
    again = ScalarRep(cast(constant(1), found).operand)
    stays = emit.element_type(apply_ufunc(ufunc, (again, again)).type) == found
    if not stays or (found == BOOL and given != BOOL):
        raise StagingTypeError(
            f"np.{ufunc.__name__}.{method} of {given}",
            why="a result cannot be combined with the next element",
        )
    return found


def _cumulative(ufunc: np.ufunc, nan: Any = None) -> Any:
    def call(a: object, axis: Any = None, dtype: Any = None) -> ArrayRep:
        x = with_axes(a)
        if axis is None:
            x = x.ravel() if x.ndim > 1 else x
        place = 0 if axis is None else axis_number(axis, x.ndim)
        return _along(ufunc, x, place, combination_type(ufunc, "accumulate", x.scalar, dtype), nan)

    return call


cumsum = define_function(np.cumsum)(_cumulative(np.add))
cumprod = define_function(np.cumprod)(_cumulative(np.multiply))
nancumsum = define_function(np.nancumsum)(_cumulative(np.add, 0))
nancumprod = define_function(np.nancumprod)(_cumulative(np.multiply, 1))


def _whole(ufunc: np.ufunc) -> Any:
    def call(
        x: object, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
    ) -> Any:
        values = with_axes(x)
        if axis is None and values.ndim > 1:
            raise ShapeError("an axis is needed for arrays of more than one axis")
        place = 0 if axis is None else axis_number(axis, values.ndim)
        to = combination_type(ufunc, "accumulate", values.scalar, dtype)
        found = _along(ufunc, values, place, to)
        if not include_initial:
            return found
        from .joining import concatenate

        start = cast(constant(ufunc.identity), found.scalar)
        shape = (*found.sizes[:place], size_operand(1), *found.sizes[place + 1 :])
        first = emit.array(shape, lambda *_: start)
        return concatenate([first, found], place)

    return call


cumulative_sum = define_function(np.cumulative_sum)(_whole(np.add))
cumulative_prod = define_function(np.cumulative_prod)(_whole(np.multiply))
