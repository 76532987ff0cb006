"""The gradient of logistic regression: the sum over rows of (sigmoid(x θ) - y) x."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]


def data(n: int, d: int) -> Arrays:
    """Normal rows, labels drawn from a model, and half of that model as the current weights."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, d))
    model = 0.3 * rng.normal(size=d)
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-x @ model))).astype(np.float64)
    return x, y, 0.5 * model


def magnitude(x: Array, y: Array, theta: Array) -> Arrays:
    """The sum of absolute terms; the 4 is for the error of a residual, a sum of d terms itself."""
    residual = 1.0 / (1.0 + np.exp(-x @ theta)) - y
    return (4.0 * (np.abs(residual) @ np.abs(x)),)


def numpy_blas() -> Function:
    """Two matrix-vector products."""

    def gradient(x: Array, y: Array, theta: Array) -> Array:
        g: Array = x.T @ (1.0 / (1.0 + np.exp(-(x @ theta))) - y)
        return g

    return gradient


def numba_natural() -> Function:
    """The loop nest as one would write it down, fused into one pass over x."""
    import numba as nb

    @nb.njit(parallel=True)
    def pass_over(x: Array, y: Array, theta: Array, partial: Array) -> None:
        n, d = x.shape
        chunks = len(partial)
        for t in nb.prange(chunks):
            g = np.zeros(d)
            for i in range(t * n // chunks, (t + 1) * n // chunks):
                z = 0.0
                for e in range(d):
                    z += x[i, e] * theta[e]
                residual = 1.0 / (1.0 + math.exp(-z)) - y[i]
                for e in range(d):
                    g[e] += residual * x[i, e]
            partial[t] = g

    return with_partials(pass_over)


def numba_blocked() -> Function:
    """Blocks of 64 rows; four rows at a time share θ, and one update of the gradient."""
    import numba as nb

    block = 64

    @nb.njit(parallel=True)
    def pass_over(x: Array, y: Array, theta: Array, partial: Array) -> None:
        n, d = x.shape
        chunks = len(partial)
        for t in nb.prange(chunks):
            g = np.zeros(d)
            res = np.empty(block)
            stop = (t + 1) * n // chunks
            for start in range(t * n // chunks, stop, block):
                rows = min(block, stop - start)
                whole = rows // 4 * 4
                for q in range(0, whole, 4):
                    i = start + q
                    z0 = z1 = z2 = z3 = 0.0
                    for e in range(d):
                        w = theta[e]
                        z0 += x[i, e] * w
                        z1 += x[i + 1, e] * w
                        z2 += x[i + 2, e] * w
                        z3 += x[i + 3, e] * w
                    res[q], res[q + 1], res[q + 2], res[q + 3] = z0, z1, z2, z3
                for q in range(whole, rows):
                    z0 = 0.0
                    for e in range(d):
                        z0 += x[start + q, e] * theta[e]
                    res[q] = z0
                for q in range(rows):
                    res[q] = 1.0 / (1.0 + math.exp(-res[q])) - y[start + q]
                for q in range(0, whole, 4):
                    i = start + q
                    r0, r1, r2, r3 = res[q], res[q + 1], res[q + 2], res[q + 3]
                    for e in range(d):
                        g[e] += (r0 * x[i, e] + r1 * x[i + 1, e]) + (
                            r2 * x[i + 2, e] + r3 * x[i + 3, e]
                        )
                for q in range(whole, rows):
                    for e in range(d):
                        g[e] += res[q] * x[start + q, e]
            partial[t] = g

    return with_partials(pass_over)


def with_partials(pass_over: Function, chunks: int = 16) -> Function:
    """Around a pass that fills chunks of partial gradients, their reduction by NumPy."""

    def gradient(x: Array, y: Array, theta: Array) -> Array:
        partial = np.empty((chunks, len(theta)))
        pass_over(x, y, theta, partial)
        g: Array = partial.sum(axis=0)
        return g

    return gradient


def parloom() -> Function:
    """The OptiML program."""
    import parloom as pm
    from parloom.dsls import optiml as ml

    @pm.jit
    def gradient(x: Any, y: Any, theta: Any) -> Any:
        return x.T @ (ml.sigmoid(x @ theta) - y)

    return gradient  # type: ignore[no-any-return, unused-ignore]


WORKLOADS = (
    Workload(
        name="logreg",
        title="logistic regression gradient",
        sizes={"full": {"n": 1_000_000, "d": 20}, "small": {"n": 2_000, "d": 20}},
        data=data,
        magnitude=magnitude,
        cost=lambda n, d: Cost(bytes=8 * n * (d + 1), flops=4 * n * d),
        implementations=(
            Implementation("numpy", numpy_blas, "two matrix-vector products"),
            Implementation("numba", numba_natural, "the fused loop nest", ("numba",)),
            Implementation("numba_blocked", numba_blocked, "four rows at a time", ("numba",)),
            Implementation("parloom", parloom, "OptiML", ("parloom", "parloom.dsls.optiml")),
        ),
    ),
)
