"""Interleaved pairs of timed calls.

Every implementation lives in its own process, with its own copy of the data. The subject is timed
next to each of its rivals in turn, the order within a pair alternating from round to round, and the
ratio of a pair is what counts: whatever slows the machine for a while slows both.

Three things would charge one side for what the other did, or for nothing it did:

* BLAS workers spin for about 110 ms after a call, OpenMP workers for about 11 ms. Before each timed
  call all processes are left alone for SETTLE seconds, so that no foreign worker still spins.
* An idle core takes up to 8 ms to wake. So a worker calls its function untimed for 30 ms at least,
  then times the next call. Its own spinners are there, as in any loop that calls it.
* Fresh results cost page faults. Each function allocates its results as its users would see it, and
  the results here are small; the worker frees them outside the clock.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .processes import Worker
from .ratios import Median, median
from .workloads import Workload
from .workloads.workload import results

SETTLE = 0.15


class WrongResult(RuntimeError):
    """An implementation differs from the reference by more than the bound allows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One implementation: its times, its error, and how the subject compares with it."""

    name: str
    note: str
    median_ms: float
    least_ms: float
    error: float
    ratio: Median | None

    @property
    def faster(self) -> float | None:
        """How many times faster the subject is."""
        return None if self.ratio is None else 1.0 / self.ratio.value


def compare(
    workload: Workload,
    size: str,
    subject: str,
    chosen: Sequence[str],
    pairs: int,
    folder: Path,
    environment: Mapping[str, str],
    progress: Callable[[str], None],
) -> list[Row]:
    """The subject against the chosen rivals, after the results of all have been verified."""
    names = [i.name for i in workload.implementations if i.name in (subject, *chosen)]
    progress(f"{workload.title}: starting {', '.join(names)}")
    with contextlib.ExitStack() as stack:
        workers = {
            name: stack.enter_context(Worker(workload.name, name, size, folder, environment))
            for name in names
        }
        for worker in workers.values():
            worker.wait_until_ready()
        errors = verified(workload, size, workers)
        times, ratios = paired_times(workload, workers, subject, pairs, progress)
    return [
        Row(
            name=name,
            note=workload.implementation(name).note,
            median_ms=1e3 * statistics.median(times[name]),
            least_ms=1e3 * min(times[name]),
            error=errors[name],
            ratio=median(ratios[name]) if name != subject else None,
        )
        for name in names
    ]


def verified(workload: Workload, size: str, workers: Mapping[str, Worker]) -> dict[str, float]:
    """The largest error of each against the reference, as a part of what the bound allows."""
    args = workload.data(**workload.sizes[size])
    expected = results(workload.implementations[0].make()(*args))
    errors = {name: workload.worst(w.results(), expected, args) for name, w in workers.items()}
    for name, error in errors.items():
        if not error <= 1.0:
            raise WrongResult(f"{workload.title}, {name}: {error:.3g} times the allowed error")
    return errors


def paired_times(
    workload: Workload,
    workers: Mapping[str, Worker],
    subject: str,
    pairs: int,
    progress: Callable[[str], None],
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Seconds of every timed call, and the subject's time over the rival's in each pair."""
    times: dict[str, list[float]] = {name: [] for name in workers}
    ratios: dict[str, list[float]] = {name: [] for name in workers if name != subject}
    for k in range(pairs):
        progress(f"{workload.title}: round {k + 1} of {pairs}")
        for rival in ratios:
            order = (subject, rival) if k % 2 == 0 else (rival, subject)
            pair: dict[str, float] = {}
            for name in order:
                time.sleep(SETTLE)
                pair[name] = workers[name].time_one_call()
                times[name].append(pair[name])
            ratios[rival].append(pair[subject] / pair[rival])
    return times, ratios
