"""Writes `x[key] = v` and `x += v`: the cell gets a new array that selects between old elements and
new ones.

Every view of the cell sees the write, as in NumPy. In a loop, elements are replaced one by one
(`Update`). Keys with arrays of positions are in scatters.py. An argument is written to
only where it is marked (inout), and a pattern's function cannot write to an array from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.cells import same_array
from ..staging.context import trace
from ..staging.errors import StagingTypeError
from ..staging.nodes import (
    Apply,
    Bounds,
    ForLoop,
    If,
    Index,
    Operand,
    Update,
    Var,
    size_operand,
)
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep, cast, narrow, scalar_ufunc, select
from ..staging.types import INDEX
from . import emit, keys, sizes
from .arrays import ArrayRep
from .conversions import as_array
from .scatters import write_at
from .sizes import Size
from .views import Fixed, Place, Span, View, regrouped

NewValue = Callable[..., ScalarRep]


def write(x: ArrayRep, key: object, value: object) -> None:
    """`x[key] = value`"""
    selected = keys.select(x, key)
    if selected.mask is None and not selected.along:
        target = x.seen(selected.view)
        if same_array(target, value):
            return  # `x[i] += v` has written already
        if _is_part(target):
            _store(target, lift(value))
            return
        _check_inside(x, selected.view)
        _assign(target, lift(value))
        return
    new = lift(value)
    if selected.mask is not None and selected.axis == 0 and not _is_part(x):
        rest = x.ndim - selected.mask.ndim
        if isinstance(new, ScalarRep) or as_array(new).ndim <= rest:
            _assign_masked(x.seen(selected.view), selected.mask, new)
            return
    write_at(x, key, new)


def update(x: ArrayRep, ufunc: np.ufunc, other: object) -> None:
    """`x op= other`; the result must fit x's dtype as NumPy demands."""
    result = apply_ufunc(ufunc, (x, other))
    _store_fitting(
        x, result, f"np.{ufunc.__name__} in place", f"x = x {ufunc.__name__} y makes a new array"
    )


def store_result(out: object, result: Any, name: str) -> Any:
    """`name(..., out=out)`: the result written to the array, which is returned."""
    if not isinstance(out, ArrayRep):
        raise StagingTypeError(
            f"{name} with out= of {type(out).__name__}", instead="a staged array"
        )
    sizes.unify_shapes(out.sizes, as_array(result).sizes, f"{name} with out=")
    _store_fitting(out, result, name, "no out=")
    return out


def _store_fitting(x: ArrayRep, result: Rep, what: str, instead: str) -> None:
    element = emit.element_type(result.type)
    if not np.can_cast(element.dtype, x.dtype, "same_kind"):
        raise StagingTypeError(
            f"{what} gives {element}, which does not fit an array of {x.scalar}",
            instead=f"{instead}; x.astype(...) converts",
        )
    if _is_part(x):
        _store(x, result)
    else:
        _assign(x, result)


def _is_part(target: ArrayRep) -> bool:
    """Whether a loop writes a small part of an array: an element, a row, a slice that moves."""
    builder = trace().builder
    loops = [depth for depth, scope in enumerate(builder.scopes) if scope.region == "loop"]
    if not loops:
        return False

    def moves(operand: Operand) -> bool:
        return isinstance(operand, Var) and builder.depth(operand) >= loops[0]

    return any(
        isinstance(place, Fixed) or moves(place.start) or moves(view.shape[place.axis])
        for view, _ in target.view.levels(target.cell.shape)
        for place in view.places
    )


def _store(target: ArrayRep, value: Rep) -> None:
    """The elements one after the other, so that the rest of the array need not be touched."""
    if not isinstance(value, ScalarRep) and as_array(value).cell is target.cell:
        value = as_array(value).copy()  # all is read before anything is written
    new = _values(target, value)
    view = target.view
    bounds = Bounds.PROVEN if view.proven else Bounds.CHECKED

    def stored(array: Operand, indices: tuple[ScalarRep, ...]) -> Operand:
        if len(indices) < len(view.shape):
            return _in_order(view.shape[len(indices)], array, lambda i, a: stored(a, (*indices, i)))
        places = view.locate([i.operand for i in indices])
        return trace().emit(Update(array, places, new(*indices).operand, bounds))[0]

    target.cell.check_reachable()
    target.cell.write(stored(target.cell.value, ()))


def _in_order(
    count: Operand, array: Operand, step: Callable[[ScalarRep, Operand], Operand]
) -> Operand:
    """`for i in range(count): array = step(i, array)`"""
    index, state = Var(INDEX), Var(array.type)
    i = sizes.index(index, count)
    body = emit.block((index, state), lambda: [step(i, state)])
    return trace().emit(ForLoop(count, (array,), body))[0]


def _assign(target: ArrayRep, value: Rep) -> None:
    """All elements that the target's view names."""
    new = _values(target, value)
    base = target.cell.shape
    if target.view.is_whole(base):
        found = emit.collect(base, new)
    else:
        found = emit.collect(base, lambda *i: _merged(target, new, i, isinstance(value, ScalarRep)))
    target.cell.write(found.operand)


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
    hits: list[Operand] = []
    places = [i.operand for i in base]
    below: View | None = None
    for view, shape in reversed(target.view.levels(target.cell.shape)):
        if below is not None:
            places = list(regrouped(places, below.shape, shape))
        indices: dict[int, Operand] = {}
        for place, size, index in zip(view.places, shape, places, strict=True):
            _invert(place, size, index, view, indices, hits)
        places = [indices.get(axis, size_operand(0)) for axis in range(len(view.shape))]
        below = view
    found: Any = ScalarRep(emit.condition(True))
    for hit in hits:
        found = scalar_ufunc(np.logical_and, (found, ScalarRep(hit)))
    return found, places


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
    for level, shape in view.levels(x.cell.shape):
        for place, size in zip(level.places, shape, strict=True):
            if isinstance(place, Fixed) and not place.proven:
                sizes.check_inside(place.index, size, "index is out of bounds in an assignment")
