"""np.linspace, np.meshgrid, np.tri and the other functions that make arrays of positions."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.control import if_then_else
from ...staging.errors import ShapeError, StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep
from ...staging.scalars import ScalarRep
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import apply, as_array, converted, lifted, with_axes
from .axes import moveaxis
from .creation import element_type
from .joining import broadcast_arrays


def _positions(n: object) -> ArrayRep:
    return as_array(emit.array((sizes.extent(n),), lambda i: i.astype(np.int64)))


def _static(value: Any, what: str) -> int:
    if isinstance(value, Rep) or not hasattr(value, "__index__"):
        raise StagingTypeError(f"{what} must be a Python integer")
    return int(value.__index__())


@define_function(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
) -> Any:
    """`num` numbers from start to stop, evenly spaced."""
    low, high = (_float(v, "a bound of np.linspace") for v in (start, stop))
    given = np.result_type(low.dtype, high.dtype, np.float64)
    count = lifted(num)
    div: Any = apply(np.subtract, count, 1) if endpoint else count
    delta: Any = apply(np.subtract, high, low)
    step: Any = apply(np.true_divide, delta, div)
    several: Any = apply(np.greater, div, 0)

    def element(i: ScalarRep) -> Any:
        place: Any = i.astype(given)
        exact = np.where(apply(np.not_equal, step, 0), place * step, place / div * delta)
        value = np.where(several, exact, place * delta) + low
        if not endpoint:
            return value
        last = np.logical_and(apply(np.equal, i, div), apply(np.greater, count, 1))
        return np.where(last, high, value)

    found: Any = emit.array((sizes.extent(num),), element)
    if dtype is not None:
        to = np.dtype(dtype)
        found = (np.floor(found) if to.kind in "iu" else found).astype(to)
    if not retstep:
        return found
    return found, np.where(several, step, np.nan)


def _float(value: object, what: str) -> Any:
    number = sizes.scalar_of(value, what)
    kind = number.dtype if number.dtype.kind in "fc" and not number.scalar.weak else np.dtype(float)
    return number.astype(np.result_type(kind, np.float64))


@define_function(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None
) -> Any:
    """`base` to the power of evenly spaced exponents."""
    found = apply(np.power, base, linspace(start, stop, num, endpoint))
    return found if dtype is None else as_array(found).astype(dtype)


@define_function(np.geomspace)
def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None
) -> Any:
    """`num` numbers from start to stop, each the same multiple of the one before."""
    low, high = (_float(v, "a bound of np.geomspace") for v in (start, stop))
    sign: Any = np.sign(low)
    ends = (np.log10(apply(np.divide, v, sign)) for v in (low, high))
    powers: Any = logspace(next(ends), next(ends), num, endpoint)
    count = lifted(num)
    last = apply(np.subtract, count, 1)

    def element(i: ScalarRep) -> Any:
        value: Any = powers.element(i) * sign
        if endpoint:
            many = apply(np.greater, count, 1)
            value = np.where(np.logical_and(apply(np.equal, i, last), many), high, value)
        return np.where(apply(np.equal, i, 0), low, value)

    found: Any = emit.array(powers.sizes, element)
    return found if dtype is None else found.astype(dtype)


@define_function(np.tri)
def tri(N: object, M: object = None, k: object = 0, dtype: Any = float) -> ArrayRep:
    """Ones at and below the k-th diagonal of [N, M], zeros above."""
    shape = sizes.shape_of((N, N if M is None else M))
    below = emit.array(shape, lambda i, j: apply(np.less_equal, j, apply(np.add, i, k)))
    return as_array(converted(below, element_type(dtype)))


@define_function(np.tril)
def tril(m: object, k: object = 0) -> Any:
    """The lower triangles of matrices: zeros above the k-th diagonal."""
    return _triangle(m, k, np.less_equal)


@define_function(np.triu)
def triu(m: object, k: object = 0) -> Any:
    """The upper triangles of matrices: zeros below the k-th diagonal."""
    return _triangle(m, k, np.greater_equal)


def _triangle(m: object, k: object, keeps: np.ufunc) -> Any:
    x = as_array(lifted(m))
    if x.ndim == 1:
        x = x.broadcast((x.sizes[0], *x.sizes))
    rows, columns = x.sizes[-2:]
    offset = emit.array((rows, columns), lambda i, j: apply(keeps, j, apply(np.add, i, k)))
    return np.where(offset, x, x.dtype.type(0))  # type: ignore[call-overload]


@define_function(np.vander)
def vander(x: object, N: Any = None, increasing: bool = False) -> Any:
    """Powers of a vector's elements, [n, N]; the last column is ones, or the first."""
    v = as_array(lifted(x))
    if v.ndim != 1:
        raise ShapeError("np.vander takes a vector")
    count = _static(v.shape[0] if N is None else N, "the number of columns of np.vander")
    wide: Any = v.astype(np.result_type(v.dtype, np.int64))
    columns: list[Any] = [np.ones_like(wide)]
    while len(columns) < count:
        columns.append(columns[-1] * wide)
    columns = columns[:count]
    if not columns:
        return np.zeros_like(wide[:, None][:, :0])
    return np.stack(columns if increasing else columns[::-1], axis=1)


@define_function(np.meshgrid)
def meshgrid(*xi: object, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid's points, one array a vector."""
    vectors = [with_axes(x).ravel() for x in xi]
    rank = len(vectors)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    elif indexing not in ("xy", "ij"):
        raise StagingTypeError("np.meshgrid takes indexing='xy' or 'ij'")
    shaped = [
        v[tuple(slice(None) if axis == place else None for axis in range(rank))]
        for v, place in zip(vectors, order, strict=True)
    ]
    grids = tuple(shaped) if sparse or rank == 0 else broadcast_arrays(*shaped)
    return tuple(g.copy() for g in grids) if copy else grids


@define_function(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The indices of a grid, [rank, *dimensions]."""
    axes: list[Any] = [_positions(n).astype(dtype) for n in dimensions]
    grids = meshgrid(*axes, copy=False, sparse=sparse, indexing="ij")
    return grids if sparse else np.stack(grids)


@define_function(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **options: Any) -> Any:
    """`function` of the arrays of indices."""
    from ...staging.calls import staged_callable

    return staged_callable(function)(*indices(shape, dtype), **options)


@define_function(np.diag)
def diag(v: object, k: object = 0) -> Any:
    """A vector as the k-th diagonal of a matrix, or a matrix's k-th diagonal as a vector."""
    x = as_array(lifted(v))
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ShapeError("np.diag takes a vector or a matrix")
    offset = _static(k, "the diagonal of np.diag")
    size = sizes.add(x.sizes[0], abs(offset))

    def element(i: ScalarRep, j: ScalarRep) -> Any:
        on = apply(np.equal, apply(np.add, i, offset), j)
        place = i if offset >= 0 else j
        return if_then_else(on, lambda: x.element(place), lambda: x.dtype.type(0))

    return emit.array((size, size), element)


@define_function(np.diagflat)
def diagflat(v: object, k: object = 0) -> Any:
    """The elements, in C order, as the k-th diagonal of a matrix."""
    return diag(with_axes(v).ravel(), k)


@define_function(np.diagonal)
def diagonal(a: object, offset: object = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of matrices, along a new last axis."""
    x = moveaxis(a, (axis1, axis2), (-2, -1))
    k = _static(offset, "the offset of np.diagonal")
    rows, columns = x.sizes[-2:]
    down, right = max(-k, 0), max(k, 0)
    length = sizes.least(sizes.subtract(rows, down), sizes.subtract(columns, right))
    shape = (*x.sizes[:-2], sizes.greatest(length, 0) if k else length)

    def element(*i: ScalarRep) -> Any:
        row, column = (ScalarRep(sizes.add(i[-1].operand, d)) for d in (down, right))
        return x.element(*i[:-1], row, column)

    return emit.array(shape, element)


@define_function(np.trace)
def trace_of(
    a: object,
    offset: object = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Any:
    """The sums of the diagonals of matrices."""
    return diagonal(a, offset, axis1, axis2).sum(axis=-1, dtype=dtype, out=out)
