"""group_by for any key: staged and eager, against plain Python."""

# Lambdas of staged values say nothing about their types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import StagingTypeError

NAN = np.nan


def summary(keys: Any, x: Any) -> Any:
    g = x.group_by(keys)
    spread = g.map(lambda group: group.max(lambda v: abs(v - group.mean())))
    return g.keys, g.sum(), g.count(), g.mean(), g.min(lambda v: -v), g.sizes, spread


KEYS = [
    np.array([3, -1, 3, np.iinfo(np.int64).min, np.iinfo(np.int64).max, -1]),
    np.array([NAN, 0.0, -0.0, NAN, 2.5, 2.5]),
    np.array([True, False, True, True, False, False]),
    np.zeros(6, np.uint8),
]


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: str(keys.dtype))
def test_aggregates(keys: np.ndarray) -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    first = [k for k in range(6) if not any(same(keys[k], keys[j]) for j in range(k))]
    groups = [[v for key, v in zip(keys, x, strict=True) if same(key, keys[k])] for k in first]
    means = [sum(g) / len(g) for g in groups]
    expected = (
        keys[first],
        [sum(g) for g in groups],
        [len(g) for g in groups],
        means,
        [-max(g) for g in groups],
        [len(g) for g in groups],
        [max(abs(v - m) for v in g) for g, m in zip(groups, means, strict=True)],
    )
    jitted: Any = pm.jit(summary)
    for run in (jitted, jitted.eager, jitted.on("reference")):
        for found, wanted in zip(run(keys, x), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def test_no_elements() -> None:
    jitted: Any = pm.jit(summary)
    assert [len(part) for part in jitted(np.zeros(0, np.int64), np.zeros(0))] == [0] * 7


def test_a_key_of_several_parts_and_a_zip() -> None:
    def f(a: Any, b: Any) -> Any:
        g = a.zip(b).group_by(lambda u, v: (u, v > 0))
        return g.keys, g.sum(lambda u, v: u * v), g.count(lambda u, v: v > 1)

    a, b = np.array([1, 2, 1, 1]), np.array([1.0, -2.0, 3.0, -4.0])
    jitted: Any = pm.jit(f)
    for run in (jitted, jitted.eager):
        (left, right), total, many = run(a, b)
        np.testing.assert_array_equal(left, [1, 2, 1])
        np.testing.assert_array_equal(right, [True, False, False])
        np.testing.assert_array_equal(total, [4.0, -4.0, -4.0])
        np.testing.assert_array_equal(many, [1, 0, 0])


def test_rows() -> None:
    def f(x: Any) -> Any:
        g = x.rows.group_by(lambda row: row[0])
        return g.sum(), g.reduce(np.maximum)

    x = np.array([[1.0, 5.0], [2.0, 6.0], [1.0, 3.0]])
    jitted: Any = pm.jit(f)
    for run in (jitted, jitted.eager):
        total, most = run(x)
        np.testing.assert_array_equal(total, [[2.0, 8.0], [2.0, 6.0]])
        np.testing.assert_array_equal(most, [[1.0, 5.0], [2.0, 6.0]])


@pytest.mark.parametrize("mode", ["staged", "eager"])
def test_errors(mode: str) -> None:
    def run(f: Any, x: Any) -> Any:
        jitted: Any = pm.jit(f)
        return jitted(x) if mode == "staged" else jitted.eager(x)

    x = np.ones((3, 2))
    with pytest.raises(StagingTypeError, match="a group's key must be a number"):
        run(lambda x: x.rows.group_by(lambda row: row).sum(), x)
    with pytest.raises(StagingTypeError, match="a group's key must be an integer, a truth"):
        run(lambda x: x.group_by(lambda v: v * 1j).sum(), x)
    with pytest.raises(AttributeError, match="median"):
        run(lambda x: x.group_by(lambda v: v).median(), x)
