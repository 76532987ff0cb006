"""What a call costs when there is next to nothing to compute: ten elements.

    python benchmarks/calls.py [--repeats 2000]

Microseconds, the least mean of twenty runs, of parloom and of NumPy: an expression, a sum, an
expression with three captured globals, one step of k-means.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import parloom as pm
from benchmarks.workloads import load

RUNS = 20
SCALE, SHIFT, BIAS = 2.0, 3, 0.5


def expression(a: Any, b: Any) -> Any:
    """Elementwise."""
    return a * b + 1.0


def total(a: Any) -> Any:
    """A reduction."""
    return a.sum()


def captured(a: Any, b: Any) -> Any:
    """An expression whose version is guarded by three globals."""
    return a * SCALE + b * SHIFT - BIAS


def calls() -> dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]]:
    """By name: the function in parloom, in NumPy, and its arguments."""
    x = np.linspace(0.0, 1.0, 10)
    kmeans = load("kmeans")
    step = kmeans.implementation("parloom").make()
    return {
        "a * b + 1": (pm.jit(expression), expression, (x, x)),
        "a.sum()": (pm.jit(total), total, (x,)),
        "three globals": (pm.jit(captured), captured, (x, x)),
        "k-means step": (step, kmeans.implementations[0].make(), kmeans.data(n=10, d=2, k=3)),
    }


def microseconds(function: Callable[..., Any], arguments: Sequence[Any], repeats: int) -> float:
    """The least mean time of a call."""
    function(*arguments)
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(repeats):
            function(*arguments)
        best = min(best, time.perf_counter() - start)
    return best / repeats * 1e6


def measured(repeats: int) -> Mapping[str, tuple[float, float]]:
    """By name: microseconds of parloom and of NumPy."""
    return {
        name: (microseconds(ours, given, repeats), microseconds(theirs, given, repeats))
        for name, (ours, theirs, given) in calls().items()
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=2000, help="calls a run (2000)")
    table = Table("call", "parloom, us", "NumPy, us", title="calls on ten elements")
    for name, times in measured(parser.parse_args(argv).repeats).items():
        table.add_row(name, *(f"{t:.1f}" for t in times))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
