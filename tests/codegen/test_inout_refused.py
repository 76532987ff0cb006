"""What an argument that a function writes to may not be, and what may not share memory with it."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import (
    Limitation,
    ReadOnlyError,
    StagingTypeError,
    UnknownNameError,
)

On = Callable[[Any], Any]
WAYS: dict[str, On] = {"compiled": lambda jitted: jitted, "eager": lambda jitted: jitted.eager}


@pytest.fixture(params=WAYS)
def on(request: pytest.FixtureRequest) -> On:
    """A jitted function as it is, and eagerly."""
    return WAYS[request.param]


def ones(u: Any) -> None:
    u[...] = 1.0


def added(u: Any, v: Any) -> None:
    u += v[0]


def marked(a: pm.inout, k: float) -> None:  # type: ignore[valid-type]
    a *= k


def test_a_parameter_that_there_is_not() -> None:
    with pytest.raises(UnknownNameError, match=r"(?s)inout names 'uu'.*did you mean 'u'"):
        pm.jit(ones, inout="uu")


def test_a_static_parameter() -> None:
    with pytest.raises(StagingTypeError, match="u is static, and written to"):
        pm.jit(ones, inout="u", static_argnames="u")
    with pytest.raises(StagingTypeError, match="a is static, and written to"):
        pm.jit(marked, static_argnames="a")(np.zeros(3), 1.0)


def read_only() -> np.ndarray:
    a = np.zeros(3)
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ([1.0, 2.0], StagingTypeError, "u is a list"),
        (1.0, StagingTypeError, "u is a float"),
        ((np.zeros(2), [1.0]), StagingTypeError, "u_1 is a list"),
        (np.zeros(()), Limitation, "u, .* without axes"),
        (read_only(), ReadOnlyError, "u is read-only"),
        (np.zeros(3, ">f8"), Limitation, "u, .* another byte order"),
        (np.zeros(3, np.float16), Limitation, "u has dtype float16"),
        (
            np.lib.stride_tricks.as_strided(np.zeros(4), (3, 2), (8, 8)),
            StagingTypeError,
            "elements of u, .* share memory",
        ),
    ],
)
def test_what_cannot_be_written(on: On, value: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        on(pm.jit(ones, inout="u"))(value)


def test_arguments_that_share_memory(on: On) -> None:
    base = np.zeros(9)
    f = on(pm.jit(added, inout=("u", "v")))
    with pytest.raises(StagingTypeError, match=r"u, .* shares memory with v"):
        f(base[::2], base[:5])
    with pytest.raises(StagingTypeError, match=r"u, .* shares memory with v"):
        on(pm.jit(added, inout="u"))(base, base)
    assert base.tolist() == [0.0] * 9


def test_an_array_of_the_surroundings_that_shares_memory() -> None:
    table = np.zeros(3)

    def f(a: Any) -> None:
        a += table

    jitted = pm.jit(f, inout="a")
    jitted(np.zeros(3))
    with pytest.raises(StagingTypeError, match=r"a, .* shares memory with an array of the surr"):
        jitted(table[::-1])


def test_an_array_that_may_have_another_name() -> None:
    def f(a: Any, flag: Any) -> None:
        b = a if flag else a * 2.0
        b[0] = 1.0

    with pytest.raises(Limitation, match="what a holds in the end"):
        pm.jit(f, inout="a")(np.zeros(3), True)
