"""The native ABI: what the slots of a table hold, and what is refused."""

from __future__ import annotations

import struct
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from parloom.codegen import objects
from parloom.codegen.native import ArrayParam, NativeFunction, ScalarParam, Signature, pack


def dtype(name: str) -> np.dtype[Any]:
    return np.dtype(name)


def scalar(name: str) -> ScalarParam:
    return ScalarParam(dtype(name))


@pytest.mark.parametrize(
    ("name", "value", "slots"),
    [
        ("bool", True, [1]),
        ("bool", np.bool_(False), [0]),
        ("int8", -1, [-1]),
        ("int64", -(2**63), [-(2**63)]),
        ("uint8", 255, [255]),
        ("uint64", 2**64 - 1, [-1]),
        ("int32", np.int64(7), [7]),
        ("float64", -0.0, [-(2**63)]),
        ("float64", np.float64(1.5), list(struct.unpack("=q", struct.pack("=d", 1.5)))),
        ("float32", 1.5, list(struct.unpack("=I", struct.pack("=f", 1.5)))),
        ("complex128", 1j, list(struct.unpack("=2q", struct.pack("=2d", 0.0, 1.0)))),
        ("complex64", 1j, list(struct.unpack("=2I", struct.pack("=2f", 0.0, 1.0)))),
    ],
)
def test_a_scalar_takes_its_bits(name: str, value: object, slots: list[int]) -> None:
    assert list(pack((scalar(name),), [value])) == slots


def test_an_array_takes_address_shape_and_strides() -> None:
    array = np.zeros((4, 6))[::-1, ::2]
    table = pack((ArrayParam(array.dtype, 2, "A"), scalar("int64")), [array, 3])
    assert list(table) == [array.ctypes.data, 4, 3, -48, 16, 3]


def test_an_array_of_rank_zero_takes_its_address() -> None:
    array = np.array(2.0)
    assert list(pack((ArrayParam(array.dtype, 0),), [array])) == [array.ctypes.data]


@pytest.mark.parametrize(
    ("params", "args", "message"),
    [
        ((scalar("int64"),), [], "the kernel takes 1 arguments, not 0"),
        (
            (ArrayParam(dtype("float64"), 1),),
            [np.float64(1)],
            "argument 0 must be an aligned C-contiguous float64 array of rank 1, not float64",
        ),
        (
            (ArrayParam(dtype("float64"), 1),),
            [np.zeros(4)[::2]],
            "argument 0 must be an aligned C-contiguous float64 array of rank 1, "
            "not float64 of shape (2,), strides (16,)",
        ),
        (
            (ArrayParam(dtype("int32"), 1, "A"),),
            [np.zeros(2, np.int64)],
            "argument 0 must be an aligned int32 array of rank 1, "
            "not int64 of shape (2,), strides (8,)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(params: Signature, args: list[object], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        pack(params, args)
    assert str(caught.value) == message


def test_an_unaligned_array_is_refused() -> None:
    array = np.zeros(17, np.uint8)[1:].view(np.float64)
    with pytest.raises(TypeError, match="must be an aligned"):
        pack((ArrayParam(array.dtype, 1),), [array])


def test_an_integer_out_of_range_is_refused() -> None:
    with pytest.raises(OverflowError):
        pack((scalar("uint8"),), [256])
    with pytest.raises(TypeError):
        pack((scalar("int64"),), [1.5])


@pytest.mark.parametrize("name", ["longdouble", "O", "U3", "M8[s]", ">f8"])
def test_what_has_no_slot_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match="does not pass through the native ABI"):
        ScalarParam(dtype(name))


SUM = """
define void @parloom_add(ptr %table) {
  %pa = getelementptr i64, ptr %table, i64 1
  %a = load i64, ptr %pa
  %po = load ptr, ptr %table
  %old = load i64, ptr %po
  %new = add i64 %old, %a
  store i64 %new, ptr %po
  ret void
}
"""


def add() -> NativeFunction:
    code = objects.emit(objects.optimise(llvm.parse_assembly(SUM), ["add"]), ["add"])
    params = (ArrayParam(dtype("int64"), 0), scalar("int64"))
    return objects.load(code, {"add": params})["add"]


def test_any_printer_can_implement_the_abi() -> None:
    total = np.array(40, np.int64)
    function = add()
    function(total, 2)
    assert total == 42
    table = pack(function.params, [total, 0])
    copy = type(table).from_buffer_copy(table)
    copy[1] = -2
    function.run(copy)
    assert total == 40


def test_code_stays_loaded_while_a_function_lives() -> None:
    total = np.array(1, np.int64)
    run, table = add().run, pack(add().params, [total, 1])
    for _ in range(20):
        add()
    run(table)
    assert total == 2


def test_an_unknown_symbol_is_an_error_and_not_the_end() -> None:
    text = SUM.replace("ret void", "call void @no_such_function()\n  ret void")
    module = llvm.parse_assembly(text + "declare void @no_such_function()\n")
    with pytest.raises(objects.UnresolvedSymbol, match="native code needs no_such_function"):
        objects.emit(objects.optimise(module, ["add"]), ["add"])
