"""Staged while and for: what they compute, and what they refuse."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging import errors
from parloom.staging.nodes import ForLoop
from parloom.staging.tracing import trace_function

from .running import agree, everywhere, ops, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


def test_while_widens_its_state() -> None:
    def f(x: float) -> Any:
        n: Any = 0
        total: Any = 0
        while total < x:
            total = total + 0.5
            n += 1
        return n, total

    agree(f, (2.0,), (3.2,))
    # Zero iterations: the state has its type all the same.
    assert run(f, -1.0) == (0, 0.0)


def test_while_with_short_circuit_condition_and_branches() -> None:
    def f(n: int) -> Any:
        steps = 0
        while n != 1 and steps < 100:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    agree(f, (1,), (6,), (27,))


def test_iterations_with_a_known_condition_run_while_staging() -> None:
    def f(x: float) -> Any:
        done: Any = False
        count = 0
        while not done:
            count += 1
            x = x / 2
            done = x < 1
        return x, count

    agree(f, (0.5,), (9.0,))


def test_for_over_range_arrays_rows_and_zip() -> None:
    def f(x: Any, m: Any, n: int) -> Any:
        s = 0.0
        for i in range(n):
            s += i * x[i]
        for v in x:
            s = s * 0.5 + v
        for row in m:
            s += row.sum()
        for k, (v, row) in enumerate(zip(x, m, strict=False), 1):
            s += k * v * row[0]
        for i in range(1, n, 2):
            s -= i
        for i in range(n, 0, -2):
            s -= i
        return s

    m = np.arange(8.0).reshape(4, 2)
    agree(f, (X, m, 3), (X, m, 0))


def test_reversed_and_staged_steps() -> None:
    def backwards(x: Any, m: Any, n: int) -> Any:
        s = 0.0
        for i in reversed(range(n)):
            s = s * 2 + x[i]
        for v in reversed(x):
            s = s * 2 + v
        for k, row in enumerate(reversed(m)):
            s = s * 2 + k * row.sum()
        for k in reversed([1, 2]):
            s += k
        return s

    def steps(x: Any, start: int, stop: int, step: int) -> Any:
        count, s = 0, 0
        for i in range(start, stop, step):
            count += 1
            s = s * 3 + i
        return count, s

    m = np.arange(8.0).reshape(4, 2)
    everywhere(backwards, (X, m, 3), (X, m, 0))
    everywhere(steps, *((X, a, b, c) for a in (0, 5) for b in (0, 4, 9) for c in (-3, -1, 1, 2)))
    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        run(steps, X, 0, 4, 0)


def test_python_sequences_unroll() -> None:
    def f(x: float) -> Any:
        parts = []
        for k in (1, 2, 3):
            parts.append(x * k)
            if k == 2:
                break
        else:
            parts.append(0.0)
        return parts

    traced = trace_function(f, (1.0,))
    assert not ops(traced, ForLoop)
    agree(f, (2.0,))


def test_else_of_a_staged_loop_runs() -> None:
    def f(n: int) -> Any:
        s = 0
        for i in range(n):
            s += i
        else:
            s += 100
        while s < 200:
            s += 7
        else:
            s += 1000
        return s

    agree(f, (4,))


def test_nested_staged_loops_share_names() -> None:
    def f(n: int) -> Any:
        s = 0
        for i in range(n):
            t = 0
            for j in range(i):
                t += j
            s += t
        return s

    agree(f, (6,))


def test_arrays_as_loop_state() -> None:
    def f(x: Any, n: int) -> Any:
        y = x
        for _ in range(n):
            y = y * 0.5 + x
        return y

    agree(f, (X, 3), (X, 0), (X.astype(np.float32), 2))


def test_arrays_that_shrink_are_loop_state_with_their_size() -> None:
    def f(x: Any) -> Any:
        count = 0
        while len(x) > 1:
            x = x[1:]
            count += 1
        return x, count

    agree(f, (X,), (X[:1],))


def test_writes_in_place_are_seen_under_every_name() -> None:
    def f(x: Any, n: int) -> Any:
        total = np.zeros(2)
        other = total
        part = total[1:]
        for row in x:
            total += row
        for _ in range(n):
            part += 100.0
        return total, other, part

    m = np.arange(6.0).reshape(3, 2)
    agree(f, (m, 2), (m[:0], 0))


def test_loop_variables_have_no_value_afterwards() -> None:
    def f(n: int) -> Any:
        for i in range(n):
            pass
        return i

    with pytest.raises(errors.UserError, match="inside a staged loop, which may run zero times"):
        run(f, 3)


def test_loop_variables_that_had_a_value_before() -> None:
    def f(x: Any, n: int) -> Any:
        i, v = -1, 0.5
        for i in range(n):
            pass
        for v in x:
            if v < 0:
                break
        return i, v

    everywhere(f, (X, 3), (X, 0), (X[:0], 2))


def test_loop_state_that_changes_its_kind() -> None:
    def f(x: Any) -> Any:
        y = 0.0
        for v in x:
            y = y + x * v
        return y

    with pytest.raises(errors.UserError) as caught:
        run(f, X)
    assert "before, an f64 array of rank 1 after an iteration" in str(caught.value)
    assert "y = y + x * v" in str(caught.value)


def test_temporaries_may_change_their_kind() -> None:
    def f(x: Any) -> Any:
        t: Any = "nothing"
        s = 0.0
        for v in x:
            t = x * v
            s += t.sum()
        return s

    agree(f, (X,))
