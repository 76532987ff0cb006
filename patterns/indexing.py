"""Reading `x[key]`: integers, slices, np.newaxis and ... make views; one mask or one integer array
makes a loop.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..staging.context import trace
from ..staging.dataclass import dataclass
from ..staging.errors import Limitation, StagedIndexError, StagingTypeError
from ..staging.nodes import Operand
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep
from . import emit, sizes
from .arrays import ArrayRep
from .conversions import as_array
from .semantics import out_of_bounds
from .sizes import Size
from .views import View, cut


@dataclass(frozen=True, slots=True)
class Selected:
    """A key taken apart: the view of its basic part, and the one array in it with the axis where it
    stands.
    """

    view: View
    array: ArrayRep | None
    axis: int


def read(x: ArrayRep, key: object) -> Any:
    """`x[key]`"""
    selected = select(x, key)
    seen = x.seen(selected.view)
    if selected.array is None:
        return seen if selected.view.shape else seen.element()
    if selected.array.dtype.kind == "b":
        return compress(seen, selected.array, selected.axis)
    return take(seen, selected.array, selected.axis)


def select(x: ArrayRep, key: object) -> Selected:
    """The key of a read or a write taken apart; StagedIndexError where it is surely outside."""
    view, axis = x.view, 0
    array: ArrayRep | None = None
    place = 0
    for item in _expand(x, key):
        if item is None:
            view, axis = view.insert(axis), axis + 1
        elif isinstance(item, slice):
            view, axis = _slice(view, axis, cast(Any, item)), axis + 1
        elif _is_integer(item):
            view = _at(view, axis, lift(item))
        elif array is not None:
            raise Limitation(
                "an index with more than one array in it",
                why="a mask or an array of positions may stand once in x[...]",
                instead="pm.collect(shape, lambda i: x[a[i], b[i]])",
            )
        else:
            array, place = as_array(lift(item)), axis
            axis += _width(array)
    return Selected(view, array, place)


def _expand(x: ArrayRep, key: object) -> list[object]:
    """One item for each axis (and each new one), `...` written out."""
    items = list(cast(tuple[object, ...], key)) if isinstance(key, tuple) else [key]
    given = sum(_consumes(item) for item in items)
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise StagedIndexError("an index can only have a single ellipsis ('...')")
    if given > x.ndim:
        raise StagedIndexError(
            f"too many indices: the array has {x.ndim} axes, but {given} were indexed"
        )
    at = dots[0] if dots else len(items)
    filler: list[object] = [slice(None)] * (x.ndim - given)
    return items[:at] + filler + items[at + 1 :]


def _consumes(item: object) -> int:
    """How many axes an item stands for."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, slice) or _is_integer(item):
        return 1
    return _width(as_array(_key_array(item)))


def _key_array(item: object) -> Rep:
    rep = lift(item)
    if isinstance(rep, ScalarRep) or as_array(rep).dtype.kind not in "biu":
        raise StagingTypeError(
            f"an index of type {rep.type}",
            instead="integers, slices, np.newaxis, ..., an array of bools or of integers",
        )
    return rep


def _width(array: ArrayRep) -> int:
    return array.ndim if array.dtype.kind == "b" else 1


def _is_integer(item: object) -> bool:
    if isinstance(item, ScalarRep):
        return item.dtype.kind in "iu"
    return isinstance(item, int | np.integer) and not isinstance(item, bool | np.bool_)


def _at(view: View, axis: int, index: Rep) -> View:
    assert isinstance(index, ScalarRep)
    length = trace().canonical(view.shape[axis])
    if sizes.in_range(index, length):
        return view.fix(axis, sizes.index_operand(index), True)
    known, size = sizes.static(index.operand), sizes.static(length)
    inside = known is not None and size is not None and -size <= known < size
    surely_runs = len(trace().builder.scopes) == 1  # in no branch, no loop
    if known is not None and size is not None and not inside and surely_runs:
        raise out_of_bounds(known, axis, size)
    return view.fix(axis, position(index, length), inside)


def position(index: ScalarRep, length: Size) -> Operand:
    """An index as counted from the front: negative ones from the end (whether it is inside is
    checked later).
    """
    operand = sizes.index_operand(index)
    known = sizes.static(operand)
    if known is not None:
        return operand if known >= 0 else sizes.subtract(length, -known)
    return operand if sizes.not_negative(index) else sizes.wrapped(operand, length)


def _slice(view: View, axis: int, item: Any) -> View:
    step = 1 if item.step is None else item.step
    if isinstance(step, Rep) or not hasattr(step, "__index__"):
        raise Limitation(
            "a slice whose step is a staged value",
            why="the direction of a view must be known while staging",
            instead="a Python integer, or static_argnames",
        )
    if item.start is None and item.stop is None and step == 1:
        return view
    start, stop = (
        None if bound is None else sizes.index_operand(sizes.scalar_of(bound, "a slice's bound"))
        for bound in (item.start, item.stop)
    )
    found = cut(trace().canonical(view.shape[axis]), start, stop, int(step))
    return view.slice(axis, found.start, found.step, found.size)


def compress(x: ArrayRep, mask: ArrayRep, axis: int) -> ArrayRep:
    """`x[mask]`: the elements or rows where the mask, over x's first axes, holds."""
    if axis != 0:
        raise Limitation("a mask that does not stand first", instead="x.T[mask].T")
    sizes.unify_shapes(
        x.sizes[: mask.ndim], mask.sizes, "a mask and the array that it selects from"
    )

    def rows(*indices: ScalarRep) -> Any:
        found: Any = x
        for index in indices:
            found = found.fixed(0, index)
        return found

    return as_array(emit.collect_if(mask.sizes, mask.element, rows))


def take(x: ArrayRep, positions: ArrayRep, axis: int) -> ArrayRep:
    """`x[..., positions, ...]` with an array of integers on one axis, its axes in that axis's
    place.
    """
    shape = (*x.sizes[:axis], *positions.sizes, *x.sizes[axis + 1 :])
    length = x.sizes[axis]

    def element(*indices: ScalarRep) -> ScalarRep:
        before, rest = indices[:axis], indices[axis:]
        chosen, after = rest[: positions.ndim], rest[positions.ndim :]
        place = position(positions.element(*chosen), length)
        view = x.view.fix(axis, place, False)
        return x.seen(view).element(*before, *after)

    return as_array(emit.collect(shape, element))


def raveled(x: ArrayRep) -> ArrayRep:
    """The elements in C order, as a vector."""
    from ..staging import primitives as p

    if x.ndim == 1:
        return x.copy()

    def element(flat: ScalarRep) -> ScalarRep:
        place, indices = flat.operand, list[ScalarRep]()
        for size in reversed(x.sizes[1:]):
            indices.append(sizes.index(sizes.arithmetic(p.REMAINDER, place, size), size))
            place = sizes.arithmetic(p.FLOOR_DIVIDE, place, size)
        return x.element(sizes.index(place, x.sizes[0]), *reversed(indices))

    return as_array(emit.collect((sizes.product(x.sizes),), element))


__all__ = ["Selected", "compress", "position", "raveled", "read", "select", "take"]
