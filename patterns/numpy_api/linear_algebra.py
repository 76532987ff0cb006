"""np.linalg: decompositions and solvers by LAPACK, norms as patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging import primitives as p
from ...staging.arithmetic import apply_ufunc
from ...staging.context import trace
from ...staging.errors import Limitation, ShapeError, StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep
from .. import sizes
from ..arrays import ArrayRep
from ..conversions import as_array, with_axes
from ..library_calls import as_floats, as_number, call, call_one
from ..reductions import axes_of, axis_number
from ..routines import linear_algebra as lapack


def matrix(a: object, name: str, square: bool = False) -> ArrayRep:
    """A stack of matrices of floats; square ones where the function needs it."""
    x = as_floats(a)
    if x.ndim < 2:
        raise ShapeError(
            f"np.linalg.{name} of {x.type}", why="a matrix has two axes", instead="x[:, None]"
        )
    if square:
        trace().unify(x.sizes[-2], x.sizes[-1], f"the sizes of a square matrix in {name}")
    return x


def _together(a: ArrayRep, b: ArrayRep) -> tuple[ArrayRep, ArrayRep]:
    """Both in their common dtype."""
    to = np.result_type(a.dtype, b.dtype)
    return a.astype(to) if a.dtype != to else a, b.astype(to) if b.dtype != to else b


def _stretched(a: ArrayRep, b: ArrayRep, axes: int) -> tuple[ArrayRep, ArrayRep]:
    """Both with their stacks, what stands before the last two and `axes` axes, of one shape."""
    from ..elementwise import broadcast_shapes

    what = "the stacks of matrices"
    stack = broadcast_shapes([a.sizes[:-2], b.sizes[:-axes]], what)
    return (
        a.broadcast((*stack, *a.sizes[-2:]), what),
        b.broadcast((*stack, *b.sizes[-axes:]), what),
    )


@define_function(np.linalg.solve)
def solve(a: object, b: object) -> Any:
    """x with `a @ x = b`, of a vector b : [n] or of matrices b : [..., n, k].

    Raises LinAlgError where a is singular.
    """
    left, right = _together(matrix(a, "solve", True), as_floats(b))
    axes = min(right.ndim, 2)
    trace().unify(left.sizes[-1], right.sizes[-axes], "the sizes in np.linalg.solve")
    if axes == 2:
        left, right = _stretched(left, right, 2)
    elif left.ndim > 2:
        right = right.broadcast((*left.sizes[:-2], *right.sizes), "the right sides")
        return call_one(lapack.Solve(), left, as_array(right[..., None]))[..., 0]
    return call_one(lapack.Solve(), left, right)


@define_function(np.linalg.inv)
def inv(a: object) -> Any:
    """The inverse; LinAlgError where a is singular."""
    return call_one(lapack.Inverse(), matrix(a, "inv", True))


@define_function(np.linalg.cholesky)
def cholesky(a: object, /, *, upper: bool = False) -> Any:
    """The factor l with `l @ l.T = a`; LinAlgError where a is not positive definite."""
    return call_one(lapack.Cholesky(upper), matrix(a, "cholesky", True))


@define_function(np.linalg.det)
def det(a: object) -> Any:
    """The determinant."""
    return call_one(lapack.Determinant(), matrix(a, "det", True))


@define_function(np.linalg.slogdet)
def slogdet(a: object) -> Any:
    """The determinant's sign, and the logarithm of its absolute value."""
    return call(lapack.SignedLogDeterminant(), matrix(a, "slogdet", True))


@define_function(np.linalg.eigh)
def eigh(a: object, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors, the columns, of a symmetric or Hermitian matrix."""
    return call(lapack.SymmetricEigen(UPLO.upper() == "U", True), matrix(a, "eigh", True))


@define_function(np.linalg.eigvalsh)
def eigvalsh(a: object, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, of a symmetric or Hermitian matrix."""
    return call_one(lapack.SymmetricEigen(UPLO.upper() == "U", False), matrix(a, "eigvalsh", True))


def _least_size(x: ArrayRep) -> sizes.Size:
    return sizes.arithmetic(p.MINIMUM, x.sizes[-2], x.sizes[-1])


@define_function(np.linalg.svd)
def svd(a: object, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """u, s and vh with `u * s @ vh = a`, or s alone."""
    x = matrix(a, "svd")
    found = call(lapack.SingularValues(full_matrices, compute_uv), x, _least_size(x))
    return found if compute_uv else found[0]


@define_function(np.linalg.svdvals)
def svdvals(x: object, /) -> Any:
    """The singular values, descending."""
    return svd(x, compute_uv=False)


@define_function(np.linalg.qr)
def qr(a: object, mode: str = "reduced") -> Any:
    """q with orthonormal columns and an upper triangle r, with `q @ r = a`."""
    if mode not in ("reduced", "complete", "r"):
        raise Limitation(f"np.linalg.qr in the mode {mode!r}", instead="'reduced', 'complete', 'r'")
    x = matrix(a, "qr")
    found = call(lapack.Qr(mode), x, _least_size(x))
    return found[0] if mode == "r" else found


@define_function(np.linalg.lstsq)
def lstsq(a: object, b: object, rcond: object = None) -> Any:
    """x, the residuals, the rank and the singular values, for b : [n] or [n, k]."""
    left, right = _together(matrix(a, "lstsq"), as_floats(b))
    if left.ndim > 2 or right.ndim > 2:
        raise ShapeError("np.linalg.lstsq takes one matrix", instead="np.linalg.pinv(a) @ b")
    trace().unify(left.sizes[0], right.sizes[0], "the sizes in np.linalg.lstsq")
    limit = () if rcond is None else (as_number(rcond, np.float64),)
    return call(lapack.LeastSquares(), left, right, _least_size(left), *limit)


@define_function(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """The n-th power; a negative one is that of the inverse. Of integers as well."""
    if isinstance(n, Rep):
        raise StagingTypeError("np.linalg.matrix_power with a staged power", instead="an integer")
    x = as_array(lift(a))
    if n < 0 or x.ndim < 2:
        x = matrix(a, "matrix_power", True)
    trace().unify(x.sizes[-2], x.sizes[-1], "the sizes of a square matrix in matrix_power")
    return call_one(lapack.MatrixPower(n), x)


@define_function(np.linalg.matrix_rank)
def matrix_rank(A: object, tol: object = None) -> Any:
    """The number of singular values above the tolerance."""
    tolerance = () if tol is None else (as_number(tol, np.float64),)
    return call_one(lapack.MatrixRank(), matrix(A, "matrix_rank"), *tolerance)


@define_function(np.linalg.pinv)
def pinv(a: object, rcond: object = None, hermitian: bool = False) -> Any:
    """The Moore-Penrose inverse; singular values below rcond times the greatest count as 0."""
    limit = () if rcond is None else (as_number(rcond, np.float64),)
    return call_one(lapack.PseudoInverse(hermitian), matrix(a, "pinv"), *limit)


@define_function(np.linalg.norm)
def norm(x: object, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of vectors along an axis, of matrices along two, or of all elements."""
    values: Any = with_axes(x)
    values = values.astype(np.float64) if values.dtype.kind in "biu" else values
    if axis is None and ord is not None and values.ndim > 2:
        raise ShapeError("np.linalg.norm with ord of more than two axes", instead="axis=")
    axes = axes_of(axis, values.ndim)
    if ord is None:
        return apply_ufunc(np.sqrt, (_squares(values).sum(axis=axes, keepdims=keepdims),))
    if len(axes) == 1:
        return _vector_norm(values, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(values, ord, axes, keepdims)
    raise ShapeError("np.linalg.norm along more than two axes")


def _squares(x: Any) -> Any:
    magnitude = apply_ufunc(np.absolute, (x,)) if x.dtype.kind == "c" else x
    return apply_ufunc(np.multiply, (magnitude, magnitude))


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    magnitude: Any = apply_ufunc(np.absolute, (x,))
    over: dict[str, Any] = {"axis": axes, "keepdims": keepdims}
    if ord == np.inf:
        return magnitude.max(**over)
    if ord == -np.inf:
        return magnitude.min(**over)
    if ord == 0:
        nonzero: Any = apply_ufunc(np.not_equal, (x, 0))
        return nonzero.astype(magnitude.dtype).sum(**over)
    if ord == 1:
        return magnitude.sum(**over)
    if ord == 2:
        return apply_ufunc(np.sqrt, (_squares(x).sum(**over),))
    if isinstance(ord, str):
        raise StagingTypeError(f"the norm {ord!r} of vectors")
    powers: Any = apply_ufunc(np.power, (magnitude, ord))
    return apply_ufunc(np.power, (powers.sum(**over), 1 / ord))


def _matrix_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    row, column = axes
    if ord in ("fro", "f"):
        return apply_ufunc(np.sqrt, (_squares(x).sum(axis=axes, keepdims=keepdims),))
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = (row, column) if abs(ord) == 1 else (column, row)
        sums: Any = apply_ufunc(np.absolute, (x,))
        sums = sums.sum(axis=summed, keepdims=True)
        found = (sums.max if ord > 0 else sums.min)(axis=other, keepdims=True)
    elif ord in (2, -2, "nuc"):
        rest = [k for k in range(x.ndim) if k not in axes]
        values: Any = svdvals(x.transpose((*rest, row, column)))
        found = values.sum(axis=-1) if ord == "nuc" else values[..., 0 if ord == 2 else -1]
        if not keepdims or isinstance(found, ScalarRep):
            return found if not keepdims else with_axes(found)[:, None]
        for axis in sorted(axes):
            found = found[(*(slice(None),) * axis, None)]
        return found
    else:
        raise StagingTypeError(f"the norm {ord!r} of matrices")
    if keepdims:
        return found
    return found[tuple(0 if k in axes else slice(None) for k in range(x.ndim))]


@define_function(np.linalg.trace)
def trace_of(a: object, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal of the matrices along two axes."""
    x = as_array(lift(a))
    first, second = axis_number(axis1, x.ndim), axis_number(axis2, x.ndim)
    rest = [k for k in range(x.ndim) if k not in (first, second)]
    y: Any = x.transpose((first, second, *rest))
    y = y[:, offset:] if offset >= 0 else y[-offset:]
    length = sizes.arithmetic(p.MINIMUM, *y.sizes[:2])

    def entry(i: ScalarRep, *others: ScalarRep) -> Any:
        return y.element(i, i, *others)

    from .. import emit

    diagonal: Any = emit.collect((length, *y.sizes[2:]), entry)
    return diagonal.sum(axis=0)
