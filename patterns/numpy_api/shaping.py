"""np.where, np.clip, and the functions that only look at an array in another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.errors import Limitation, StagingTypeError
from ...staging.narrowing import limits, needs_check
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, select
from .. import emit, sizes
from ..aggregates import axis_number
from ..arrays import ArrayRep
from ..conversions import as_array
from ..elementwise import elementwise
from ..keys import nonzero


@define_function(np.where)
def where(condition: object, x: object = None, y: object = None) -> Any:
    """x where the condition holds, y elsewhere; both are evaluated everywhere. The condition alone:
    the positions where it holds.
    """
    if x is None and y is None:
        return nonzero(as_array(lift(condition)))

    def choose(cond: ScalarRep, a: ScalarRep, b: ScalarRep) -> ScalarRep:
        return select(ScalarRep(emit.condition(cond)), a, b)

    parts = [lift(part) for part in (condition, x, y)]
    if all(isinstance(part, ScalarRep) for part in parts):
        return choose(*(sizes.scalar_of(part, "a value") for part in parts))
    return elementwise(choose, parts, "np.where")


@define_function(np.clip)
def clip(a: object, a_min: object = None, a_max: object = None) -> Any:
    """Elements moved into a_min..a_max."""
    low = lift(a) if a_min is None else apply_ufunc(np.maximum, (a, _limit(a, a_min, 0)))
    return low if a_max is None else apply_ufunc(np.minimum, (low, _limit(a, a_max, 1)))


def _limit(a: object, limit: object, side: int) -> object:
    """A limit of np.clip; a Python integer beyond the dtype, on the side where it limits nothing,
    is the dtype's own limit.
    """
    rep, to = lift(limit), emit.element_type(lift(a).type)
    if not isinstance(rep, ScalarRep) or not needs_check(rep.operand, to):
        return rep
    own = limits(to.dtype)[side]
    if not -(2**63) <= own < 2**63:
        return rep
    return apply_ufunc((np.maximum, np.minimum)[side], (rep, own))


@define_function(np.round, np.around)
def round_(a: object, decimals: int = 0) -> Rep:
    """Rounded to the nearest even integer value, in the dtype it has."""
    if decimals != 0:
        raise Limitation("np.round to decimals", instead="np.rint(x * 10**d) / 10**d")
    value = lift(a)
    kind = emit.element_type(value.type).dtype.kind
    if kind == "b":
        raise Limitation("np.round of bools", why="NumPy rounds them to float16")
    return value if kind in "iu" else apply_ufunc(np.rint, (value,))


@define_function(np.diff)
def diff(a: object, n: int = 1, axis: int = -1) -> Any:
    """The differences between neighbours along an axis."""
    x = as_array(lift(a))
    if n != 1:
        raise Limitation("np.diff with n other than 1", instead="np.diff of np.diff")
    before = (slice(None),) * axis_number(axis, x.ndim)
    ufunc = np.not_equal if x.dtype.kind == "b" else np.subtract
    return apply_ufunc(ufunc, (x[(*before, slice(1, None))], x[(*before, slice(None, -1))]))


@define_function(np.transpose)
def transpose(a: object, axes: Any = None) -> ArrayRep:
    """The axes permuted, reversed by default; a view."""
    return as_array(lift(a)).transpose(*([] if axes is None else [axes]))


@define_function(np.swapaxes)
def swapaxes(a: object, axis1: int, axis2: int) -> ArrayRep:
    """Two axes exchanged; a view."""
    x = as_array(lift(a))
    order = list(range(x.ndim))
    first, second = axis_number(axis1, x.ndim), axis_number(axis2, x.ndim)
    order[first], order[second] = second, first
    return x.transpose(order)


@define_function(np.expand_dims)
def expand_dims(a: object, axis: int) -> ArrayRep:
    """A new axis of size 1; a view."""
    x = as_array(lift(a))
    return x.seen(x.view.insert(axis_number(axis, x.ndim + 1)))


@define_function(np.squeeze)
def squeeze(a: object, axis: int | None = None) -> Any:
    """Without the axes of static size 1; a view."""
    x: Any = as_array(lift(a))
    ones = [k for k, size in enumerate(x.sizes) if sizes.is_one(size)]
    wanted = ones if axis is None else [axis_number(axis, x.ndim)]
    if any(k not in ones for k in wanted):
        raise StagingTypeError("np.squeeze of an axis whose size is not 1")
    return x[tuple(0 if k in wanted else slice(None) for k in range(x.ndim))]


@define_function(np.flip)
def flip(m: object, axis: int | None = None) -> Any:
    """Reversed along an axis, along all by default; a view."""
    x = as_array(lift(m))
    wanted = range(x.ndim) if axis is None else [axis_number(axis, x.ndim)]
    return x[tuple(slice(None, None, -1) if k in wanted else slice(None) for k in range(x.ndim))]


@define_function(np.ravel)
def ravel(a: object) -> ArrayRep:
    """The elements in C order, as a vector."""
    return as_array(lift(a)).ravel()


@define_function(np.shape)
def shape(a: object) -> Any:
    """The sizes, staged integers where they are not static."""
    rep: Any = lift(a)
    return rep.shape


@define_function(np.ndim)
def ndim(a: object) -> int:
    """The number of axes."""
    rep: Any = lift(a)
    return int(rep.ndim)


@define_function(np.size)
def size(a: object, axis: int | None = None) -> Any:
    """The number of elements, in all or along an axis."""
    rep: Any = lift(a)
    return rep.size if axis is None else rep.shape[axis]
