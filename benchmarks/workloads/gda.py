"""Gaussian discriminant analysis: class probability, class means, the shared covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]


def data(n: int, d: int) -> Arrays:
    """Two classes of normal rows, the second one shifted."""
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, d)) + 0.7 * y[:, None], y


def magnitude(x: Array, y: Array) -> Arrays:
    """Means of absolute values; a covariance adds the products of means that are subtracted."""
    mean0, mean1 = np.abs(x[~y]).mean(axis=0), np.abs(x[y]).mean(axis=0)
    spread = np.abs(x).T @ np.abs(x) / len(x)
    products = np.outer(mean0, mean0) + np.outer(mean1, mean1)
    return np.ones(()), mean0, mean1, 4.0 * (spread + products)


def numpy_centred() -> Function:
    """Rows less the mean of their class, then one matrix product."""

    def gda(x: Array, y: Array) -> tuple[Any, ...]:
        phi = y.mean()
        mu0, mu1 = x[~y].mean(axis=0), x[y].mean(axis=0)
        centred = x - np.where(y[:, None], mu1, mu0)
        return phi, mu0, mu1, centred.T @ centred / len(x)

    return gda


def numpy_one_pass() -> Function:
    """Sums by BLAS and the closed form of the covariance, with no array of the size of x."""

    def gda(x: Array, y: Array) -> tuple[Any, ...]:
        weight = y.astype(x.dtype)
        total1 = weight @ x
        total0 = x.sum(axis=0) - total1
        return closed_form(len(x), int(y.sum()), total0, total1, x.T @ x)

    return gda


def numba_natural() -> Function:
    """The loop nest as one would write it down, one pass over x, closed form."""
    import numba as nb

    @nb.njit(parallel=True)
    def pass_over(x: Array, y: Array, counts: Array, totals: Array, squares: Array) -> None:
        n, d = x.shape
        chunks = len(counts)
        for t in nb.prange(chunks):
            total = np.zeros((2, d))
            square = np.zeros((d, d))
            count = 0
            for i in range(t * n // chunks, (t + 1) * n // chunks):
                label = 1 if y[i] else 0
                count += label
                for a in range(d):
                    total[label, a] += x[i, a]
                for a in range(d):
                    xa = x[i, a]
                    for b in range(d):
                        square[a, b] += xa * x[i, b]
            counts[t] = count
            totals[t] = total
            squares[t] = square

    return with_partials(pass_over)


def numba_blocked() -> Function:
    """Blocks of 64 rows; within them one update of the squares for eight rows."""
    import numba as nb

    block = 64

    @nb.njit(parallel=True)
    def pass_over(x: Array, y: Array, counts: Array, totals: Array, squares: Array) -> None:
        n, d = x.shape
        chunks = len(counts)
        for t in nb.prange(chunks):
            total = np.zeros((2, d))
            square = np.zeros((d, d))
            count = 0
            end = (t + 1) * n // chunks
            for start in range(t * n // chunks, end, block):
                stop = min(start + block, end)
                for i in range(start, stop):
                    label = 1 if y[i] else 0
                    count += label
                    for a in range(d):
                        total[label, a] += x[i, a]
                i = start
                while i + 8 <= stop:
                    for a in range(d):
                        a0, a1, a2, a3 = x[i, a], x[i + 1, a], x[i + 2, a], x[i + 3, a]
                        a4, a5, a6, a7 = x[i + 4, a], x[i + 5, a], x[i + 6, a], x[i + 7, a]
                        for b in range(d):
                            square[a, b] += (
                                (a0 * x[i, b] + a1 * x[i + 1, b])
                                + (a2 * x[i + 2, b] + a3 * x[i + 3, b])
                            ) + (
                                (a4 * x[i + 4, b] + a5 * x[i + 5, b])
                                + (a6 * x[i + 6, b] + a7 * x[i + 7, b])
                            )
                    i += 8
                while i < stop:
                    for a in range(d):
                        xa = x[i, a]
                        for b in range(d):
                            square[a, b] += xa * x[i, b]
                    i += 1
            counts[t] = count
            totals[t] = total
            squares[t] = square

    return with_partials(pass_over)


def with_partials(pass_over: Function, chunks: int = 16) -> Function:
    """Around a pass that fills chunks of partial sums, their reduction and the closed form."""

    def gda(x: Array, y: Array) -> tuple[Any, ...]:
        n, d = x.shape
        counts = np.empty(chunks, np.int64)
        totals = np.empty((chunks, 2, d))
        squares = np.empty((chunks, d, d))
        pass_over(x, y, counts, totals, squares)
        total0, total1 = totals.sum(axis=0)
        return closed_form(n, int(counts.sum()), total0, total1, squares.sum(axis=0))

    return gda


def closed_form(n: int, n1: int, total0: Array, total1: Array, squares: Array) -> tuple[Any, ...]:
    """The model from the sums: Σ (x-μ)(x-μ)' = Σ xx' - n0 μ0μ0' - n1 μ1μ1'."""
    mu0, mu1 = total0 / (n - n1), total1 / n1
    sigma = (squares - np.outer(total0, mu0) - np.outer(total1, mu1)) / n
    return n1 / n, mu0, mu1, sigma


def parloom() -> Function:
    """The OptiML program, in the closed form that needs one pass."""
    import parloom as pm
    from parloom.dsls import optiml as ml

    @pm.jit
    def gda(x: Any, y: Any) -> Any:
        n = x.shape[0]
        n1 = y.count(lambda t: t)
        total0, total1 = ml.sum_rows_if(x, ~y), ml.sum_rows_if(x, y)
        squares = x.rows.sum(lambda p: ml.outer(p, p))
        mu0, mu1 = total0 / (n - n1), total1 / n1
        sigma = (squares - ml.outer(total0, mu0) - ml.outer(total1, mu1)) / n
        return n1 / n, mu0, mu1, sigma

    return gda  # type: ignore[no-any-return, unused-ignore]


WORKLOADS = (
    Workload(
        name="gda",
        title="Gaussian discriminant analysis",
        sizes={"full": {"n": 500_000, "d": 16}, "small": {"n": 2_000, "d": 16}},
        data=data,
        magnitude=magnitude,
        # one half of the symmetric products
        cost=lambda n, d: Cost(bytes=n * (8 * d + 1), flops=n * d * (d + 1)),
        implementations=(
            Implementation("numpy", numpy_centred, "centred rows, one matrix product"),
            Implementation("numpy_1pass", numpy_one_pass, "BLAS sums, closed form"),
            Implementation("numba", numba_natural, "the fused loop nest, closed form", ("numba",)),
            Implementation("numba_blocked", numba_blocked, "eight rows at a time", ("numba",)),
            Implementation(
                "parloom", parloom, "OptiML, closed form", ("parloom", "parloom.dsls.optiml")
            ),
        ),
    ),
)
