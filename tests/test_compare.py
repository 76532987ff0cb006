"""The comparison that the other tests rest on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compare import EXACT, Bounded, Exact, Tier, Ulps, assert_agree, bounded

ONE = np.float64(1)
NEXT = np.nextafter(ONE, np.float64(2))
NAN, INF = np.float64(np.nan), np.float64(np.inf)
WIDE = Bounded(absolutes=1e3, count=8)


@pytest.mark.parametrize(
    ("actual", "expected", "tier"),
    [
        (ONE, ONE, EXACT),
        (NAN, NAN, EXACT),
        (np.float64(-0.0), np.float64(0.0), Exact(zero_sign=False)),
        (NEXT, ONE, Ulps(1)),
        (NEXT, ONE, WIDE),
        (INF, INF, WIDE),
        ((ONE, {"a": NAN}), (ONE, {"a": NAN}), EXACT),
        (np.complex128(complex(1, NEXT)), np.complex128(1 + 1j), Ulps(1)),
        (np.float64(0.1) + np.float64(0.2), np.float64(0.3), bounded([0.1, 0.2])),
    ],
)
def test_these_agree(actual: Any, expected: Any, tier: Tier) -> None:
    assert_agree(actual, expected, tier)


@pytest.mark.parametrize(
    ("actual", "expected", "tier"),
    [
        (NEXT, ONE, EXACT),
        (np.float64(-0.0), np.float64(0.0), EXACT),
        (np.float32(1), ONE, WIDE),
        (np.ones(2), np.ones((1, 2)), WIDE),
        (np.nextafter(NEXT, 2), ONE, Ulps(1)),
        (NAN, ONE, WIDE),
        (INF, ONE, Bounded(absolutes=np.inf, count=8)),
        (ONE, NAN, Ulps(4)),
        (np.int64(2), np.int64(1), WIDE),
        (ONE + 1e-9, ONE, WIDE),
        ((ONE,), (ONE, ONE), EXACT),
        ({"b": ONE}, {"a": ONE}, EXACT),
    ],
)
def test_these_do_not(actual: Any, expected: Any, tier: Tier) -> None:
    with pytest.raises(AssertionError):
        assert_agree(actual, expected, tier)
