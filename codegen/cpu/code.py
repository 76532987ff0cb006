"""The compiled functions of a program: native ones, and plain Python ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...transforms.kernel_ir import Buffer, Function, Kernel, Local
from ...transforms.kernel_walk import has_loops
from .. import cache, objects
from ..native import ArrayParam, NativeFunction, Param, ScalarParam, Signature, Table, pack
from ..runtime.launch import Bound, PlainBound


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
            address = value.ctypes.data if isinstance(value, np.ndarray) else value
            table[slot] = address
        return NativeBound(self.function, table, self.slots, (self.keep, changes))


@dataclass(frozen=True, slots=True)
class NativeCode:
    """A program's native functions; those in `whole` are whole-array statements, for NumPy."""

    functions: Mapping[str, NativeFunction]
    whole: Mapping[str, Any]

    def bind(self, name: str, args: Sequence[Any]) -> Bound:
        """The function with arguments."""
        if name in self.whole:
            return PlainBound(self.whole[name], list(args))
        function = self.functions[name]
        slots, at = [], 0
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


def native(loops: str, whole: str, kernels: Sequence[Kernel], key: str) -> NativeCode:
    """The text with loops compiled, or from the disk cache; that without run by NumPy."""
    wanted = signatures(kernels)

    def build() -> objects.ObjectCode:
        from ..numba import engine

        return engine.compile(loops, wanted)

    code = cache.fetch(f"numba {key} {sorted(wanted.items())}", build)
    namespace: dict[str, Any] = {}
    exec(compile(whole, "<parloom kernels>", "exec"), namespace)
    return NativeCode(objects.load(code, wanted), namespace)


def plain(text: str) -> PlainCode:
    """The text as plain Python."""
    namespace: dict[str, Any] = {}
    exec(compile(text, "<parloom kernels>", "exec"), namespace)
    return PlainCode(namespace)
