"""Python's integers that meet a dtype which does not hold them."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import OutOfBounds

TARGETS = ("cpu", "python", "reference")
I8, U8, U64 = (np.ones(2, t) for t in (np.int8, np.uint8, np.uint64))


def set_first(a: Any, k: Any) -> Any:
    b = a.copy()
    b[0] = k
    return b


def subtract_indices(a: Any, k: Any) -> Any:
    return pm.range(k).map(lambda i: i - a[0] // 2)


AT_RUN_TIME: list[tuple[Callable[..., Any], np.ndarray, int, int]] = [
    # the function, the array, an integer that fits, one that does not
    (lambda a, k: a * k, I8, 127, 300),
    (lambda a, k: k - a, I8, -127, -129),
    (lambda a, k: a * k, I8[:0], 127, 300),
    (lambda a, k: a[0] * k, I8, 127, 300),
    (lambda a, k: a - k, U8, 1, -1),
    (lambda a, k: a * k, U64, 7, -1),
    (lambda a, k: np.minimum(a, k), I8, 127, 300),
    (lambda a, k: np.clip(a, k, None), I8, -300, 300),
    (lambda a, k: np.full(2, k, np.int8) + a, I8, 100, 300),
    (lambda a, k: np.full_like(a, k), I8, 100, 300),
    (set_first, I8, 100, 300),
    (subtract_indices, U8, 255, 257),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("f", "a", "fits", "does_not"), AT_RUN_TIME)
def test_integers_out_of_bounds_raise_as_in_numpy(
    f: Callable[..., Any], a: np.ndarray, fits: int, does_not: int, target: str
) -> None:
    staged = pm.jit(f).on(target)
    with np.errstate(over="ignore"):
        expected = np.asarray(f(a, fits))
    np.testing.assert_array_equal(staged(a, fits), expected, strict=True)
    with pytest.raises(OverflowError, match="out of bounds"):
        f(a, does_not)
    with pytest.raises(OverflowError, match=f"Python integer out of bounds for {a.dtype}"):
        staged(a, does_not)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: a * 300,
        lambda a: 300**a,
        lambda a: a**300,
        lambda a: a[0] + 300,
        lambda a: 300 ** a[0] ** 1,
    ],
)
def test_constants_out_of_bounds_are_refused_while_staging(f: Callable[..., Any]) -> None:
    message = re.escape("Python integer 300 out of bounds for int8")
    with pytest.raises(OverflowError, match=message):
        f(I8)
    with pytest.raises(OutOfBounds, match=message):
        pm.jit(f).explain(I8)


def test_a_branch_keeps_no_integer_that_the_joined_dtype_does_not_hold() -> None:
    def f(a: Any, k: int) -> Any:
        b = a[0]
        if k > 5:
            b = k
        return b

    staged = pm.jit(f)
    assert [staged(I8, k) for k in (3, 100)] == [1, 100]
    with pytest.raises(OverflowError):
        staged(I8, 300)


def test_comparisons_where_and_clip_take_any_integer() -> None:
    def f(a: Any, k: int) -> Any:
        return a < k, a == k, np.where(a > 5, a, k), np.clip(a, 0, k), np.clip(a, -300, 300)

    for found, expected in zip(pm.jit(f)(I8, 300), f(I8, 300), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda a, k: a * k + 2, (np.ones(2, np.int64), 3)),
        (lambda a, k: a * k + 2, (np.ones(2), 3)),
        (lambda a, k: a * k + 2, (np.ones(2, np.float32), 3)),
        (lambda a: a * 7, (I8,)),
        (lambda a: a * a.shape[0], (U64,)),
        (lambda a: pm.range(256).map(lambda i: a[0] + i), (U8,)),
    ],
)
def test_what_is_known_to_fit_is_not_checked(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert "check" not in pm.jit(f).explain(*args).ir("staged")
