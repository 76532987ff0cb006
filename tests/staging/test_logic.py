"""Staged and, or, not, in and assert."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from parloom.staging import errors

from .running import agree, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


def test_logic() -> None:
    def f(x: float, n: int) -> Any:
        return (
            x > 0 and n > 1,
            x > 0 or n > 1,
            not x,
            not (x > 1),
            0 < x < 3,
            0 < x <= n < 5,
            n in (1, 2, 3),
            n not in [1, 2],
            n in range(1, 10, 2),
            n and x,
            n or x,
            x and True,
        )

    args = [(x, n) for x in (-1.0, 0.0, 0.5, 3.0) for n in (0, 1, 4)]
    for x, n in args:
        assert run(f, x, n) == f(x, n), (x, n)


def test_short_circuits_guard_what_follows() -> None:
    def f(x: Any, i: int) -> Any:
        inside = i < len(x) and x[i] > 0
        return inside or i > 100

    agree(f, (X, 0), (X, 1), (X, 9))


def test_truth_of_an_array_is_ambiguous() -> None:
    def f(x: Any) -> Any:
        return 1 if x > 0 else 2

    with pytest.raises(errors.StagingTypeError, match=r"instead: \.any\(\) or \.all\(\)"):
        run(f, X)


def test_membership_in_arrays() -> None:
    agree(lambda x, v: v in x, (X, 2.5), (X, 9.0))


def test_asserts_are_checked_when_the_program_runs() -> None:
    def f(x: float) -> Any:
        assert x > 0, "must be positive"
        return math.sqrt(x)

    assert run(f, 4.0) == 2.0
    with pytest.raises(AssertionError, match="must be positive"):
        run(f, -1.0)
