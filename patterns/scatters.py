"""Writes at computed positions: `x[positions] = values`, `np.add.at`, `pm.scatter`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.context import trace
from ..staging.dataclass import dataclass
from ..staging.errors import StagingTypeError
from ..staging.nodes import Block, Bounds, Operand
from ..staging.pytree import LEAF
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep, cast, narrow
from ..staging.types import Type
from . import emit, keys, reducers, sizes
from .arrays import ArrayRep
from .conversions import as_array
from .generators import Conflict, Fold, Generator, Scatter
from .keys import Along, Selected
from .lambdas import staged
from .sizes import Size
from .views import View

Value = Callable[[tuple[ScalarRep, ...]], Operand]


class Where(Protocol):
    """Which elements a key selects: their shape, and for each the view without axes."""

    @property
    def result_shape(self) -> tuple[Size, ...]: ...

    def at(self, indices: Sequence[ScalarRep]) -> View: ...


def scatter(x: object, indices: object, values: object, conflict: str = "last") -> ArrayRep:
    """A copy of x in which `x[indices]` are the values."""
    result = as_array(lift(x)).copy()
    write_at(result, indices, lift(values), conflict_of(conflict))
    return result


def write_at(x: ArrayRep, key: object, value: Rep, conflict: Conflict = Conflict.LAST) -> None:
    """`x[key] = value` for a key with arrays."""
    selected = keys.select(x, key)
    alone = selected.mask is not None or not selected.along
    found = positioned(selected)
    x.cell.write(scattered(x, found, value, Conflict.PROVEN if alone else conflict))


def conflict_of(word: str) -> Conflict:
    """The conflict of this name; StagingTypeError for another one."""
    known = {c.value: c for c in (Conflict.UNIQUE, Conflict.FIRST, Conflict.LAST)}
    if word not in known:
        raise StagingTypeError(f"conflict={word!r}", instead='"unique", "first" or "last"')
    return known[word]


def positioned(selected: Selected) -> Selected:
    """The key, a mask in it as the positions where it holds."""
    if selected.mask is None:
        return selected
    found = keys.nonzero(selected.mask)
    along = tuple(Along(selected.axis + k, positions) for k, positions in enumerate(found))
    return Selected(selected.view, along, found[0].sizes, selected.axis)


def scattered(x: ArrayRep, selected: Where, value: Rep, conflict: Conflict) -> Operand:
    """The array of x's cell with new elements where the key selects."""
    new = _values(x, selected, value)

    def make(values: Block, bounds: Bounds) -> Generator:
        return Scatter(None, values, x.cell.value, conflict, bounds)

    return _emit(x, selected, lambda i: new(i).operand, make)


def combined(x: ArrayRep, selected: Where, value: Rep, ufunc: np.ufunc) -> Operand:
    """The array of x's cell, each selected element combined with all values that belong to it."""
    new = _values(x, selected, value)

    def combine(a: object, b: object) -> Rep:
        found = apply_ufunc(ufunc, (a, b))
        assert isinstance(found, ScalarRep)
        return cast(found, x.scalar)

    def make(values: Block, bounds: Bounds) -> Generator:
        types: tuple[Type, ...] = (x.scalar,)
        reducer = reducers.proven(staged(combine, LEAF, types), ufunc.__name__)
        return Fold(None, values, reducer, x.cell.shape, bounds, x.cell.value)

    return _emit(x, selected, lambda i: new(i).operand, make)


def _emit(
    x: ArrayRep, selected: Where, value: Value, make: Callable[[Block, Bounds], Generator]
) -> Operand:
    x.cell.check_reachable()

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        view = selected.at(indices)
        bounds = Bounds.PROVEN if view.proven else Bounds.CHECKED
        return [make(Block((), (), (*view.locate(()), value(indices))), bounds)]

    return emit.loop(selected.result_shape, generate)[0]


def _values(
    x: ArrayRep, selected: Where, value: Rep
) -> Callable[[tuple[ScalarRep, ...]], ScalarRep]:
    """The new element at the indices of what is selected, in x's dtype."""
    if isinstance(value, ScalarRep):
        same = narrow(value, x.scalar)
        return lambda _: same
    array: Any = as_array(value)
    shape = selected.result_shape
    while array.ndim > len(shape) and sizes.is_one(array.sizes[0]):
        array = array[0]
    stretched = array.broadcast(shape, "the sizes of an assignment")
    return lambda i: cast(stretched.element(*i), x.scalar)


@dataclass(frozen=True, slots=True)
class AlongAxis:
    """Positions on one axis of a view, for each place on the other ones."""

    view: View
    positions: ArrayRep
    axis: int

    @property
    def result_shape(self) -> tuple[Size, ...]:
        """The shape of the positions."""
        return self.positions.sizes

    def at(self, indices: Sequence[ScalarRep]) -> View:
        """The view, without axes, of the element at indices of the positions."""
        view = self.view
        for axis, length in enumerate(map(trace().canonical, self.view.shape)):
            index = indices[axis]
            if axis == self.axis:
                index = ScalarRep(keys.position(self.positions.element(*indices), length))
            inside = sizes.in_range(index, length)
            view = view.fix(0, sizes.index_operand(index), inside)
        return view


@dataclass(frozen=True, slots=True)
class InOrder:
    """Positions in C order."""

    view: View
    positions: ArrayRep

    @property
    def result_shape(self) -> tuple[Size, ...]:
        """The shape of the positions."""
        return self.positions.sizes

    def at(self, indices: Sequence[ScalarRep]) -> View:
        """The view, without axes, of the element at the index of a position."""
        shape = tuple(map(trace().canonical, self.view.shape))
        flat = keys.position(self.positions.element(*indices), sizes.product(shape))
        view = self.view
        for index in sizes.unraveled(flat, shape):
            view = view.fix(0, index.operand, False)
        return view


def repeated(values: ArrayRep, size: Size) -> ArrayRep:
    """The values in C order, from the start again where there are too few."""
    flat = values.ravel()

    def element(i: ScalarRep) -> ScalarRep:
        place = sizes.arithmetic(p.REMAINDER, i.operand, flat.sizes[0])
        return flat.element(sizes.index(place, flat.sizes[0]))

    return as_array(emit.array((size,), element))
