"""From a function and example arguments to a Program."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors
from parloom.staging.context import current
from parloom.staging.nodes import Contiguous
from parloom.staging.tracing import check_sizes, trace_function

from .running import agree, run, run_traced

X = np.arange(6.0).reshape(2, 3)


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Model:
    weights: Any
    name: str


class Kept:
    value: Any


def types(*args: Any) -> list[str]:
    traced = trace_function(lambda *a: None, args)
    return [str(p.type) for p in traced.program.params]


def test_scalars_arrays_and_lists_become_parameters() -> None:
    assert types(1, 2.0, True, 3j) == ["i64~", "f64~", "bool", "c128~"]
    assert types(np.float32(1), np.array(2, np.int8), np.uint8(3)) == ["f32", "i8", "u8"]
    assert types([1, 2], [[1.0, 2.0]], [True]) == ["i64[a_0_0]", "f64[1, a_1_1]", "bool[1]"]


def test_sizes_are_symbolic_except_1() -> None:
    traced = trace_function(lambda x: x, (np.zeros((1, 5, 1)),))
    assert str(traced.program.params[0].type) == "f64[1, x_1, 1]"
    assert [s.name for s in traced.program.sizes] == ["x_1"]


def test_contiguity_is_a_fact() -> None:
    traced = trace_function(lambda x, y: None, (X, X.T))
    assert [Contiguous() in p.facts for p in traced.program.params] == [True, False]


def test_trees_go_in_and_come_out() -> None:
    def f(p: Point, table: dict[str, Any], model: Model, *rest: Any, key: Any) -> Any:
        return Point(p.y, p.x), {**table, "sum": sum(rest)}, model, [key, None, "text"]

    traced = trace_function(
        f, (Point(1.0, X), {"a": 2}, Model(X, "m"), 1, 2), {"key": np.float32(3)}
    )
    assert [p.name for p in traced.program.params] == [
        *["p_x", "p_y", "table_a", "model_weights", "rest_0", "rest_1", "key"]
    ]
    agree(lambda p, t: (Point(p.y, p.x), {**t, "b": None}), (Point(1.0, X), {"a": 2}))


def test_results_have_pythons_or_numpys_type() -> None:
    found = run(lambda x, y: (x + 1, y + 1, x > 0, 5, X.dtype, "s"), 1, np.float32(1))
    assert [type(v) for v in found[:4]] == [int, np.float32, bool, int]
    assert found[4:] == (np.dtype(float), "s")


def test_constants_and_arguments_as_results() -> None:
    np.testing.assert_equal(run(lambda x: (x, 1.5, x), X), (X, 1.5, X))


def test_equal_sizes_are_one_in_the_program() -> None:
    def f(x: Any, y: Any) -> Any:
        first = x * 2
        return first + y

    traced = trace_function(f, (X, X.copy()))
    assert [s.name for s in traced.program.sizes] == ["x_0", "x_1"]
    assert str(traced.program.params[1].type) == "f64[x_0, x_1]"
    line = f.__code__.co_firstlineno + 2
    assert [(c.kept, c.dropped, c.source.line) for c in traced.program.checks] == [
        ((0, 0), (1, 0), line),
        ((0, 1), (1, 1), line),
    ]
    with pytest.raises(errors.ShapeError) as caught:
        check_sizes(traced.program, [X, X[:, :2]])
    assert str(caught.value).splitlines() == [
        "sizes do not fit together: axis 1 of x has size 3, axis 1 of y has size 2",
        f"  at {__file__}:{line}, in f",
        "    return first + y",
        "           ^^^^^^^^^",
        "  why: they meet there, element by element",
    ]


def test_a_size_that_must_be_fixed() -> None:
    traced = trace_function(lambda x: x + np.array([1.0, 2.0, 3.0]), (np.zeros(3),))
    program = traced.program
    fixed = [c for c in program.checks if isinstance(c.kept, int)]
    whole = [np.zeros(4), *(read() for read in traced.captured)]
    assert fixed or traced.captured
    with pytest.raises(errors.ShapeError, match="has size 4"):
        check_sizes(program, whole)


def test_static_arguments() -> None:
    def f(x: Any, axis: int, how: Any) -> Any:
        return how(x.sum(axis=axis))

    traced = trace_function(f, (X, 1, np.sqrt), static_names=("axis",))
    assert [p.name for p in traced.program.params] == ["x"]
    np.testing.assert_allclose(
        run_traced(traced, f, X, 1, np.sqrt, static=("axis",)), np.sqrt(X.sum(axis=1))
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([None]), "x has dtype object"),
        (np.zeros(2, np.longdouble), "x has dtype"),
        (np.zeros(2, np.float16), "x has dtype float16"),
        (np.array(["a"]), "x has dtype <U1"),
        (np.zeros(2, [("a", int)]), "x has dtype"),
        (np.zeros(2, "M8[s]"), "x has dtype datetime64"),
        (np.ma.zeros(3), "x is a MaskedArray"),
        ([[1, 2], [3]], "x is a ragged list"),
        (2**70, "does not fit in 64 bits"),
        ({1: 2.0}, "keys that are not strings"),
    ],
)
def test_arguments_that_are_refused(value: Any, message: str) -> None:
    with pytest.raises((errors.UserError, errors.Limitation), match=message):
        trace_function(lambda x: x, (value,))
    assert current() is None


def test_unknown_static_names_are_refused() -> None:
    with pytest.raises(errors.UnknownNameError, match="'sise', which is no parameter"):
        trace_function(lambda size: size, (1,), static_names=("sise",))


def test_a_trace_that_fails_leaves_nothing_behind() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        trace_function(f, (1.0,))
    assert current() is None


def test_staged_values_that_leak_are_refused() -> None:
    kept: Any = Kept()

    def leaks(x: Any) -> Any:
        vars(kept).update(value=x * 2)  # nothing sees this: an assignment would be refused
        return x

    trace_function(leaks, (1.0,))
    with pytest.raises(errors.UserError, match="outside of the function that staged it"):
        _ = kept.value + 1
    with pytest.raises(errors.UserError, match="outside of the block that computes it"):
        trace_function(lambda y: y + kept.value, (1.0,))


def test_values_that_leak_out_of_a_branch_or_a_pattern_are_refused() -> None:
    def branch(x: float) -> Any:
        parts = []
        if x > 0:
            y = x * 2
            parts.append(y)
        return parts[0]

    def pattern(x: Any) -> Any:
        parts = []

        def keep(v: Any) -> Any:
            parts.append(v * 2)
            return v

        x.map(keep)
        return parts[0]

    for f, argument in ((branch, 1.0), (pattern, np.zeros(3))):
        with pytest.raises(errors.UserError, match=r"parts changes in a staged (branch|loop)"):
            run(f, argument)


def test_endless_recursion_is_explained() -> None:
    def f(n: Any) -> Any:
        return 0 if n == 0 else f(n - 1)

    with pytest.raises(errors.UserError, match="calls itself without end"):
        run(f, 5)


def test_generators_are_no_results() -> None:
    with pytest.raises(errors.StagingTypeError, match="returns a generator"):
        run(lambda x: (x * k for k in (1, 2)), 1.0)


LEAK: Any = Kept()


def returns_a_leak(x: Any) -> Any:
    y = x + 1
    return y, LEAK.value


def views_a_leak(x: Any) -> Any:
    y = LEAK.value[0]
    return x + y


def measures_a_leak(x: Any) -> Any:
    n = LEAK.value.shape[0]
    return x + n


@pytest.mark.parametrize(
    ("f", "line"),
    [
        (returns_a_leak, "return y, LEAK.value"),
        (views_a_leak, "y = LEAK.value[0]"),
        (measures_a_leak, "n = LEAK.value.shape[0]"),
    ],
)
def test_a_leak_is_shown_at_the_line_that_reads_it(f: Any, line: str) -> None:
    trace_function(lambda x: vars(LEAK).update(value=x * 2), (X,))
    with pytest.raises(errors.UserError, match="outside of the block that computes it") as caught:
        trace_function(f, (X,))
    assert caught.value.where[0].text.strip() == line


def test_a_leak_handed_to_a_compiled_function_is_refused() -> None:
    trace_function(lambda x: vars(LEAK).update(value=x * 2), (X,))
    with pytest.raises(errors.UserError, match="outside of the function that staged it"):
        pm.jit(lambda x: x)(LEAK.value)
