"""Intervals of the median from order statistics."""

import pytest

from benchmarks.ratios import median


@pytest.mark.parametrize(
    ("n", "rank"),
    # The ranks of the usual tables: the interval is the rank-th smallest to the rank-th largest.
    [(6, 1), (9, 2), (12, 3), (21, 6), (25, 8), (51, 19)],
)
def test_ranks_are_those_of_the_tables(n: int, rank: int) -> None:
    m = median([float(v) for v in reversed(range(1, n + 1))])
    assert (m.low, m.high) == (rank, n + 1 - rank)


def test_few_values_give_their_range() -> None:
    assert median([3.0, 1.0]) == median([1.0, 3.0])
    m = median([2.0])
    assert (m.low, m.value, m.high) == (2.0, 2.0, 2.0)
