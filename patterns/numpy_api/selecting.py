"""np.take, np.nonzero, np.compress and the other functions that select by positions or masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.context import trace
from ...staging.errors import StagingTypeError
from ...staging.nodes import Check, ErrorKind
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, cast, select
from ...staging.types import I64
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import as_array, converted, lifted, with_axes
from ..elementwise import broadcast_shapes, elementwise
from ..keys import nonzero, position
from ..reductions import axis_number
from .joining import common, parts_of


def _whole(count: int) -> tuple[slice, ...]:
    return (slice(None),) * count


def in_mode(indices: object, length: Any, mode: str) -> Any:
    """The positions as NumPy's mode makes them fit: "raise" leaves them, "wrap" takes the
    remainder, "clip" the nearest one inside.
    """
    if mode == "raise":
        return indices
    places = converted(lifted(indices), I64)  # a narrow type may not hold the length
    if mode == "wrap":
        return apply_ufunc(np.remainder, (places, length))
    if mode == "clip":
        last = apply_ufunc(np.subtract, (length, 1))
        return apply_ufunc(np.minimum, (apply_ufunc(np.maximum, (places, 0)), last))
    raise StagingTypeError(f"the mode {mode!r}", instead="'raise', 'wrap' or 'clip'")


@define_function(np.take)
def take(a: object, indices: object, axis: int | None = None, mode: str = "raise") -> Any:
    """Elements or sub-arrays at the given positions."""
    x = as_array(lift(a))
    if axis is None:
        x, axis = x.ravel(), 0
    place = axis_number(axis, x.ndim)
    return x[(*_whole(place), in_mode(indices, x.shape[place], mode))]


@define_function(np.take_along_axis)
def take_along_axis(arr: object, indices: object, axis: int | None = -1) -> Any:
    """The elements at positions along an axis, others at their own place; both broadcast there."""
    x, places = as_array(lift(arr)), as_array(lift(indices))
    if axis is None:
        x, axis = x.ravel(), 0
    along = axis_number(axis, x.ndim)
    if places.ndim != x.ndim:
        raise StagingTypeError("np.take_along_axis needs arrays of one rank")
    beside = [[s for k, s in enumerate(a.sizes) if k != along] for a in (x, places)]
    shared = list(broadcast_shapes(beside, "the sizes in np.take_along_axis"))
    x = x.broadcast((*shared[:along], x.sizes[along], *shared[along:]))
    places = places.broadcast((*shared[:along], places.sizes[along], *shared[along:]))

    def element(*indices: ScalarRep) -> Any:
        chosen = places.element(*indices)
        view = x.view.fix(along, position(chosen, x.sizes[along]), False)
        return x.seen(view).element(*indices[:along], *indices[along + 1 :])

    return emit.collect(places.sizes, element)


@define_function(np.compress)
def compress(condition: object, a: object, axis: int | None = None) -> Any:
    """The elements of the flattened array, or the sub-arrays along an axis, where the condition
    holds.
    """
    x = as_array(lift(a))
    if axis is None:
        x, axis = x.ravel(), 0
    along, mask = axis_number(axis, x.ndim), _mask(condition)
    if mask.ndim != 1:
        raise StagingTypeError("the condition of np.compress must be a vector")
    if not sizes.same(mask.sizes[0], x.sizes[along]):
        x = as_array(x[(*_whole(along), slice(None, mask.shape[0]))])  # it may be shorter
    return x[(*_whole(along), mask)]


@define_function(np.extract)
def extract(condition: object, arr: object) -> Any:
    """The elements where the condition holds, both flattened."""
    return as_array(lift(arr)).ravel()[_mask(condition).ravel()]


def _mask(condition: object) -> ArrayRep:
    x = as_array(lift(condition))
    return x if x.dtype.kind == "b" else as_array(apply_ufunc(np.not_equal, (x, 0)))


@define_function(np.nonzero)
def nonzero_of(a: object) -> tuple[ArrayRep, ...]:
    """The positions of what is not 0, in C order: an array for each axis."""
    return nonzero(as_array(lift(a)))


@define_function(np.flatnonzero)
def flatnonzero(a: object) -> ArrayRep:
    """The positions in the flattened array of what is not 0."""
    return nonzero(with_axes(a).ravel())[0]


@define_function(np.argwhere)
def argwhere(a: object) -> Any:
    """The positions of what is not 0, one a row."""
    found = nonzero(as_array(lift(a)))
    rows: Any = found[0]

    def place(k: ScalarRep) -> Any:
        return [along.element(k) for along in found]

    return emit.collect(rows.sizes, place)


@define_function(np.ix_)
def ix_(*args: object) -> tuple[Any, ...]:
    """Each vector on an axis of its own, so that together they index a grid."""
    found: list[Any] = []
    for axis, given in enumerate(args):
        x: Any = as_array(lift(given))
        if x.ndim != 1:
            raise StagingTypeError("np.ix_ takes vectors")
        x = nonzero(x)[0] if x.dtype.kind == "b" else x
        key = [slice(None) if k == axis else None for k in range(len(args))]
        found.append(x[tuple(key)])
    return tuple(found)


@define_function(np.choose)
def choose(a: object, choices: object, mode: str = "raise") -> Rep:
    """The element of the choice whose number stands in `a`, all stretched to one shape."""
    members = [lift(c) for c in parts_of(choices)]
    count = len(members)
    given: Any = lift(a)
    if emit.element_type(given.type).dtype.kind not in "biu":
        raise StagingTypeError(f"np.choose by {given.type}", instead="integers")
    if mode == "raise":
        outside = apply_ufunc(
            np.logical_or, (apply_ufunc(np.less, (a, 0)), apply_ufunc(np.greater_equal, (a, count)))
        )
        none = apply_ufunc(np.logical_not, (with_axes(outside).any(),))
        message = "invalid entry in choice array"
        trace().emit(Check(emit.condition(none), ErrorKind.VALUE, message))
    element = common(members)

    def pick(number: ScalarRep, *values: ScalarRep) -> ScalarRep:
        found = cast(values[-1], element)
        for k in range(count - 2, -1, -1):
            is_k = sizes.scalar_of(apply_ufunc(np.equal, (number, k)), "a condition")
            found = select(is_k, cast(values[k], element), found)
        return found

    places = lift(in_mode(a, count, mode))
    if all(isinstance(part, ScalarRep) for part in (places, *members)):
        return pick(*(sizes.scalar_of(part, "a choice") for part in (places, *members)))
    return elementwise(pick, (places, *members), "np.choose")
