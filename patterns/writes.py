"""Writes `x[key] = v` and `x += v`: the cell gets a new array that selects between old elements and
new ones.

Every view of the cell sees the write, as in NumPy. The arguments of a staged function are never
written to, and a pattern's function or a branch cannot write to an array from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.context import trace
from ..staging.errors import Limitation, StagingTypeError
from ..staging.nodes import (
    Apply,
    Bounds,
    Check,
    ErrorKind,
    If,
    Index,
    Operand,
    size_operand,
)
from ..staging.reps import Rep, ScalarRep, apply_ufunc, cast, lift, narrow, scalar_ufunc, select
from . import emit, indexing, sizes
from .arrays import ArrayRep, Cell
from .conversions import as_array
from .sizes import Size
from .views import Fixed, Place, Span, View

NewValue = Callable[..., ScalarRep]


def write(x: ArrayRep, key: object, value: object) -> None:
    """`x[key] = value`"""
    selected = indexing.select(x, key)
    if selected.array is None:
        _check_inside(x, selected.view)
        _assign(x.seen(selected.view), lift(value))
        return
    if selected.array.dtype.kind != "b" or selected.axis != 0:
        raise Limitation(
            "x[positions] = values",
            why="several values may meet at one position",
            instead="np.where, a mask, or group_by(positions, size=n).sum() to accumulate",
        )
    _assign_masked(x.seen(selected.view), selected.array, lift(value))


def update(x: ArrayRep, ufunc: np.ufunc, other: object) -> None:
    """`x op= other`; the result must fit x's dtype as NumPy demands."""
    result = apply_ufunc(ufunc, (x, other))
    element = emit.element_type(result.type)
    if not np.can_cast(element.dtype, x.dtype, "same_kind"):
        raise StagingTypeError(
            f"np.{ufunc.__name__} in place gives {element}, which does not fit an array of "
            f"{x.scalar}",
            instead=f"x = x {ufunc.__name__} y makes a new array; x.astype(...) converts",
        )
    _assign(x, result)


def _assign(target: ArrayRep, value: Rep) -> None:
    """All elements that the target's view names."""
    new = _values(target, value)
    base = target.cell.shape
    if target.view.is_whole(base):
        found = emit.collect(base, new)
    else:
        found = emit.collect(base, lambda *i: _merged(target, new, i, isinstance(value, ScalarRep)))
    _put(target.cell, found)


def _values(target: ArrayRep, value: Rep) -> NewValue:
    """The new element at the target's indices, in the target's dtype."""
    if isinstance(value, ScalarRep):
        same = narrow(value, target.scalar)
        return lambda *_: same
    array = as_array(value)
    while array.ndim > len(target.view.shape) and sizes.is_one(array.sizes[0]):
        array = array[0]
    if not target.view.shape:
        raise StagingTypeError("setting an array element with a sequence")
    stretched = array.broadcast(target.sizes, "the sizes of an assignment")
    return lambda *i: cast(stretched.element(*i), target.scalar)


def _merged(target: ArrayRep, new: NewValue, base: Sequence[ScalarRep], scalar: bool) -> ScalarRep:
    """The element at base indices: the new one where the view has them."""
    old = ScalarRep(
        trace().emit(Index(target.cell.value, tuple(i.operand for i in base), Bounds.PROVEN))[0]
    )
    hit, indices = _inverse(target, base)
    if scalar:
        return select(hit, new(), old)

    def read() -> Sequence[Operand]:
        # Inside only where `hit` holds: plain indices, so that the read stays checked and in its
        # branch.
        return [new(*map(ScalarRep, indices)).operand]

    chosen = If(hit.operand, emit.block((), read), emit.block((), lambda: [old.operand]))
    return ScalarRep(trace().emit(chosen)[0])


def _inverse(target: ArrayRep, base: Sequence[ScalarRep]) -> tuple[ScalarRep, list[Operand]]:
    """Whether the target's view has these base indices, and the view's indices where it has."""
    view = target.view
    indices: dict[int, Operand] = {}
    hits: list[Operand] = []
    for place, size, index in zip(view.places, target.cell.shape, base, strict=True):
        _invert(place, size, index.operand, view, indices, hits)
    found: Any = ScalarRep(emit.condition(True))
    for hit in hits:
        found = scalar_ufunc(np.logical_and, (found, ScalarRep(hit)))
    return found, [indices.get(axis, size_operand(0)) for axis in range(len(view.shape))]


def _invert(
    place: Place,
    size: Size,
    index: Operand,
    view: View,
    indices: dict[int, Operand],
    hits: list[Operand],
) -> None:
    if isinstance(place, Fixed):
        hits.append(_apply(p.EQUAL, index, place.index))
        return
    offset = (
        sizes.subtract(index, place.start) if place.step > 0 else sizes.subtract(place.start, index)
    )
    step = abs(place.step)
    if step > 1:
        remainder = _apply(p.REMAINDER, offset, size_operand(step))
        hits.append(_apply(p.EQUAL, remainder, size_operand(0)))
        offset = sizes.arithmetic(p.FLOOR_DIVIDE, offset, size_operand(step))
    if not _covers(place, view, size):
        hits.append(_apply(p.GREATER_EQUAL, offset, size_operand(0)))
        hits.append(_apply(p.LESS, offset, view.shape[place.axis]))
    indices[place.axis] = offset


def _covers(place: Span, view: View, size: Size) -> bool:
    """Whether the axis, of the given size, is not cut: then every base index is inside."""
    straight = place.step == 1 and sizes.static(place.start) == 0
    return straight and sizes.same(view.shape[place.axis], size)


def _apply(primitive: p.Primitive, *args: Operand) -> Operand:
    return trace().emit(Apply(primitive, args))[0]


def _assign_masked(target: ArrayRep, mask: ArrayRep, value: Rep) -> None:
    """`x[mask] = value` for a value that is the same for all that are kept."""
    if not isinstance(value, ScalarRep) and as_array(value).ndim > target.ndim - mask.ndim:
        raise Limitation(
            "x[mask] = values with one value for each kept element",
            instead="np.where(mask, values_for_all, x)",
        )
    sizes.unify_shapes(
        target.sizes[: mask.ndim], mask.sizes, "a mask and the array that it selects from"
    )
    rest = target.sizes[mask.ndim :]
    new = (
        narrow(value, target.scalar)
        if isinstance(value, ScalarRep)
        else as_array(value).broadcast(rest)
    )

    def element(*i: ScalarRep) -> ScalarRep:
        replacement = (
            new if isinstance(new, ScalarRep) else cast(new.element(*i[mask.ndim :]), target.scalar)
        )
        return select(mask.element(*i[: mask.ndim]), replacement, target.element(*i))

    _assign(target, emit.collect(target.sizes, element))


def _check_inside(x: ArrayRep, view: View) -> None:
    """Run-time integers in a write's key must be inside: a write elsewhere is no read that would
    find out.
    """
    for place, size in zip(view.places, x.cell.shape, strict=True):
        if not isinstance(place, Fixed) or place.proven:
            continue
        low = _apply(p.GREATER_EQUAL, place.index, size_operand(0))
        high = _apply(p.LESS, place.index, size)
        inside = _apply(p.LOGICAL_AND, low, high)
        trace().emit(Check(inside, ErrorKind.INDEX, "index is out of bounds in an assignment"))


def _put(cell: Cell, array: Any) -> None:
    """The cell's new value, if the program may write to it here."""
    if cell.given:
        raise Limitation(
            "a write to an argument or to an array of the surroundings",
            why="a staged function never modifies what it is given",
            instead="b = a.copy(), then write to b and return it",
        )
    if cell.scope is not trace().builder.scopes[-1]:
        raise Limitation(
            "a write to an array that was made outside of this function, branch or loop",
            why="what a pattern's function, a branch or a loop changes, it changes by assigning "
            "to a variable",
            instead="where every element is written: a = x.map(f) or a = pm.collect(shape, f); "
            "else copy first, here: a = a.copy()",
        )
    cell.value = array.operand
