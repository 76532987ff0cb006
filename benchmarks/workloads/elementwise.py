"""An expression of arrays: into a fresh array, and into one that the caller has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rivals import jax, parloom
from .workload import Arrays, Cost, Function, Implementation, Workload

Array = NDArray[Any]


def expression(a: Any, b: Any, c: Any) -> Any:
    """What is computed."""
    return a * b + c - a / 2


def data(n: int) -> Arrays:
    """Three normal vectors."""
    rng = np.random.default_rng(4)
    return tuple(rng.normal(size=n) for _ in range(3))


def data_with_result(n: int) -> Arrays:
    """And an array for the result."""
    return (*data(n), np.zeros(n))


def magnitude(a: Array, b: Array, c: Array, *_: Array) -> Arrays:
    """The terms; XLA fuses the product with an addition."""
    return (np.abs(a * b) + np.abs(c) + np.abs(a / 2),)


def numpy_out() -> Function:
    """Without temporaries but one."""

    def f(a: Array, b: Array, c: Array, out: Array) -> Array:
        np.multiply(a, b, out=out)
        np.add(out, c, out=out)
        return np.subtract(out, a / 2, out=out)  # type: ignore[no-any-return, unused-ignore]

    return f


def numba_out() -> Function:
    """The loop, on all cores."""
    import numba as nb

    @nb.njit(parallel=True)
    def f(a: Array, b: Array, c: Array, out: Array) -> Array:
        for i in nb.prange(len(a)):
            out[i] = a[i] * b[i] + c[i] - a[i] / 2
        return out

    return f  # type: ignore[no-any-return, unused-ignore]


def numba_fresh() -> Function:
    """The loop, into memory of NumPy's."""
    loop = numba_out()

    def f(a: Array, b: Array, c: Array) -> Array:
        out: Array = loop(a, b, c, np.empty(len(a)))
        return out

    return f


def parloom_out() -> Function:
    """The function with `out=`."""
    import parloom as pm

    jitted: Any = pm.jit(expression)

    def f(a: Array, b: Array, c: Array, out: Array) -> Array:
        jitted(a, b, c, out=out)
        return out

    return f


SIZES = {"full": {"n": 10_000_000}, "small": {"n": 10_000}}


def cost(n: int) -> Cost:
    """Three arrays are read, one is written."""
    return Cost(bytes=4 * 8 * n, flops=4 * n)


WORKLOADS = (
    Workload(
        name="elementwise",
        title="a * b + c - a / 2",
        sizes=SIZES,
        data=data,
        magnitude=magnitude,
        cost=cost,
        implementations=(
            Implementation("numpy", lambda: expression, "an array an operation"),
            Implementation("numba", numba_fresh, "one loop", ("numba",)),
            *jax(lambda jnp: expression),
            parloom(expression),
        ),
    ),
    Workload(
        name="elementwise_out",
        title="a * b + c - a / 2, with out=",
        sizes=SIZES,
        data=data_with_result,
        magnitude=magnitude,
        cost=cost,
        implementations=(
            Implementation("numpy", numpy_out, "an operation after the other"),
            Implementation("numba", numba_out, "one loop", ("numba",)),
            Implementation("parloom", parloom_out, "the same function", ("parloom",)),
        ),
    ),
)
