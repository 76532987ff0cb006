"""Staged arrays: elementwise operations, bounds, NumPy's aliasing, what is refused."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.numpy_api.creation import zeros
from parloom.staging import errors
from parloom.staging.nodes import Bounds, Index
from tests.patterns.staged import agree, interpret, loops, ops, stage

X = np.random.default_rng(1).normal(size=(5, 3))
V = np.random.default_rng(2).normal(size=6)
I = np.array([-7, 7, 0, 3, -2], np.int64)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * 2 + 1 - x / 3,
        lambda x: -x + abs(x),
        lambda x: x**2 > x,
        lambda x: np.exp(x) / (1 + np.exp(-x)),
        lambda x: x - x.mean(axis=0),
        lambda x: x[:, None, :] * x[None],
        lambda x: np.maximum(x, np.float32(0)),
        lambda x: x + [1, 2, 3],
        lambda x: np.arange(3) - x,
        lambda x: x.astype(np.float32) * 2,
        lambda x: x.astype(np.float32) * np.float64(2),
        lambda x: x.clip(-0.5, 0.5),
        lambda x: (x > 0) & ~(x > 1),
    ],
)
def test_elementwise_is_numpys(f: Callable[[Any], Any]) -> None:
    agree(f, X)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_integers_are_numpys(dtype: type[np.generic]) -> None:
    i = np.abs(I).astype(dtype)
    for f in (
        lambda i: i // 2,
        lambda i: i % 3,
        lambda i: i / 2,
        lambda i: i + 1,
        lambda i: i << 1,
        lambda i: i.sum(),
        lambda i: i.prod(),
        lambda i: i.mean(),
        lambda i: i @ i,
        lambda i: i.var(),
        lambda i: (i > 2) ** 2,
        lambda i: (i + 2j).var(axis=0),
        lambda i: (i * (1 + 2j)).std(),
        lambda i: i.max() - i,
    ):
        agree(f, i)
    agree(lambda i: (i // 2, i % 3, i / 2), I)


def test_an_elementwise_operation_is_one_loop_with_proven_reads() -> None:
    program, _, _ = stage(lambda x, y: x - y[0], X, X)
    assert len(loops(program)) == 1
    assert {read.bounds for read in ops(program, Index)} == {Bounds.CHECKED, Bounds.PROVEN}
    program, _, _ = stage(lambda x, y: x - y, X, X)
    assert {read.bounds for read in ops(program, Index)} == {Bounds.PROVEN}
    assert len(program.sizes) == 2


def test_equal_expressions_are_computed_once() -> None:
    program, _, _ = stage(lambda x: (x + 1) * (x + 1), X)
    assert len(loops(program)) == 2


def test_a_static_size_that_does_not_fit_is_refused_with_the_line() -> None:
    with pytest.raises(errors.ShapeError, match=r"the sizes in \+ .* do not fit together") as info:
        stage(lambda x: x + zeros(4) + zeros((1, 5)), X)
    assert "test_arrays.py" in str(info.value)


def test_shape_is_static_where_it_is_known() -> None:
    def f(x: Any) -> Any:
        assert x.ndim == 2
        assert x[:1].dtype == np.float64
        assert x[None].shape[0] == 1
        assert not isinstance(x.shape[0], int)
        return x.shape[0] + x.size

    agree(f, X, reference=lambda x: np.int64(20))


# Indexing.


@pytest.mark.parametrize("k", [0, 2, -1, -5])
def test_indices_at_run_time(k: int) -> None:
    agree(lambda x, k: x[k], X, k)
    agree(lambda x, k: x[k, -1], X, k)
    agree(lambda v, k: v[k], V, k)
    agree(lambda v, k: v[k], V, np.int8(k))


@pytest.mark.parametrize("k", [6, -7])
def test_an_index_outside_raises_at_the_users_line(k: int) -> None:
    with pytest.raises(errors.StagedIndexError, match=r"test_arrays\.py"):
        interpret(lambda v, k: v[k], V, k)


def test_a_static_index_outside_is_refused_while_staging() -> None:
    message = "index 3 is out of bounds for axis 0 with size 3"
    with pytest.raises(errors.StagedIndexError, match=message):
        stage(lambda x: zeros(3)[3] + x, X)
    with pytest.raises(errors.StagedIndexError, match="too many indices"):
        stage(lambda x: x[0, 0, 0], X)


def test_an_index_that_is_surely_outside_is_no_fault_where_it_does_not_run() -> None:
    def f(v: Any, c: Any) -> Any:
        return v[3] if c > 0 else v[0]

    jitted: Any = pm.jit(f, target="reference")
    assert jitted(np.ones(1), 0) == 1.0
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 1"):
        jitted(np.ones(1), 1)
    assert len(interpret(lambda v, w: w.map(lambda e: e + v[5]), np.ones(1), np.zeros(0))) == 0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[x > 0],
        lambda x: x[x[:, 0] > 0],
        lambda x: x[x[:, 0] > 0].sum(axis=0),
        lambda x: x[x[:, 0] > 0, 1],
        lambda x: x[[0, 2, -1]],
        lambda x: x[:, [2, 0]],
        lambda x: x[np.array([[0, 1], [4, 4]])],
        lambda x: x[[True, False, True, False, False]],
        lambda x: x[(x[:, 0] > 9)],
        lambda x: x.ravel()[::-2],
    ],
)
def test_masks_and_positions(f: Callable[[Any], Any]) -> None:
    agree(f, X)


# Writes.


def shift(v: Any) -> Any:
    b = v.copy()
    b[1:] = b[:-1]
    return b


def aliases(v: Any) -> Any:
    b = v.copy()
    c = b
    c += 1
    b[0] = 7
    b[-1] *= 2
    every_second = b[::2]
    every_second[...] = 0
    return b, c, every_second


def writes(x: Any) -> Any:
    b = x.copy()
    b[1] = 5
    b[:, 0] += 1
    b[2, 2] = 9
    row = b[0]
    row -= 3
    b[b > 3] = 0
    b[::-2, 1:] = -1
    b[b[:, 0] > 0] = [1, 2, 3]
    return b, row, b.T


def at_run_time(x: Any, k: Any) -> Any:
    b = x.copy()
    b[k] = 5
    b[k, 1] = 7
    b[:, k] = x[:, 0] * 10
    return b


def test_writes_are_numpys() -> None:
    agree(shift, V)
    agree(aliases, V)
    agree(writes, X)
    agree(at_run_time, X, 1)
    agree(at_run_time, X, -2)


@pytest.mark.parametrize("key", [slice(-1), slice(2), slice(0, None, 2), slice(1, None), slice(0)])
def test_writes_to_a_part_leave_the_rest(key: slice) -> None:
    def f(v: Any) -> Any:
        put, added = v.copy(), v.copy()
        put[key] = 7
        added[key] += v[key]
        return put, added

    agree(f, V)


def test_a_write_outside_raises() -> None:
    with pytest.raises(errors.StagedIndexError, match="out of bounds in an assignment"):
        interpret(at_run_time, X, 5)


def test_a_write_to_a_new_array_in_place() -> None:
    def f(v: Any) -> Any:
        b = zeros(4) if not isinstance(v, np.ndarray) else np.zeros(4)
        b[2] = 1.5
        b[1:3] += v[:2]
        b **= 2
        return b

    agree(f, V)


def test_arguments_are_never_written_to() -> None:
    def f(x: Any) -> Any:
        x[0] = 1
        return x

    def g(x: Any) -> Any:
        row = x.T[1:]
        row += 1
        return x

    for program in (f, g):
        with pytest.raises(errors.Limitation, match="a write to an argument") as info:
            stage(program, X)
        assert "b = a.copy()" in str(info.value)


def test_patterns_do_not_write_outside() -> None:
    def f(x: Any) -> Any:
        b = x.copy()

        def put(row: Any) -> Any:
            b[0] = row
            return row.sum()

        return x.rows.map(put)

    with pytest.raises(errors.Limitation, match="made outside of this function"):
        stage(f, X)


def test_in_place_results_must_fit_the_dtype() -> None:
    def f(i: Any) -> Any:
        b = i.copy()
        b += 0.5
        return b

    with pytest.raises(errors.StagingTypeError, match="does not fit an array of i64"):
        stage(f, I)


# Refusals.


def test_traps() -> None:
    with pytest.raises(errors.StagingTypeError, match="iteration over a staged array"):
        stage(lambda x: list(x), X)
    with pytest.raises(errors.StagingTypeError, match="len\\(\\) of a staged collection"):
        stage(lambda x: len(x), X)
    with pytest.raises(errors.UnknownNameError, match="did you mean 'transpose'"):
        stage(lambda x: x.transposed, X)
    with pytest.raises(errors.Limitation, match="step is a staged value"):
        stage(lambda x, k: x[::k], X, 2)
    with pytest.raises(errors.Limitation, match="dtype object"):
        stage(lambda x: x + np.array([None]), X)
    with pytest.raises(errors.ShapeError, match="differ in length"):
        stage(lambda x: x + [[1], [1, 2]], X)
    with pytest.raises(errors.StagingTypeError, match=r"\.rows of f64\[a0_0\]"):
        stage(lambda v: v.rows, V)


def test_captured_arrays_are_hidden_arguments() -> None:
    weights = np.array([1.0, 2.0, 3.0])
    program, values, _ = stage(lambda x: x @ weights + weights.sum(), X)
    assert len(program.params) == 2
    assert values[1] is weights
    agree(lambda x: x @ weights, X)
    swapped = weights.astype(">f8")
    agree(lambda x: x + swapped, X, reference=lambda x: x + weights)
