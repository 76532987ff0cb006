"""One vocabulary, two definitions: each spelling gives the same eagerly and staged."""

# A user's lambdas have no annotations.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.eager import unwrap, wrap
from tests.compare import Bounded, assert_agree
from tests.patterns.staged import interpret

RNG = np.random.default_rng(3)
M = RNG.normal(size=(6, 4)).round(3)
V = RNG.normal(size=6).round(3)
K = np.array([2, 0, 2, 1, 0, 2])
CLOSE = Bounded(absolutes=10.0, count=24)  # of the sums and products here, in their order

SPELLINGS: list[Callable[..., Any]] = [
    # arrays, per element
    lambda m, v, k: m.map(lambda e: e * 2),
    lambda m, v, k: m.sum(lambda e: e * e),
    lambda m, v, k: m.sum(axis=0),
    lambda m, v, k: m.sum(1, keepdims=True),
    lambda m, v, k: (m > 0).sum(),
    lambda m, v, k: m.mean(axis=1),
    lambda m, v, k: v.prod(lambda e: 1 + e / 10),
    lambda m, v, k: k.mean(),
    lambda m, v, k: k.sum(lambda e: e, where=lambda e: e > 1),
    lambda m, v, k: (v > 0).map(lambda e: e),
    lambda m, v, k: k.astype(np.uint8).sum(lambda e: e),
    lambda m, v, k: v.astype(np.float32).mean(lambda e: e * 2),
    lambda m, v, k: v.astype(np.float32).map(lambda e: e * 2.5),
    lambda m, v, k: k.map(lambda e: 1),
    lambda m, v, k: v.count(lambda e: e > 0),
    lambda m, v, k: [m.any(lambda e: e > 9), m.all(lambda e: e < 9), v.any(), k.all()][0],
    lambda m, v, k: v.filter(lambda e: e > 0),
    lambda m, v, k: m.filter(m > 0),
    lambda m, v, k: v.filter(k > 0),
    lambda m, v, k: v.map(lambda e: (e, e > 0)),
    lambda m, v, k: v.map(lambda e: {"twice": 2 * e, "row": m[0] * e}),
    lambda m, v, k: k.reduce(lambda a, b: a * b + 1),
    lambda m, v, k: v.reduce(lambda a, b: a + b, identity=1.0),
    lambda m, v, k: k.reduce(lambda a, b: a + b, identity=0.5),
    lambda m, v, k: (k > 0).reduce(lambda a, b: a * b, identity=3),
    lambda m, v, k: k.reduce(lambda a, b: np.maximum(a, b), identity=-np.inf),
    lambda m, v, k: m.rows.reduce(lambda a, b: a + b, identity=1),
    lambda m, v, k: k.reduce(lambda a, b: 2 * a - b, identity=1),
    lambda m, v, k: v.zip(k).reduce(
        lambda a, b: (a[0] + b[0], np.maximum(a[1], b[1])), identity=(1.5, 2)
    ),
    lambda m, v, k: v.zip(k).sum(lambda a, b: a * b),
    lambda m, v, k: v.zip(k, pm.range(6)).map(lambda a, b, i: a * b + i),
    lambda m, v, k: v.zip(k).filter(lambda a, b: b == 2).map(lambda a, b: a),
    lambda m, v, k: v.zip(k).count(lambda a, b: (a > 0) & (b > 0)),
    # rows and columns
    lambda m, v, k: m.rows.map(lambda r: r.sum()),
    lambda m, v, k: m.rows.map(lambda r: r[::-1]),
    lambda m, v, k: m.cols.map(lambda c: c.max()),
    lambda m, v, k: m.rows.sum(),
    lambda m, v, k: m.rows.mean(),
    lambda m, v, k: m.rows.mean(lambda r: r[0]),
    lambda m, v, k: m.rows.sum(where=k == 2),
    lambda m, v, k: m.rows.sum(lambda r: r[:2], where=lambda r: r[0] > 0),
    lambda m, v, k: m.rows.max(),
    lambda m, v, k: m.rows.reduce(lambda a, b: a + b),
    lambda m, v, k: m.rows.filter(lambda r: r[0] > 0).map(lambda r: r),
    lambda m, v, k: m.rows.filter(k > 0).sum(),
    lambda m, v, k: m.rows.count(lambda r: r[0] > 0),
    lambda m, v, k: m.rows.argmin(lambda r: r.sum()),
    lambda m, v, k: m.rows.min_by(lambda r: r[1]),
    lambda m, v, k: m.rows[-1] + m.rows[0],
    lambda m, v, k: m.rows.zip(k).map(lambda r, j: r[j]),
    lambda m, v, k: m.rows.map(lambda p: m.rows.argmin(lambda c: ((p - c - 0.1) ** 2).sum())),
    # least and greatest
    lambda m, v, k: m.argmin(),
    lambda m, v, k: m.argmax(axis=1),
    lambda m, v, k: m.argmax(lambda e: -e),
    lambda m, v, k: v.min(lambda e: e * e),
    lambda m, v, k: v.max_by(lambda e: e * e),
    lambda m, v, k: k.argmin(lambda e: 3 - e),
    lambda m, v, k: m.min(axis=0),
    # groups
    lambda m, v, k: m.rows.group_by(k, size=4).sum(),
    lambda m, v, k: m.rows.group_by(k, size=4).mean(),
    lambda m, v, k: m.rows.group_by(k, size=4).count(),
    lambda m, v, k: m.rows.group_by(lambda r: (r[0] > 0).astype(np.int64), size=2).mean(),
    lambda m, v, k: v.group_by(k, size=3).prod(lambda e: 1 + e / 10),
    lambda m, v, k: v.group_by(k, size=4).any(lambda e: e > 0),
    lambda m, v, k: v.group_by(k, size=4).all(lambda e: e > 0),
    lambda m, v, k: k.group_by(k, size=4).mean(),
    # ranges and comprehensions
    lambda m, v, k: pm.range(5).map(lambda i: i / 2),
    lambda m, v, k: pm.range(2, 11, 3).map(lambda i: i),
    lambda m, v, k: pm.range(-2).sum(),
    lambda m, v, k: pm.range(10).filter(lambda i: i % 3 == 0),
    lambda m, v, k: pm.range(4).map(
        lambda j: m[k == j].sum(axis=0) / np.maximum((k == j).sum(), 1)
    ),
    lambda m, v, k: pm.collect((6, 4), lambda i, j: m[i, j] * k[i]),
    lambda m, v, k: pm.collect(3, lambda i: v * i),
    lambda m, v, k: pm.asarray([1.0, 2.0, 4.0]).sum(lambda e: e),
    lambda m, v, k: pm.asarray(m.rows).sum(axis=1),
]


def source(f: Callable[..., Any]) -> str:
    """Which spelling it is."""
    return f"spelling{SPELLINGS.index(f)}" if f in SPELLINGS else f.__name__


@pytest.mark.parametrize("f", SPELLINGS, ids=source)
@pytest.mark.parametrize("order", ["C", "F"])
def test_eager_and_staged_agree(f: Callable[..., Any], order: Any) -> None:
    args = (np.array(M, order=order), V[::-1], K)
    eager = unwrap(f(*(wrap(a) for a in args)))
    assert_agree(interpret(f, *args), eager, CLOSE)


EMPTY: list[Callable[..., Any]] = [
    lambda m, v, k: v.sum(lambda e: e * 2),
    lambda m, v, k: v.prod(lambda e: e * 2),
    lambda m, v, k: v.mean(lambda e: e * 2),
    lambda m, v, k: v.map(lambda e: e * 2),
    lambda m, v, k: m.rows.sum(),
    lambda m, v, k: m.rows.map(lambda r: r.sum()),
    lambda m, v, k: m.rows.mean(),
    lambda m, v, k: v.count(lambda e: e > 0),
    lambda m, v, k: v.filter(lambda e: e > 0),
    lambda m, v, k: m.rows.group_by(k, size=2).mean(),
    lambda m, v, k: v.group_by(lambda e: 0, size=2).sum(),
    lambda m, v, k: v.any(lambda e: e > 0),
    lambda m, v, k: v.all(lambda e: e > 0),
    lambda m, v, k: v.reduce(lambda a, b: a + b, identity=2.0),
]


@pytest.mark.parametrize("f", EMPTY)
def test_eager_and_staged_agree_on_nothing(f: Callable[..., Any]) -> None:
    args = (np.zeros((0, 4)), np.zeros(0), np.zeros(0, np.int64))
    assert_agree(interpret(f, *args), unwrap(f(*(wrap(a) for a in args))), CLOSE)


@pytest.mark.parametrize("method", ["min", "max", "argmin", "argmax"])
def test_both_refuse_the_least_of_nothing(method: str) -> None:
    def f(v: Any) -> Any:
        return getattr(v, method)(lambda e: e * 2)

    with pytest.raises(ValueError, match=r"zero-size array|empty sequence"):
        interpret(f, np.zeros(0))
    with pytest.raises(ValueError, match=r"zero-size array|empty sequence"):
        f(wrap(np.zeros(0)))


SUMS: list[Callable[..., Any]] = [
    lambda v: pm.asarray(v).reduce(lambda a, b: a + b),
    lambda v: pm.asarray(v)[1:].reduce(lambda a, b: a * b),
    lambda v: pm.asarray(v).filter(lambda e: e > 1).reduce(lambda a, b: a + b),
    lambda v: pm.asarray(v).rows.reduce(lambda a, b: a + b),
]


@pytest.mark.parametrize("f", SUMS)
@pytest.mark.parametrize("target", ["cpu", "python", "reference"])
def test_a_reduction_by_ones_own_function_refuses_nothing(
    f: Callable[..., Any], target: str
) -> None:
    shape = (3, 2) if f is SUMS[-1] else (3,)
    values, nothing = np.full(shape, 2.0), np.zeros((0, *shape[1:]))
    np.testing.assert_array_equal(pm.jit(f).on(target)(values), f(values))
    for call in (f, pm.jit(f).on(target)):
        with pytest.raises(ValueError, match="zero-size array to reduction operation reduce"):
            call(nothing)


def test_a_reduction_keeps_a_proven_identity_where_the_length_is_known() -> None:
    found = pm.jit(SUMS[0]).explain(np.ones(3)).ir("staged")
    assert "check" in found
    assert "reduce sum" in found
    filtered = pm.jit(SUMS[2]).explain(np.ones(3)).ir("mapped")
    assert "check" not in filtered
    assert filtered.count("loop") == 1
