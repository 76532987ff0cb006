"""How long the first call takes in a fresh process.

The clock starts after the imports, whose time stands beside it, and includes making the function
(decorating it) and calling it on the small data. Each case is a new process:

* cold: nothing has been compiled; parloom's cache folder is empty
* cached: an earlier process has filled parloom's cache folder
* numba ran: cached, and the process has already compiled and run some Numba function
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .processes import Worker
from .workloads import Workload

CASES: dict[str, tuple[tuple[str, ...], bool]] = {
    # name: (flags of the worker, whether a process before it fills the cache)
    "cold": ((), False),
    "cached": ((), True),
    "numba ran": (("--numba-ran",), True),
}


@dataclass(frozen=True, slots=True)
class FirstCall:
    """Medians over the repetitions."""

    implementation: str
    case: str
    import_s: float
    first_call_s: float
    least_first_call_s: float


def first_calls(
    workload: Workload,
    repeats: int,
    folder: Path,
    environment: Mapping[str, str],
    progress: Callable[[str], None],
    names: Sequence[str],
) -> list[FirstCall]:
    """parloom in every case; the hand-written Numba cold, since nothing of it is cached."""
    cases = [(name, case) for name in names for case in (CASES if name == "parloom" else ("cold",))]
    found: list[FirstCall] = []
    for name, case in cases if repeats else ():
        progress(f"{workload.title}: first call of {name}, {case}")
        samples = [one(workload, name, case, folder, environment) for _ in range(repeats)]
        calls = [s["first_call_s"] for s in samples]
        imports = [s["import_s"] for s in samples]
        found.append(
            FirstCall(name, case, statistics.median(imports), statistics.median(calls), min(calls))
        )
    return found


def one(
    workload: Workload, name: str, case: str, folder: Path, environment: Mapping[str, str]
) -> dict[str, float]:
    """The times of one fresh process."""
    flags, filled = CASES[case]
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        settings = {**environment, "PARLOOM_CACHE_DIR": cache, "NUMBA_CACHE_DIR": cache}
        if filled:
            run(workload, name, folder, settings, ())
        return run(workload, name, folder, settings, flags)


def run(
    workload: Workload,
    name: str,
    folder: Path,
    settings: Mapping[str, str],
    flags: tuple[str, ...],
) -> dict[str, float]:
    """Start a worker, take the times of its first call, end it."""
    with Worker(workload.name, name, "small", folder, settings, flags) as worker:
        return worker.wait_until_ready()
