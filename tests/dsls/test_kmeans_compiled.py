"""The k-means job, compiled: one compilation for all sizes, NumPy's answers on odd inputs."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.dsls import optiml as ml
from tests.dsls.programs import kmeans_step, numpy_kmeans_step


@pm.jit
def kmeans(x: Any, centroids: Any, tol: float = 1e-3, max_iter: int = 100) -> Any:
    """The whole job, as the README spells it."""

    def step(mu: Any) -> Any:
        label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))

        def mean_of(j: Any) -> Any:
            total = ml.sum_rows_if(x, label == j)
            count = label.count(lambda l: l == j)
            return total / np.maximum(count, 1)

        return pm.range(mu.shape[0]).map(mean_of)

    return ml.until_converged(centroids, step, tol=tol, max_iter=max_iter)


def numpy_kmeans(x: np.ndarray, mu: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
    """The same loop in NumPy."""
    for _ in range(max_iter):
        new = numpy_kmeans_step(x, mu)
        difference = ((mu - new) ** 2).sum()
        mu = new
        if not abs(difference) > tol:
            break
    return mu


def data(n: int, d: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows and the first k of them."""
    x = np.random.default_rng(seed).random((n, d))
    return x, x[:k].copy()


def test_one_compilation_serves_every_n_d_and_k() -> None:
    before = kmeans.stats().compiles
    for n, d, k in ((50, 3, 4), (200, 7, 2), (129, 2, 9), (1000, 17, 5), (128, 4, 3), (3, 2, 3)):
        x, mu = data(n, d, k)
        expected = numpy_kmeans(x, mu, 1e-3, 100)
        np.testing.assert_allclose(kmeans(x, mu), expected, rtol=1e-9)
    assert kmeans.stats().compiles <= before + 1


@pytest.mark.parametrize(
    "arrange",
    [
        np.asfortranarray,
        lambda x: x[::-1],
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: np.pad(x, ((0, 0), (2, 3)))[:, 2:-3],
        lambda x: x[::-1, ::-1][::-1, ::-1],
    ],
)
def test_any_layout_gives_the_answer_of_a_contiguous_copy(arrange: Any) -> None:
    x, mu = data(300, 5, 4)
    view = arrange(x)
    view.flags.writeable = False
    step = pm.jit(kmeans_step)
    expected = step(np.ascontiguousarray(view), mu)
    np.testing.assert_array_equal(step(view, mu), expected)
    np.testing.assert_array_equal(step(view, arrange(mu)), step(view, arrange(mu).copy()))


def test_no_rows_leave_zero_centroids() -> None:
    x, mu = data(10, 3, 2)
    np.testing.assert_array_equal(kmeans(x[:0], mu), np.zeros((2, 3)))


def test_a_nan_stays_in_its_cluster() -> None:
    x, mu = data(40, 3, 2)
    x[7, 1] = np.nan
    with np.errstate(invalid="ignore"):
        expected = numpy_kmeans_step(x, mu)
    np.testing.assert_allclose(pm.jit(kmeans_step)(x, mu), expected, rtol=1e-12)


def test_no_centroids_is_numpys_error() -> None:
    x, mu = data(10, 3, 0)
    with pytest.raises(ValueError, match="zero-size array to reduction operation argmin"):
        kmeans(x, mu)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_bits_do_not_depend_on_threads_or_printer(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, mu = data(40_000, 6, 7)
    expected = kmeans(x, mu, max_iter=3)
    monkeypatch.setattr("parloom.codegen.runtime.threads._wanted", threads)
    for printer in ("llvm", "numba"):
        found = kmeans.on("cpu", printer=printer)(x, mu, max_iter=3)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("d", [3, 1000, 30_000])
def test_distances_in_float32_keep_the_bound_of_sums(d: int) -> None:
    x, _ = data(130, d, 2)
    x = x.astype(np.float32)
    c = x[:3] + np.float32(0.5)

    def nearest(rows: Any, centroids: Any) -> Any:
        def distances(p: Any) -> Any:
            return centroids.rows.map(lambda q: ml.dist(p, q, ml.SQUARE))

        return rows.rows.map(lambda p: distances(p).min())

    jitted: Any = pm.jit(nearest)
    exact = ((x[:, None].astype(np.float64) - c[None]) ** 2).sum(axis=2).min(axis=1)
    found: Any = jitted(x, c)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=float(4 * np.finfo(np.float32).eps))
