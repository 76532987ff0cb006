"""`break`, `continue` and `return` in staged branches and loops, nested and unrolled."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging import errors
from parloom.staging.nodes import ForLoop, If, While
from parloom.staging.tracing import trace_function

from .running import everywhere, ops, run

X = np.array([3.0, -1.0, 2.5, 0.0])


def test_continue_and_break_in_a_for_loop() -> None:
    def f(x: Any, least: float) -> Any:
        s = 0.0
        for v in x:
            if v < least:
                continue
            if v > 100:
                break
            s += v
        return s

    everywhere(f, (X, 0.0), (X, -5.0), (X * 100, -1e9), (X[:0], 0.0))


def test_while_true_with_else() -> None:
    def f(x: Any, least: float) -> Any:
        i = 0
        while i < len(x):
            if x[i] < least:
                break
            i += 1
        else:
            i = 100
        while True:
            i += 3
            if i > 50:
                break
        return i

    everywhere(f, (X, 0.0), (X, -5.0))


def test_return_from_loops() -> None:
    def find(x: Any, v: float) -> Any:
        for i in range(len(x)):
            if x[i] == v:
                return i
        return -1

    def pairs(x: Any, v: float) -> Any:
        count = 0
        for i in range(len(x)):
            for j in range(i):
                if x[i] + x[j] == v:
                    return i, j, count
                count += 1
        return -1, -1, count

    def arrays(x: Any, v: float) -> Any:
        y = x * 1.0
        while True:
            y = y * 2.0
            if y.sum() > v:
                return y, "doubled"
            if y.sum() < 1e-3:
                return x, "doubled"

    everywhere(find, (X, 2.5), (X, 7.0))
    everywhere(pairs, (X, 2.5), (X, 70.0))
    everywhere(arrays, (X, 100.0), (-X, 1.0))


def test_break_and_continue_belong_to_their_loop() -> None:
    def f(x: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            for v in x:
                if v * i > 4:
                    break
                if v < 0:
                    continue
                s += v
            else:
                s += 1000.0
                continue
            if s > 20:
                break
            s += 0.5
        return s

    everywhere(f, (X, 0), (X, 1), (X, 3), (X, 9))


def test_unrolled_loops_with_staged_breaks() -> None:
    def f(x: Any, least: float) -> Any:
        seen = 0
        for k in (0, 1, 2):
            if x[k] < least:
                break
            if x[k] == 2.5:
                return 50 + k
            seen += 1
        else:
            k = 7
        return k + 10 * seen

    everywhere(f, (X, 0.0), (X, -5.0), (X, 9.0), (X[[0, 3, 1]], -5.0))


def test_jumps_that_are_known_while_staging_leave_nothing() -> None:
    calls: list[int] = []

    def numbers() -> Any:
        for k in range(1000):
            if k > 3:
                raise AssertionError("one too many")
            yield k

    def f(x: Any) -> Any:
        for k in numbers():
            if k == 1:
                continue
            if k == 3:
                break
            x = x + k
        else:
            x = x * 1000
        for k in (5, 6):
            if k == 6:
                return x + k
        return x

    traced = trace_function(f, (1.0,))
    assert not ops(traced, If) + ops(traced, While) + ops(traced, ForLoop)
    assert run(f, 1.0) == f(1.0) == 9.0
    assert not calls


def test_both_sides_fall_through_and_a_return_stands_deep() -> None:
    def f(x: float) -> Any:
        if x > 0:
            if x > 10:
                return 1.0
            y = 1.0
        else:
            if x < -10:
                return 2.0
            y = 2.0
        if y * x > 5:
            return y
        return y + x

    everywhere(f, (20.0,), (6.0,), (1.0,), (-1.0,), (-20.0,))


def test_with_and_try_around_jumps() -> None:
    from contextlib import nullcontext

    def f(x: Any, least: float) -> Any:
        s = 0.0
        for v in x:
            with nullcontext():
                if v < least:
                    break
                s += v
        try:
            for v in x:
                if v > 2.9:
                    return s * 100
        except ValueError:
            return 0.0
        else:
            s += 1
        return s

    everywhere(f, (X, 0.0), (X, -5.0), (X[1:], -5.0))


def test_an_assignment_in_the_condition() -> None:
    def f(x: float) -> Any:
        n = 0
        while (half := x / 2) > 1:
            x = half
            n += 1
        return x, n

    everywhere(f, (100.0,), (1.0,))


def test_writes_before_a_break() -> None:
    def f(x: Any, most: float) -> Any:
        out = np.zeros(len(x))
        s = 0.0
        for i in range(len(x)):
            s += x[i]
            if s > most:
                break
            out[i] = s
        return out, s

    everywhere(f, (X, 4.0), (X, 100.0))


def test_in_a_function_that_runs_for_every_element() -> None:
    def first_above(row: Any) -> Any:
        for j in range(len(row)):
            if row[j] > 2:
                return j
        return len(row)

    def f(m: Any) -> Any:
        return m.rows.map(first_above)

    m = np.arange(12.0).reshape(4, 3) - 3
    np.testing.assert_equal(run(f, m), [first_above(row) for row in m])


def test_results_that_do_not_fit_together() -> None:
    def f(x: Any) -> Any:
        for v in x:
            if v > 2:
                return v

    with pytest.raises(errors.UserError) as caught:
        run(f, X)
    assert str(caught.value).startswith("the result of the function has no value here")


def test_a_return_in_finally_stays_python_s() -> None:
    def f(x: float) -> Any:
        for _ in (1, 2):
            try:
                x += 1
            finally:
                if len("ab") == 2:
                    break  # noqa: B012
        return x

    everywhere(f, (1.0,))
