"""Medians with an interval that assumes nothing about how the times are distributed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Median:
    """A median, and an interval that covers it with at least 95 %."""

    value: float
    low: float
    high: float


def median(values: Sequence[float]) -> Median:
    """The median with its interval from order statistics.

    The number of values below the true median is binomial with p = 1/2, so the j-th smallest and
    the j-th largest value enclose it with probability 1 - 2 P(fewer than j are below). Fewer than
    six values carry no 95 % interval; the least and the greatest are given then.

    >>> median([1.0, 2.0, 3.0])
    Median(value=2.0, low=1.0, high=3.0)
    >>> median([float(v) for v in range(21)])
    Median(value=10.0, low=5.0, high=15.0)
    """
    ordered = sorted(values)
    n = len(ordered)
    rank = 0
    below = 1 / 2**n
    while below <= 0.025 and rank < n // 2:
        rank += 1
        below += math.comb(n, rank) / 2**n
    rank = max(rank - 1, 0)
    return Median(statistics.median(ordered), ordered[rank], ordered[n - 1 - rank])
