"""np.sort and its kin, order statistics, and np.searchsorted."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.control import while_loop
from ...staging.errors import Limitation, StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import as_array, strong
from ..elementwise import elementwise
from ..library_calls import as_number, call_one
from ..reductions import axis_number
from ..routines.sorting import Argsort, Lexsort, Median, Percentile, Quantile, Sort
from .joining import parts_of
from .shaping import where

KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def _along(a: object, axis: int | None) -> tuple[ArrayRep, int]:
    """The array and the axis; without one, the flattened array."""
    x = as_array(lift(a))
    return (x.ravel(), 0) if axis is None else (x, axis_number(axis, x.ndim))


def _check_kind(kind: object) -> None:
    if kind not in KINDS:
        raise StagingTypeError(f"sort kind {kind!r}", instead="'stable', which all sorts are here")


@define_function(np.sort)
def sort(a: object, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """A sorted copy; NaN comes last. Every kind is stable."""
    _check_kind(kind)
    x, along = _along(a, axis)
    return call_one(Sort(along), x)


@define_function(np.argsort)
def argsort(a: object, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Any:
    """The positions that sort; equal elements keep their order, whatever the kind."""
    _check_kind(kind)
    x, along = _along(a, axis)
    return call_one(Argsort(along), x)


@define_function(np.partition)
def partition(a: object, kth: object, axis: int | None = -1, kind: str = "introselect") -> Any:
    """A sorted copy, which is partitioned at every place."""
    return sort(a, axis)


@define_function(np.argpartition)
def argpartition(a: object, kth: object, axis: int | None = -1, kind: str = "introselect") -> Any:
    """The positions that sort, which partition at every place."""
    return argsort(a, axis)


@define_function(np.lexsort)
def lexsort(keys: object, axis: int = -1) -> Any:
    """The positions that sort by the last key, among equals by the one before, and so on."""
    members = [as_array(part) for part in parts_of(keys)]
    for other in members[1:]:
        sizes.unify_shapes(members[0].sizes, other.sizes, "the keys of np.lexsort")
    return call_one(Lexsort(axis_number(axis, members[0].ndim)), *members)


@define_function(np.sort_complex)
def sort_complex(a: object) -> Any:
    """Sorted along the last axis, as complex numbers."""
    return sort(as_array(lift(a)).astype(np.complex128))


@define_function(np.median)
def median(a: object, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """The middle element, or the mean of the two in the middle; NaN if there is one."""
    x, along = _along(a, axis)
    return _kept(a, call_one(Median(along), x), axis, keepdims, 0)


@define_function(np.quantile)
def quantile(
    a: object,
    q: object,
    axis: int | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """The values below which the fractions q of the elements lie, by one of NumPy's methods."""
    x, along = _along(a, axis)
    fractions = _fractions(q, x)
    found = call_one(Quantile(along, method), x, fractions)
    return _kept(a, found, axis, keepdims, _rank(fractions))


@define_function(np.percentile)
def percentile(
    a: object,
    q: object,
    axis: int | None = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
) -> Any:
    """`np.quantile` of q / 100."""
    x, along = _along(a, axis)
    fractions = _fractions(q, x)
    found = call_one(Percentile(along, method), x, fractions)
    return _kept(a, found, axis, keepdims, _rank(fractions))


def _fractions(q: object, x: ArrayRep) -> Rep:
    """As float64, a Python number in the array's dtype if that is one of floats."""
    rep = lift(q)
    if isinstance(rep, ScalarRep):
        yields = rep.scalar.weak and x.dtype.kind == "f"
        return as_number(rep, x.dtype if yields else np.float64)
    x = as_array(rep)
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _rank(value: Rep) -> int:
    return 0 if isinstance(value, ScalarRep) else as_array(value).ndim


def _kept(a: object, found: Any, axis: int | None, keepdims: bool, front: int) -> Any:
    """The result with the reduced axes as axes of size 1, behind the `front` ones."""
    if not keepdims:
        return found
    rank = as_array(lift(a)).ndim
    if axis is not None and rank > 1:
        return found[(*(slice(None),) * (front + axis_number(axis, rank)), None)]
    if isinstance(found, ScalarRep):
        return emit.array((sizes.as_operand(1),) * rank, lambda *_: found)
    return found[(*(slice(None),) * front, *(None,) * rank)]


@define_function(np.searchsorted)
def searchsorted(a: object, v: object, side: str = "left", sorter: object = None) -> Any:
    """Where the values v belong in the sorted vector a: before its equals, or behind them.

    A binary search for each value, which stands inside of loops as well.
    """
    x: Any = as_array(lift(a))
    if x.ndim != 1:
        raise StagingTypeError("np.searchsorted takes a vector")
    if side not in ("left", "right"):
        raise StagingTypeError(f"the side {side!r}", instead="'left' or 'right'")
    if x.dtype.kind == "c":
        raise Limitation("np.searchsorted of complex numbers")
    order: Any = None if sorter is None else as_array(lift(sorter))

    def search(value: ScalarRep) -> ScalarRep:
        def before(element: Any) -> Any:
            """Whether the place is behind this element; NaN is greater than all numbers."""
            if side == "left":
                return _less(element, value)
            return apply_ufunc(np.logical_not, (_less(value, element),))

        def step(low: Any, high: Any) -> tuple[Any, Any]:
            middle = (low + high) // 2
            behind = before(x[middle if order is None else order[middle]])
            return where(behind, middle + 1, low), where(behind, high, middle)

        start: tuple[Any, Any] = (lift(np.int64(0)), strong(lift(x.shape[0])))
        low, _ = while_loop(lambda state: state[0] < state[1], lambda state: step(*state), start)
        return sizes.scalar_of(low, "a position")

    values = lift(v)
    if isinstance(values, ScalarRep):
        return search(values)
    return elementwise(search, (values,), "np.searchsorted")


def _less(a: Any, b: Any) -> Any:
    """NumPy's order: numbers, then NaN."""
    less = apply_ufunc(np.less, (a, b))
    if not {_kind(a), _kind(b)} & {"f"}:
        return less
    number = apply_ufunc(np.equal, (a, a))
    other = apply_ufunc(np.not_equal, (b, b))
    return apply_ufunc(np.logical_or, (less, apply_ufunc(np.logical_and, (number, other))))


def _kind(value: object) -> str:
    return emit.element_type(lift(value).type).dtype.kind


def sort_in_place(x: ArrayRep, axis: int = -1, kind: Any = None) -> None:
    """`x.sort()`: the array's memory holds the sorted elements."""
    x[...] = sort(x, axis, kind)


setattr(ArrayRep, "sort", sort_in_place)  # noqa: B010
