"""np.tile, np.roll, np.pad and the other functions that lay an array's elements out anew: each is
one Collect that says where an element comes from.
"""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.errors import Limitation, StagingTypeError
from ...staging.nodes import size_operand
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, narrow
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import apply, as_array, lifted, stored, with_axes
from ..keys import position
from ..reductions import axes_of, axis_number
from ..sizes import Size
from .axes import atleast_1d, moveaxis
from .joining import concatenate


def gathered(x: ArrayRep, axis: int, length: object, place: Callable[[Any], Any]) -> Any:
    """Along an axis, `length` elements; element i is the one at `place(i)`, which is inside."""
    shape = (*x.sizes[:axis], sizes.extent(length), *x.sizes[axis + 1 :])
    extent = x.sizes[axis]

    def element(*i: ScalarRep) -> ScalarRep:
        found = sizes.scalar_of(place(i[axis]), "a position")
        inside = sizes.index(sizes.index_operand(found), extent)
        return x.element(*i[:axis], inside, *i[axis + 1 :])

    return emit.array(shape, element)


def _wrapped(i: Any, size: Any) -> Any:
    return i % size


@define_function(np.tile)
def tile(A: object, reps: Any) -> Any:
    """The array again and again along each axis."""
    times = tuple(reps) if isinstance(reps, tuple | list) else (reps,)
    x = with_axes(A)
    while x.ndim < len(times):
        x = x[None]
    times = (1,) * (x.ndim - len(times)) + times
    for axis, count in enumerate(times):
        if isinstance(count, Rep) or count != 1:
            size = x.shape[axis]
            x = gathered(x, axis, size * count, functools.partial(_wrapped, size=size))
    return x


@define_function(np.repeat)
def repeat(a: object, repeats: Any, axis: int | None = None) -> Any:
    """Each element so many times."""
    x = with_axes(a)
    x, place = (x.ravel(), 0) if axis is None else (x, axis_number(axis, x.ndim))
    if not isinstance(repeats, Rep | int | np.integer):
        repeats = lifted(repeats)
    if isinstance(repeats, ArrayRep):
        return x[(*(slice(None),) * place, _owners(repeats, x.shape[place]))]
    count: Any = repeats
    return gathered(x, place, x.shape[place] * count, lambda i: i // count)


def _owners(counts: ArrayRep, length: Any) -> Any:
    """The position of the element that each repeated one comes from: how many ends of runs lie at
    or before it.
    """
    if sizes.is_one(counts.sizes[0]):
        counts = counts.broadcast((sizes.extent(length),))
    ends: Any = np.cumsum(counts)
    total = counts.sum()
    starts = np.bincount(ends, minlength=total + 1)
    return np.cumsum(starts)[:total]


@define_function(np.roll)
def roll(a: object, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes; those that fall off come in on the other side."""
    x = as_array(lifted(a))
    if axis is None:
        if x.ndim == 1:
            return _rolled(x, shift, 0)
        return np.reshape(_rolled(x.ravel(), shift, 0), x.shape)
    axes = (
        axes_of(axis, x.ndim)
        if not isinstance(axis, tuple)
        else [axis_number(k, x.ndim) for k in axis]
    )
    shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
    axes = axes if len(axes) == len(shifts) else axes * len(shifts)
    for place, by in zip(axes, shifts, strict=True):
        x = _rolled(x, by, place)
    return x


def _rolled(x: ArrayRep, shift: Any, axis: int) -> Any:
    size: Any = x.shape[axis]
    return gathered(x, axis, size, lambda i: (i - shift) % size)


def _inner(i: Any, before: Any, size: Any) -> Any:
    return np.minimum(np.maximum(i - before, 0), size - 1)


def _reflected(edge: int) -> Callable[[Any, Any, Any], Any]:
    """Positions that run back and forth: `edge` 1 repeats the elements at the ends, 0 does not."""

    def place(i: Any, before: Any, size: Any) -> Any:
        period = np.maximum(2 * size - 2 * (1 - edge), 1)
        at = (i - before) % period
        return np.minimum(at, period - edge - at)

    return place


_PLACES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "edge": _inner,
    "wrap": lambda i, before, size: (i - before) % size,
    "reflect": _reflected(0),
    "symmetric": _reflected(1),
}


def _placed(place: Callable[[Any, Any, Any], Any], before: Any, size: Any, i: Any) -> Any:
    return place(i, before, size)


@define_function(np.pad)
def pad(array: object, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """The array with margins: of a constant, or of its own elements."""
    x: Any = as_array(lifted(array))
    widths = _pairs(pad_width, x.ndim)
    if mode != "constant":
        if mode not in _PLACES:
            raise Limitation(f"np.pad with mode={mode!r}", instead=", ".join(_PLACES))
        for axis, (before, after) in enumerate(widths):
            size = x.shape[axis]
            place = functools.partial(_placed, _PLACES[mode], before, size)
            x = gathered(x, axis, size + before + after, place)
        return x
    values = _pairs(constant_values, x.ndim)
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
        margins = []
        for width, value in ((before, low), (after, high)):
            shape = (*x.sizes[:axis], sizes.extent(width), *x.sizes[axis + 1 :])
            number = narrow(sizes.scalar_of(value, "a constant of np.pad"), x.scalar)
            margins.append(emit.array(shape, lambda *_, number=number: number))
        x = concatenate([margins[0], x, margins[1]], axis)
    return x


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """What np.pad takes for each axis and side: a number, a pair, or a pair an axis."""
    if not isinstance(given, tuple | list):
        return [(given, given)] * rank
    items = [tuple(g) if isinstance(g, tuple | list) else g for g in given]
    if not any(isinstance(g, tuple) for g in items):
        pair = (items[0], items[-1])
        return [pair] * rank
    pairs = [(g[0], g[-1]) for g in items if isinstance(g, tuple)]
    if len(pairs) not in (1, rank):
        raise StagingTypeError("np.pad takes one pair, or a pair for each axis")
    return pairs * rank if len(pairs) == 1 else pairs


@define_function(np.append)
def append(arr: object, values: object, axis: int | None = None) -> Any:
    """The values behind the array, both as vectors without an axis."""
    if axis is None:
        return concatenate([with_axes(arr).ravel(), with_axes(values).ravel()], 0)
    return concatenate([arr, values], axis)


def _position(obj: Any, what: str) -> int:
    if isinstance(obj, Rep) or not hasattr(obj, "__index__"):
        raise Limitation(f"{what} at positions that are not one Python integer", instead="a mask")
    return int(obj.__index__())


def _check_position(at: int, x: ArrayRep, axis: int, count: Size) -> None:
    """Raises IndexError, when the program runs, unless the position is among the first `count`."""
    counted = position(ScalarRep(size_operand(at)), x.sizes[axis])
    sizes.check_inside(counted, count, f"index {at} is out of bounds for axis {axis}")


@define_function(np.insert)
def insert(arr: object, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Values before a position along an axis."""
    x = with_axes(arr)
    x, place = (x.ravel(), 0) if axis is None else (x, axis_number(axis, x.ndim))
    at = _position(obj, "np.insert")
    _check_position(at, x, place, sizes.add(x.sizes[place], size_operand(1)))
    before = (slice(None),) * place
    given: Any = atleast_1d(stored(lift(values), x.scalar))
    if given.ndim < x.ndim and x.ndim > 1:
        given = given.broadcast((*given.sizes[: given.ndim - 1], *_without(x, place)[-1:]))
        given = np.expand_dims(given, place) if given.ndim < x.ndim else given
    elif x.ndim > 1:
        given = moveaxis(given, 0, place)
    return concatenate([x[(*before, slice(None, at))], given, x[(*before, slice(at, None))]], place)


def _without(x: ArrayRep, axis: int) -> tuple[Any, ...]:
    return (*x.sizes[:axis], *x.sizes[axis + 1 :])


@define_function(np.delete)
def delete(arr: object, obj: Any, axis: int | None = None) -> Any:
    """Without the element at a position, or those of a slice with step 1."""
    x = with_axes(arr)
    x, place = (x.ravel(), 0) if axis is None else (x, axis_number(axis, x.ndim))
    before = (slice(None),) * place
    if isinstance(obj, slice):
        if obj.step not in (None, 1):
            raise Limitation("np.delete of a slice with a step", instead="a mask")
        parts = (slice(None, obj.start or 0), slice(obj.stop, None))
        kept = [parts[0]] if obj.stop is None else list(parts)
    else:
        at = _position(obj, "np.delete")
        kept = [slice(None, at)] if at == -1 else [slice(None, at), slice(at + 1, None)]
        _check_position(at, x, place, x.sizes[place])
    return concatenate([x[(*before, k)] for k in kept], place)


@define_function(np.block)
def block(arrays: Any) -> Any:
    """Nested lists of arrays put together, the innermost along the last axis."""
    depth = _depth(arrays)
    return _block(arrays, depth, max(depth, _rank(arrays)))


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _rank(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max(_rank(a) for a in arrays)
    return int(lifted(arrays).ndim)


def _block(arrays: Any, depth: int, rank: int) -> Any:
    if depth == 0:
        x = with_axes(arrays)
        while x.ndim < rank:
            x = x[None]
        return x
    return concatenate([_block(a, depth - 1, rank) for a in arrays], -depth)


@define_function(np.dstack)
def dstack(tup: object) -> Any:
    """Arrays behind one another, along the third axis."""
    from .axes import atleast_3d
    from .joining import parts_of

    return concatenate([atleast_3d(part) for part in parts_of(tup)], 2)


@define_function(np.kron)
def kron(a: object, b: object) -> Any:
    """Every element of a times the whole of b, in a's places."""
    x, y = with_axes(a), with_axes(b)
    while x.ndim < y.ndim:
        x = x[None]
    while y.ndim < x.ndim:
        y = y[None]
    shape = [sizes.multiply(m, n) for m, n in zip(x.sizes, y.sizes, strict=True)]

    def element(*i: ScalarRep) -> Any:
        extents = [sizes.dim(n) for n in y.sizes]
        outer = [_inside(k // n, m) for k, n, m in zip(i, extents, x.sizes, strict=True)]
        inner = [_inside(k % n, m) for k, n, m in zip(i, extents, y.sizes, strict=True)]
        return apply(np.multiply, x.element(*outer), y.element(*inner))

    return emit.array(shape, element)


def _inside(place: Any, extent: Any) -> ScalarRep:
    return sizes.index(sizes.index_operand(place), extent)
