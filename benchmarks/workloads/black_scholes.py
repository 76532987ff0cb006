"""Prices of European options by Black and Scholes; the normal distribution by the polynomial
26.2.17 of Abramowitz and Stegun."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rivals import jax, parloom
from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]

RATE, VOLATILITY = 0.02, 0.3
POLYNOMIAL = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
SCALE = 1.0 / math.sqrt(2.0 * math.pi)


def prices(library: Any) -> Callable[..., Any]:
    """The function of whole arrays, in the functions of a library: calls and puts."""

    def normal(d: Any) -> Any:
        k = 1.0 / (1.0 + 0.2316419 * abs(d))
        a1, a2, a3, a4, a5 = POLYNOMIAL
        tail = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
        upper = SCALE * library.exp(-0.5 * d * d) * tail
        return library.where(d > 0, 1.0 - upper, upper)

    def black_scholes(s: Any, x: Any, t: Any) -> Any:
        root = library.sqrt(t) * VOLATILITY
        d1 = (library.log(s / x) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * t) / root
        n1, n2 = normal(d1), normal(d1 - root)
        present = x * library.exp(-RATE * t)
        return s * n1 - present * n2, present * (1.0 - n2) - s * (1.0 - n1)

    return black_scholes


def numba_loop() -> Function:
    """One loop over the options."""
    import numba as nb

    a1, a2, a3, a4, a5 = POLYNOMIAL

    @nb.njit
    def normal(d: float) -> float:
        k = 1.0 / (1.0 + 0.2316419 * abs(d))
        tail = k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5))))
        upper = SCALE * math.exp(-0.5 * d * d) * tail
        return 1.0 - upper if d > 0 else upper

    @nb.njit(parallel=True)
    def loop(s: Array, x: Array, t: Array, call: Array, put: Array) -> None:
        for i in nb.prange(len(s)):
            root = math.sqrt(t[i]) * VOLATILITY
            drift = (RATE + 0.5 * VOLATILITY * VOLATILITY) * t[i]
            d1 = (math.log(s[i] / x[i]) + drift) / root
            n1, n2 = normal(d1), normal(d1 - root)
            present = x[i] * math.exp(-RATE * t[i])
            call[i] = s[i] * n1 - present * n2
            put[i] = present * (1.0 - n2) - s[i] * (1.0 - n1)

    def black_scholes(s: Array, x: Array, t: Array) -> tuple[Array, Array]:
        call, put = np.empty(len(s)), np.empty(len(s))
        loop(s, x, t, call, put)
        return call, put

    return black_scholes


def data(n: int) -> Arrays:
    """Prices, strikes, years."""
    rng = np.random.default_rng(5)
    return rng.uniform(5, 30, n), rng.uniform(1, 100, n), rng.uniform(0.25, 10, n)


def magnitude(s: Array, x: Array, t: Array) -> Arrays:
    """What is subtracted."""
    return s + x, s + x


WORKLOADS = (
    Workload(
        name="black_scholes",
        title="Black-Scholes",
        sizes={"full": {"n": 4_000_000}, "small": {"n": 4_000}},
        data=data,
        magnitude=magnitude,
        # exp and log are not counted: what they cost is the library's
        cost=lambda n: Cost(bytes=5 * 8 * n, flops=50 * n),
        implementations=(
            Implementation("numpy", lambda: prices(np), "whole arrays"),
            Implementation("numba", numba_loop, "one loop", ("numba",)),
            *jax(prices),
            parloom(prices(np)),
        ),
    ),
)
