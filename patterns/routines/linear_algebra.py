"""Linear algebra, by NumPy (LAPACK): a matrix is the last two axes, those before are a stack."""

from __future__ import annotations

from typing import Any

import numpy

from ...staging.dataclass import dataclass
from ...staging.nodes import Operand
from ...staging.records import record
from ...staging.types import Exists
from ..library import Routine, Shape, shape_of, size_of

np: Any = numpy  # its stubs do not fit arguments of which little is known

_STACKED = "np.linalg.{0} of the whole stack of matrices, outside of the function"


@record
@dataclass(frozen=True, slots=True)
class Solve(Routine):
    """x of `a @ x = b`; `vector` where b : [n] is a single right side."""

    may_fail = True
    instead = _STACKED.format("solve")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[1]),)

    def run(self, *args: Any) -> Any:
        return np.linalg.solve(*args)


@record
@dataclass(frozen=True, slots=True)
class Inverse(Routine):
    """The inverse matrix."""

    may_fail = True
    instead = _STACKED.format("inv")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.linalg.inv(args[0])


@record
@dataclass(frozen=True, slots=True)
class Cholesky(Routine):
    """The Cholesky factor, lower or upper."""

    upper: bool = False
    may_fail = True
    instead = _STACKED.format("cholesky")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.linalg.cholesky(args[0], upper=self.upper)


@record
@dataclass(frozen=True, slots=True)
class Determinant(Routine):
    """The determinant."""

    instead = _STACKED.format("det")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0])[:-2],)

    def run(self, *args: Any) -> Any:
        return np.linalg.det(args[0])


@record
@dataclass(frozen=True, slots=True)
class SignedLogDeterminant(Routine):
    """The sign of the determinant, and the logarithm of its absolute value."""

    instead = _STACKED.format("slogdet")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0])[:-2],) * 2

    def run(self, *args: Any) -> Any:
        return tuple(np.linalg.slogdet(args[0]))


@record
@dataclass(frozen=True, slots=True)
class SymmetricEigen(Routine):
    """The eigenvalues of a Hermitian matrix, ascending, and where wanted its eigenvectors."""

    upper: bool
    vectors: bool
    may_fail = True
    instead = _STACKED.format("eigh")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        shape = shape_of(args[0])
        return (shape[:-1], shape) if self.vectors else (shape[:-1],)

    def run(self, *args: Any) -> Any:
        part = "U" if self.upper else "L"
        if self.vectors:
            return tuple(np.linalg.eigh(args[0], part))
        return np.linalg.eigvalsh(args[0], part)


@record
@dataclass(frozen=True, slots=True)
class SingularValues(Routine):
    """The singular value decomposition of a : [..., n, m], k = min(n, m) the second argument."""

    full: bool
    vectors: bool
    may_fail = True
    instead = _STACKED.format("svd")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        *stack, n, m = shape_of(args[0])
        k = size_of(args[1])
        if not self.vectors:
            return ((*stack, k),)
        left, right = (n, m) if self.full else (k, k)
        return ((*stack, n, left), (*stack, k), (*stack, right, m))

    def run(self, *args: Any) -> Any:
        found = np.linalg.svd(args[0], full_matrices=self.full, compute_uv=self.vectors)
        return tuple(found) if self.vectors else found


@record
@dataclass(frozen=True, slots=True)
class Qr(Routine):
    """The factors q and r of a : [..., n, m], or r alone; k = min(n, m) is the second argument."""

    mode: str
    instead = _STACKED.format("qr")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        *stack, n, m = shape_of(args[0])
        k = n if self.mode == "complete" else size_of(args[1])
        r = (*stack, k, m)
        return (r,) if self.mode == "r" else ((*stack, n, k), r)

    def run(self, *args: Any) -> Any:
        found = np.linalg.qr(args[0], mode=self.mode)
        return found if self.mode == "r" else tuple(found)


@record
@dataclass(frozen=True, slots=True)
class LeastSquares(Routine):
    """The x that makes `a @ x - b` least, the residuals (none where a has not full rank), the rank,
    and the singular values; min(n, m) is the third argument.
    """

    may_fail = True
    counts = 1
    instead = "np.linalg.solve of the normal equations, for a whole stack, outside of the function"

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        columns = shape_of(args[0])[-1]
        return (
            (),
            (columns, *shape_of(args[1])[1:]),
            (Exists(0),),
            (),
            (size_of(args[2]),),
        )

    def run(self, *args: Any) -> Any:
        a, b, _, *rcond = args
        x, residuals, rank, values = np.linalg.lstsq(a, b, *rcond)
        return len(residuals), x, residuals, rank, values


@record
@dataclass(frozen=True, slots=True)
class MatrixPower(Routine):
    """The n-th power of a matrix; of its inverse where n is negative."""

    n: int
    may_fail = True
    instead = _STACKED.format("matrix_power")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.linalg.matrix_power(args[0], self.n)


@record
@dataclass(frozen=True, slots=True)
class MatrixRank(Routine):
    """The number of singular values above the tolerance, NumPy's where there is none."""

    instead = _STACKED.format("matrix_rank")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0])[:-2],)

    def run(self, *args: Any) -> Any:
        return np.linalg.matrix_rank(*args)


@record
@dataclass(frozen=True, slots=True)
class PseudoInverse(Routine):
    """The Moore-Penrose inverse."""

    hermitian: bool = False
    may_fail = True
    instead = _STACKED.format("pinv")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        *stack, n, m = shape_of(args[0])
        return ((*stack, m, n),)

    def run(self, *args: Any) -> Any:
        return np.linalg.pinv(*args, hermitian=self.hermitian)
