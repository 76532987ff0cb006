"""np.unique, the functions of sets, np.digitize and np.interp on what is special."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm

NAN, INF = np.nan, np.inf
WHOLE = np.array([3, -1, 3, 0, -1, 7])
VECTORS = [
    WHOLE,
    WHOLE.astype(np.uint8),
    WHOLE > 0,
    np.array([NAN, 1.0, NAN, 0.5, INF, 1.0], np.float32),
    WHOLE.reshape(2, 3),
    np.zeros(0),
    np.ones(1),
]


def agree(f: Callable[..., Any], *args: Any) -> None:
    jitted: Any = pm.jit(f)
    found, wanted = jitted(*args), f(*args)
    several = isinstance(wanted, tuple)
    for a, b in zip(*((found, wanted) if several else ((found,), (wanted,))), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("x", VECTORS, ids=lambda x: f"{x.dtype}{x.shape}")
def test_unique(x: Any) -> None:
    agree(lambda x: (np.unique(x), np.unique(x, equal_nan=False)), x)
    agree(lambda x: tuple(np.unique(x, True, True, True)), x)


@pytest.mark.parametrize("x", VECTORS, ids=lambda x: f"{x.dtype}{x.shape}")
def test_sets(x: Any) -> None:
    for y in (np.array([3, 0]), np.array([NAN, 0.5]), np.zeros(0)):
        agree(lambda x, y: (np.isin(x, y), np.isin(x, y, invert=True)), x, y)
        agree(lambda x, y: (np.union1d(x, y), np.setdiff1d(x, y)), x, y)


@pytest.mark.parametrize("bins", [[-1, 0, 3], [2.5, 0.0, -1.0], [1.0], [0, 0, 1], []])
def test_digitize(bins: list[float]) -> None:
    edges = np.array(bins)
    for x in (WHOLE, np.array([NAN, INF, 0.0, -INF])):
        agree(lambda x, b: (np.digitize(x, b), np.digitize(x, b, right=True)), x, edges)


def test_bins_without_an_order() -> None:
    jitted: Any = pm.jit(lambda x, b: np.digitize(x, b))
    with pytest.raises(ValueError, match="the bins must be in order"):
        jitted(WHOLE, np.array([0, 2, 1]))


@pytest.mark.parametrize("points", [[0.0, 1.0, 3.0], [0.0, 0.0, 2.0], [1.0], [-INF, 0.0, INF]])
@pytest.mark.parametrize("values", [[1.0, -2.0, 5.0], [2.0, 2.0, 2.0], [0.0, INF, 1.0]])
def test_interp(points: list[float], values: list[float]) -> None:
    x = np.array([-1.0, 0.0, 0.25, 1.0, 2.5, 3.0, 4.0, NAN, INF, -INF])
    known, of = np.array(points), np.array(values[: len(points)])
    agree(lambda x, p, v: np.interp(x, p, v), x, known, of)
    agree(
        lambda x, p, v: (np.interp(x[2], p, v, -9.0, 9), np.interp(x, p, v, right=7)), x, known, of
    )


def test_interp_without_points() -> None:
    jitted: Any = pm.jit(lambda x, p: np.interp(x, p, p))
    with pytest.raises(ValueError, match="sample points is empty"):
        jitted(WHOLE, np.zeros(0))
