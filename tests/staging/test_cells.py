"""Writes in place, in staged branches and loops: NumPy's aliases, in eager mode and in kernels."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors

from .running import everywhere, run

X = np.array([3.0, -1.0, 2.5, 0.0])
M = np.arange(12.0).reshape(4, 3)


def test_elements_in_a_counted_loop() -> None:
    def f(x: Any) -> Any:
        out = np.zeros(x.shape[0])
        for i in range(x.shape[0]):
            out[i] = x[i] * 2
            out[i] += 1.0
        return out

    everywhere(f, (X,), (X[:1],), (X[:0],))


def test_recurrences_read_what_was_written() -> None:
    def f(x: Any) -> Any:
        out = x.copy()
        for i in range(1, len(x)):
            out[i] += 0.5 * out[i - 1]
        out[-1] = 9.0
        return out, out.sum()

    everywhere(f, (X,), (X[::-1],))


def test_while_loops_and_branches() -> None:
    def f(x: Any, least: float) -> Any:
        kept = np.full(len(x), -7.0)
        count = 0
        i = 0
        while i < len(x):
            if x[i] > least:
                kept[count] = x[i]
                count += 1
            else:
                kept[-1] -= 1.0
            i += 1
        return kept, count

    everywhere(f, (X, 0.0), (X, 5.0))


def test_a_branch_writes() -> None:
    def f(x: Any, flag: bool) -> Any:
        out = x * 1.0
        view = out[1:3]
        if flag:
            out[0] = 5.0
            view[:] = 8.0
        elif x[0] > 0:
            view += 1.0
        return out, view, out.sum()

    everywhere(f, (X, True), (X, False), (-X, False))


def test_insertion_sort() -> None:
    def f(x: Any) -> Any:
        a = x.copy()
        for i in range(1, len(a)):
            v = a[i]
            j = i - 1
            while j >= 0 and a[j] > v:
                a[j + 1] = a[j]
                j -= 1
            a[j + 1] = v
        return a

    everywhere(f, (X,), (np.random.default_rng(0).normal(size=9),))


def test_rows_columns_and_slices_that_move() -> None:
    def f(m: Any) -> Any:
        out = np.zeros(m.shape)
        for i in range(m.shape[0]):
            out[i] = m[i] * 2
            out[i, 1:] += 10.0
            out[:, 0] += 1.0
            row = out[i]
            row[1] *= -1
        return out

    everywhere(f, (M,), (M[:1],), (M[:0],))


def test_shifts_read_before_they_write() -> None:
    def f(x: Any, n: int) -> Any:
        a = x.copy()
        for k in range(n):
            a[1:] = a[:-1]
            a[k : len(x) - 1] = a[k + 1 :]
        return a

    everywhere(f, (X, 1), (X, 3))


def test_integers_and_other_dtypes() -> None:
    def f(labels: Any, size: int) -> Any:
        counts = np.zeros(size, dtype=np.int64)
        last = np.full(size, -1, dtype=np.int32)
        seen = np.zeros(size, dtype=bool)
        for i in range(len(labels)):
            counts[labels[i]] += 1
            last[labels[i]] = i
            seen[labels[i]] = True
        return counts, last, seen

    everywhere(f, (np.array([0, 2, 2, 1, 2]), 4))


def test_every_name_of_the_array_sees_the_writes() -> None:
    def f(x: Any) -> Any:
        total = np.zeros(2)
        other = total
        backwards = total[::-1]
        s = 0.0
        for row in x:
            total += row
            backwards += 10 * row
            s += other.sum()
            other[0] -= 1
        return total, other, backwards, s

    everywhere(f, (np.arange(6.0).reshape(3, 2),), (np.zeros((0, 2)),))


def test_functions_write_to_what_they_are_given() -> None:
    def swap(a: Any, i: Any, j: Any) -> None:
        held = a[i]
        a[i] = a[j]
        a[j] = held

    def f(x: Any) -> Any:
        a = x.copy()
        n = len(a)
        for i in range(n // 2):
            swap(a, i, n - 1 - i)
        return a

    everywhere(f, (X,), (X[:3],))


def test_two_buffers_in_turn() -> None:
    def f(x: Any, n: int) -> Any:
        a, b = x.copy(), np.zeros(len(x))
        for _ in range(n):
            for i in range(1, len(x) - 1):
                b[i] = (a[i - 1] + a[i + 1]) / 2
            a, b = b, a
        return a

    def copies(x: Any, n: int) -> Any:
        a, b = x.copy(), x.copy()
        for _ in range(n):
            for i in range(1, len(x) - 1):
                b[i] = (a[i - 1] + a[i + 1]) / 2
            a, b = b, a
        return a, x

    everywhere(f, (X, 1), (X, 4))
    everywhere(copies, (X, 0), (X, 4))


def test_arrays_that_a_loop_makes_are_its_own() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for v in x:
            local = np.zeros(3)
            for j in range(3):
                local[j] = v * j
            s += local.sum()
        return s

    everywhere(f, (X,))


def test_in_a_function_that_runs_for_every_element() -> None:
    def f(m: Any) -> Any:
        def scan(row: Any) -> Any:
            out = row * 1.0
            for j in range(1, len(row)):
                out[j] += out[j - 1]
            return out

        return m.rows.map(scan)

    def plain(m: Any) -> Any:
        return np.cumsum(m, axis=1)

    jitted: Any = pm.jit(f)
    for target in ("reference", "python", "cpu"):
        np.testing.assert_equal(jitted.on(target)(M), plain(M))


def test_a_loop_with_parallel_loops_inside() -> None:
    def f(m: Any) -> Any:
        out = np.zeros(m.shape[0])
        for i in range(m.shape[0]):
            out[i] = (m[i] * m[i]).sum() + out.max()
        return out

    everywhere(f, (M,))


def test_writes_out_of_bounds_name_the_line() -> None:
    def f(x: Any, n: int) -> Any:
        out = x.copy()
        for i in range(n):
            out[i] = 0.0
        return out

    jitted: Any = pm.jit(f)
    for target in ("reference", "python", "cpu"):
        with pytest.raises(IndexError, match=r"index 4 is out of bounds(.|\n)*out\[i\] = 0.0"):
            jitted.on(target)(X, 6)


def test_which_array_is_written_must_be_known_when_another_is_read() -> None:
    def branch(x: Any, flag: bool) -> Any:
        a = x * 1.0
        b = a if flag else x * 2.0
        b[0] = 100.0
        return a

    def loop(x: Any, n: int) -> Any:
        a = x * 1.0
        b = a
        for _ in range(n):
            b = b + 1.0
        b[0] = 100.0
        return a

    def other(x: Any, flag: bool) -> Any:
        a = x * 1.0
        b = a if flag else x * 2.0
        a[0] = 100.0
        return b

    for f, args in ((branch, (X, True)), (loop, (X, 0)), (other, (X, True))):
        with pytest.raises(errors.Limitation, match="may have been written to under another name"):
            run(f, *args)

    def fine(x: Any, flag: bool) -> Any:
        b = x * 1.0 if flag else x * 2.0
        b[0] = 100.0
        return b

    everywhere(fine, (X, True), (X, False))


def test_a_name_that_gets_another_array_has_its_arrays_to_itself() -> None:
    def again(x: Any, n: int) -> Any:
        a = x * 1.0
        b = a
        for _ in range(n):
            b[0] += 1.0
            b = b * 2.0
        return a, b

    def inside(x: Any, n: int) -> Any:
        a = x * 1.0
        b = a
        s = 0.0
        for _ in range(n):
            b[0] += 1.0
            s += a[0]
            b = b * 2.0
        return s

    def both(x: Any, n: int) -> Any:
        a, b = x * 1.0, x * 2.0
        for _ in range(n):
            b[0] += 1.0
            a = b
        return a, b

    with pytest.raises(errors.Limitation, match="may have been written to under another name"):
        run(again, X, 2)
    with pytest.raises(errors.Limitation, match="may have been written to under another name"):
        run(inside, X, 2)
    everywhere(both, (X, 2), (X, 0))


def test_an_array_under_its_own_name_and_as_the_start_of_another() -> None:
    def unread(x: Any) -> Any:
        out = np.zeros(len(x))
        y = out
        for i in range(len(x)):
            y = x + i
            out[i] = y.sum()
        return out

    def read(x: Any) -> Any:
        out = np.zeros(len(x))
        y = out
        for i in range(len(x)):
            out[i] = y.sum()
            y = y + x
        return out

    everywhere(unread, (X,))
    with pytest.raises(errors.Limitation, match="has another name for it, too"):
        run(read, X)


def test_arguments_are_never_written_to() -> None:
    def direct(x: Any, n: int) -> Any:
        for i in range(n):
            x[i] = 0.0
        return x

    def in_place(x: Any, n: int) -> Any:
        for _ in range(n):
            x += 1
        return x

    def renamed(x: Any, n: int) -> Any:
        for _ in range(n):
            x[0] = 1.0
            x = x * 2
        return x

    for f in (direct, in_place, renamed):
        with pytest.raises(errors.Limitation, match="write to an argument"):
            run(f, X, 2)


def test_a_pattern_s_function_writes_to_its_own_arrays_only() -> None:
    def f(x: Any) -> Any:
        out = np.zeros(3)

        def body(v: Any) -> Any:
            if v > 0:
                out[0] = v
            return v

        return x.map(body), out

    with pytest.raises(errors.Limitation, match="made outside of this function"):
        run(f, X)
