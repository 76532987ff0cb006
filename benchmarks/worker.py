"""One implementation in a process of its own, driven by lines on standard input.

    python -m benchmarks.worker WORKLOAD IMPLEMENTATION SIZE RESULT.npz [--numba-ran]

imports what the implementation needs, makes the data, calls it once, writes the results of that
call, and answers with one line of JSON: the import time, the time of the first call (making the
function and calling it) and of the second. Then, for each line "time", it answers with the seconds
of one call, until its input ends. With --numba-ran, Numba has compiled and run something before
the clock of the first call starts.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib import import_module

import numpy as np

from .workloads import load
from .workloads.workload import Function, results

# Idle cores take up to 8 ms to wake: a timed call follows at least this much work.
WARM_UP = 0.03


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workload")
    parser.add_argument("implementation")
    parser.add_argument("size")
    parser.add_argument("result")
    parser.add_argument("--numba-ran", action="store_true")
    options = parser.parse_args()

    workload = load(options.workload)
    implementation = workload.implementation(options.implementation)
    args = workload.data(**workload.sizes[options.size])
    if options.numba_ran:
        run_numba()

    start = time.perf_counter()
    for module in implementation.imports:
        import_module(module)
    imported = time.perf_counter()
    function = implementation.make()
    value = function(*args)
    called = time.perf_counter()
    function(*args)
    again = time.perf_counter()

    np.savez(options.result, *results(value))
    times = {
        "import_s": imported - start,
        "first_call_s": called - imported,
        "second_call_s": again - called,
    }
    print(json.dumps(times), flush=True)
    for _ in sys.stdin:
        print(timed(function, args), flush=True)


def run_numba() -> None:
    """Compile and run a small kernel, as a program that already uses Numba would have."""
    import numba

    @numba.njit
    def total(values: np.ndarray) -> float:
        s = 0.0
        for i in range(len(values)):
            s += values[i]
        return s

    total(np.ones(8))


def timed(function: Function, args: tuple[np.ndarray, ...]) -> float:
    """Seconds of one call that finds the cores awake; its result is dropped outside the clock."""
    stop = time.perf_counter() + WARM_UP
    value = function(*args)
    while time.perf_counter() < stop:
        value = function(*args)
    start = time.perf_counter()
    value = function(*args)
    elapsed = time.perf_counter() - start
    del value
    return elapsed


if __name__ == "__main__":
    main()
