"""np.put, np.put_along_axis, and the `at` of ufuncs: functions that write to an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc, define_ufunc_method
from ...staging.errors import Limitation, ShapeError, StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import lift
from ...staging.scalars import ScalarRep, cast, constant
from ...staging.types import Scalar
from .. import emit, keys, scatters
from ..conversions import as_array, with_axes
from ..generators import Conflict
from ..reductions import axis_number

_MODULAR = (np.add, np.subtract, np.multiply)


@define_ufunc_method("at")
def at(ufunc: np.ufunc, a: object, indices: object, b: object = None) -> None:
    """`ufunc.at(a, indices, b)`: every value counts, also those that meet at one position."""
    if ufunc.nin != 2 or b is None:
        raise Limitation(f"np.{ufunc.__name__}.at", instead="a[indices] = ...")
    x, value = as_array(lift(a)), lift(b)
    given = emit.element_type(value.type)
    found = emit.element_type(apply_ufunc(ufunc, (_one(x.scalar), _one(given))).type)
    if not np.can_cast(found.dtype, x.dtype, "same_kind"):
        raise StagingTypeError(
            f"np.{ufunc.__name__}.at gives {found}, which does not fit an array of {x.scalar}"
        )
    narrows = not given.weak and not np.can_cast(given.dtype, x.dtype)
    if narrows and x.dtype.kind in "iu" and ufunc not in _MODULAR:
        raise Limitation(
            f"np.{ufunc.__name__}.at of {x.scalar} with values of {given}",
            instead="values.astype(a.dtype)",
        )
    where = scatters.positioned(keys.select(x, indices))
    x.cell.write(scatters.combined(x, where, value, ufunc))


def _one(type_: Scalar) -> ScalarRep:
    return cast(constant(1), type_)


@define_function(np.put)
def put(a: object, ind: object, v: object) -> None:
    """Values at positions in C order; too few values begin again."""
    x, value = as_array(lift(a)), lift(v)
    where = with_axes(ind).ravel()
    if not isinstance(value, ScalarRep):
        value = scatters.repeated(as_array(value), where.sizes[0])
    order = scatters.InOrder(x.view, where)
    x.cell.write(scatters.scattered(x, order, value, Conflict.LAST))


@define_function(np.put_along_axis)
def put_along_axis(arr: object, indices: object, values: object, axis: Any) -> None:
    """For each place on the other axes, values at positions on `axis`."""
    x, where = as_array(lift(arr)), as_array(lift(indices))
    if axis is None:
        put(x, where, values)
        return
    if where.ndim != x.ndim:
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    number = axis_number(axis, x.ndim)
    shape = (*x.sizes[:number], where.sizes[number], *x.sizes[number + 1 :])
    spread = where.broadcast(shape, "the sizes beside the axis")
    along = scatters.AlongAxis(x.view, spread, number)
    x.cell.write(scatters.scattered(x, along, lift(values), Conflict.LAST))
