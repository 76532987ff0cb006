"""The same bits for any number of threads and from every printing: the OptiML programs."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.runtime import threads
from parloom.transforms import cpu_levels
from tests.codegen.kernels import same_bits
from tests.dsls import programs

RNG = np.random.default_rng(2)
N, D, K = 501, 5, 3
X = RNG.normal(size=(N, D)) * 10.0 ** RNG.integers(-4, 4, (N, 1))
Y = (RNG.random(N) > 0.4).astype(np.float64)
W = RNG.normal(size=D) / 100

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "kmeans step": (programs.kmeans_step, (X, X[:K])),
    "kmeans with masks": (programs.kmeans_masks, (X, X[:K])),
    "kmeans with groups": (programs.kmeans_groups, (X, X[:K])),
    "kmeans": (programs.kmeans, (X, X[:K], 1e-3, 2)),
    "logistic gradient, rows": (programs.logistic_gradient_rows, (X, Y, W)),
    "logistic gradient, matrix": (programs.logistic_gradient_matrix, (X, Y, W)),
    "gda, rows": (programs.gda_rows, (X, Y)),
    "gda, matrix": (programs.gda_matrix, (X, Y)),
}


def results(f: Any, args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """The results of a call, flat."""
    found: Any = f.on(**options)(*args)
    several: list[Any] = list(found) if isinstance(found, tuple) else [found]
    return several


def backwards(a: np.ndarray) -> np.ndarray:
    """The array with a negative stride."""
    return np.ascontiguousarray(a[::-1])[::-1]


@pytest.fixture(autouse=True)
def many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_levels, "CHUNK", 20)
    monkeypatch.setattr(cpu_levels, "VECTOR", 1)


@pytest.mark.parametrize("name", CASES)
def test_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, args = CASES[name]
    f: Any = pm.jit(function)
    monkeypatch.setattr(threads, "_wanted", 1)
    expected = results(f, args, {})
    for count in (2, 7):
        monkeypatch.setattr(threads, "_wanted", count)
        assert same_bits(results(f, args, {}), expected), count


@pytest.mark.parametrize("name", ["kmeans step", "logistic gradient, rows", "gda, rows"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_printers(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function, given = CASES[name]
    f: Any = pm.jit(function)
    args = tuple(a.astype(dtype) for a in given)
    monkeypatch.setattr(threads, "_wanted", 1)
    expected = results(f, args, {"printer": "llvm"})
    assert same_bits(results(f, args, {"printer": "numba"}), expected)
    few = tuple(a[:45] if len(a) == N else a for a in args)
    short = results(f, few, {"printer": "llvm"})
    for count in (1, 7):
        monkeypatch.setattr(threads, "_wanted", count)
        assert same_bits(results(f, few, {"target": "python"}), short), count


@pytest.mark.parametrize("name", CASES)
def test_layouts_of_the_arguments(name: str) -> None:
    """Strides are no part of the order of a sum."""
    function, args = CASES[name]
    f: Any = pm.jit(function)
    expected = results(f, args, {})
    for layout in (backwards, np.asfortranarray):
        laid_out = tuple(layout(a) if isinstance(a, np.ndarray) else a for a in args)
        assert same_bits(results(f, laid_out, {}), expected)
