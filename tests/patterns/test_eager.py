"""Eager arrays and collections against NumPy."""

# A user's lambdas have no annotations.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np
import pytest

from parloom.patterns import eager, public
from parloom.patterns.eager import Array, asarray, collect, unwrap, wrap
from parloom.patterns.eager_collections import Range, Rows, Zip
from parloom.staging import errors
from parloom.staging.eager_mode import disable_jit, jit_disabled
from parloom.staging.jit import jit
from tests.compare import assert_agree, bounded

RNG = np.random.default_rng(7)
V = RNG.normal(size=9)
M = RNG.normal(size=(6, 4))
K = np.array([2, 0, 2, 1, 0, 2])


def double(v: Any) -> Any:
    return v * 2


# NumPy's own behaviour stays.


def test_an_array_is_not_copied() -> None:
    x = asarray(M)
    assert type(x) is Array
    assert np.shares_memory(x, M)


@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_results_stay_arrays_and_scalars_numpy_scalars(order: Any) -> None:
    x = asarray(np.array(M, order=order))
    for found in (x + 1, x[1:, ::-1], x.T, x @ x.T, np.sqrt(abs(x)), x.sum(axis=0), x == x[0]):
        assert type(found) is Array
    stacked = (np.stack([x, x]), np.where(x > 0, x, 0), np.outer(x[0], x[1]), np.split(x, 2)[0])
    for found in stacked:
        assert type(found) is Array
    for number in (x.sum(), x.mean(), x.max(), x[0] @ x[0], x[0, 0], x.any(), np.median(x)):
        assert isinstance(number, np.generic)


@pytest.mark.parametrize(
    "method", ["sum", "prod", "min", "max", "any", "all", "mean", "argmin", "argmax"]
)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_an_axis_is_numpy_s(method: str, axis: int | None) -> None:
    assert_agree(getattr(asarray(M), method)(axis), getattr(M, method)(axis))
    assert_agree(getattr(np, method)(asarray(M), axis=axis), getattr(np, method)(M, axis=axis))
    kept = getattr(asarray(M), method)(axis=axis, keepdims=True)
    assert_agree(kept, getattr(M, method)(axis=axis, keepdims=True))


def test_numpy_s_masks_and_dtypes_stay() -> None:
    assert_agree(asarray(V).sum(where=V > 0), V.sum(where=V > 0))
    assert_agree(asarray(K).sum(dtype=np.float32), K.sum(dtype=np.float32))


# Arrays of any rank: the pattern is over all elements.


@pytest.mark.parametrize("x", [V, M, M.T, M[::-2, 1:], K, K.astype(np.uint8), K > 0], ids=repr)
def test_patterns_with_a_function_are_numpy_s_on_the_mapped_values(x: np.ndarray) -> None:
    values = np.asarray(x * 2.5)
    a = asarray(x)

    def f(v: Any) -> Any:
        return v * 2.5

    assert_agree(a.map(f), values)
    tier = bounded(values)
    assert_agree(a.sum(f), values.sum(), tier)
    assert_agree(a.prod(f), values.prod(), bounded(values.prod()))
    assert_agree(a.mean(f), values.mean(), tier)
    assert_agree([a.min(f), a.max(f)], [values.min(), values.max()])
    assert_agree([a.argmin(f), a.argmax(f)], [values.argmin(), values.argmax()])
    assert_agree([a.any(f), a.all(f)], [values.any(), values.all()])
    assert_agree(a.min_by(f), x.ravel()[values.argmin()])
    assert_agree(a.max_by(lambda v: v * -1.0), x.ravel()[(x * -1.0).argmax()])
    assert_agree(a.count(lambda v: v > 0), np.int64((x > 0).sum()))
    assert a.count() == x.size
    assert_agree(a.filter(lambda v: v > 0), x[x > 0])
    assert_agree(a.filter(x > 0), x[x > 0])
    assert_agree(a.sum(double, where=lambda v: v > 0), (x * 2)[x > 0].sum(), tier)
    assert_agree(a.sum(where=lambda v: v > 0), x[x > 0].sum(), tier)


def test_sums_of_small_integers_widen() -> None:
    x = np.full(5, 200, np.uint8)
    assert_agree(asarray(x).sum(lambda v: v), np.uint64(1000))
    assert_agree(asarray(x > 0).sum(lambda v: v), np.int64(5))
    assert_agree(asarray(x).mean(lambda v: v), np.float64(200))
    assert_agree(asarray(x.astype(np.float32)).mean(lambda v: v), np.float32(200))


def test_nan_comes_first() -> None:
    x = asarray([3.0, np.nan, 1.0, np.nan])
    assert (x.argmin(lambda v: v), x.argmax(lambda v: v)) == (1, 1)
    assert_agree([x.min(lambda v: v), x.max(lambda v: v)], [np.float64(np.nan)] * 2)


def test_the_first_of_equals_wins() -> None:
    x = asarray([2, 1, 1, 2])
    assert (x.argmin(lambda v: v), x.argmax(lambda v: v)) == (1, 0)


def test_map_takes_records_apart() -> None:
    low, high = asarray(V).map(lambda v: (v - 1, v + 1))
    assert_agree([low, high], [V - 1, V + 1])
    named = asarray(M).rows.map(lambda r: {"sum": r.sum(), "row": r})
    assert_agree(named["row"], M)
    assert_agree(named["sum"], np.array([r.sum() for r in M]))


def test_map_refuses_what_is_no_number() -> None:
    with pytest.raises(errors.StagingTypeError, match="a NoneType cannot be an element"):
        asarray(V).map(lambda v: None)
    with pytest.raises(errors.StagingTypeError, match="different structure"):
        asarray(V).map(lambda v: (v, v) if v > 0 else v)
    with pytest.raises(ValueError, match="different shapes"):
        public.range(3).map(lambda i: np.zeros(i))


def test_reduce_runs_in_index_order() -> None:
    assert_agree(asarray([8.0, 2.0, 1.0]).reduce(operator.sub), np.float64(5))
    assert_agree(asarray([8.0, 2.0]).reduce(operator.sub, identity=100.0), np.float64(90))
    assert_agree(asarray(M).rows.reduce(operator.add), np.add.reduce(M), bounded(M, axis=0))
    assert_agree(asarray(M).rows.reduce(np.maximum, identity=0.0), M.max(axis=0, initial=0.0))


def test_reduce_of_nothing() -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation reduce"):
        asarray([]).reduce(operator.add)
    assert asarray([]).reduce(operator.add, identity=3.0) == 3.0
    empty = asarray(np.zeros((0, 2))).rows
    assert_agree(empty.reduce(operator.add, identity=1.0), np.ones(2))


# Rows, columns, ranges, zips.


def test_rows_and_columns_are_views_of_rank_one_less() -> None:
    x = asarray(M)
    assert [type(r) for r in x.rows] == [Array] * 6
    assert_agree(list(x.cols), [M[:, j] for j in range(4)])
    assert np.shares_memory(x.rows[2], M)
    assert_agree(x.rows[-1], M[-1])
    assert_agree(x.rows[1:3], M[1:3])
    assert (len(x.rows), len(x.cols)) == (6, 4)
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        x.rows[6]


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool, np.complex128])
def test_rows_map_keeps_numpy_s_dtypes(dtype: Any) -> None:
    m = M.astype(dtype)
    rows = asarray(m).rows
    assert_agree(rows.map(lambda r: r[0]), m[:, 0])
    assert_agree(rows.map(lambda r: r[::-1]), m[:, ::-1])
    assert_agree(rows.map(lambda r: r.sum()), np.array([r.sum() for r in m]))
    assert_agree(rows.map(lambda r: 1.5), np.full(6, 1.5))
    assert_agree(asarray(m).cols.map(lambda c: c), m.T)


def test_rows_reduce_elementwise() -> None:
    rows = asarray(M).rows
    assert_agree(rows.sum(), M.sum(axis=0))
    assert_agree(rows.prod(), M.prod(axis=0))
    assert_agree(rows.mean(), M.mean(axis=0), bounded(M, axis=0))
    assert_agree([rows.min(), rows.max()], [M.min(axis=0), M.max(axis=0)])
    assert_agree(rows.sum(where=K == 2), M[K == 2].sum(axis=0))
    assert_agree(rows.sum(lambda r: r[0], where=K == 2), M[K == 2, 0].sum())
    assert_agree(rows.argmin(lambda r: r.sum()), M.sum(axis=1).argmin())
    assert_agree(rows.min_by(lambda r: r[1]), M[M[:, 1].argmin()])
    with pytest.raises(TypeError, match="what argmin compares must be a number"):
        rows.argmin()


def test_rows_filter_gives_rows() -> None:
    kept = asarray(M).rows.filter(lambda r: r[0] > 0)
    assert isinstance(kept, Rows)
    assert_agree(np.asarray(kept), M[M[:, 0] > 0])
    assert_agree(kept.sum(), M[M[:, 0] > 0].sum(axis=0))
    assert asarray(M).rows.count(lambda r: r[0] > 0) == (M[:, 0] > 0).sum()


def test_rows_of_a_vector_are_refused() -> None:
    with pytest.raises(errors.StagingTypeError, match=r"\.rows of an array of shape \(9,\)"):
        asarray(V).rows


def test_range_is_python_s() -> None:
    assert list(public.range(2, 11, 3)) == [2, 5, 8]
    assert len(public.range(-3)) == 0
    assert_agree(public.range(5).map(lambda i: i / 2), np.arange(5) / 2)
    assert_agree(public.range(np.int64(4)).sum(), np.int64(6))
    assert_agree(public.range(10).filter(lambda i: i % 3 == 0), np.array([0, 3, 6, 9]))
    assert type(Range(3)[1]) is int


def test_zip_passes_its_parts_as_arguments() -> None:
    pairs = asarray(V).zip(V[::-1], public.range(9))
    assert_agree(pairs.map(lambda a, b, i: a * b + i), V * V[::-1] + np.arange(9))
    assert_agree(pairs.sum(lambda a, b, i: a * i), (V * np.arange(9)).sum(), bounded(V * 9))
    kept = pairs.filter(lambda a, b, i: a > 0)
    assert isinstance(kept, Zip)
    assert_agree(kept.map(lambda a, b, i: i), np.flatnonzero(V > 0))
    assert asarray(M).rows.zip(K).count(lambda r, k: k == 2) == 3
    with pytest.raises(ValueError, match=r"\(9,\) and \(6,\) do not fit together"):
        asarray(V).zip(K)


def test_collect_is_the_comprehension() -> None:
    assert_agree(collect((2, 3), lambda i, j: i * 10 + j), np.array([[0, 1, 2], [10, 11, 12]]))
    assert_agree(public.collect(3, lambda i: np.ones(2) * i), np.array([[0.0, 0], [1, 1], [2, 2]]))
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        collect((2, -1), lambda i, j: 0)


# Groups.


def test_groups_are_numpy_s_by_mask() -> None:
    groups = asarray(M).rows.group_by(K, size=4)
    masks = [K == k for k in range(4)]
    sums = np.array([M[m].sum(axis=0) for m in masks])
    assert_agree(groups.sum(), sums)
    assert_agree(groups.count(), np.array([2, 1, 3, 0]))
    with np.errstate(all="ignore"):
        means = sums / np.array([2, 1, 3, 0])[:, None]
    assert np.isnan(means[3]).all()
    assert_agree(groups.mean(), means)
    assert_agree(groups.sum(lambda r: r[0]), sums[:, 0])
    assert_agree(groups.prod(lambda r: r[0]), np.array([M[m, 0].prod() for m in masks]))
    assert_agree(groups.any(lambda r: r[0] > 0), np.array([(M[m, 0] > 0).any() for m in masks]))
    assert_agree(groups.all(lambda r: r[0] > 0), np.array([(M[m, 0] > 0).all() for m in masks]))


def test_groups_by_a_function_of_the_element() -> None:
    groups = asarray(K).group_by(lambda k: k, size=3)
    assert_agree(groups.sum(), np.array([0, 1, 6]))
    assert_agree(groups.mean(), np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize("key", [-1, 3])
def test_a_key_outside_is_an_index_error(key: int) -> None:
    with pytest.raises(IndexError, match=f"index {key} is out of bounds for axis 0 with size 3"):
        asarray([1.0, 2.0]).group_by([0, key], size=3)


def test_groups_say_what_they_need() -> None:
    with pytest.raises(TypeError, match="an index must be an integer, found float64"):
        asarray(V).group_by(lambda v: 0.5, size=2)
    with pytest.raises(ValueError, match=r"\(2,\) and \(9,\) do not fit together"):
        asarray(V).group_by([0, 1], size=2)


# Nothing.


def test_empty_collections_give_numpy_s_answers() -> None:
    x = asarray(np.zeros((0, 3)))
    assert_agree(x.rows.map(lambda r: r.sum()), np.zeros(0))
    assert_agree(x.rows.sum(), np.zeros(3))
    assert_agree(x.sum(double), np.float64(0))
    assert_agree(x.prod(double), np.float64(1))
    assert_agree(x.rows.mean(), np.full(3, np.nan))
    assert_agree([x.any(double), x.all(double)], [np.False_, np.True_])
    assert_agree(x.rows.group_by(lambda r: 0, size=2).sum(), np.zeros((2, 3)))
    assert x.rows.count(lambda r: True) == 0
    for method in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError, match=r"zero-size array|empty sequence"):
            getattr(x, method)(double)


# Arguments and results of an eager call.


def test_wrap_copies_arrays_and_makes_lists_arrays() -> None:
    wrapped = wrap({"x": V, "pair": ([1.0, 2.0], 3), "name": "a"})
    assert type(wrapped["x"]) is Array
    assert not np.shares_memory(wrapped["x"], V)
    assert type(wrapped["pair"][0]) is Array
    assert (wrapped["pair"][1], wrapped["name"]) == (3, "a")


def test_unwrap_gives_plain_arrays() -> None:
    found = unwrap((asarray(V), {"rows": asarray(M).rows, "n": 3, "none": None}))
    assert type(found[0]) is np.ndarray
    assert type(found[1]["rows"]) is np.ndarray
    assert (found[1]["n"], found[1]["none"]) == (3, None)


def test_a_ragged_list_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="a list whose elements differ in length"):
        asarray([[1.0], [1.0, 2.0]])
    with pytest.raises(errors.StagingTypeError, match="an array of dtype <U1"):
        asarray(["a"])


def test_disable_jit_is_scoped() -> None:
    assert not jit_disabled()
    with disable_jit():
        assert jit_disabled()
    with pytest.raises(KeyError), disable_jit():
        raise KeyError
    assert not jit_disabled()


def test_the_user_s_function_runs_as_it_is() -> None:
    """A breakpoint in it is reached once an element: it runs in the user's own frame."""
    callers: list[str] = []

    def f(v: float) -> float:
        callers.append(inspect.stack()[0].filename)
        return v

    asarray(V).map(f)
    assert callers == [__file__] * 9


def test_k_means_step_in_eager_mode() -> None:
    x, mu = asarray(M), asarray(M[:3])

    def step(mu: Any) -> Any:
        label = x.rows.map(lambda p: mu.rows.argmin(lambda c: ((p - c) ** 2).sum()))
        return public.range(3).map(
            lambda j: x[label == j].sum(axis=0) / np.maximum(label.count(lambda l: l == j), 1)
        )

    distances = ((M[:, None] - M[None, :3]) ** 2).sum(axis=2)
    label = distances.argmin(axis=1)
    expected = np.array([M[label == j].sum(axis=0) / max((label == j).sum(), 1) for j in range(3)])
    assert_agree(step(mu), expected)
    assert isinstance(step(mu), eager.Array)


# Through pm.jit.


@jit
def scaled_rows(x: Any, by: Any) -> Any:
    """Uses the vocabulary, writes to its argument, and is called by another jitted function."""
    x += by
    return x.rows.map(lambda r: r * by)


@jit
def total_of_scaled(x: Any, by: Any) -> Any:
    """The inner function's result still has the vocabulary, and its write is seen here."""
    return scaled_rows(x, by).rows.sum(), x


def test_eager_is_the_user_s_function_on_arrays() -> None:
    x = M.copy()
    found = scaled_rows.eager(x, 2.0)
    assert type(found) is np.ndarray
    assert_agree(found, (M + 2) * 2)
    assert_agree(x, M)


def test_an_inner_function_is_part_of_the_eager_call() -> None:
    with disable_jit():
        total, changed = total_of_scaled(M, 2.0)
    assert_agree(total, ((M + 2) * 2).sum(axis=0))
    assert_agree(changed, M + 2)
    assert type(changed) is np.ndarray


def test_static_arguments_stay_as_they_are() -> None:
    seen: list[type] = []

    def f(x: Any, names: Any) -> Any:
        seen.append(type(names))
        return x

    jit(f, static_argnames="names").eager(V, [1, 2])
    jit(f).eager([1.0, 2.0], [V, None])
    assert seen == [list, list]
