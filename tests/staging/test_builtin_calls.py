"""Python's builtins and math on staged values, and the calls that are refused."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

from parloom.patterns import public as pm
from parloom.staging import errors
from parloom.staging.tracing import trace_function

from .running import agree, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


def test_builtins() -> None:
    def f(x: float, v: Any) -> Any:
        return (
            abs(x),
            round(x),
            int(x),
            float(int(x)),
            bool(x),
            max(x, 1.0, 2),
            min([x, 1.0]),
            sum([x, 1, 2.0]),
            sum(v),
            max(v),
            min(v),
            len(v),
            any([x > 1, x < -1]),
            all([x > 1, True]),
            any(v > 2),
            all(v > -5),
            pow(x, 2),
            divmod(x, 2),
            list(map(lambda t: t + x, (1, 2))),
            math.floor(x),
            math.sqrt(abs(x)),
            math.pi,
            math.erf(x),
            math.erfc(x),
            math.asinh(x),
            math.acosh(x * x + 1),
            math.atanh(x / 3),
        )

    for x in (-2.5, 0.5, 2.5):
        np.testing.assert_equal(run(f, x, X), f(x, X))


@pytest.mark.parametrize("values", [[1.0, np.nan, 3.0], [np.nan, 1.0, 3.0], [3.0, 1.0, np.nan]])
def test_the_builtin_extremes_take_a_nan_by_its_place(values: list[float]) -> None:
    x = np.array(values)
    np.testing.assert_equal(run(lambda v: (max(v), min(v)), x), (max(values), min(values)))


def test_the_builtin_sum_adds_element_by_element() -> None:
    """So that small integers do not widen."""
    found = run(lambda v: sum(v), np.array([1, 2], np.int8))
    assert (found, found.dtype) == (3, np.int8)


def test_numpys_functions_of_python_numbers_do_not_yield() -> None:
    def f(s: Any, x: Any) -> Any:
        return (
            np.sqrt(s) * x,
            np.maximum(s, 1) * x,
            np.where(s > 1, s, 2) * x,
            np.clip(s, 0, 1) * x,
            np.asarray(s) * x,
            np.float64(s) * x,
            np.float32(x) * s,
        )

    for s in (2, 2.5, np.float32(2.5)):
        expected = f(s, np.ones(2, np.float32))
        for a, b in zip(run(f, s, np.ones(2, np.float32)), expected, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


def test_pythons_bools_are_numbers_among_themselves() -> None:
    def of_numbers(s: Any, t: Any) -> Any:
        return (
            (s > 1) + (t > 0),
            (s > 1) - (t > 0),
            (s > 0) * (0 < t < 9),
            -(s > t),
            (not s) + (not t) + bool(t),
            ((s > 1) & (t > 0)) + True,
            np.less(s, 5) + np.less(t, 5),
        )

    def of_bools(a: Any, b: Any) -> Any:
        return a + b, a * b, -a, ~a, abs(a), a << b, a + 1, a & b, a / b, a == b, np.add(a, b)

    cases = [(of_numbers, 3, 2), (of_numbers, 0.5, 4.0), (of_bools, True, True)]
    for f, a, b in [*cases, (of_bools, False, True)]:
        for found, expected in zip(run(f, a, b), f(a, b), strict=True):
            assert np.asarray(found).dtype == np.asarray(expected).dtype
            assert found == expected

    assert run(lambda a, b: a + b, np.True_, True).dtype == bool
    assert type(run(lambda a: a + 1, np.True_)) is np.int64


def test_types_are_those_of_the_values() -> None:
    def f(x: Any, s: Any, b: Any) -> Any:
        return (
            isinstance(x, np.ndarray),
            isinstance(s, int | float),
            isinstance(x[0], np.floating),
            isinstance(b, bool),
            type(x) is np.ndarray,
            type(s) is int,
        )

    assert run(f, X, 2, True) == (True,) * 6
    assert run(f, X, 2.5, np.True_) == (True, True, True, False, True, False)
    assert run(lambda x, b: (True, b, not b, x[0] > 0), X, True)[0] is True


def test_assignments_to_the_variables_around_a_pattern_are_refused() -> None:
    def f(x: Any) -> Any:
        count = 0

        def numbered(v: Any) -> Any:
            nonlocal count
            count += 1
            return v + count

        return pm.asarray(x).map(numbered)

    with pytest.raises(errors.Limitation, match="nonlocal count"):
        run(f, X)


def test_python_numbers_stay_weak() -> None:
    def f(x: Any) -> Any:
        return x * float(x[0]), x * math.sqrt(x[1]), x * int(x[0])

    for found in run(f, np.array([4, 9], np.float32)):
        assert found.dtype == np.float32


def test_impure_calls_are_refused() -> None:
    import random
    import time

    for f in (
        lambda x: x + random.random(),
        lambda x: x + np.random.default_rng(0).normal(),
        lambda x: x + time.time(),
        lambda x: open("/dev/null"),
    ):
        with pytest.raises(errors.Limitation, match="while staging"):
            run(f, 1.0)


def test_print_prints_when_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: float) -> Any:
        print("x is", x, sep=": ")
        return x

    traced = trace_function(f, (1.0,))
    assert capsys.readouterr().out == ""
    from .running import run_traced

    run_traced(traced, f, 2.5)
    assert capsys.readouterr().out == "x is: 2.5\n"


def test_ranges_of_a_staged_length() -> None:
    def f(n: Any, i: Any) -> Any:
        steps = range(1, n, 2)
        sums = sum(range(n)), sum(range(n), 5), sum(steps)
        lengths = len(range(n)), len(steps), len(list(enumerate(range(n))))
        inside = i in range(n), i not in steps, 3 in range(n)
        return sums, lengths, inside, any(range(n)), all(steps)

    agree(f, (7, 3), (6, 3), (1, 0), (0, 0), (-3, 1))
    agree(lambda n, i: (range(n)[i], max(range(n)), min(range(3, n))), (7, -1), (5, 4))
    with pytest.raises(errors.Limitation, match="reduce over a staged"):
        run(lambda x: functools.reduce(lambda a, b: a - b, x), X)


def test_rounding_keeps_integers() -> None:
    agree(lambda k: (round(k), round(k, 1), round(k, -1)), (13,), (15,), (True,), (-25,))
    agree(lambda k: (round(k, 2), round(k, -1)), (np.int32(44),), (np.int64(-7),))


def test_python_bools_stay_so() -> None:
    def f(p: Any, q: Any) -> Any:
        return p is True, q is not True, p is False, -max(p, q), -min(p, q)

    agree(f, *[(p, q) for p in (True, False) for q in (True, False)])
