"""What the machine can do at most: the rates that the roofline of a workload is made of.

    (Williams, Waterman, Patterson: Roofline. CACM 52(4), 2009)

bytes : copying between arrays larger than any cache, bytes read and written a second
flops : fused multiply-adds of vector registers, two operations each, by the dtype of the elements

Both are measured, with as many threads as the implementations have, as the best of several runs.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from .workloads.workload import Cost

COPIED = 1 << 27  # bytes
TURNS = 4_000_000
ACCUMULATORS = 12  # as many as 16 registers have room for, and more than a multiply-add has stages


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes a second, and operations a second by dtype."""

    bytes: float
    flops: Mapping[str, float]

    def seconds(self, cost: Cost) -> float:
        """The least time of a computation: that of its memory or of its arithmetic.

        >>> Limits(1e9, {"float64": 1e10}).seconds(Cost(bytes=1000, flops=100))
        1e-06
        """
        return max(cost.bytes / self.bytes, cost.flops / self.flops[cost.dtype])


def measure(threads: int, bytes_: int = COPIED, turns: int = TURNS) -> Limits:
    """The limits of this machine now."""
    with ThreadPoolExecutor(threads) as pool:
        source = np.ones(bytes_ // 8)
        target = np.zeros_like(source)
        parts = list(
            zip(np.array_split(target, threads), np.array_split(source, threads), strict=True)
        )

        def copy(k: int) -> None:
            np.copyto(*parts[k])

        copying = least(pool, threads, copy)
        flops = {}
        for name, kind in (("float64", "double"), ("float32", "float")):
            lanes = vector_bytes() // np.dtype(name).itemsize
            engine, function = compiled(kind, lanes)
            seconds = least(pool, threads, lambda _: function(turns))  # noqa: B023 (used at once)
            flops[name] = 2 * lanes * ACCUMULATORS * turns * threads / seconds
            del engine
    return Limits(2 * source.nbytes / copying, flops)


def least(
    pool: ThreadPoolExecutor, threads: int, part: Callable[[int], Any], runs: int = 9
) -> float:
    """The least seconds in which all threads have done their part."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        list(pool.map(part, range(threads)))
        best = min(best, time.perf_counter() - start)
    return best


def vector_bytes() -> int:
    """The size of the processor's vector registers."""
    from llvmlite import binding as llvm

    features = llvm.get_host_cpu_features()
    return 64 if features.get("avx512f") else 32 if features.get("avx") else 16


def compiled(kind: str, lanes: int) -> tuple[Any, Callable[[int], float]]:
    """A loop of independent fused multiply-adds, and what it lives in."""
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text(kind, lanes)), machine)
    engine.finalize_object()
    prototype = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)
    return engine, prototype(engine.get_function_address("multiply_add"))


def text(kind: str, lanes: int) -> str:
    """The loop in LLVM IR; it returns a lane of the sum, so that nothing of it may go."""
    vector = f"<{lanes} x {kind}>"
    numbers = range(ACCUMULATORS)
    intrinsic = f"@llvm.fma.v{lanes}f{64 if kind == 'double' else 32}"
    half = f"<{', '.join([f'{kind} 0.5'] * lanes)}>"
    phis = [
        f"  %a{k} = phi {vector} [ zeroinitializer, %entry ], [ %b{k}, %loop ]" for k in numbers
    ]
    steps = [
        f"  %b{k} = call {vector} {intrinsic}({vector} %a{k}, {vector} {half}, {vector} {half})"
        for k in numbers
    ]
    sums = [f"  %s0 = fadd {vector} %b0, %b1"]
    sums += [f"  %s{k - 1} = fadd {vector} %s{k - 2}, %b{k}" for k in numbers[2:]]
    lane = f"  %lane = extractelement {vector} %s{ACCUMULATORS - 2}, i64 0"
    wide = "  %wide = fadd double %lane, 0.0"
    lines = [
        f"declare {vector} {intrinsic}({vector}, {vector}, {vector})",
        "define double @multiply_add(i64 %turns) {",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *phis,
        *steps,
        "  %next = add i64 %i, 1",
        "  %more = icmp slt i64 %next, %turns",
        "  br i1 %more, label %loop, label %done",
        "done:",
        *sums,
        lane,
        wide if kind == "double" else "  %wide = fpext float %lane to double",
        "  ret double %wide",
        "}",
    ]
    return "\n".join(lines)
