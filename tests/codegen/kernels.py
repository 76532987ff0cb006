"""Helpers of the tests that run kernels: a program through the CPU's passes and both printings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parloom.codegen.cpu import code
from parloom.codegen.cpu.target import launchers
from parloom.codegen.host_text import print_host
from parloom.codegen.llvm.printer import print_module
from parloom.codegen.python_text import print_kernels
from parloom.codegen.runtime.host import load_host
from parloom.codegen.runtime.launch import Code
from parloom.patterns.reference import interpret
from parloom.staging.nodes import Op, Program
from parloom.staging.passes import Pipeline, run
from parloom.transforms.analyses.storage import find_reuse
from parloom.transforms.kernel_ir import Kernel
from parloom.transforms.lowering.program import lower_program
from parloom.transforms.lowering.whole import spelled
from parloom.transforms.pipelines import LEVELS


def mapped(program: Program, pipeline: Pipeline = (LEVELS,)) -> Program:
    """The program after the pipeline."""
    return run(program, pipeline).program


def run_program(
    program: Program, kernels: Mapping[Op, Kernel], compiled: Code, arguments: Sequence[Any]
) -> list[Any]:
    """A mapped program, its sequential part around the compiled kernels."""
    host = print_host(program, launchers(kernels, compiled), find_reuse(program))
    return list(load_host(host, program)(*arguments))


def run_plain(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """A mapped program, its kernels as plain Python."""
    kernels = lower_program(program)
    return run_program(program, kernels, code.plain(text_of(program)), arguments)


def run_numba(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """A mapped program, its kernels compiled through Numba."""
    kernels = native_kernels(program)
    compiled = code.by_numba(list(kernels.values()))
    return run_program(program, kernels, compiled, arguments)


def run_llvm(program: Program, arguments: Sequence[Any]) -> list[Any]:
    """A mapped program, its kernels compiled from LLVM IR."""
    kernels = native_kernels(program)
    ordered = list(kernels.values())
    compiled = code.by_llvm(ordered, print_module(ordered))
    return run_program(program, kernels, compiled, arguments)


def native_kernels(program: Program) -> dict[Op, Kernel]:
    """The kernels of a mapped program, without whole-array statements."""
    return {op: spelled(kernel) for op, kernel in lower_program(program).items()}


def text_of(program: Program) -> str:
    """The text of a mapped program's kernels."""
    return print_kernels(list(lower_program(program).values()))


def same_bits(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists of results agree bit for bit (one NaN is like another)."""
    return all(map(_same, first, second))


def _same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    equal = (a == b) & (np.signbit(a) == np.signbit(b)) if a.dtype.kind == "f" else a == b
    return bool(np.all(equal | ((a != a) & (b != b))))


__all__ = ["interpret", "mapped", "run_llvm", "run_numba", "run_plain", "same_bits", "text_of"]
