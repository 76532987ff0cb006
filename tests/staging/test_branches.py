"""Staged if, elif and else: what they compute, and what they refuse."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors
from parloom.staging.nodes import If
from parloom.staging.tracing import trace_function

from .running import agree, everywhere, ops, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Box:
    value: Any
    label: str = "box"


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


def test_yield_out_of_staged_control_flow_is_refused() -> None:
    def f(x: float) -> Any:
        for k in range(3):
            if x > k:
                yield 1

    with pytest.raises(errors.Limitation) as caught:
        run(lambda x: list(f(x)), 1.0)
    first = f.__code__.co_firstlineno
    assert str(caught.value).splitlines()[:4] == [
        "yield in a staged branch cannot be staged",
        f"  at {__file__}:{first + 3}, in f",
        "    yield 1",
        "    ^^^^^^^",
    ]


def test_raise_under_a_staged_condition() -> None:
    def f(x: Any, most: float) -> Any:
        s = 0.0
        for v in x:
            if v > most:
                raise ValueError("too big")
            elif v < -10:
                raise ZeroDivisionError
            else:
                t = v * 2
            s += t
        if s == 0:
            raise RuntimeError(f"nothing in {len('abc')}")
        return s

    everywhere(f, (X, 5.0))
    jitted: Any = pm.jit(f)
    for target in ("reference", "python", "cpu"):
        with pytest.raises(ValueError, match=r"too big(.|\n)*raise ValueError"):
            jitted.on(target)(X, 2.0)
        with pytest.raises(ZeroDivisionError):
            jitted.on(target)(X * 100, 1e9)
        with pytest.raises(RuntimeError, match="nothing in 3"):
            jitted.on(target)(X[:0], 2.0)


def test_a_branch_that_raises_leaves_the_other_s_variables() -> None:
    def f(x: Any, k: int) -> Any:
        out = np.zeros(3)
        if k == 0:
            y = x * 2
            out[0] = 7.0
        elif k == 1:
            y = x[1:]
        else:
            raise TypeError("no such k")
        y[0] = 5.0
        return y, out

    def g(x: Any, k: int) -> Any:
        if k == 0:
            return x
        elif k == 1:
            return x * 2
        raise TypeError("no such k")

    everywhere(g, (X, 0), (X, 1))
    jitted: Any = pm.jit(g)
    with pytest.raises(TypeError, match="no such k"):
        jitted(X, 2)
    with pytest.raises(errors.Limitation, match="write to an argument"):
        run(lambda x, k: f(x, k), X, 1)


def test_raise_in_a_function_that_runs_for_every_element() -> None:
    def f(x: Any) -> Any:
        def root(v: Any) -> Any:
            if v < 0:
                raise ValueError("negative")
            return np.sqrt(v)

        return x.map(root)

    jitted: Any = pm.jit(f)
    for target in ("reference", "python", "cpu"):
        np.testing.assert_equal(jitted.on(target)(X[2:]), np.sqrt(X[2:]))
        with pytest.raises(ValueError, match="negative"):
            jitted.on(target)(X)


def test_what_cannot_be_raised_is_refused() -> None:
    class Own(Exception):
        pass

    def own(x: float) -> Any:
        if x > 100:
            raise Own("too big")
        return x

    def staged(x: float) -> Any:
        if x > 100:
            raise ValueError("too big", x)
        return x

    def caught(x: float) -> Any:
        try:
            if x > 100:
                raise ValueError("too big")
        except ValueError:
            x = 0.0
        return x

    def tries(x: float) -> Any:
        if x > 100:
            try:
                x = 1.0
            except ValueError:
                pass
        return x

    for f, what in ((own, "raise Own"), (staged, "raise ValueError"), (caught, "raise ValueError")):
        with pytest.raises(errors.Limitation, match=what):
            run(f, 1.0)
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


def test_truth_values_of_python_stay_so() -> None:
    def f(x: Any) -> Any:
        small, odd, any_large, steps = True, False, False, 0
        if x.sum() > 3:
            small = False
        for v in x:
            odd = not odd
            any_large = v > 2
        while not odd and steps < 3:
            steps += 1
            odd = steps == 2
        return small + small, -odd, odd + True, any_large

    for x in (np.arange(4.0), np.zeros(3), np.arange(1.0)):
        expected = f(x)
        found = run(f, x)
        assert found == expected
        assert list(map(type, found)) == list(map(type, expected))
