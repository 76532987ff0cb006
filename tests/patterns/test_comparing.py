"""np.array_equal and np.array_equiv: shapes that do not fit, known or not, are an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm

ARRAYS: list[Any] = [
    np.ones(3),
    np.ones(4),
    np.ones(1),
    np.ones(0),
    np.ones((3, 1)),
    np.ones((1, 3)),
    np.ones((4, 3)),
    np.float64(1),
    np.array([1, 1, np.nan]),
]


@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: f"{x!r}")
def test_against_numpy(x: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        equal = np.array_equal(x, y)
        return equal, np.array_equal(x, y, equal_nan=True), np.array_equiv(x, y), 2 if equal else 1

    jitted: Any = pm.jit(f)
    for y in ARRAYS:
        assert tuple(jitted(x, y)) == f(x, y)


def test_of_one_array() -> None:
    def f(x: Any) -> Any:
        return np.array_equal(x[1:], x[:-1]), np.array_equal(x[x > 0], x)

    jitted: Any = pm.jit(f)
    assert tuple(jitted(np.ones(4))) == (True, True)
    assert tuple(jitted(np.arange(4.0))) == (False, False)
