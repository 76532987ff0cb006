"""Staged arrays: a cell that holds the current value, seen through a view.

Arrays are values in the IR; a write makes a new value and puts it into the cell, and every view of
the cell sees it: NumPy's aliasing. Slices, transposes, rows and broadcasts are other views of the
same cell and cost no loop; a view is materialised only where a whole array is needed (`operand`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from ..staging import arithmetic, reps, scalars
from ..staging.cells import Cell
from ..staging.context import trace
from ..staging.errors import Limitation, StagingTypeError
from ..staging.nodes import Bounds, Index, Operand, operand_dim
from ..staging.scalars import ScalarRep
from ..staging.types import Array, Scalar
from . import emit, sizes
from .aggregates import Aggregates
from .collections import Rows
from .conversions import as_array
from .products import matmul
from .reductions import axis_number
from .sizes import Size
from .views import View


def _in_place(ufunc: np.ufunc) -> Callable[[ArrayRep, object], ArrayRep]:
    def method(self: ArrayRep, other: object) -> ArrayRep:
        from .writes import update

        update(self, ufunc, other)
        return self

    return method


def _only_c(order: str) -> None:
    if order not in ("C", "K", "A"):
        raise Limitation(f"order={order!r}", instead="x.T for the order of Fortran")


class ArrayRep(arithmetic.Arithmetic, Aggregates):
    """A staged array."""

    __slots__ = ("cell", "view")

    def __init__(self, cell: Cell, view: View) -> None:
        self.cell = cell
        self.view = view

    @staticmethod
    def of(operand: Operand, given: bool = False) -> ArrayRep:
        """The Rep for an array operand, in a cell of its own."""
        cell = Cell(operand, given)
        return ArrayRep(cell, View.whole(cell.shape))

    @property
    def operand(self) -> Operand:
        if self.view.is_whole(self.cell.shape):
            return self.cell.value
        return emit.array(self.sizes, self.element).operand

    @property
    def place(self) -> tuple[Cell, object] | None:
        return self.cell, self.view

    @property
    def storage(self) -> Operand:
        return self.cell.value

    @property
    def type(self) -> Array:
        return Array(self.scalar, tuple(map(operand_dim, self.sizes)))

    # Elements and views.

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The shape as operands."""
        return tuple(map(trace().canonical, self.view.shape))

    @property
    def domain(self) -> tuple[Size, ...]:
        return self.sizes

    def element(self, *indices: ScalarRep) -> ScalarRep:
        """One element; what is known about the indices decides whether the bounds are proven."""
        inside = list(map(sizes.in_range, indices, self.view.shape))
        places = self.view.locate([i.operand for i in indices], inside)
        bounds = Bounds.PROVEN if self.view.proven and all(inside) else Bounds.CHECKED
        return ScalarRep(trace().emit(Index(self.cell.value, places, bounds))[0])

    def at(self, *indices: ScalarRep) -> ScalarRep:
        return self.element(*indices)

    def seen(self, view: View) -> ArrayRep:
        """The same cell through another view."""
        return ArrayRep(self.cell, view)

    def fixed(self, axis: int, index: ScalarRep) -> Any:
        """At one non-negative index of an axis: a view, or the element when no axis is left."""
        proven = sizes.in_range(index, self.sizes[axis])
        view = self.view.fix(axis, sizes.index_operand(index), proven)
        found = self.seen(view)
        return found if view.shape else found.element()

    def broadcast(self, shape: Sequence[Size], what: str = "sizes") -> ArrayRep:
        """Stretched to a shape, without copying."""
        return self.seen(self.view.broadcast(shape, what))

    def __getitem__(self, key: object) -> Any:
        from .indexing import read

        return read(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        from .writes import write

        write(self, key, value)

    def staged_element(self, i: ScalarRep) -> Any:
        """Element i (a row, for rank 2) of a loop over the array."""
        return self[i]

    def __iter__(self) -> Iterator[Any]:
        if sizes.static(self.sizes[0]) is None:
            raise reps.not_rewritten(
                "iteration over a staged array outside of a staged function's own source",
                "its length is known only when the compiled program runs",
                "x.map(f), x.rows.map(f), or a for statement in a function that parloom stages",
            )
        return iter([self[k] for k in range(len(self))])

    # Attributes as NumPy's.

    @property
    def scalar(self) -> Scalar:
        """The type of an element."""
        return self.cell.type.element

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy dtype."""
        return self.scalar.dtype

    @property
    def shape(self) -> tuple[int | ScalarRep, ...]:
        """The sizes: Python integers where they are static, staged integers elsewhere."""
        return tuple(map(sizes.dim, self.sizes))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.view.shape)

    @property
    def size(self) -> int | ScalarRep:
        """The number of elements."""
        return sizes.dim(sizes.product(self.sizes))

    @property
    def T(self) -> ArrayRep:
        """The transpose, a view."""
        return self.transpose()

    @property
    def mT(self) -> ArrayRep:
        """The last two axes exchanged, a view."""
        order = list(range(self.ndim))
        order[-2:] = order[-1], order[-2]
        return self.transpose(order)

    @property
    def real(self) -> Any:
        """The real parts: real numbers themselves."""
        return np.real(cast(Any, self))

    @property
    def imag(self) -> Any:
        """The imaginary parts: zeros for real numbers."""
        return np.imag(cast(Any, self))

    def conjugate(self) -> Any:
        """The complex conjugates: real numbers themselves, bools too."""
        if self.dtype.kind != "c":
            return self
        return arithmetic.apply_ufunc(np.conjugate, (self,))

    conj = conjugate

    def fill(self, value: object) -> None:
        """Every element becomes the value."""
        self[...] = value

    @property
    def rows(self) -> Rows:
        """The collection of rows: x[0], x[1], ..."""
        return self._along(0, "rows")

    @property
    def cols(self) -> Rows:
        """The collection of columns: x[:, 0], x[:, 1], ..."""
        return self._along(1, "cols")

    def _along(self, axis: int, name: str) -> Rows:
        if self.ndim < 2:
            raise StagingTypeError(
                f".{name} of {self.type}",
                why="rows and columns belong to arrays of rank 2 or more",
                instead="x.map(f) for the elements of a vector, x[:, None].rows for rows of "
                "one element",
            )
        return Rows(self, axis)

    def transpose(self, *axes: Any) -> ArrayRep:
        """The axes permuted, reversed by default; a view."""
        nested = len(axes) == 1 and isinstance(axes[0], tuple | list)
        order: tuple[Any, ...] = tuple(cast(Any, axes[0] if nested else axes))
        order = tuple(range(self.ndim))[::-1] if order in ((), (None,)) else order
        wanted = tuple(axis_number(axis, self.ndim) for axis in order)
        if sorted(wanted) != list(range(self.ndim)):
            raise StagingTypeError(f"axes {order} are no permutation of {self.ndim} axes")
        return self.seen(self.view.permute(wanted))

    def astype(self, dtype: Any) -> ArrayRep:
        """A copy with elements converted as NumPy does."""
        to = Scalar(np.dtype(dtype))
        if to == self.scalar:
            return self.copy()
        return as_array(emit.array(self.sizes, lambda *i: scalars.cast(self.element(*i), to)))

    def copy(self) -> ArrayRep:
        """The array in a cell of its own."""
        return ArrayRep.of(self.operand)

    def reshape(self, *shape: Any, order: str = "C") -> ArrayRep:
        """The elements, in C order, in another shape of as many; one size may be -1. A view where
        NumPy has one.
        """
        from .reshaping import reshape

        _only_c(order)
        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self, order: str = "C") -> ArrayRep:
        """The elements in C order, as a vector; a view where they lie so."""
        from .reshaping import ravel

        _only_c(order)
        return ravel(self)

    def flatten(self, order: str = "C") -> ArrayRep:
        """A copy of the elements in C order, as a vector."""
        from .reshaping import flatten

        _only_c(order)
        return flatten(self)

    def clip(self, min: object = None, max: object = None) -> Any:
        """Elements moved into min..max."""
        low = self if min is None else arithmetic.apply_ufunc(np.maximum, (self, min))
        return low if max is None else arithmetic.apply_ufunc(np.minimum, (low, max))

    def cumsum(self, axis: Any = None, dtype: Any = None) -> Any:
        """The sums up to each element along an axis, by default in C order."""
        from .numpy_api.scanning import cumsum

        return cumsum(self, axis, dtype)

    def cumprod(self, axis: Any = None, dtype: Any = None) -> Any:
        """The products up to each element along an axis, by default in C order."""
        from .numpy_api.scanning import cumprod

        return cumprod(self, axis, dtype)

    # In place, as NumPy: the cell gets a new value, which all of its views see.

    __iadd__, __isub__ = _in_place(np.add), _in_place(np.subtract)
    __imul__, __itruediv__ = _in_place(np.multiply), _in_place(np.true_divide)
    __ifloordiv__, __imod__ = _in_place(np.floor_divide), _in_place(np.remainder)
    __ipow__, __iand__ = _in_place(np.power), _in_place(np.bitwise_and)
    __ior__, __ixor__ = _in_place(np.bitwise_or), _in_place(np.bitwise_xor)
    __ilshift__, __irshift__ = _in_place(np.left_shift), _in_place(np.right_shift)

    def __pow__(self, other: object) -> Any:
        """As NumPy, whose `x ** 2` is np.square(x): of bools int8, where np.power gives int64."""
        if self.dtype.kind == "b" and type(other) is int and other == 2:
            return arithmetic.apply_ufunc(np.square, (self,))
        return super().__pow__(other)

    def dot(self, other: object) -> Any:
        """The product of vectors or matrices, as `@`."""
        return matmul(self, other)

    __matmul__ = dot

    def __rmatmul__(self, other: object) -> Any:
        return matmul(other, self)

    def hint(self, name: str) -> None:
        """Tells the user's name of the array, for printing; the first one stays."""
        self.cell.hint(name)
