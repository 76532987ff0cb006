"""Which NumPy arrays parloom takes, and what about them a compiled function depends on."""

from __future__ import annotations

from typing import Any, TypeGuard, cast

import numpy as np

from .errors import Limitation, StagingTypeError

Layout = tuple[object, ...]

_REFUSED = {
    "O": "Python objects have no machine type; use a numeric dtype",
    "U": "strings are not supported",
    "S": "byte strings are not supported",
    "V": "structured arrays are not supported; pass the fields as separate arrays",
    "M": "dates are not supported; use x.astype(np.int64)",
    "m": "time differences are not supported; use x.astype(np.int64)",
}
_SUPPORTED = frozenset(np.dtype(code) for code in "?bBhHiIlLqQfdFD")
SCALARS = frozenset(dtype.type for dtype in _SUPPORTED)
"""The classes of the numbers that parloom takes."""


def layout_of(array: np.ndarray) -> Layout:
    """Dtype, rank, which sizes are 1, and whether the elements are contiguous: all other things may
    vary.
    """
    shape = array.shape
    ones = tuple([size == 1 for size in shape]) if 1 in shape else len(shape)
    return array.dtype, ones, array.flags.c_contiguous


def is_ready(array: np.ndarray) -> bool:
    """Whether kernels take the array as it is (it must be an ndarray proper).

    The supported dtypes are native ones, and no other equals one of them.
    """
    return array.dtype in _SUPPORTED and array.flags.aligned


def check_dtype(dtype: np.dtype[Any], name: str) -> None:
    """Raises Limitation, naming `name`, for an element type that parloom does not have."""
    if dtype.newbyteorder("=") in _SUPPORTED:
        return
    reason = _REFUSED.get(dtype.kind, "no such machine type on every target; use float64")
    raise Limitation(f"{name} has dtype {dtype}", why=reason, instead=f"{name}.astype(np.float64)")


def normalised(array: np.ndarray, name: str) -> np.ndarray:
    """The array as kernels take it: in native byte order and aligned (a copy if it is not).

    Raises Limitation for dtypes without a machine type and for matrices and masked arrays.
    """
    if type(array) is not np.ndarray:
        if isinstance(array, np.matrix | np.ma.MaskedArray):
            raise Limitation(f"{name} is a {type(array).__name__}", instead=f"np.asarray({name})")
        array = array.view(np.ndarray)
    dtype = array.dtype
    if dtype not in _SUPPORTED:
        check_dtype(dtype, name)
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    return array if array.flags.aligned else array.copy()


def is_array(value: object) -> TypeGuard[np.ndarray]:
    """Whether the value is a NumPy array."""
    return isinstance(value, np.ndarray)


def is_number_list(value: object) -> bool:
    """Whether the value is a list of numbers, or of such lists: it becomes an array.

    >>> is_number_list([[1, 2], [3, 4]]), is_number_list([None]), is_number_list((1, 2))
    (True, False, False)
    """
    if not isinstance(value, list):
        return False
    items = cast("list[object]", value)
    return all(
        is_number_list(x) or isinstance(x, int | float | complex | np.generic) for x in items
    )


def array_of(value: list[object], name: str) -> np.ndarray:
    """The array of a list of numbers; StagingTypeError when its rows have different lengths."""
    try:
        return np.array(value)
    except ValueError as error:
        raise StagingTypeError(
            f"{name} is a ragged list",
            why="its rows have different lengths, so it is no array",
            instead="rows of one length, or the rows as separate arguments",
        ) from error
