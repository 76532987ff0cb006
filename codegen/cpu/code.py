"""The compiled functions of a program: native ones, and plain Python ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...staging.dataclass import dataclass
from ...transforms.kernel_ir import Buffer, Function, Kernel, Local
from .. import cache, objects
from ..machine_code import MachineCode
from ..native import ArrayParam, NativeFunction, Param, ScalarParam, Signature
from ..plain import load
from ..python_text import print_kernels
from ..runtime.native_launch import NativeKernel
from ..runtime.plain_launch import PlainKernel
from ..vector_math import routines

# The folders of our source that make machine code of a text; the others only make the text.
MAKERS = ("codegen", "staging")


@dataclass(frozen=True, slots=True)
class NativeCode:
    """A program's native functions.

    machine : the same, for reading; None where there are none
    """

    functions: Mapping[str, NativeFunction]
    machine: MachineCode | None = None

    def of(self, kernel: Kernel) -> NativeKernel:
        """Those of one kernel."""
        return NativeKernel(kernel, self.functions)


@dataclass(frozen=True, slots=True)
class PlainCode:
    """A program's functions as plain Python."""

    functions: Mapping[str, Any]

    def of(self, kernel: Kernel) -> PlainKernel:
        """Those of one kernel."""
        return PlainKernel(kernel, self.functions)


def signatures(kernels: Sequence[Kernel]) -> dict[str, Signature]:
    """The native parameters of every function, by its name in the text."""
    return {
        f"{kernel.name}_{function.name}": signature(function)
        for kernel in kernels
        for function in kernel.functions
    }


def signature(function: Function) -> Signature:
    """The native parameters of one function."""
    return tuple(parameter(q) for q in function.params)


def parameter(param: Local | Buffer) -> Param:
    """One native parameter."""
    if isinstance(param, Local):
        return ScalarParam(param.dtype)
    return ArrayParam(param.dtype, param.rank, "C" if param.contiguous else "A")


def by_numba(kernels: Sequence[Kernel]) -> NativeCode:
    """The functions by Numba, from the Python text, or from the disk cache.

    kernels : without whole-array statements, here and in `by_llvm`
    """
    wanted = signatures(kernels)
    text = print_kernels(kernels)

    def module() -> Any:
        from ..numba import engine

        return engine.module(text, wanted)

    # The LLVM text names the routines that it calls, this one does not.
    key = f"{routines()} {without_comments(text)}"
    return native("numba", key, module, wanted)


def by_llvm(kernels: Sequence[Kernel], text: str) -> NativeCode:
    """The functions from the LLVM text, or from the disk cache."""
    wanted = signatures(kernels)

    def module() -> Any:
        from ..llvm import engine

        return engine.module(text, tuple(wanted))

    return native("llvm", text, module, wanted)


def native(
    printer: str, text: str, module: Callable[[], Any], wanted: Mapping[str, Signature]
) -> NativeCode:
    """Loaded code; the disk cache knows it by its text and the signatures.

    module : makes the optimised LLVM module
    """
    if not wanted:
        return NativeCode({})
    names = tuple(wanted)

    def build() -> bytes:
        return objects.emit(module(), names).code

    def load(code: bytes) -> dict[str, NativeFunction]:
        return objects.load(objects.ObjectCode(names, code), wanted)

    digest = hashlib.sha256(f"{text} {sorted(wanted.items())}".encode()).hexdigest()
    found = cache.fetch(printer, digest, build, load, MAKERS)
    return NativeCode(found.value, MachineCode(printer, found.outcome, module))


def without_comments(text: str) -> str:
    """The code alone: comments quote the user, whose lines may move."""
    return re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)


def plain(text: str) -> PlainCode:
    """The text as plain Python."""
    return PlainCode(load(text))
