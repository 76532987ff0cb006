"""Reductions of vectors: sums, extrema, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rivals import jax, parloom
from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]

CHUNKS = 64


def numba_sum() -> Function:
    """Numba's own reduction; additions in any order, so that they become vectors."""
    import numba as nb

    @nb.njit(parallel=True, fastmath={"reassoc"})
    def f(x: Array) -> float:
        s = 0.0
        for i in nb.prange(len(x)):
            s += x[i]
        return s

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_squares() -> Function:
    """Fused, in any order."""
    import numba as nb

    @nb.njit(parallel=True, fastmath={"reassoc", "contract"})
    def f(x: Array, y: Array) -> float:
        s = 0.0
        for i in nb.prange(len(x)):
            d = x[i] - y[i]
            s += d * d
        return s

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_moments() -> Function:
    """One pass, of differences from the first element."""
    import numba as nb

    @nb.njit(parallel=True, fastmath={"reassoc", "contract"})
    def f(x: Array) -> tuple[float, float]:
        n, shift = len(x), x[0]
        s = q = 0.0
        for i in nb.prange(n):
            d = x[i] - shift
            s += d
            q += d * d
        return shift + s / n, (q - s * s / n) / n

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_min() -> Function:
    """Numba's own reduction."""
    import numba as nb

    @nb.njit(parallel=True)
    def f(x: Array) -> float:
        m = np.inf
        for i in nb.prange(len(x)):
            m = min(m, x[i])
        return m

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_argmin() -> Function:
    """A place for each chunk, then the first of the least."""
    import numba as nb

    @nb.njit(parallel=True)
    def f(x: Array) -> int:
        places = np.empty(CHUNKS, np.int64)
        n = len(x)
        for t in nb.prange(CHUNKS):
            start = t * n // CHUNKS
            best, at = np.inf, start
            for i in range(start, (t + 1) * n // CHUNKS):
                if x[i] < best:
                    best, at = x[i], i
            places[t] = at
        found = places[0]
        for t in range(1, CHUNKS):
            if x[places[t]] < x[found]:
                found = places[t]
        return found

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_masked() -> Function:
    """A selection, which becomes a vector, in place of a branch."""
    import numba as nb

    @nb.njit(parallel=True, fastmath={"reassoc"})
    def f(x: Array) -> float:
        s = 0.0
        for i in nb.prange(len(x)):
            s += x[i] if x[i] > 0 else 0.0
        return s

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_count() -> Function:
    """Integer additions."""
    import numba as nb

    @nb.njit(parallel=True)
    def f(x: Array) -> int:
        s = 0
        for i in nb.prange(len(x)):
            s += x[i] > 0
        return s

    return f  # type: ignore[no-any-return, unused-ignore]


def vectors(count: int) -> Callable[[int], Arrays]:
    """So many normal vectors."""

    def data(n: int) -> Arrays:
        rng = np.random.default_rng(7)
        return tuple(rng.normal(size=n) for _ in range(count))

    return data


def exact(*args: Array) -> Arrays:
    """The magnitude of a result that has one value."""
    return (np.zeros(()),)


def reduction(
    name: str,
    title: str,
    function: Callable[..., Any],
    numba: Callable[[], Function],
    magnitude: Callable[..., Arrays],
    *,
    operations: int = 1,
    arrays: int = 1,
    in_jax: Callable[..., Callable[..., Any]] | None = None,
) -> Workload:
    """A workload: the function of NumPy, by hand, in JAX unless its sizes depend on values.

    operations : a term's, for the roofline
    """
    return Workload(
        name=name,
        title=title,
        sizes={"full": {"n": 10_000_000}, "small": {"n": 10_000}},
        data=vectors(arrays),
        magnitude=magnitude,
        cost=lambda n: Cost(bytes=8 * arrays * n, flops=operations * n),
        implementations=(
            Implementation("numpy", lambda: function, "the idiom"),
            Implementation("numba", numba, "one loop", ("numba",)),
            *jax(in_jax or (lambda jnp: function)),
            parloom(function),
        ),
    )


WORKLOADS = (
    reduction("sum", "x.sum()", lambda x: x.sum(), numba_sum, lambda x: (np.abs(x).sum(),)),
    reduction(
        "squares",
        "((x - y) ** 2).sum()",
        lambda x, y: ((x - y) ** 2).sum(),
        numba_squares,
        lambda x, y: (((x - y) ** 2).sum(),),
        operations=3,
        arrays=2,
    ),
    reduction(
        "moments",
        "x.mean(), x.var()",
        lambda x: (x.mean(), x.var()),
        numba_moments,
        lambda x: (np.abs(x).mean(), 4 * (x * x).mean()),
        operations=4,
    ),
    reduction("min", "x.min()", lambda x: x.min(), numba_min, exact),
    reduction("argmin", "x.argmin()", lambda x: x.argmin(), numba_argmin, exact),
    reduction(
        "masked_sum",
        "x[x > 0].sum()",
        lambda x: x[x > 0].sum(),
        numba_masked,
        lambda x: (np.abs(x).sum(),),
        operations=2,
        in_jax=lambda jnp: lambda x: jnp.where(x > 0, x, 0.0).sum(),
    ),
    reduction(
        "count",
        "np.count_nonzero(x > 0)",
        lambda x: np.count_nonzero(x > 0),
        numba_count,
        exact,
        operations=2,
        in_jax=lambda jnp: lambda x: jnp.count_nonzero(x > 0),
    ),
)
