"""Functions that only look at the axes of an array in another way: views, as NumPy's."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...staging.context import trace
from ...staging.errors import StagingTypeError
from ...staging.nodes import Check, ErrorKind, size_operand
from ...staging.numpy_functions import define_function
from ...staging.primitives import NOT_EQUAL
from ...staging.reps import lift
from ...staging.scalars import ScalarRep
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import as_array, lifted, strong
from ..reductions import axes_of, axis_number


@define_function(np.transpose)
def transpose(a: object, axes: Any = None) -> ArrayRep:
    """The axes permuted, reversed by default."""
    return as_array(lift(a)).transpose(*([] if axes is None else [axes]))


@define_function(np.permute_dims)
def permute_dims(a: object, axes: Any = None) -> ArrayRep:
    """The axes permuted, reversed by default."""
    return transpose(a, axes)


@define_function(np.matrix_transpose)
def matrix_transpose(x: object) -> ArrayRep:
    """The last two axes exchanged."""
    return swapaxes(x, -1, -2)


@define_function(np.swapaxes)
def swapaxes(a: object, axis1: int, axis2: int) -> ArrayRep:
    """Two axes exchanged."""
    x = as_array(lift(a))
    order = list(range(x.ndim))
    first, second = axis_number(axis1, x.ndim), axis_number(axis2, x.ndim)
    order[first], order[second] = second, first
    return x.transpose(order)


@define_function(np.moveaxis)
def moveaxis(a: object, source: Any, destination: Any) -> ArrayRep:
    """Axes moved to other places, the rest in order."""
    x = as_array(lift(a))
    old, new = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    if len(old) != len(new):
        raise StagingTypeError("np.moveaxis takes as many destinations as sources")
    order = [axis for axis in range(x.ndim) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return x.transpose(order)


@define_function(np.rollaxis)
def rollaxis(a: object, axis: int, start: int = 0) -> ArrayRep:
    """An axis moved before another."""
    x = as_array(lift(a))
    old = axis_number(axis, x.ndim)
    before = start + x.ndim if start < 0 else start
    return moveaxis(x, old, before - (old < before))


@define_function(np.expand_dims)
def expand_dims(a: object, axis: Any) -> ArrayRep:
    """New axes of size 1."""
    rep = lift(a)
    if isinstance(rep, ScalarRep):
        return _at_least(a, len(axis) if isinstance(axis, tuple | list) else 1)
    x = as_array(rep)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    for place in sorted(axes_of(axis, x.ndim + count)):
        x = x.seen(x.view.insert(place))
    return x


@define_function(np.squeeze)
def squeeze(a: object, axis: Any = None) -> Any:
    """Without the axes of static size 1; a size that is 1 by computation only is refused when the
    program runs.
    """
    x: Any = as_array(lift(a))
    ones = [k for k, size in enumerate(x.sizes) if sizes.is_one(size)]
    for k in () if axis is not None else sorted({*range(x.ndim)} - {*ones}):
        message = f"np.squeeze of axis {k}, whose size is computed and 1"
        sizes.check_size(NOT_EQUAL, x.sizes[k], 1, message)
    wanted = ones if axis is None else axes_of(axis, x.ndim)
    if any(k not in ones for k in wanted):
        raise StagingTypeError("np.squeeze of an axis whose size is not 1")
    return x[tuple(0 if k in wanted else slice(None) for k in range(x.ndim))]


@define_function(np.flip)
def flip(m: object, axis: Any = None) -> Any:
    """Reversed along axes, along all by default."""
    x = as_array(lift(m))
    wanted = range(x.ndim) if axis is None else axes_of(axis, x.ndim)
    return x[tuple(slice(None, None, -1) if k in wanted else slice(None) for k in range(x.ndim))]


@define_function(np.flipud)
def flipud(m: object) -> Any:
    """Reversed along the first axis."""
    return flip(m, 0)


@define_function(np.fliplr)
def fliplr(m: object) -> Any:
    """Reversed along the second axis."""
    return flip(m, 1)


@define_function(np.rot90)
def rot90(m: object, k: int = 1, axes: Sequence[int] = (0, 1)) -> Any:
    """Turned by 90 degrees k times, from the first of two axes towards the second."""
    x = as_array(lift(m))
    first, second = axes_of(tuple(axes), x.ndim)
    turns = k % 4
    if turns == 0:
        return x[:]
    if turns == 2:
        return flip(x, (first, second))
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second)


def _at_least(a: object, rank: int) -> ArrayRep:
    rep = lift(a)
    if isinstance(rep, ScalarRep):
        shape = [size_operand(1)] * rank
        return as_array(emit.array(shape, lambda *_: strong(rep)))
    return as_array(rep)


def _each(arrays: tuple[object, ...], change: Any) -> Any:
    found = tuple(map(change, arrays))
    return found[0] if len(found) == 1 else found


@define_function(np.atleast_1d)
def atleast_1d(*arys: object) -> Any:
    """Numbers as vectors of one."""
    return _each(arys, lambda a: _at_least(a, 1))


@define_function(np.atleast_2d)
def atleast_2d(*arys: object) -> Any:
    """Vectors as matrices of one row."""

    def change(a: object) -> Any:
        x = _at_least(a, 2)
        return x[None] if x.ndim == 1 else x

    return _each(arys, change)


@define_function(np.atleast_3d)
def atleast_3d(*arys: object) -> Any:
    """Vectors as [1, n, 1], matrices as [n, m, 1]."""

    def change(a: object) -> Any:
        x = _at_least(a, 3)
        return x[None, :, None] if x.ndim == 1 else x[:, :, None] if x.ndim == 2 else x

    return _each(arys, change)


def sections(x: ArrayRep, where: Any, axis: int, *, equal: bool) -> list[Any]:
    """The parts of an array along an axis: a number of parts, or the positions between them."""
    before = (slice(None),) * axis
    size: Any = x.shape[axis]
    if isinstance(where, int):
        if equal:
            fine = np.equal(lifted(size) % where, 0)
            trace().emit(Check(fine.operand, ErrorKind.VALUE, _UNEQUAL))
        each, extra = size // where, size % where
        starts = [each * k + (0 if equal else np.minimum(extra, k)) for k in range(where)]
        bounds = [*starts, size]
    else:
        bounds = [0, *where, None]
    return [x[(*before, slice(a, b))] for a, b in itertools.pairwise(bounds)]


_UNEQUAL = "array split does not result in an equal division"


@define_function(np.array_split)
def array_split(ary: object, indices_or_sections: Any, axis: int = 0) -> Any:
    """Parts along an axis, the first ones longer by one where the size does not divide."""
    x = as_array(lift(ary))
    return sections(x, indices_or_sections, axis_number(axis, x.ndim), equal=False)


@define_function(np.split)
def split(ary: object, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts along an axis, or the parts between positions."""
    x = as_array(lift(ary))
    return sections(x, indices_or_sections, axis_number(axis, x.ndim), equal=True)


@define_function(np.vsplit)
def vsplit(ary: object, indices_or_sections: Any) -> Any:
    """Parts along the first axis."""
    return split(ary, indices_or_sections, 0)


@define_function(np.hsplit)
def hsplit(ary: object, indices_or_sections: Any) -> Any:
    """Parts along the second axis, of a vector along its own."""
    return split(ary, indices_or_sections, 0 if as_array(lift(ary)).ndim == 1 else 1)


@define_function(np.dsplit)
def dsplit(ary: object, indices_or_sections: Any) -> Any:
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


@define_function(np.unstack)
def unstack(x: object, *, axis: int = 0) -> Any:
    """The sub-arrays along an axis of static size."""
    array = moveaxis(x, axis, 0)
    return tuple(array)
