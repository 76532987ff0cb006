"""Arrays in another shape, their elements in C order: a view where NumPy has one, else a copy.

Runs of old and new axes with the same number of elements are dealt with apart, so that splitting an
axis takes a product and a sum, and only axes that become one take a division.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ..staging import primitives as p
from ..staging.context import trace
from ..staging.errors import ShapeError
from ..staging.nodes import Apply, Check, ErrorKind, Operand
from ..staging.reps import Rep
from . import sizes
from .arrays import ArrayRep
from .sizes import Size
from .views import Reshape, Span, View, runs


def reshape(x: ArrayRep, shape: Any) -> ArrayRep:
    """`x.reshape(shape)`; one size may be -1."""
    wanted = _shape(x, shape)
    groups = runs(x.sizes, wanted)
    merges = any(len(old) > 1 for old, _ in groups)
    if merges and (x.cell.given or not _contiguous(x, [old for old, _ in groups])):
        return _copied(x, wanted, any(_may_merge(x, old) for old, _ in groups if len(old) > 1))
    return x.seen(View.reshaped(Reshape(x.view, wanted)))


def ravel(x: ArrayRep) -> ArrayRep:
    """The elements in C order, as a vector: the array's own where they lie so."""
    axes = tuple(range(x.ndim))
    if _contiguous(x, [axes]):
        return x if x.ndim == 1 else reshape(x, (-1,))
    perhaps = _may_merge(x, axes) and _steps(x, axes)[-1:] == [1]
    known = not x.cell.dense and x.view.is_whole(x.cell.shape)
    return _copied(x, (sizes.product(x.sizes),), perhaps and not known)


def flatten(x: ArrayRep) -> ArrayRep:
    """A copy of the elements in C order, as a vector."""
    return reshape(x, (-1,)).copy()


def _copied(x: ArrayRep, shape: tuple[Size, ...], perhaps: bool) -> ArrayRep:
    """A copy; NumPy has a view here `perhaps`, when sizes or strides of the call allow one."""
    found = x.seen(View.reshaped(Reshape(x.view, shape))).copy()
    if perhaps:
        found.cell.relate(x.cell)
    return found


def _shape(x: ArrayRep, shape: Any) -> tuple[Size, ...]:
    """The new sizes, -1 resolved; that they have as many elements as the array is checked, now or
    when the program runs.
    """
    given: list[Any] = list(cast(Any, shape)) if isinstance(shape, tuple | list) else [shape]
    unknown = [k for k, n in enumerate(given) if not isinstance(n, Rep) and int(n) == -1]
    if len(unknown) > 1:
        raise ShapeError("can only specify one unknown dimension")
    known = [sizes.extent(n) for k, n in enumerate(given) if k not in unknown]
    total = sizes.product(x.sizes)
    if unknown:
        old, new = _without_common(x.sizes, known)
        rest = sizes.product(new)
        count = sizes.product(old)
        if sizes.static(rest) != 1:
            count = sizes.arithmetic(p.FLOOR_DIVIDE, count, sizes.greatest(rest, 1))
        known.insert(unknown[0], count)
    if _without_common(x.sizes, known) != ([], []):
        _check_equal(total, sizes.product(known))
    return tuple(known)


def _without_common(a: Sequence[Size], b: Sequence[Size]) -> tuple[list[Size], list[Size]]:
    """The sizes of both without those that both have, and without ones."""
    canonical = trace().canonical
    first = [s for s in map(canonical, a) if not sizes.is_one(s)]
    second: list[Size] = []
    for size in map(canonical, b):
        if size in first:
            first.remove(size)
        elif not sizes.is_one(size):
            second.append(size)
    return first, second


def _check_equal(a: Operand, b: Operand) -> None:
    m, n = sizes.static(a), sizes.static(b)
    if m is not None and n is not None:
        if m != n:
            raise ShapeError(f"cannot reshape array of size {m} into {n} elements")
        return
    fine = trace().emit_size(Apply(p.EQUAL, (a, b)))
    trace().emit(Check(fine, ErrorKind.VALUE, "cannot reshape the array into this shape"))


def _may_merge(x: ArrayRep, group: Sequence[int]) -> bool:
    """Whether the axes of a group may lie behind one another in memory, for some sizes: they have
    the order of the base's axes, and only the last one may skip elements.
    """
    if x.cell.given or not x.cell.dense or x.view.under is not None:
        return True
    found = [place.axis for place in x.view.places if isinstance(place, Span)]
    wanted = [axis for axis in group if not sizes.is_one(x.view.shape[axis])]
    if not set(wanted) <= set(found):  # broadcast axes may be steps of nothing, all of them
        return True
    in_order = [axis for axis in found if axis in wanted] == wanted
    steps = _steps(x, wanted)
    return in_order and all(abs(step) == 1 and step * steps[-1] > 0 for step in steps[:-1])


def _steps(x: ArrayRep, axes: Sequence[int]) -> list[int]:
    """By how many elements of the base's axis each axis goes on."""
    steps = {place.axis: place.step for place in x.view.places if isinstance(place, Span)}
    return [steps.get(axis, 0) for axis in axes if not sizes.is_one(x.view.shape[axis])]


def _contiguous(x: ArrayRep, groups: Sequence[Sequence[int]]) -> bool:
    """Whether the axes of each group lie behind one another in memory, without gaps."""
    view, base = x.view, x.cell.shape
    if not x.cell.dense:
        return False
    if view.under is not None:
        under = view.under
        whole = view.is_whole_of(under.shape)
        return whole and _contiguous(x.seen(under.view), [tuple(range(len(under.view.shape)))])
    at = {place.axis: k for k, place in enumerate(view.places) if isinstance(place, Span)}
    for group in groups:
        axes = [axis for axis in group if not sizes.is_one(view.shape[axis])]
        places = [at.get(axis, -1) for axis in axes]
        if places and places != list(range(places[0], places[0] + len(places))):
            return False
        for axis, place in zip(axes, places, strict=True):
            found = view.places[place]
            if place < 0 or not isinstance(found, Span) or found.step != 1:
                return False
            if place > places[0] and not sizes.same(view.shape[axis], base[place]):
                return False
    return True


__all__ = ["flatten", "ravel", "reshape"]
