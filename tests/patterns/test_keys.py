"""Reading by keys with arrays in them gives NumPy's elements in NumPy's places."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors
from tests.patterns.staged import agree, interpret, stage

X = np.arange(2 * 3 * 4 * 5, dtype=float).reshape(2, 3, 4, 5)
M = np.random.default_rng(1).normal(size=(5, 3))
TWO = np.array([[0, -1, 1], [1, 0, -2]])
THREE = np.array([1, 0, 1])

ITEMS: list[Any] = [slice(None), slice(None, None, -1), None, Ellipsis, 1, -1, THREE, TWO]


def keys() -> list[tuple[Any, ...]]:
    """Random keys with arrays in them, up to four axes and an ellipsis."""
    rng = np.random.default_rng(7)
    found: list[tuple[Any, ...]] = []
    while len(found) < 80:
        items = [ITEMS[k] for k in rng.integers(len(ITEMS), size=rng.integers(1, 6))]
        dots = sum(item is Ellipsis for item in items)
        axes = sum(item is not None and item is not Ellipsis for item in items)
        if dots <= 1 and axes <= 4 and any(isinstance(i, np.ndarray) for i in items):
            found.append(tuple(items))
    return found


def test_keys_with_arrays_are_numpys() -> None:
    for key in keys():
        agree(lambda x, key=key: x[key], X)


@pytest.mark.parametrize(
    "key",
    [
        (np.array([True, False]), slice(None), THREE[:1]),
        (THREE[:2], np.array([True, False, True])),
        (slice(None), np.array([True, False, True])),
        (slice(None), np.arange(12).reshape(3, 4) % 5 == 0),
        (slice(None), np.arange(12).reshape(3, 4) > 99, 2),
        (np.arange(6).reshape(2, 3) % 2 == 0, slice(1, 3)),
        (np.arange(6).reshape(2, 3) % 2 == 0, [0, 1, 2]),
        (Ellipsis, np.array([True, False, False, True, True])),
        ([],),
        (slice(None), [], 1),
    ],
)
def test_masks_among_other_items(key: tuple[Any, ...]) -> None:
    agree(lambda x: x[key], X)


def test_staged_positions() -> None:
    i, j = np.array([[0, -5], [4, 2]]), np.array([1, -3])
    agree(lambda x, i, j: (x[i, j], x[i], x[:, j], x[i[:, :, None], j], x[i[0], j[1]]), M, i, j)
    compiled = pm.jit(lambda x, i, j: x[i, j] * 2)
    np.testing.assert_array_equal(compiled(M, i, j), M[i, j] * 2)


@pytest.mark.parametrize("bad", [5, -6])
def test_a_position_outside_raises_at_the_users_line(bad: int) -> None:
    i, j = np.array([0, bad]), np.array([1, 2])
    with pytest.raises(errors.StagedIndexError, match=r"x\[i, j\]"):
        interpret(lambda x, i, j: x[i, j], M, i, j)
    with pytest.raises(IndexError, match=r"x\[i, j\]"):
        pm.jit(lambda x, i, j: x[i, j])(M, i, j)


def test_too_many_axes_are_refused() -> None:
    with pytest.raises(errors.StagedIndexError, match="too many indices"):
        stage(lambda x: x[THREE, 0, 0], M)
    with pytest.raises(errors.StagingTypeError, match="an index of type f64"):
        stage(lambda x: x[x], M)


SELECTING: list[Callable[[Any], Any]] = [
    lambda x: np.take(x, [3, -1]),
    lambda x: np.take(x, 2, axis=1),
    lambda x: np.take(x, [[7, -8], [0, 1]], axis=0, mode="wrap"),
    lambda x: np.take(x, [7, -8], axis=1, mode="clip"),
    lambda x: np.take_along_axis(x, np.array([[2, 0]]), axis=1),
    lambda x: np.take_along_axis(x, np.array([[2, 0, -1]]), axis=0),
    lambda x: np.take_along_axis(x, np.array([14, 0]), axis=None),
    lambda x: np.compress([True, False, True], x, axis=1),
    lambda x: np.compress(x[:, 0] > 0, x, axis=0),
    lambda x: np.compress([False, True, True], x),
    lambda x: np.extract(x > 0, x),
    lambda x: np.nonzero(x > 0),
    lambda x: np.nonzero(x[0]),
    lambda x: np.where(x > 0.5),
    lambda x: np.flatnonzero(x > 0),
    lambda x: np.argwhere(x > 0),
    lambda x: x[np.ix_([0, 3], [2, 1])],
    lambda x: x[np.ix_([0, 3], x[0] > -9)],
    lambda x: np.choose((x > 0).astype(np.int64), [x, -x]),
    lambda x: np.choose(np.array([0, 2, 7]), [x, 10, x + 1], mode="clip"),
    lambda x: np.choose(np.array([0, -2, 7]), [x, 10, x + 1], mode="wrap"),
    lambda x: x.take([0, 1], axis=1),
    lambda x: (x > 0).nonzero(),
    lambda x: x.compress([True, False, True], axis=1),
]


@pytest.mark.parametrize("f", SELECTING)
def test_functions_that_select(f: Callable[[Any], Any]) -> None:
    agree(f, M)
    for a, b in itertools.zip_longest(*(_parts(g(M)) for g in (pm.jit(f), f))):
        np.testing.assert_array_equal(a, b, strict=True)


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def test_choices_outside_raise() -> None:
    f: Any = pm.jit(lambda i, x: np.choose(i, [x, -x]))
    with pytest.raises(ValueError, match="invalid entry in choice array"):
        f(np.array([0, 2, 1]), M)
