"""Staged if, while, for, and, or, not, in and the builtins: what they compute, and what they
refuse.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from parloom.patterns import public as pm
from parloom.staging import errors
from parloom.staging.control import for_range, if_then_else, while_loop
from parloom.staging.nodes import ForLoop, If, While
from parloom.staging.tracing import trace_function

from .running import agree, ops, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Box:
    value: Any
    label: str = "box"


# Branches.


def test_if_elif_else_joins_what_the_branches_assign() -> None:
    def f(x: float) -> Any:
        y, z = 1.0, 10
        if x < 0:
            y = x * 2
        elif x == 0:
            z = 20
        else:
            y, z = x, z + 1
        return y, z

    agree(f, *NUMBERS)


def test_weak_branches_yield_to_numpy_dtypes() -> None:
    def f(x: Any) -> Any:
        return x if x > 0 else 1.0

    assert run(f, np.float32(2)).dtype == np.float32
    assert run(f, np.float32(-2)).dtype == np.float32
    assert type(run(f, 2.0)) is float


def test_int_and_float_branches_join_to_float() -> None:
    def f(x: float) -> Any:
        return 1 if x > 0 else x

    assert (run(f, 2.0), type(run(f, 2.0))) == (1.0, float)


def test_early_returns() -> None:
    def f(x: float) -> Any:
        if x < 0:
            return -x
        if x == 0:
            return 7.0
        y = x * 2
        if y > 5:
            if y > 100:
                return 0.0
            else:
                y += 1
                return y
        return y

    agree(f, *NUMBERS)


def test_nested_branches_and_trees() -> None:
    def f(x: float) -> Any:
        value: Any = (0.0, {"a": 1.0}, [Pair(x, 2)])
        if x > 0:
            if x > 3:
                value = (x, {"a": x}, [Pair(1, 2)])
            else:
                value = (1.0, {"a": 1.0}, [Pair(x, 3)])
        return value

    agree(f, *NUMBERS)


def test_dataclasses_and_arrays_as_branch_values() -> None:
    def f(x: Any, flag: bool) -> Any:
        box = Box(x)
        if flag:
            box = Box(x * 2)
        return box.value.sum(), box.label

    agree(f, (X, True), (X, False))


def test_arrays_of_different_sizes() -> None:
    def f(x: Any, y: Any, flag: bool) -> Any:
        z = x
        if flag:
            z = y
        return z * 2, len(z)

    agree(f, (X, X[:2], True), (X, X[:2], False))


def test_known_conditions_are_decided_while_staging() -> None:
    def f(x: float, shape: Any = (2, 3)) -> Any:
        if len(shape) == 2:
            y = x
        else:
            y = undefined_name  # type: ignore[name-defined]  # noqa: F821
        return y if shape else None

    traced = trace_function(f, (1.0,))
    assert not ops(traced, If)


def test_a_variable_of_one_branch_is_an_error_only_when_used() -> None:
    def unused(x: float) -> Any:
        if x > 0:
            t = x * 2
            x = t
        return x

    def used(x: float) -> Any:
        if x > 0:
            t = x * 2
        return t

    agree(unused, *NUMBERS)
    with pytest.raises(errors.UserError) as caught:
        run(used, 1.0)
    assert str(caught.value).splitlines() == [
        "t has no value here",
        f"  at {__file__}:{used.__code__.co_firstlineno + 2}, in used",
        "    t = x * 2",
        "    ^",
        "  why: only one branch of a staged `if` gives it a value",
        "  instead: give it a value of the same type and shape on every path, or another name",
    ]


def test_branches_that_cannot_be_joined_show_both_lines() -> None:
    def f(x: Any) -> Any:
        if x.sum() > 0:
            y = x
        else:
            y = 1.0
        return y

    with pytest.raises(errors.UserError) as caught:
        run(f, X)
    first = f.__code__.co_firstlineno
    assert [place.line for place in caught.value.where] == [first + 2, first + 4]
    assert "one value is an f64 array of rank 1, another a number (f64)" in str(caught.value)


def test_else_branch_does_not_see_what_the_other_assigned() -> None:
    def f(x: float) -> Any:
        if x > 0:
            t = 1.0
        else:
            t = t + 1.0
        return t

    with pytest.raises(errors.UserError, match="has not been assigned on this path"):
        run(f, 1.0)


@pytest.mark.parametrize("keyword", ["break", "continue", "return 1", "yield 1"])
def test_jumps_out_of_staged_control_flow_are_refused(keyword: str) -> None:
    import linecache

    text = f"""\
def f(x):
    s = 0.0
    for k in range(3):
        if x > k:
            {keyword}
        s += k
    return s
"""
    name = f"<{keyword}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), scope)
    f = scope["f"]
    with pytest.raises(errors.Limitation) as caught:
        run(lambda x: list(f(x)) if keyword.startswith("yield") else f(x), 1.0)
    lines = str(caught.value).splitlines()
    word = keyword.split()[0]
    assert lines[0] == f"{word} in a staged branch cannot be staged"
    assert lines[1:4] == [
        f"  at {name}:5, in f",
        f"    {keyword}",
        "    " + "^" * len(keyword),
    ]
    del linecache.cache[name]


def test_break_in_a_staged_loop_is_refused() -> None:
    def f(x: Any) -> Any:
        s = 0.0
        for v in x:
            s += v
            break
        return s

    with pytest.raises(errors.Limitation, match="break in a staged for loop"):
        run(f, X)


def test_raise_and_try_inside_staged_branches_are_refused() -> None:
    def raises(x: float) -> Any:
        if x > 100:
            raise ValueError("too big")
        return x

    def tries(x: float) -> Any:
        if x > 100:
            try:
                x = 1.0
            except ValueError:
                pass
        return x

    with pytest.raises(errors.Limitation, match=r"raise ValueError\('too big'\) inside a staged"):
        run(raises, 1.0)
    with pytest.raises(errors.Limitation, match="try inside a staged"):
        run(tries, 1.0)


def test_a_failed_branch_leaves_nothing_half_recorded() -> None:
    def f(x: float) -> Any:
        try:
            if x > 0:
                x = x.nonsense  # type: ignore[attr-defined]
        except AttributeError:
            x = x + 1
        return x

    assert run(f, 1.0) == 2.0


# Loops.


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


def test_writes_under_two_names_are_refused() -> None:
    def reads(x: Any) -> Any:
        total = np.zeros(2)
        other = total
        s = 0.0
        for row in x:
            total += row
            s += other.sum()
        return s

    def writes(x: Any) -> Any:
        total = np.zeros(2)
        other = total[::-1]
        for row in x:
            total += row
            other += row
        return total

    def argument(x: Any, n: int) -> Any:
        for _ in range(n):
            x += 1
        return x

    m = np.arange(6.0).reshape(3, 2)
    for f in (reads, writes):
        with pytest.raises(errors.Limitation, match="reads it by another name too"):
            run(f, m)
    with pytest.raises(errors.Limitation, match="write to an argument"):
        run(argument, m, 3)


def test_loop_variables_have_no_value_afterwards() -> None:
    def f(n: int) -> Any:
        for i in range(n):
            pass
        return i

    with pytest.raises(errors.UserError, match="variable of a staged loop"):
        run(f, 3)


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


# As functions.


def test_functional_forms() -> None:
    def f(x: float, n: int) -> Any:
        a = if_then_else(x > 0, lambda: (x, 1), lambda: (0, x))
        b = while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, x))
        c = for_range(n, lambda i, s: s + i, 0)
        return a, b, c

    traced = trace_function(f, (1.0, 3))
    assert len(ops(traced, If)) == len(ops(traced, While)) == len(ops(traced, ForLoop)) == 1
    assert run(f, 2.0, 3) == ((2.0, 1.0), (3, 16.0), 3)
    assert run(f, -2.0, 0) == ((0.0, -2.0), (0, -2.0), 0)


def test_functional_forms_decide_what_is_known() -> None:
    assert if_then_else(True, lambda: 1, lambda: 2) == 1
    assert while_loop(lambda s: s < 10, lambda s: s * 3, 1) == 27


def test_functional_forms_raise_where_the_results_do_not_fit() -> None:
    with pytest.raises(errors.UserError, match="the result has no value here"):
        run(lambda x: if_then_else(x > 0, lambda: (x, x), lambda: x), 1.0)
    with pytest.raises(errors.UserError, match="the state has no value here"):
        run(lambda x: while_loop(lambda s: s < x, lambda s: [s], 0.0), 1.0)  # type: ignore[arg-type, return-value]


# Logic.


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


# Builtins and math.


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
        )

    for x in (-2.5, 0.5, 2.5):
        np.testing.assert_equal(run(f, x, X), f(x, X))


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
    assert isinstance(run(lambda a: a + 1, np.True_), np.int64)


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


def test_comprehensions_over_staged_collections_are_refused() -> None:
    with pytest.raises(errors.StagingTypeError, match="a comprehension over a staged"):
        run(lambda x: [v * 2 for v in x], X)
    assert run(lambda x: [x * k for k in (1, 2)], 3.0) == [3.0, 6.0]
