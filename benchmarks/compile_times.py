"""What a first call costs in a fresh process, on little data: mostly compiling.

    python benchmarks/compile_times.py [--case NAME] [--repeats 5] [--limit 120]

Single loops, one step of k-means, and straight-line functions of distinct unary operations on
arrays; in parloom with an empty cache, in Numba, and in JAX where it is installed. The clocks start
after the imports and stop when the result is there. CPU seconds count all threads; of each the
least of the repeats is printed, or why there is none.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.workloads import load

IMPLEMENTATIONS = {"parloom": "jit", "numba": "njit", "jax": "jit"}  # their decorators
OPERATIONS = (
    *("np.sqrt(x)", "np.floor(x)", "np.negative(x)", "np.abs(x)", "x * {c}", "x + {c}"),
    *("np.square(x)", "np.ceil(x)", "np.rint(x)", "x - {c}"),
)


def straight_line(count: int) -> str:
    """A body of as many operations; the constants differ."""
    operations = (OPERATIONS[i % len(OPERATIONS)].format(c=1 + i / 977) for i in range(count))
    return "".join(f"x = {operation}\n    " for operation in operations) + "return x"


BODIES: dict[str, Callable[[], str]] = {
    "x * y + 1": lambda: "return x * y + 1.0",
    "((x - y) ** 2).sum()": lambda: "return ((x - y) ** 2).sum()",
    "1,000 operations": lambda: straight_line(1000),
    "4,000 operations": lambda: straight_line(4000),
}
KMEANS = "k-means step"
CASES = (*BODIES, KMEANS)


def prepared(
    case: str, implementation: str, folder: Path
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The function, of which nothing is compiled yet, and its arguments."""
    if case == KMEANS:
        kmeans = load("kmeans")
        return kmeans.implementation(implementation).make(), kmeans.data(n=100, d=3, k=4)
    numpy = "jax.numpy" if implementation == "jax" else "numpy"
    file = folder / "measured.py"
    file.write_text(f"import {numpy} as np\n\ndef f(x, y):\n    {BODIES[case]()}\n", "utf-8")
    spec = importlib.util.spec_from_file_location("measured", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    decorator = getattr(importlib.import_module(implementation), IMPLEMENTATIONS[implementation])
    return decorator(module.f), (np.linspace(0.0, 1.0, 10), np.linspace(1.0, 2.0, 10))


def first_call(case: str, implementation: str, folder: Path) -> dict[str, float]:
    """CPU and wall seconds of the first call in this process."""
    function, arguments = prepared(case, implementation, folder)
    wall, cpu = time.perf_counter(), time.process_time()
    np.asarray(function(*arguments))  # waits for a result that is still computed
    return {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def least(case: str, implementation: str, repeats: int, limit: float) -> Mapping[str, float] | str:
    """The least times of fresh processes, or why there are none."""
    samples: list[dict[str, float]] = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            caches = {"PARLOOM_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
            settings = {**os.environ, **caches, "JAX_ENABLE_X64": "1"}
            command = [sys.executable, __file__, "--child", case, implementation, folder]
            try:
                done = subprocess.run(
                    command, env=settings, capture_output=True, text=True, timeout=limit
                )
            except subprocess.TimeoutExpired:
                return f"more than {limit:g} s"
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["failed"])[-1]
        samples.append(json.loads(done.stdout))
    return {clock: min(s[clock] for s in samples) for clock in ("cpu", "wall")}


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--case", action="append", choices=CASES, help="repeatable; all")
    parser.add_argument("--repeats", type=int, default=5, help="fresh processes of each (5)")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds a process may take")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.child is not None:
        case, implementation, folder = options.child
        print(json.dumps(first_call(case, implementation, Path(folder))))
        return 0
    table = Table("first call", "implementation", "CPU, s", "wall, s")
    for case in options.case or CASES:
        for name in IMPLEMENTATIONS:
            if importlib.util.find_spec(name) is None or (case == KMEANS and name == "jax"):
                continue
            times = least(case, name, options.repeats, options.limit)
            row = (times, "") if isinstance(times, str) else [f"{t:.3f}" for t in times.values()]
            table.add_row(case, name, *row)
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
