"""Taking a key `x[key]` apart, for reads and writes alike.

Integers, slices, np.newaxis and ... make a view. Arrays of integers each index one axis of that
view, together over their common shape; a mask stands for the arrays of the positions where it
holds. NumPy's rule says where the arrays' axes go in the result: in the place of the indexed axes
if all arrays (and, beside arrays, integers) stand side by side, else in front.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from .conversions import as_array, flat_index, strong
from .semantics import out_of_bounds
from .sizes import Size
from .views import View, cut


@dataclass(frozen=True, slots=True)
class Along:
    """The positions on one axis of a view, an array of the keys' common shape."""

    axis: int
    positions: ArrayRep


@dataclass(frozen=True, slots=True)
class Selected:
    """A key taken apart.

    view : what its basic part leaves, with the axes that arrays index
    along : for each axis that an array indexes, its positions
    shape : the arrays' common shape
    place : the axis of the result at which those axes stand
    mask : the mask, where it is the only array in the key; `along` is then empty
    axis : the first axis that the mask is over
    """

    view: View
    along: tuple[Along, ...] = ()
    shape: tuple[Size, ...] = ()
    place: int = 0
    mask: ArrayRep | None = None
    axis: int = 0

    @property
    def result_shape(self) -> tuple[Size, ...]:
        """The shape of what is selected, where there is no mask."""
        indexed = [a.axis for a in self.along]
        rest = [size for axis, size in enumerate(self.view.shape) if axis not in indexed]
        return (*rest[: self.place], *self.shape, *rest[self.place :])

    def at(self, indices: Sequence[ScalarRep]) -> View:
        """The view, without axes, of the element at indices of the result."""
        last = self.place + len(self.shape)
        chosen = indices[self.place : last]
        rest = iter([*indices[: self.place], *indices[last:]])
        by_axis = {a.axis: a.positions for a in self.along}
        view = self.view
        for axis, length in enumerate(map(trace().canonical, self.view.shape)):
            if axis in by_axis:
                found = by_axis[axis].element(*chosen)
                view = view.fix(0, position(found, length), sizes.in_range(found, length))
            else:
                index = next(rest)
                inside = sizes.in_range(index, length)
                view = view.fix(0, sizes.index_operand(index), inside)
        return view


Items = list[object]


def select(x: ArrayRep, key: object) -> Selected:
    """The key taken apart; StagedIndexError where it is surely outside."""
    items = _expand(x, key)
    arrays = [item for item in items if isinstance(item, ArrayRep)]
    if len(arrays) == 1 and arrays[0].dtype.kind == "b" and not any(map(_is_integer, items)):
        return _masked(x.view, items)
    view, axis, place = x.view, 0, 0
    along: list[tuple[int, ArrayRep]] = []
    advanced: list[int] = []
    for number, item in enumerate(items):
        if isinstance(item, ArrayRep) or (arrays and _is_integer(item)):
            place = place if advanced else axis
            advanced.append(number)
        if isinstance(item, ArrayRep):
            found = nonzero(_fitting(item, view, axis)) if item.dtype.kind == "b" else (item,)
            along += [(axis + k, positions) for k, positions in enumerate(found)]
            axis += len(found)
        else:
            view, axis = _basic(view, axis, item)
    if not along:
        return Selected(view)
    apart = advanced[-1] - advanced[0] >= len(advanced)
    return _together(view, along, 0 if apart else place - _before(along, place))


def _before(along: Sequence[tuple[int, ArrayRep]], place: int) -> int:
    return sum(axis < place for axis, _ in along)


def _together(view: View, along: Sequence[tuple[int, ArrayRep]], place: int) -> Selected:
    """The arrays stretched to their common shape."""
    from .elementwise import broadcast_shapes

    what = "the shapes of the arrays in an index"
    shape = broadcast_shapes([array.sizes for _, array in along], what)
    found = tuple(Along(axis, array.broadcast(shape, what)) for axis, array in along)
    return Selected(view, found, shape, place)


def _masked(view: View, items: Items) -> Selected:
    """A key whose only array is a mask."""
    axis, mask, at = 0, None, 0
    for item in items:
        if isinstance(item, ArrayRep):
            mask, at = item, axis
            axis += item.ndim
        else:
            view, axis = _basic(view, axis, item)
    assert mask is not None
    return Selected(view, mask=_fitting(mask, view, at), axis=at)


def _fitting(mask: ArrayRep, view: View, axis: int) -> ArrayRep:
    """The mask, after its shape has become that of the axes that it is over."""
    over = view.shape[axis : axis + mask.ndim]
    sizes.unify_shapes(over, mask.sizes, "a mask and the array that it selects from")
    return mask


def _basic(view: View, axis: int, item: object) -> tuple[View, int]:
    """The view under one item that is no array, and the next axis."""
    if item is None:
        return view.insert(axis), axis + 1
    if item is Ellipsis:
        return view, axis
    if isinstance(item, slice):
        return _slice(view, axis, cast(Any, item)), axis + 1
    return _at(view, axis, lift(item)), axis


def nonzero(mask: ArrayRep) -> tuple[ArrayRep, ...]:
    """The positions where the mask holds, in C order: an i64 array for each of its axes."""

    def flat(*indices: ScalarRep) -> Rep:
        return strong(ScalarRep(flat_index(mask.sizes, indices)))

    def holds(*indices: ScalarRep) -> ScalarRep:
        return ScalarRep(emit.condition(mask.element(*indices)))

    found = as_array(emit.collect_if(mask.sizes, holds, flat))
    if mask.ndim == 1:
        return (found,)

    def along(axis: int) -> ArrayRep:
        def element(i: ScalarRep) -> Rep:
            place = sizes.index_operand(found.element(i))
            return strong(sizes.unraveled(place, mask.sizes)[axis])

        return as_array(emit.collect(found.sizes, element))

    return tuple(along(axis) for axis in range(mask.ndim))


def _expand(x: ArrayRep, key: object) -> Items:
    """One item for each axis (and each new one), `...` written out; one that stands for no axis
    stays, for it parts arrays.
    """
    given = list(cast(tuple[object, ...], key)) if isinstance(key, tuple) else [key]
    items = [_item(item) for item in given]
    used = sum(_consumes(item) for item in items)
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise StagedIndexError("an index can only have a single ellipsis ('...')")
    if used > x.ndim:
        raise StagedIndexError(
            f"too many indices: the array has {x.ndim} axes, but {used} were indexed"
        )
    at = dots[0] if dots else len(items)
    left = x.ndim - used
    filler: Items = [slice(None)] * left if left or not dots else [Ellipsis]
    return items[:at] + filler + items[at + 1 :]


def _item(item: object) -> object:
    """An item of a key, arrays as staged arrays."""
    given: Any = item
    if item is None or item is Ellipsis or isinstance(item, slice) or _is_integer(item):
        return given
    rep = lift(np.zeros(0, np.int64) if type(item) is list and not given else given)
    if isinstance(rep, ScalarRep) or as_array(rep).dtype.kind not in "biu":
        raise StagingTypeError(
            f"an index of type {rep.type}",
            instead="integers, slices, np.newaxis, ..., an array of bools or of integers",
        )
    return as_array(rep)


def _consumes(item: object) -> int:
    """How many axes an item stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, ArrayRep) and item.dtype.kind == "b" else 1


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


__all__ = ["Along", "Selected", "nonzero", "position", "select"]
