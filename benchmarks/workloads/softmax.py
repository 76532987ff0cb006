"""Softmax of each row, in single precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rivals import jax, parloom
from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]


def softmax(library: Any) -> Callable[..., Any]:
    """The function of whole arrays, in the functions of a library."""

    def rows(x: Any) -> Any:
        e = library.exp(x - x.max(axis=1)[:, None])
        return e / e.sum(axis=1)[:, None]

    return rows


def numba_rows() -> Function:
    """A row after the other, on all cores."""
    import numba as nb

    one, none = np.float32(1), np.float32(0)

    @nb.njit(parallel=True, fastmath={"reassoc"})
    def rows(x: Array, out: Array) -> Array:
        n, d = x.shape
        for i in nb.prange(n):
            top = x[i, 0]
            for e in range(1, d):
                top = max(top, x[i, e])
            total = none
            for e in range(d):
                out[i, e] = math.exp(x[i, e] - top)
                total += out[i, e]
            scale = one / total
            for e in range(d):
                out[i, e] *= scale
        return out

    def fresh(x: Array) -> Array:
        out: Array = rows(x, np.empty_like(x))
        return out

    return fresh


def data(n: int, d: int) -> Arrays:
    """Normal rows."""
    return (np.random.default_rng(6).normal(size=(n, d)).astype(np.float32),)


def magnitude(x: Array) -> Arrays:
    """The results: all terms are positive."""
    result: Array = softmax(np)(x.astype(np.float64))
    return (result,)


WORKLOADS = (
    Workload(
        name="softmax",
        title="softmax of rows, float32",
        sizes={"full": {"n": 8192, "d": 1024}, "small": {"n": 64, "d": 100}},
        data=data,
        magnitude=magnitude,
        # max, difference, sum, quotient; exp is not counted: what it costs is the library's
        cost=lambda n, d: Cost(bytes=2 * 4 * n * d, flops=4 * n * d, dtype="float32"),
        implementations=(
            Implementation("numpy", lambda: softmax(np), "whole arrays"),
            Implementation("numba", numba_rows, "row by row", ("numba",)),
            *jax(softmax),
            parloom(softmax(np)),
        ),
    ),
)
