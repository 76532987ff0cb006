"""NumPy's reductions of arrays, with axis and keepdims.

`x.sum(axis=0)` of x : [n, d] is emitted as a Collect over d of a Reduce over n: one Reduce for each
element of the result. A callable in place of the axis is the pattern's selector (`x.min(f)`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..staging import primitives as p
from ..staging import scalars
from ..staging.arithmetic import apply_ufunc
from ..staging.errors import Limitation, ShapeError, StagingTypeError
from ..staging.nodes import size_operand
from ..staging.reps import Rep
from ..staging.scalars import ScalarRep, constant
from ..staging.types import I64, Scalar
from . import emit, reducers, sizes
from .conversions import arg_reducer, as_float, binary, flat_index, strong, widened
from .emit import MakeReducer
from .semantics import EMPTY_POSITION
from .sizes import Size
from .vocabulary import Patterns

Axis = int | Sequence[int] | None
Value = Callable[[tuple[ScalarRep, ...], tuple[ScalarRep, ...]], Any]


class Aggregates(Patterns):
    """The reductions of an array class that has `sizes` and `element`."""

    __slots__ = ()

    @property
    @abstractmethod
    def sizes(self) -> tuple[Size, ...]:
        """The shape as operands."""

    @abstractmethod
    def element(self, *indices: ScalarRep) -> ScalarRep:
        """One element."""

    def sum(
        self, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
    ) -> Any:
        """The sum over the given axes, by default over all; `sum(f)` of f of each element."""
        if callable(axis) or where is not None:
            return Patterns.sum(self, _selector(axis), where=where)
        return self._total(p.ADD, "sum", axis, dtype, keepdims)

    def prod(
        self, axis: Any = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
    ) -> Any:
        """The product over the given axes, by default over all; `prod(f)` of f of each element."""
        if callable(axis) or where is not None:
            return Patterns.prod(self, _selector(axis), where=where)
        return self._total(p.MULTIPLY, "prod", axis, dtype, keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The least element; `min(f)` the least f of one."""
        if callable(axis):
            return Patterns.min(self, axis)
        return self._over(axis, keepdims, self._strong, binary(p.MINIMUM, "min"))

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The greatest element; `max(f)` the greatest f of one."""
        if callable(axis):
            return Patterns.max(self, axis)
        return self._over(axis, keepdims, self._strong, binary(p.MAXIMUM, "max"))

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Whether an element is true; `any(f)` whether f of one is."""
        if callable(axis):
            return Patterns.any(self, axis)
        return self._over(axis, keepdims, self._truthful, binary(p.LOGICAL_OR, "any"))

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Whether every element is true; `all(f)` whether f of every one is."""
        if callable(axis):
            return Patterns.all(self, axis)
        return self._over(axis, keepdims, self._truthful, binary(p.LOGICAL_AND, "all"))

    def argmin(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Where the least element stands, in C order without an axis; `argmin(f)` where f of it is
        least.
        """
        if callable(axis):
            return Patterns.argmin(self, axis)
        return self._position("argmin", reducers.argmin_block, axis, keepdims)

    def argmax(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """Where the greatest element stands, in C order without an axis; `argmax(f)` where f of it
        is greatest.
        """
        if callable(axis):
            return Patterns.argmax(self, axis)
        return self._position("argmax", reducers.argmax_block, axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        """The mean over the given axes; `mean(f)` of f of each element; NaN when empty."""
        if callable(axis):
            return Patterns.mean(self, axis)
        to = None if dtype is None else Scalar(np.dtype(dtype))
        total = self._over(
            axis,
            keepdims,
            lambda element: as_float(element) if to is None else scalars.cast(element, to),
            binary(p.ADD, "sum"),
        )
        return apply_ufunc(np.true_divide, (total, self._length(axis)))

    def var(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
        """The variance over the given axes, the sum of squares divided by n - ddof."""
        center = Aggregates.mean(self, axis)
        axes = _axes(axis, len(self.sizes))

        def square(kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]) -> Rep:
            value = as_float(self.element(*_merge(axes, kept, inner)))
            middle = center if isinstance(center, ScalarRep) else center.element(*kept)
            away = apply_ufunc(np.subtract, (value, middle))
            if emit.element_type(away.type).dtype.kind == "c":
                away = apply_ufunc(np.absolute, (away,))
            return apply_ufunc(np.multiply, (away, away))

        total = over(self.sizes, axis, keepdims, square, binary(p.ADD, "sum"))
        free = apply_ufunc(np.maximum, (apply_ufunc(np.subtract, (self._length(axis), ddof)), 0))
        return apply_ufunc(np.true_divide, (total, free))

    def std(self, axis: Any = None, *, ddof: int = 0, keepdims: bool = False) -> Any:
        """The standard deviation over the given axes."""
        return apply_ufunc(np.sqrt, (self.var(axis, ddof=ddof, keepdims=keepdims),))

    def count_nonzero(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The number of elements that are not 0."""
        axes = _axes(axis, len(self.sizes))
        one = constant(np.int64(1))

        def counts(kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]) -> Rep:
            return self.element(*_merge(axes, kept, inner))

        make = binary(p.ADD, "count")
        return over(self.sizes, axis, keepdims, lambda kept, inner: one, make, counts)

    # What they are made of.

    def _total(self, primitive: p.Primitive, name: str, axis: Any, dtype: Any, keep: bool) -> Any:
        to = None if dtype is None else Scalar(np.dtype(dtype))

        def value(element: ScalarRep) -> Rep:
            return widened(element) if to is None else scalars.cast(element, to)

        return self._over(axis, keep, value, binary(primitive, name))

    def _over(
        self, axis: Any, keep: bool, change: Callable[[ScalarRep], Any], make: MakeReducer
    ) -> Any:
        axes = _axes(axis, len(self.sizes))
        return over(
            self.sizes,
            axis,
            keep,
            lambda kept, inner: change(self.element(*_merge(axes, kept, inner))),
            make,
        )

    def _position(self, name: str, block: Any, axis: Any, keep: bool) -> Any:
        axes = _axes(axis, len(self.sizes))
        extents = [self.sizes[a] for a in axes]
        if len(axes) < len(self.sizes):  # NumPy refuses an empty axis, also where nothing is left
            for extent in extents:
                sizes.check_not_empty(extent, EMPTY_POSITION.format(name=name))

        def components(
            kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]
        ) -> tuple[Rep, Rep]:
            value = strong(self.element(*_merge(axes, kept, inner)))
            return value, scalars.cast(ScalarRep(flat_index(extents, inner)), I64)

        return over(self.sizes, axis, keep, components, arg_reducer(block, name), take=1)

    def _strong(self, element: ScalarRep) -> Rep:
        return strong(element)

    def _truthful(self, element: ScalarRep) -> Rep:
        return ScalarRep(emit.condition(element))

    def _length(self, axis: Axis) -> object:
        axes = _axes(axis, len(self.sizes))
        return sizes.dim(sizes.product([self.sizes[a] for a in axes]))


def over(
    shape: Sequence[Size],
    axis: Axis,
    keepdims: bool,
    value: Value,
    make: MakeReducer,
    cond: Value | None = None,
    take: int = 0,
) -> Any:
    """The reduction of `value(kept indices, reduced indices)` over the given axes of `shape`,
    component `take`.
    """
    axes = _axes(axis, len(shape))
    kept_axes = [a for a in range(len(shape)) if a not in axes]
    extents = [shape[a] for a in axes]

    def reduced(kept: tuple[ScalarRep, ...]) -> Rep:
        def test(*inner: ScalarRep) -> object:
            return True if cond is None else cond(kept, inner)

        return emit.reduce(extents, lambda *inner: value(kept, inner), make, test)[take]

    if not keepdims:
        if not kept_axes:
            return reduced(())
        return emit.collect([shape[a] for a in kept_axes], lambda *kept: reduced(kept))
    outer = [size_operand(1) if a in axes else shape[a] for a in range(len(shape))]
    return emit.collect(outer, lambda *i: reduced(tuple(i[a] for a in kept_axes)))


def _selector(axis: Any) -> Any:
    if axis is None or callable(axis):
        return axis
    raise Limitation(
        "a reduction with both axis= and where=", instead="np.where(mask, x, 0).sum(axis=...)"
    )


def _axes(axis: Axis, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    given = (axis,) if not isinstance(axis, tuple | list) else tuple(cast(Sequence[int], axis))
    found = tuple(axis_number(a, rank) for a in given)
    if len(set(found)) < len(found):
        raise StagingTypeError("duplicate value in 'axis'")
    return found


def axis_number(axis: object, rank: int) -> int:
    """An axis, counted from the end when negative, as a number from 0."""
    if isinstance(axis, Rep) or not hasattr(axis, "__index__"):
        raise StagingTypeError(
            "an axis must be a Python integer",
            why="which axis is meant decides the program's types",
        )
    number = int(cast(int, axis))
    if not -rank <= number < rank:
        raise ShapeError(f"axis {number} is out of bounds for an array with {rank} axes")
    return number % rank


def _merge(
    axes: Sequence[int], kept: Sequence[ScalarRep], inner: Sequence[ScalarRep]
) -> tuple[ScalarRep, ...]:
    """The indices in the order of the array's axes."""
    outer, reduced = iter(kept), dict(zip(axes, inner, strict=True))
    rank = len(kept) + len(inner)
    return tuple(reduced[a] if a in reduced else next(outer) for a in range(rank))
