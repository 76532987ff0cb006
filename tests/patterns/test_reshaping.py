"""Reshaping aliases as NumPy's does: where it does so for some sizes only, reads that would depend
on it are refused.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import Limitation

A = np.arange(24.0).reshape(4, 6)


def write_to(reshaped: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def f(a: Any) -> Any:
        b = a.copy()
        v = reshaped(b)
        v[0] = 100.0
        b[-1] = 50.0
        return b, v

    return f


@pytest.mark.parametrize(
    "reshaped",
    [
        lambda b: b.reshape(-1),
        lambda b: b[1:3].ravel(),
        lambda b: b[1].reshape(2, 3),
        lambda b: b.T.reshape(-1),
        lambda b: b[::2].reshape(-1),
        lambda b: b[:, ::-1].reshape(-1),
        lambda b: b[:, ::2].ravel(),
        lambda b: b.flatten(),
    ],
)
def test_written_as_numpys(reshaped: Callable[[Any], Any]) -> None:
    jitted: Any = pm.jit(write_to(reshaped))
    for found, expected in zip(jitted(A), write_to(reshaped)(A), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "reshaped",
    [
        lambda b: b[:, ::2].reshape(-1),
        lambda b: b[:, ::2].reshape(2, 2, 3),
        lambda b: b[::-1, ::-1].reshape(-1),
        lambda b: b[:, : b.shape[1]].ravel(),
    ],
)
def test_a_view_for_some_sizes_only(reshaped: Callable[[Any], Any]) -> None:
    jitted: Any = pm.jit(write_to(reshaped))
    with pytest.raises(Limitation, match="may have been written to under another name"):
        jitted(A)
    alone: Any = pm.jit(lambda a: reshaped(a.copy()) + 1.0)
    np.testing.assert_array_equal(alone(A), reshaped(A.copy()) + 1.0)


def test_an_argument_that_is_reshaped_is_not_written_to() -> None:
    def f(a: Any) -> Any:
        v = a.reshape(-1)
        v[0] = 1.0
        return v

    jitted: Any = pm.jit(f)
    with pytest.raises(Limitation, match="a write to an argument"):
        jitted(A)
