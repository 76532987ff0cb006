"""The native ABI: how a compiled kernel is described and called, whichever printer made it.

Every native function has the same C signature, `void f(int64_t *table)`, so one ctypes type calls
them all, and releases the GIL while it does. The table is a flat row of 64-bit slots, in the order
of the parameters:

    scalar     1 slot: an integer sign-extended (unsigned: zero-extended), a bool as 0 or 1,
               a float by its bits, narrower ones in the low end of the slot
    complex    2 slots: the real and the imaginary part, each as a float
    array      1 + 2 * ndim slots: address of the first element, shape, strides in bytes

A kernel reads its table once, at entry, and never writes it. It indexes inside its arrays and never
with a negative index, allocates nothing, raises nothing, and returns nothing: results and faults go
through array parameters.
"""

from __future__ import annotations

import ctypes
import operator
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from ..staging.dataclass import dataclass

Layout = Literal["C", "A"]

_KINDS = "biufc"
_FLOATS = {2: struct.Struct("=e"), 4: struct.Struct("=f"), 8: struct.Struct("=d")}
_MASK = 2**64 - 1
_CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A scalar passed by value.

    dtype : bool, integer, float or complex, in the machine's byte order
    """

    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        _check_dtype(self.dtype)

    @property
    def slots(self) -> int:
        """How many slots of the table it takes."""
        return 2 if self.dtype.kind == "c" else 1


@dataclass(frozen=True, slots=True)
class ArrayParam:
    """An array passed by reference.

    dtype : element type, in the machine's byte order; elements are aligned
    ndim : number of dimensions, 0 included
    layout : "C" for contiguous rows, "A" for any strides, negative and zero ones included
    may_alias : set it on both of two parameters if a call may write through one what it reaches
        through the other; loops over all others vectorise without overlap checks at run time
    """

    dtype: np.dtype[Any]
    ndim: int
    layout: Layout = "C"
    may_alias: bool = False

    def __post_init__(self) -> None:
        _check_dtype(self.dtype)
        if self.ndim < 0:
            raise ValueError(f"an array has no {self.ndim} dimensions")

    @property
    def slots(self) -> int:
        """How many slots of the table it takes."""
        return 1 + 2 * self.ndim


Param = ScalarParam | ArrayParam
Signature = tuple[Param, ...]
Table = ctypes.Array[ctypes.c_int64]


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in _KINDS or not dtype.isnative or dtype.itemsize > 8 << (dtype.kind == "c"):
        raise TypeError(f"{dtype} does not pass through the native ABI")


def pack(params: Signature, args: Sequence[Any]) -> Table:
    """The table of a call, from NumPy arrays and scalars in the order of `params`.

    The table holds addresses only: keep the arrays alive for as long as it is in use. To call with
    other scalars, copy the table (`type(table).from_buffer_copy(table)`) and set their slots.

    Raises TypeError for an argument that does not fit its parameter, OverflowError for an integer
    outside its parameter's range.
    """
    if len(args) != len(params):
        raise TypeError(f"the kernel takes {len(params)} arguments, not {len(args)}")
    slots: list[int] = []
    for position, (param, arg) in enumerate(zip(params, args, strict=True)):
        if isinstance(param, ScalarParam):
            slots.extend(_scalar_slots(param.dtype, arg))
        elif _fits(arg, param):
            slots.append(address(arg))
            slots.extend(arg.shape)
            slots.extend(arg.strides)
        else:
            raise TypeError(f"argument {position} must be {_wanted(param)}, not {_found(arg)}")
    row = struct.pack(f"={len(slots)}Q", *(slot & _MASK for slot in slots))
    return (ctypes.c_int64 * len(slots)).from_buffer_copy(row)


def address(array: Any) -> int:
    """Where an array's first element is."""
    # NumPy's C ABI: the pointer follows the head of the object. Ten times faster than asking for
    # `__array_interface__`, and most of the time of a call on small arrays.
    return ctypes.c_size_t.from_address(id(array) + object.__basicsize__).value


def _asked(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


_PROBE = np.zeros(1)
if address(_PROBE) != _asked(_PROBE):
    address = _asked


def _fits(arg: Any, param: ArrayParam) -> bool:
    return (
        issubclass(type(arg), np.ndarray)
        and arg.dtype == param.dtype
        and arg.ndim == param.ndim
        and (param.layout == "A" or arg.flags.c_contiguous)
        and arg.flags.aligned
    )


def _scalar_slots(dtype: np.dtype[Any], value: Any) -> tuple[int, ...]:
    match dtype.kind:
        case "b":
            return (int(bool(value)),)
        case "c":
            part = dtype.itemsize // 2
            number = complex(value)
            return _float_bits(part, number.real), _float_bits(part, number.imag)
        case "f":
            return (_float_bits(dtype.itemsize, float(value)),)
        case _:
            return (int(dtype.type(operator.index(value))),)


def _float_bits(size: int, value: float) -> int:
    return int.from_bytes(_FLOATS[size].pack(value), sys.byteorder)


def _wanted(param: ArrayParam) -> str:
    order = "C-contiguous " if param.layout == "C" else ""
    return f"an aligned {order}{param.dtype} array of rank {param.ndim}"


def _found(arg: Any) -> str:
    if not issubclass(type(arg), np.ndarray):
        return str(type(arg).__name__)
    return f"{arg.dtype} of shape {arg.shape}, strides {arg.strides}"


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """A compiled kernel: call it with arrays and scalars, or `run` a table packed before.

    name : the function's name in the kernel's text
    params : its parameters
    address : where the machine code starts
    owner : what keeps the machine code loaded
    """

    name: str
    params: Signature
    address: int
    owner: object = field(repr=False)
    run: Callable[[Table], None] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        run = _CALL(self.address)
        vars(run)["owner"] = self.owner  # `run` may outlive this object
        object.__setattr__(self, "run", run)

    def __call__(self, *args: Any) -> None:
        self.run(pack(self.params, args))
