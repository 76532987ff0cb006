"""One step of k-means: label each row with its nearest centroid, then average each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]


def data(n: int, d: int, k: int) -> Arrays:
    """Rows around k centres, and k of the rows as centroids."""
    rng = np.random.default_rng(1)
    centres = 3.0 * rng.normal(size=(k, d))
    x = centres[rng.integers(0, k, n)] + rng.normal(size=(n, d))
    return x, x[rng.choice(n, k, replace=False)].copy()


def magnitude(x: Array, mu: Array) -> Arrays:
    """Each new centroid averages rows, so a mean of absolute values bounds it."""
    return (np.full(mu.shape, 4.0 * np.abs(x).mean() + np.abs(mu).max()),)


def numpy_gemm() -> Function:
    """Distances by the expansion |p|² - 2 p·c + |c|², whose first term decides nothing."""

    def step(x: Array, mu: Array) -> Array:
        k, d = mu.shape
        label = (np.einsum("ij,ij->i", mu, mu) - 2.0 * (x @ mu.T)).argmin(axis=1)
        count = np.bincount(label, minlength=k)
        sums = [np.bincount(label, weights=x[:, e], minlength=k) for e in range(d)]
        return np.stack(sums, axis=1) / np.maximum(count, 1)[:, None]

    return step


def numba_natural() -> Function:
    """The loop nest as one would write it down, fused into one pass over x."""
    import numba as nb

    @nb.njit(parallel=True)
    def pass_over(x: Array, mu: Array, sums: Array, counts: Array) -> None:
        n, d = x.shape
        k = mu.shape[0]
        chunks = len(counts)
        for t in nb.prange(chunks):
            s = np.zeros((k, d))
            c = np.zeros(k, np.int64)
            for i in range(t * n // chunks, (t + 1) * n // chunks):
                best = np.inf
                label = 0
                for j in range(k):
                    dist = 0.0
                    for e in range(d):
                        diff = x[i, e] - mu[j, e]
                        dist += diff * diff
                    if dist < best:
                        best = dist
                        label = j
                for e in range(d):
                    s[label, e] += x[i, e]
                c[label] += 1
            sums[t] = s
            counts[t] = c

    return with_partials(pass_over)


def numba_blocked() -> Function:
    """Blocks of 128 rows, transposed, so that the distances of a block are vector arithmetic.

    Four dimensions of one centroid at a time. The labels are read before the selection: written
    as a conditional store it becomes a masked one, which is slow on some processors.
    """
    import numba as nb

    block = 128

    @nb.njit(parallel=True)
    def pass_over(x: Array, mu: Array, sums: Array, counts: Array) -> None:
        n, d = x.shape
        k = mu.shape[0]
        chunks = len(counts)
        for t in nb.prange(chunks):
            s = np.zeros((k, d))
            c = np.zeros(k, np.int64)
            xt = np.zeros((d, block))
            dist = np.empty(block)
            best = np.empty(block)
            label = np.empty(block, np.int64)
            stop = (t + 1) * n // chunks
            for i in range(t * n // chunks, stop, block):
                rows = min(block, stop - i)
                for r in range(rows):
                    for e in range(d):
                        xt[e, r] = x[i + r, e]
                best[:] = np.inf
                label[:] = 0
                for j in range(k):
                    dist[:] = 0.0
                    e = 0
                    while e + 4 <= d:
                        m0, m1, m2, m3 = mu[j, e], mu[j, e + 1], mu[j, e + 2], mu[j, e + 3]
                        for r in range(block):
                            d0 = xt[e, r] - m0
                            d1 = xt[e + 1, r] - m1
                            d2 = xt[e + 2, r] - m2
                            d3 = xt[e + 3, r] - m3
                            dist[r] = (((dist[r] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3
                        e += 4
                    while e < d:
                        m0 = mu[j, e]
                        for r in range(block):
                            d0 = xt[e, r] - m0
                            dist[r] += d0 * d0
                        e += 1
                    for r in range(block):
                        a, b, old = dist[r], best[r], label[r]
                        label[r] = j if a < b else old
                        best[r] = a if a < b else b
                for r in range(rows):
                    j = label[r]
                    for e in range(d):
                        s[j, e] += x[i + r, e]
                    c[j] += 1
            sums[t] = s
            counts[t] = c

    return with_partials(pass_over)


def numba_tiled() -> Function:
    """Blocks of 128 rows, transposed; two centroids of four dimensions at a time share the loads.

    An odd last centroid is compared with itself, which changes nothing.
    """
    import numba as nb

    block = 128

    @nb.njit(parallel=True)
    def pass_over(x: Array, mu: Array, sums: Array, counts: Array) -> None:
        n, d = x.shape
        k = mu.shape[0]
        chunks = len(counts)
        for t in nb.prange(chunks):
            s = np.zeros((k, d))
            c = np.zeros(k, np.int64)
            xt = np.zeros((d, block))
            dist1 = np.empty(block)
            dist2 = np.empty(block)
            best = np.empty(block)
            label = np.empty(block, np.int64)
            stop = (t + 1) * n // chunks
            for i in range(t * n // chunks, stop, block):
                rows = min(block, stop - i)
                for r in range(rows):
                    for e in range(d):
                        xt[e, r] = x[i + r, e]
                best[:] = np.inf
                label[:] = 0
                for j in range(0, k, 2):
                    l = min(j + 1, k - 1)
                    dist1[:] = 0.0
                    dist2[:] = 0.0
                    e = 0
                    while e + 4 <= d:
                        m0, m1, m2, m3 = mu[j, e], mu[j, e + 1], mu[j, e + 2], mu[j, e + 3]
                        q0, q1, q2, q3 = mu[l, e], mu[l, e + 1], mu[l, e + 2], mu[l, e + 3]
                        for r in range(block):
                            x0, x1, x2, x3 = xt[e, r], xt[e + 1, r], xt[e + 2, r], xt[e + 3, r]
                            d0, d1, d2, d3 = x0 - m0, x1 - m1, x2 - m2, x3 - m3
                            dist1[r] = (((dist1[r] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3
                            d0, d1, d2, d3 = x0 - q0, x1 - q1, x2 - q2, x3 - q3
                            dist2[r] = (((dist2[r] + d0 * d0) + d1 * d1) + d2 * d2) + d3 * d3
                        e += 4
                    while e < d:
                        m0, q0 = mu[j, e], mu[l, e]
                        for r in range(block):
                            d0, d1 = xt[e, r] - m0, xt[e, r] - q0
                            dist1[r] += d0 * d0
                            dist2[r] += d1 * d1
                        e += 1
                    for r in range(block):
                        a1, a2, b, old = dist1[r], dist2[r], best[r], label[r]
                        old = j if a1 < b else old
                        b = a1 if a1 < b else b
                        label[r] = l if a2 < b else old
                        best[r] = a2 if a2 < b else b
                for r in range(rows):
                    j = label[r]
                    for e in range(d):
                        s[j, e] += x[i + r, e]
                    c[j] += 1
            sums[t] = s
            counts[t] = c

    return with_partials(pass_over)


def with_partials(pass_over: Function, chunks: int = 16) -> Function:
    """Around a pass that fills chunks of partial sums and counts, their reduction by NumPy."""

    def step(x: Array, mu: Array) -> Array:
        sums = np.empty((chunks, *mu.shape))
        counts = np.empty((chunks, len(mu)), np.int64)
        pass_over(x, mu, sums, counts)
        means: Array = sums.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)[:, None]
        return means

    return step


def parloom() -> Function:
    """The OptiML program."""
    import parloom as pm
    from parloom.dsls import optiml as ml

    @pm.jit
    def step(x: Any, mu: Any) -> Any:
        label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ml.dist(p, c, ml.SQUARE)))

        def mean_of(j: Any) -> Any:
            total = ml.sum_rows_if(x, label == j)
            count = label.count(lambda l: l == j)
            return total / np.maximum(count, 1)

        return pm.range(mu.shape[0]).map(mean_of)

    return step  # type: ignore[no-any-return, unused-ignore]


WORKLOADS = (
    Workload(
        name="kmeans",
        title="k-means step",
        sizes={
            "full": {"n": 1_000_000, "d": 10, "k": 16},
            "small": {"n": 2_000, "d": 10, "k": 16},
        },
        data=data,
        magnitude=magnitude,
        # a difference and a multiply-add for each centroid
        cost=lambda n, d, k: Cost(bytes=8 * n * d, flops=3 * n * d * k),
        implementations=(
            Implementation("numpy", numpy_gemm, "matrix product, argmin, bincount a column"),
            Implementation("numba", numba_natural, "the fused loop nest", ("numba",)),
            Implementation("numba_blocked", numba_blocked, "transposed blocks of rows", ("numba",)),
            Implementation("numba_tiled", numba_tiled, "and two centroids at a time", ("numba",)),
            Implementation("parloom", parloom, "OptiML", ("parloom", "parloom.dsls.optiml")),
        ),
    ),
)
