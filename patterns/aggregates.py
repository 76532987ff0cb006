"""NumPy's reductions of arrays, with axis and keepdims.

`x.sum(axis=0)` of x : [n, d] is emitted as a Collect over d of a Reduce over n: one Reduce for each
element of the result. A callable in place of the axis is the pattern's selector (`x.min(f)`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.nodes import size_operand
from ..staging.reps import Rep
from ..staging.scalars import ScalarRep, cast, constant
from ..staging.types import I64, Scalar
from . import emit, reducers, sizes
from .conversions import (
    arg_reducer,
    as_float,
    binary,
    converted,
    flat_index,
    strong,
    widened,
)
from .emit import MakeReducer
from .reductions import Axis, Options, Value, axes_of, merged
from .semantics import EMPTY_POSITION
from .sizes import Size
from .vocabulary import Patterns


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

    def sum(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """The sum over the given axes, by default over all; `sum(f)` of f of each element."""
        if callable(axis) or callable(where):
            return Patterns.sum(self, axis, where=where)
        options = Options(out, keepdims, initial, where)
        return self.combined(p.ADD, "sum", axis, _wide(dtype), options)

    def prod(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """The product over the given axes, by default over all; `prod(f)` of f of each element."""
        if callable(axis) or callable(where):
            return Patterns.prod(self, axis, where=where)
        options = Options(out, keepdims, initial, where)
        return self.combined(p.MULTIPLY, "prod", axis, _wide(dtype), options)

    def min(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """The least element; `min(f)` the least f of one."""
        if callable(axis):
            return Patterns.min(self, axis)
        options = Options(out, keepdims, initial, where)
        return self.combined(p.MINIMUM, "min", axis, strong, options)

    def max(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """The greatest element; `max(f)` the greatest f of one."""
        if callable(axis):
            return Patterns.max(self, axis)
        options = Options(out, keepdims, initial, where)
        return self.combined(p.MAXIMUM, "max", axis, strong, options)

    def any(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
    ) -> Any:
        """Whether an element is true; `any(f)` whether f of one is."""
        if callable(axis):
            return Patterns.any(self, axis)
        options = Options(out, keepdims, None, where)
        return self.combined(p.LOGICAL_OR, "any", axis, _truth, options)

    def all(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = None
    ) -> Any:
        """Whether every element is true; `all(f)` whether f of every one is."""
        if callable(axis):
            return Patterns.all(self, axis)
        options = Options(out, keepdims, None, where)
        return self.combined(p.LOGICAL_AND, "all", axis, _truth, options)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Where the least element stands, in C order without an axis; `argmin(f)` where f of it is
        least.
        """
        if callable(axis):
            return Patterns.argmin(self, axis)
        found = self._position("argmin", reducers.argmin_block, axis, keepdims)
        return Options(out).stored(found, "argmin")

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Where the greatest element stands, in C order without an axis; `argmax(f)` where f of it
        is greatest.
        """
        if callable(axis):
            return Patterns.argmax(self, axis)
        found = self._position("argmax", reducers.argmax_block, axis, keepdims)
        return Options(out).stored(found, "argmax")

    def mean(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
    ) -> Any:
        """The mean over the given axes; `mean(f)` of f of each element; NaN when empty."""
        if callable(axis):
            return Patterns.mean(self, axis)
        options = Options(None, keepdims, None, where)
        total = self.combined(p.ADD, "sum", axis, _float(dtype), options)
        found = apply_ufunc(np.true_divide, (total, self._count(axis, options)))
        return Options(out).stored(converted(found, emit.element_type(total.type)), "mean")

    def var(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = None,
        correction: float | None = None,
    ) -> Any:
        """The variance over the given axes, the sum of squares divided by n - ddof."""
        center = Aggregates.mean(self, axis, dtype, where=where)
        axes = axes_of(axis, len(self.sizes))
        change, options = _float(dtype), Options(None, keepdims, None, where)

        def square(kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]) -> Rep:
            value = change(self.element(*merged(axes, kept, inner)))
            middle = center if isinstance(center, ScalarRep) else center.element(*kept)
            away = apply_ufunc(np.subtract, (value, middle))
            if emit.element_type(away.type).dtype.kind == "c":
                away = apply_ufunc(np.absolute, (away,))
            return apply_ufunc(np.multiply, (away, away))

        cond = options.condition(self.sizes, axes)
        total = over(self.sizes, axis, keepdims, square, binary(p.ADD, "sum"), cond)
        less = ddof if correction is None else correction
        free = apply_ufunc(
            np.maximum, (apply_ufunc(np.subtract, (self._count(axis, options), less)), 0)
        )
        found = apply_ufunc(np.true_divide, (total, free))
        return Options(out).stored(converted(found, emit.element_type(total.type)), "var")

    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = None,
        correction: float | None = None,
    ) -> Any:
        """The standard deviation over the given axes."""
        less = ddof if correction is None else correction
        found = self.var(axis, dtype, None, less, keepdims, where=where)
        return Options(out).stored(apply_ufunc(np.sqrt, (found,)), "std")

    def count_nonzero(self, axis: Any = None, *, keepdims: bool = False) -> Any:
        """The number of elements that are not 0."""
        axes = axes_of(axis, len(self.sizes))
        one = constant(np.int64(1))

        def counts(kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]) -> Rep:
            return self.element(*merged(axes, kept, inner))

        make = binary(p.ADD, "count")
        return over(self.sizes, axis, keepdims, lambda kept, inner: one, make, counts)

    # What they are made of.

    def combined(
        self,
        primitive: p.Primitive,
        name: str,
        axis: Axis,
        change: Callable[[ScalarRep], Rep],
        options: Options,
    ) -> Any:
        """The changed elements combined over the given axes by the primitive."""
        axes = axes_of(axis, len(self.sizes))
        cond = options.condition(self.sizes, axes)
        found = over(
            self.sizes,
            axis,
            options.keepdims,
            lambda kept, inner: change(self.element(*merged(axes, kept, inner))),
            options.reducer(primitive, name),
            cond,
        )
        return options.stored(options.started(primitive, found), name)

    def _position(self, name: str, block: Any, axis: Any, keep: bool) -> Any:
        axes = axes_of(axis, len(self.sizes))
        extents = [self.sizes[a] for a in axes]
        if len(axes) < len(self.sizes):  # NumPy refuses an empty axis, also where nothing is left
            for extent in extents:
                sizes.check_not_empty(extent, EMPTY_POSITION.format(name=name))

        def components(
            kept: tuple[ScalarRep, ...], inner: tuple[ScalarRep, ...]
        ) -> tuple[Rep, Rep]:
            value = strong(self.element(*merged(axes, kept, inner)))
            return value, cast(ScalarRep(flat_index(extents, inner)), I64)

        return over(self.sizes, axis, keep, components, arg_reducer(block, name), take=1)

    def _count(self, axis: Axis, options: Options) -> Any:
        """How many elements meet in each result."""
        axes = axes_of(axis, len(self.sizes))
        cond = options.condition(self.sizes, axes)
        if cond is None:
            return sizes.dim(sizes.product([self.sizes[a] for a in axes]))
        one = constant(np.int64(1))
        make = binary(p.ADD, "count")
        return over(self.sizes, axis, options.keepdims, lambda kept, inner: one, make, cond)


def _wide(dtype: Any) -> Callable[[Any], Any]:
    return widened if dtype is None else _to(dtype)


def _float(dtype: Any) -> Callable[[Any], Any]:
    return as_float if dtype is None else _to(dtype)


def _to(dtype: Any) -> Callable[[Any], Any]:
    to = Scalar(np.dtype(dtype))
    return lambda value: converted(value, to)


def _truth(element: ScalarRep) -> Rep:
    return ScalarRep(emit.condition(element))


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
    axes = axes_of(axis, len(shape))
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
