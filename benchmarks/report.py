"""The results as tables for a terminal, and as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .first_call import FirstCall
from .limits import Limits
from .ratios import Median
from .rounds import Row
from .workloads import Workload


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything measured of one workload."""

    workload: Workload
    size: str
    subject: str
    pairs: int
    rows: Sequence[Row]
    first_calls: Sequence[FirstCall]
    limits: Limits

    @property
    def roofline_ms(self) -> float:
        """The least time that the machine's limits leave."""
        cost = self.workload.cost(**self.workload.sizes[self.size])
        return 1e3 * self.limits.seconds(cost)


def show(console: Console, measured: Measured) -> None:
    """Print the table of times and ratios, and the table of first calls."""
    workload = measured.workload
    times = Table(
        title=f"{escape(workload.title)}, {workload.shape(measured.size)}, {measured.pairs} pairs",
        caption=f"ratio: time of {measured.subject} over the row's, with a 95 % interval; "
        f"roofline: {measured.roofline_ms:.2f} ms over the median",
        title_justify="left",
        caption_justify="left",
    )
    times.add_column("", no_wrap=True)
    for column in ("median ms", "least ms", "ratio", "faster", "roofline"):
        times.add_column(column, justify="right", no_wrap=column == "ratio")
    for row in measured.rows:
        ratio = "" if row.ratio is None else interval(row.ratio)
        faster = "" if row.faster is None else f"{row.faster:.2f}"
        part = f"{measured.roofline_ms / row.median_ms:.0%}"
        milliseconds = (f"{row.median_ms:.2f}", f"{row.least_ms:.2f}")
        times.add_row(row.name, *milliseconds, ratio, faster, part)
    console.print(times)
    if not measured.first_calls:
        return
    firsts = Table("", "case", title=f"{escape(workload.title)}, first call", title_justify="left")
    for column in ("import s", "first call s", "least s"):
        firsts.add_column(column, justify="right")
    for f in measured.first_calls:
        seconds = (f.import_s, f.first_call_s, f.least_first_call_s)
        firsts.add_row(f.implementation, f.case, *(f"{s:.3f}" for s in seconds))
    console.print(firsts)


def interval(ratio: Median) -> str:
    """A ratio with its interval.

    >>> interval(Median(0.5, 0.41, 0.6666))
    '0.500 [0.410, 0.667]'
    """
    return f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def document(environment: dict[str, Any], all_measured: Sequence[Measured]) -> dict[str, Any]:
    """The JSON document."""
    return {
        "environment": environment,
        "workloads": {
            m.workload.name: {
                "title": m.workload.title,
                "size": dict(m.workload.sizes[m.size]),
                "subject": m.subject,
                "pairs": m.pairs,
                "cost": asdict(m.workload.cost(**m.workload.sizes[m.size])),
                "roofline_ms": m.roofline_ms,
                "rows": [{**asdict(row), "times_faster": row.faster} for row in m.rows],
                "first_calls": [asdict(f) for f in m.first_calls],
            }
            for m in all_measured
        },
    }
