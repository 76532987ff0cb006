"""Sequential loops that run as one kernel: the interpreter's results, at the kernels' speed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.nodes import ForLoop, While
from parloom.transforms.lowering.program import lower_program


def kernels_of(function: Any, *args: Any) -> int:
    """How many sequential loops of the function became kernels."""
    jitted: Any = pm.jit(function)
    program = jitted.trace(*args)
    return sum(isinstance(op, While | ForLoop) for op in lower_program(mapped(program)))


def mapped(program: Any) -> Any:
    """The program as the CPU runs it."""
    from parloom.staging.passes import run
    from parloom.transforms.pipelines import CPU

    return run(program, CPU).program


def logistic_map(x: Any, n: Any) -> Any:
    k = 0
    while k < n:
        x = 3.9 * x * (1 - x)
        k += 1
    return x, k


def sum_of_positive(x: Any) -> Any:
    s = 0.0
    for v in x:
        if v > 0:
            s += v
    return s


def two_at_once(x: Any) -> Any:
    a, b = 1.0, 2.0
    for v in x:
        a, b = b, a + v
    return a, b


def collatz(n: Any) -> Any:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


X = np.array([0.5, -1.0, 2.25, -0.0, np.inf])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (logistic_map, (0.3, 50)),
        (logistic_map, (0.3, 0)),
        (sum_of_positive, (X,)),
        (sum_of_positive, (X[::-2],)),
        (sum_of_positive, (X[:0],)),
        (two_at_once, (X,)),
        (collatz, (27,)),
    ],
)
@pytest.mark.parametrize("target", ["cpu", "python"])
def test_the_loop_is_one_kernel_and_exact(function: Any, args: Any, target: str) -> None:
    assert kernels_of(function, *args) == 1
    jitted: Any = pm.jit(function)
    found = jitted.on(target)(*args)
    np.testing.assert_array_equal(found, function(*args))


def test_loops_that_launch_or_call_back_stay_with_the_driver() -> None:
    def launches(x: Any) -> Any:
        while x.sum() > 1.0:
            x = x * 0.5
        return x

    assert kernels_of(launches, X[:3]) == 0
    np.testing.assert_array_equal(pm.jit(launches)(X[:3]), launches(X[:3]))


def test_an_index_outside_names_the_line() -> None:
    def reads(x: Any, n: Any) -> Any:
        s = 0.0
        for i in range(n):
            s += x[i]  # the line
        return s

    assert pm.jit(reads)(X[:3], 3) == reads(X[:3], 3)
    with pytest.raises(IndexError, match="the line"):
        pm.jit(reads)(X[:3], 4)


def test_a_failed_assert_is_the_users() -> None:
    def checked(x: Any) -> Any:
        s = 0.0
        for v in x:
            assert v >= 0, "negative"
            s += v
        return s

    assert pm.jit(checked)(abs(X[:3])) == checked(abs(X[:3]))
    with pytest.raises(AssertionError, match="negative"):
        pm.jit(checked)(X)
