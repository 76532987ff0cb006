"""What is recommended instead of a NumPy function gives that function's values."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import numpy_functions
from parloom.staging.unsupported import INSTEAD, instead_of

X = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, -6.0]])
V = np.array([3.0, -1.0, 2.0, 0.5, 4.0])

# Name, the recommendation with its free names bound, the function itself.
CASES: list[tuple[str, Any, Any, Any]] = [
    ("nansum", lambda x: np.where(np.isnan(x), 0, x).sum(), np.nansum, X),
    ("nanmean", lambda x: x.filter(lambda v: v == v).mean(), np.nanmean, X[0]),
    ("nanmax", lambda x: x.filter(lambda v: v == v).max(), np.nanmax, X[0]),
    ("allclose", lambda x: (abs(x - x) <= 1e-8).all(), lambda x: np.allclose(x, x), V),
    ("array_equal", lambda x: (x == x).all(), lambda x: np.array_equal(x, x), V),
    ("average", lambda x: (x * x).sum() / x.sum(), lambda x: np.average(x, weights=x), V),
    (
        "bincount",
        lambda x: x.group_by((x > 1).astype(int), size=2).count(),
        lambda x: np.bincount((x > 1).astype(int)),
        V,
    ),
    (
        "convolve",
        lambda x: pm.range(x.shape[0] - 2).map(lambda i: (x[i : i + 3] * np.ones(3)).sum()),
        lambda x: np.convolve(x, np.ones(3), "valid"),
        V,
    ),
    (
        "roll",
        lambda x: pm.range(x.shape[0]).map(lambda i: x[(i - 2) % x.shape[0]]),
        lambda x: np.roll(x, 2),
        V,
    ),
    (
        "repeat",
        lambda x: pm.range(2 * x.shape[0]).map(lambda i: x[i // 2]),
        lambda x: np.repeat(x, 2),
        V,
    ),
    (
        "linspace",
        lambda x: 1 + (3 - 1) * np.arange(x.shape[0]) / (x.shape[0] - 1),
        lambda x: np.linspace(1, 3, len(x)),
        V,
    ),
    (
        "cov",
        lambda x: (x - x.mean(axis=0)).T @ (x - x.mean(axis=0)) / (x.shape[0] - 1),
        lambda x: np.cov(x, rowvar=False),
        X[:, [0, 2]],
    ),
    (
        "reshape",
        lambda x: pm.collect((3, 2), lambda i, j: x.ravel()[i * 2 + j]),
        lambda x: x.reshape(3, 2),
        X,
    ),
]


@pytest.mark.parametrize(("name", "recommended", "function", "x"), CASES)
def test_recommendations_do_the_same(name: str, recommended: Any, function: Any, x: Any) -> None:
    assert name in INSTEAD
    jitted: Any = pm.jit(recommended, target="reference")
    np.testing.assert_allclose(jitted(x), function(x), rtol=1e-12)


def test_what_is_supported_is_not_in_the_table() -> None:
    staged = {numpy_functions.full_name(f) for f in numpy_functions._functions}  # pyright: ignore[reportPrivateUsage]
    assert not staged & {f"np.{name}" for name in INSTEAD}


def test_the_nearest_name_is_guessed() -> None:
    assert instead_of("normal", ["np.linalg.norm", "np.sum"]) == "did you mean 'np.linalg.norm'?"
    assert instead_of("fft", ["np.sum"]) == ""
