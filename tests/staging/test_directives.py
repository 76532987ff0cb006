"""What the user says about when to compile: what is known, on each target and in eager mode."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors
from parloom.staging.nodes import ForLoop
from parloom.staging.traversal import walk_stmts

from .running import results

X = np.array([1.0, 4.0, 9.0])
TABLE = np.array([[2.0, 1.0], [1.0, 3.0]])
KNOWN = {"rate": 2.0}


def jitted(f: Callable[..., Any], target: str = "cpu") -> Any:
    return pm.jit(f, target=target)


# static


def test_a_static_number_is_compiled_for_each_value() -> None:
    f = jitted(lambda x, n: [x * k for k in range(pm.static(n))])
    assert [len(f(2.0, n)) for n in (3, 2, 3)] == [3, 2, 3]
    stats = f.stats()
    assert (stats.compiles, stats.reasons) == (2, ["a number given to pm.static was 3"])
    assert results(lambda x, n: [x * k for k in range(pm.static(n))], 2.0, 2) == [[0.0, 2.0]] * 4


def test_a_static_size_is_the_arrays() -> None:
    def f(x: Any, y: Any) -> Any:
        n = pm.static(x.shape[0])
        assert isinstance(n, int)
        both = x + y
        return [both[k] for k in range(both.shape[0])]  # a Python range: the sizes are one

    for found in results(f, X, X):
        assert found == [2.0, 8.0, 18.0]
    g = jitted(f)
    assert g(X[:2], X[:2]) == [2.0, 8.0]
    assert g(X, X) == [2.0, 8.0, 18.0]
    with pytest.raises(errors.ShapeError):
        g(X, X[:2])


def test_static_tells_integers_from_floats_and_zeros_apart() -> None:
    f = jitted(lambda x: repr(pm.static(x)))
    assert [f(0.0), f(-0.0), f(0), f(np.float32(0))] == ["0.0", "-0.0", "0", "np.float32(0.0)"]


def test_static_of_what_is_computed_is_refused() -> None:
    with pytest.raises(errors.UserError, match=r"pm\.static of a value that the program computes"):
        jitted(lambda x: pm.static(x.sum()))(X)


# freeze


def test_freeze_runs_any_library_on_what_is_known() -> None:
    def f(x: Any) -> Any:
        return pm.freeze(np.linalg.inv(TABLE)) @ x

    for found in results(f, np.ones(2)):
        np.testing.assert_allclose(found, np.linalg.solve(TABLE, np.ones(2)))


def test_what_is_frozen_is_not_looked_at_again() -> None:
    table = np.array([1.0, 2.0])
    f = jitted(lambda x: x + pm.freeze(table * KNOWN["rate"]))
    assert f(np.zeros(2)).tolist() == [2.0, 4.0]
    table[0] = 10.0
    assert f(np.zeros(2)).tolist() == [2.0, 4.0]
    assert f.eager(np.zeros(2)).tolist() == [20.0, 4.0]


def test_frozen_python_values() -> None:
    def f(x: Any) -> Any:
        names = pm.freeze(sorted(json.loads('{"b": 1, "a": 2}')))
        return {name: x for name in names}

    assert results(f, 1.0) == [{"a": 1.0, "b": 1.0}] * 4


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pm.freeze(x),
        lambda x: pm.freeze(np.linalg.inv(x)),
        lambda x: pm.freeze((x, 1)),
    ],
)
def test_an_argument_cannot_be_frozen(f: Callable[..., Any]) -> None:
    with pytest.raises(errors.UserError, match=r"pm\.freeze of an expression with a staged value"):
        jitted(f)(TABLE)


def test_another_function_called_freeze_is_no_directive() -> None:
    def freeze(x: Any) -> Any:
        return x + 1

    assert results(lambda x: freeze(x), 1.0) == [2.0] * 4


# unroll


def test_unroll_records_the_body_for_each_element() -> None:
    def f(x: Any, weights: tuple[float, ...]) -> Any:
        total = 0.0
        for i in pm.unroll(pm.range(3)):
            total = total + x * weights[i]
        return total

    assert results(f, 2.0, (1.0, 2.0, 3.0)) == [12.0] * 4
    program = jitted(f).trace(2.0, (1.0, 2.0, 3.0))
    assert not [s for s in walk_stmts(program.body) if isinstance(s.op, ForLoop)]


def test_unrolled_rows_of_a_known_number() -> None:
    def f(x: Any) -> Any:
        pm.static(x.shape[0])
        return [row.sum() for row in pm.unroll(x.rows)]

    for found in results(f, TABLE):
        assert found == [3.0, 4.0]


def test_unroll_of_an_unknown_number_is_refused() -> None:
    def f(x: Any) -> Any:
        for _ in pm.unroll(range(x.shape[0])):
            pass
        return x

    with pytest.raises(errors.UserError, match="length is not known while staging"):
        jitted(f)(X)


# macro


class Library:
    """Stands for a library whose function parloom cannot look into."""

    @staticmethod
    def make() -> Callable[..., Any]:
        made: Callable[..., Any] = np.frompyfunc(lambda v: 1 / (1 + np.exp(-v)), 1, 1)
        return made


def test_a_macro_says_what_a_function_means() -> None:
    expit = Library.make()

    @pm.macro(expit)
    def staged(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    f = jitted(lambda x: expit(x) + float(expit(0.0)))
    wanted = 1 / (1 + np.exp(-X)) + 0.5
    for target in ("reference", "python", "cpu"):
        np.testing.assert_allclose(f.on(target)(X), wanted)
    np.testing.assert_allclose(f.eager(X).astype(float), wanted)

    @pm.macro(expit)
    def other(x: Any) -> Any:
        return x * 0

    assert f.on("reference")(X).tolist() == [0.5] * 3  # what was compiled is forgotten
    assert staged is not other
