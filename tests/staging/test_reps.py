"""Staged values: comparisons by value, integer powers, what messages call them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.arrays import ArrayRep
from parloom.patterns.collections import Rows
from parloom.staging.descriptions import public_names
from parloom.staging.errors import CheckFailed, UserError
from parloom.staging.primitives import POWER
from parloom.staging.scalars import ScalarRep
from parloom.staging.tracing import trace_function

from .running import run

TARGETS = ("cpu", "python", "reference")
NEGATIVE_POWER = re.escape("Integers to negative integer powers are not allowed.")


@pm.jit
def compared(x: Any, n: Any) -> Any:
    return x < n, x >= n, x == n, n != x, n < x, x > -1, x == -1, -1 <= x


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n", [-1, 0, 7, 2**62])
def test_unsigned_integers_compare_with_python_integers_by_value(target: str, n: int) -> None:
    x = np.array([0, 7, 2**63, 2**64 - 1], dtype=np.uint64)
    expected = (x < n, x >= n, x == n, n != x, n < x, x > -1, x == -1, -1 <= x)
    np.testing.assert_array_equal(compared.on(target)(x, n), expected)


@pm.jit
def raised(x: Any, n: Any) -> Any:
    return x**n


@pytest.mark.parametrize("target", TARGETS)
def test_integers_to_negative_powers_raise_as_in_numpy(target: str) -> None:
    x, powers = np.array([2, 1, -1]), np.array([3, 0, 5])
    np.testing.assert_array_equal(raised.on(target)(x, powers), x**powers)
    np.testing.assert_array_equal(raised.on(target)(x, 3), x**3)
    for n in (-1, np.array([3, -2, 1])):
        with pytest.raises(ValueError, match=NEGATIVE_POWER):
            _ = x**n
        with pytest.raises(CheckFailed, match=NEGATIVE_POWER):
            raised.on(target)(x, n)


def test_a_known_negative_power_of_an_integer_is_refused_while_staging() -> None:
    with pytest.raises(CheckFailed, match=NEGATIVE_POWER):
        pm.jit(lambda x: x**-1).explain(np.array([2]))


def test_powers_that_cannot_be_negative_are_not_checked() -> None:
    powers = pm.jit(lambda x, u: (pm.range(x.shape[0]).map(lambda i: x[i] ** i), x**2, x**u))
    staged = powers.explain(np.arange(3), np.arange(3, dtype=np.uint8)).ir("staged")
    assert "check" not in staged


@pytest.mark.parametrize("base", [-3, -1, 0, 1, 2])
@pytest.mark.parametrize("exponent", [-4, -3, -1])
def test_the_primitive_is_total(base: int, exponent: int) -> None:
    """What a kernel computes where a pass has moved it in front of its check."""
    found = POWER.evaluate(np.int8(base), np.int8(exponent))
    assert found == (base**exponent if base in (1, -1) else 0)
    assert found.dtype == np.int8


X = np.ones((3, 4))


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: x + "a", "`+` is not defined for a staged f64[x_0, x_1] and a Python str"),
        (lambda x: None * x, "`*` is not defined for None and a staged f64[x_0, x_1]"),
        (lambda x: x[0, 0] < None, "`<` is not defined for a staged f64 and None"),
        (lambda x: np.add(x, "a"), "a Python str cannot be part of a staged computation"),
        (
            lambda x: x.sum(order=x),
            "sum() of a staged f64[x_0, x_1]: got an unexpected keyword argument 'order'",
        ),
        (lambda x: x.rows.mapp, "the rows of a staged f64[x_0, x_1] have no attribute 'mapp'"),
        (lambda x: x.cols.mapp, "the columns of a staged f64[x_0, x_1] have no attribute 'mapp'"),
        (lambda x: pm.range(3).mapp, "a staged range has no attribute 'mapp'"),
    ],
)
def test_messages_name_what_the_user_sees(f: Any, what: str) -> None:
    with pytest.raises(UserError) as caught:
        trace_function(f, (X,))
    assert caught.value.what == what


def test_calls_that_do_not_fit_show_what_does() -> None:
    with pytest.raises(UserError) as caught:
        trace_function(lambda x: x.argmin(order=x), (X,))
    assert caught.value.instead == ".argmin(axis=None, out=None, *, keepdims=False)"


def test_things_that_differ_compare_as_in_python() -> None:
    assert run(lambda x: (x[0, 0] == "a", x[0, 0] != None), X) == (False, True)  # noqa: E711


def test_an_operator_of_another_type_is_asked() -> None:
    class Scale:
        def __radd__(self, other: Any) -> Any:
            return other * 2

    np.testing.assert_array_equal(run(lambda x: x + Scale(), X), X * 2)


def test_suggestions_are_names_of_numpy_or_of_eager_arrays() -> None:
    """So that the list of internal names in descriptions.py is complete."""
    for kind in (ScalarRep, ArrayRep, Rows):
        internal = [n for n in public_names(kind) if not hasattr(pm.Array, n)]
        assert not internal
