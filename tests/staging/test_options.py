"""`pm.options` around calls, and what `f.stats()` says of them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors

X = np.array([1.0, 4.0, 9.0])
TABLE = np.array([[2.0, 1.0], [1.0, 3.0]])
KNOWN = {"rate": 2.0}


def jitted(f: Callable[..., Any], target: str = "cpu") -> Any:
    return pm.jit(f, target=target)


def test_options_choose_for_a_block_of_code() -> None:
    f = jitted(lambda x: x + 1)
    with pm.options(target="reference"):
        f(X)
        assert f.explain(X).source() == f.on("reference").explain(X).source()
    assert f.stats().calls == 0
    with pm.options(target="nowhere"):
        assert f.on("reference")(1.0) == 2.0  # the function's own choice comes first
        with pytest.raises(errors.UnknownNameError, match="there is no target 'nowhere'"):
            f(X)
        with pm.options(target="python", limit=0):
            np.testing.assert_equal(f(X), X + 1)


# stats


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ((X,), (X.astype("f4"),), "x is an f32 array of rank 1, was an f64 array of rank 1"),
        ((X,), (X[::2],), "x is an f64 array of rank 1, not contiguous, was an f64 array of rank"),
        ((1.0,), (2,), "x is a Python number (i64), was a Python number (f64)"),
        ((X,), (X, "mean"), "how is 'mean', was None"),
    ],
)
def test_stats_say_why_a_function_was_compiled_again(
    first: tuple[Any, ...], second: tuple[Any, ...], reason: str
) -> None:
    def f(x: Any, how: Any = None) -> Any:
        return x * 2

    g = jitted(f, "reference")
    for args in (first, second):
        g(*args)
    (found,) = g.stats().reasons
    assert found.startswith(reason)


def test_stats_name_the_variable_that_changed() -> None:
    rate = 2.0
    f = jitted(lambda x: x * rate, "reference")
    f(1.0)
    rate = 3.0
    assert f(1.0) == 3.0
    (reason,) = f.stats().reasons
    assert reason.startswith("rate, read at ")
    assert reason.endswith("is not what it was")
