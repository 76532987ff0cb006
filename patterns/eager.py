"""Eager mode: arrays that carry the vocabulary of patterns and run the user's own Python.

`Array` is NumPy's ndarray with the patterns of eager_patterns.py; a user debugs with it. Methods
that both have take either: a callable is a function of the element, anything else NumPy's axis.
An array that a function makes with np.zeros and the like, or finds outside, is NumPy's own here:
where it needs the patterns, `pm.asarray(a)`.

>>> x = asarray([[3.0, 4.0], [0.0, 1.0]])
>>> x.rows.map(lambda row: np.sqrt((row**2).sum()))
Array([5., 1.])
>>> x.sum(axis=0), x.argmin(lambda v: -v)
(Array([3., 5.]), np.int64(1))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..staging import pytree
from ..staging.eager_calls import register_eager
from ..staging.errors import ShapeError, StagingTypeError
from ..staging.layouts import is_number_list
from ..staging.primitives import Primitive
from ..staging.types import Scalar
from .eager_collections import Collection, Rows
from .eager_patterns import Patterns, Selector, gather
from .semantics import Extents


class Array(np.ndarray[Any, np.dtype[Any]], Patterns):
    """An ndarray with the patterns; NumPy's functions and operators give such arrays again."""

    @property
    def extents(self) -> Extents:
        return tuple(self.shape)

    def at(self, *indices: int) -> Any:
        return self[indices]

    def elements(self) -> np.ndarray:
        return np.asarray(self)

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
                f".{name} of an array of shape {self.shape}",
                why="rows and columns belong to arrays of rank 2 or more",
                instead="x.map(f) for the elements of a vector, x[:, None].rows for rows of one",
            )
        return Rows(self, axis)

    # NumPy's own, or the pattern when a function is given.

    def sum(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """The sum over the given axes; `sum(f)` of f of each element."""
        if callable(axis) or callable(options.get("where")):
            return Patterns.sum(self, axis, **options)
        return super().sum(axis, *args, **options)

    def prod(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """The product over the given axes; `prod(f)` of f of each element."""
        if callable(axis) or callable(options.get("where")):
            return Patterns.prod(self, axis, **options)
        return super().prod(axis, *args, **options)

    def min(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """The least element; `min(f)` the least f of one."""
        if callable(axis):
            return Patterns.min(self, axis)
        return super().min(axis, *args, **options)

    def max(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """The greatest element; `max(f)` the greatest f of one."""
        if callable(axis):
            return Patterns.max(self, axis)
        return super().max(axis, *args, **options)

    def any(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Whether an element is true; `any(f)` whether f of one is."""
        if callable(axis):
            return Patterns.any(self, axis)
        return super().any(axis, *args, **options)

    def all(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Whether every element is true; `all(f)` whether f of every one is."""
        if callable(axis):
            return Patterns.all(self, axis)
        return super().all(axis, *args, **options)

    def mean(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """The mean over the given axes; `mean(f)` of f of each element."""
        if callable(axis):
            return Patterns.mean(self, axis)
        return super().mean(axis, *args, **options)

    def argmin(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Where the least element stands, in C order; `argmin(f)` where f of it is least."""
        if callable(axis):
            return Patterns.argmin(self, axis)
        return super().argmin(axis, *args, **options)

    def argmax(self, axis: Any = None, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Where the greatest element stands, in C order; `argmax(f)` where f of it is greatest."""
        if callable(axis):
            return Patterns.argmax(self, axis)
        return super().argmax(axis, *args, **options)

    # Results of NumPy's functions are eager arrays, those without axes are NumPy's scalars.

    def __array_wrap__(
        self, array: np.ndarray, context: Any = None, return_scalar: bool = False
    ) -> Any:
        return array[()] if return_scalar else array.view(Array)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _rewrapped(super().__array_function__(func, types, args, kwargs))


def _rewrapped(value: Any) -> Any:
    """NumPy's result with its ndarrays as eager ones."""
    if isinstance(value, np.ndarray):
        return value.view(Array)
    found: Any = value
    if type(value) is list:
        return [_rewrapped(item) for item in found]
    return tuple(map(_rewrapped, found)) if type(value) is tuple else found


def asarray(value: object) -> Array:
    """The value as an eager array, without a copy where it is an array already.

    Raises ShapeError for a ragged list, StagingTypeError for what is no array of numbers.
    """
    if isinstance(value, Collection):
        value = value.elements()
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(
            "a list whose elements differ in length is no array", why=str(error)
        ) from error
    if array.dtype.kind not in "biufc":
        raise StagingTypeError(
            f"an array of dtype {array.dtype}",
            why="arrays hold bools, integers, floats and complex",
        )
    return array.view(Array)


def collect(shape: int | Sequence[int], f: Selector) -> Any:
    """The array of `f(*indices)` over all indices of a shape.

    >>> collect((2, 3), lambda i, j: i * 10 + j)
    Array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    extents = tuple(shape) if isinstance(shape, Sequence) else (shape,)
    sizes = tuple(int(size) for size in extents)
    if any(size < 0 for size in sizes):
        raise ShapeError("negative dimensions are not allowed", why=f"the shape is {sizes}")
    return gather(sizes, lambda index: f(*index))


def apply_primitive(primitive: Primitive, x: object) -> Any:
    """A primitive of one argument that is no ufunc, on a number or an array."""
    array = asarray(x)
    (to,) = primitive.loop((Scalar(array.dtype),))
    found: Any = primitive.function(array.astype(to.dtype))
    return found.view(Array) if isinstance(found, np.ndarray) else found


def wrap(value: object) -> Any:
    """A call's argument for eager mode: arrays and lists of numbers, also inside, as eager arrays.

    They are copies, because a function changes no argument, unless it is marked (inout), staged or
    not.
    """
    leaves, tree = pytree.flatten(value, is_number_list)
    return pytree.unflatten(tree, [_wrapped_leaf(leaf) for leaf in leaves])


def view(value: object) -> Any:
    """A call's argument that the function writes to: the user's own arrays, as eager ones."""
    leaves, tree = pytree.flatten(value)
    return pytree.unflatten(tree, [asarray(x) if _is_array(x) else x for x in leaves])


def _wrapped_leaf(leaf: Any) -> Any:
    if not _is_array(leaf):
        return leaf
    found = asarray(leaf)
    return found.copy() if found.ndim else found[()]


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray) or is_number_list(leaf)


def unwrap(value: object) -> Any:
    """A call's result: eager arrays and collections, also those inside, as plain ndarrays."""
    leaves, tree = pytree.flatten(value)
    return pytree.unflatten(tree, [_unwrapped_leaf(leaf) for leaf in leaves])


def _unwrapped_leaf(leaf: object) -> object:
    if isinstance(leaf, Array):
        return leaf.view(np.ndarray)
    return np.asarray(leaf) if isinstance(leaf, Collection) else leaf


register_eager(wrap, view, unwrap)

__all__ = ["Array", "apply_primitive", "asarray", "collect", "unwrap", "wrap"]
