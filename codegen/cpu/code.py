"""The compiled functions of a program: native ones, and plain Python ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...transforms.kernel_ir import Buffer, Function, Kernel, Local
from ...transforms.kernel_walk import has_loops
from .. import cache, objects
from ..machine_code import MachineCode
from ..native import ArrayParam, NativeFunction, Param, ScalarParam, Signature, Table, pack
from ..plain import load
from ..python_text import print_kernels
from ..runtime.launch import Bound, PlainBound
from ..vector_math import routines

# The folders of our source that make machine code of a text; the others only make the text.
MAKERS = ("codegen", "staging")


@dataclass(slots=True)
class NativeBound:
    """A native function with its packed arguments; they stay alive as long as this does."""

    function: NativeFunction
    table: Table
    slots: tuple[int, ...]
    keep: tuple[Any, ...]

    def __call__(self) -> None:
        self.function.run(self.table)

    def again(self, changes: Mapping[int, Any]) -> NativeBound:
        """A copy of the table with other scalars, or arrays of the same shape and strides."""
        table = type(self.table).from_buffer_copy(self.table)
        for place, value in changes.items():
            slot = self.slots[place]
            array = isinstance(value, np.ndarray)
            table[slot] = value.__array_interface__["data"][0] if array else value
        return NativeBound(self.function, table, self.slots, (self.keep, changes))


@dataclass(frozen=True, slots=True)
class NativeCode:
    """A program's native functions; those in `whole` are whole-array statements, for NumPy.

    machine : the native functions, for reading; None where there are none
    """

    functions: Mapping[str, NativeFunction]
    whole: Mapping[str, Any]
    machine: MachineCode | None = None

    def bind(self, name: str, args: Sequence[Any]) -> Bound:
        """The function with arguments."""
        if name in self.whole:
            return PlainBound(self.whole[name], list(args))
        function = self.functions[name]
        slots: list[int] = []
        at = 0
        for param in function.params:
            slots.append(at)
            at += param.slots
        return NativeBound(function, pack(function.params, args), tuple(slots), tuple(args))


@dataclass(frozen=True, slots=True)
class PlainCode:
    """A program's functions as plain Python: Numba switched off."""

    functions: Mapping[str, Any]

    def bind(self, name: str, args: Sequence[Any]) -> Bound:
        """The function with arguments."""
        return PlainBound(self.functions[name], list(args))


def signatures(kernels: Sequence[Kernel]) -> dict[str, Signature]:
    """The native parameters of every function with loops, by its name in the text."""
    return {
        f"{kernel.name}_{function.name}": signature(function)
        for kernel in kernels
        for function in kernel.functions
        if has_loops(function.body)
    }


def signature(function: Function) -> Signature:
    """The native parameters of one function."""
    return tuple(parameter(q) for q in function.params)


def parameter(param: Local | Buffer) -> Param:
    """One native parameter."""
    if isinstance(param, Local):
        return ScalarParam(param.dtype)
    return ArrayParam(param.dtype, param.rank, "C" if param.contiguous else "A")


def whole_arrays(kernels: Sequence[Kernel]) -> dict[str, Any]:
    """The functions of whole-array statements, which NumPy runs."""
    return load(print_kernels(kernels, lambda function: not has_loops(function.body)))


def by_numba(kernels: Sequence[Kernel]) -> NativeCode:
    """The functions with loops by Numba, from the Python text, or from the disk cache."""
    wanted = signatures(kernels)
    text = print_kernels(kernels, lambda function: has_loops(function.body))

    def module() -> Any:
        from ..numba import engine

        return engine.module(text, wanted)

    # The LLVM text names the routines that it calls, this one does not.
    key = f"{routines()} {without_comments(text)}"
    return native("numba", key, module, wanted, kernels)


def by_llvm(kernels: Sequence[Kernel], text: str) -> NativeCode:
    """The functions with loops from the LLVM text, or from the disk cache."""
    wanted = signatures(kernels)

    def module() -> Any:
        from ..llvm import engine

        return engine.module(text, tuple(wanted))

    return native("llvm", text, module, wanted, kernels)


def native(
    printer: str,
    text: str,
    module: Callable[[], Any],
    wanted: Mapping[str, Signature],
    kernels: Sequence[Kernel],
) -> NativeCode:
    """Loaded code; the disk cache knows it by its text and the signatures.

    module : makes the optimised LLVM module
    """
    if not wanted:
        return NativeCode({}, whole_arrays(kernels))
    names = tuple(wanted)

    def build() -> bytes:
        return objects.emit(module(), names).code

    def load(code: bytes) -> dict[str, NativeFunction]:
        return objects.load(objects.ObjectCode(names, code), wanted)

    digest = hashlib.sha256(f"{text} {sorted(wanted.items())}".encode()).hexdigest()
    found = cache.fetch(printer, digest, build, load, MAKERS)
    machine = MachineCode(printer, found.outcome, module)
    return NativeCode(found.value, whole_arrays(kernels), machine)


def without_comments(text: str) -> str:
    """The code alone: comments quote the user, whose lines may move."""
    return re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)


def plain(text: str) -> PlainCode:
    """The text as plain Python."""
    return PlainCode(load(text))
