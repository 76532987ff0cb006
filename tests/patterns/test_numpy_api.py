"""NumPy's functions on staged arrays give NumPy's values, or are refused by name."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from parloom.patterns import public
from parloom.patterns.generators import Collect, Reduce
from parloom.patterns.numpy_api import creation
from parloom.staging import errors
from tests.compare import assert_agree
from tests.patterns.staged import agree, interpret, loops, stage

X = np.random.default_rng(1).normal(size=(5, 3))
V = np.random.default_rng(2).normal(size=6)
NAN = np.array([3.0, np.nan, 1.0, np.nan])

FUNCTIONS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(x),
    lambda x: np.sum(x, axis=0, keepdims=True),
    lambda x: np.sum(x, axis=-1, dtype=np.float32),
    lambda x: np.prod(x, axis=0),
    lambda x: np.mean(x, 0),
    lambda x: np.var(x, axis=0, ddof=1),
    lambda x: np.std(x, axis=0, keepdims=True),
    lambda x: np.min(x, axis=-1),
    lambda x: np.max(x),
    lambda x: np.argmin(x, axis=0),
    lambda x: np.argmax(x),
    lambda x: np.any(x > 0, axis=0),
    lambda x: np.all(x < 9),
    lambda x: np.count_nonzero(x > 0),
    lambda x: np.count_nonzero(x > 0, axis=0),
    lambda x: np.where(x > 0, x, 0),
    lambda x: np.clip(x, -0.5, 0.5),
    lambda x: np.round(x),
    lambda x: np.diff(x, axis=0),
    lambda x: np.flip(x),
    lambda x: np.ravel(x),
    lambda x: np.expand_dims(x, -1),
    lambda x: np.squeeze(x[None]),
    lambda x: np.concatenate([x, x[1:], x[:0]]),
    lambda x: np.stack([x, x * 2], axis=-1),
    lambda x: np.vstack([x, x]),
    lambda x: np.hstack([x, x]),
    lambda x: np.zeros_like(x) + np.ones_like(x, dtype=np.int32) + np.full_like(x, 7),
    lambda x: np.take(x, [0, -1], axis=0),
    lambda x: np.linalg.norm(x),
    lambda x: np.dot(x, 2),
    lambda x: np.ndim(x) + np.size(x, 0) * np.sum(x),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_functions_of_vectors_and_matrices(f: Callable[[Any], Any]) -> None:
    agree(f, X)
    agree(f, V)


MATRIX: list[Callable[[Any], Any]] = [
    lambda x: x @ x.T,
    lambda x: x.T @ x[:, 0],
    lambda x: x[:, 0] @ x,
    lambda x: np.dot(x.T, x),
    lambda x: np.inner(x, x),
    lambda x: np.outer(x[0], x[:, 0]),
    lambda x: np.trace(x @ x.T),
    lambda x: np.diag(x) + np.diag(np.diag(x))[0],
    lambda x: np.transpose(x),
    lambda x: np.swapaxes(x, 0, 1),
    lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.broadcast_to(x[0], x.shape),
    lambda x: np.column_stack([x, x[:, 0]]),
    lambda x: x.sum(axis=(0, 1)) + x.mean(axis=(1,)),
    lambda x: x.argmin(axis=1, keepdims=True),
]


@pytest.mark.parametrize("f", MATRIX)
def test_functions_of_matrices(f: Callable[[Any], Any]) -> None:
    agree(f, X)


def test_a_column_sum_is_a_collect_of_reduces() -> None:
    program, _, _ = stage(lambda x: x.sum(axis=0), X)
    outer, inner = loops(program)
    assert [type(g) for g in (*outer.generators, *inner.generators)] == [Collect, Reduce]
    assert (outer.domain, inner.domain) == ((program.sizes[1],), (program.sizes[0],))


def test_nan_propagates_and_the_first_one_wins() -> None:
    agree(lambda v: (v.min(), v.max(), v.argmin(), v.argmax(), v.mean()), NAN)


def test_small_integers_widen() -> None:
    i = np.full(4, 2**30, np.int32)
    agree(lambda i: (i.sum(), i.prod(), i.mean(), (i > 0).sum()), i)
    agree(lambda i: i.sum(axis=0), i.reshape(2, 2))


def test_error_functions() -> None:
    """NumPy has none; numbers and arrays of any float, and of integers, by Python's."""
    for function, python in ((public.erf, math.erf), (public.erfc, math.erfc)):
        for x in (X, V.astype(np.float32), np.arange(3), NAN):
            kind = np.float32 if x.dtype == np.float32 else np.float64
            expected = np.vectorize(python)(x).astype(kind)
            assert_agree(interpret(function, x), expected)
            assert_agree(np.asarray(function(x)), expected)
            assert_agree(interpret(function, x[0]), expected[0])
            assert_agree(function(x[0]), expected[0])
    with pytest.raises(errors.StagingTypeError, match="erf is not defined for c128"):
        stage(public.erf, X + 1j)


def test_empty_arrays() -> None:
    empty = np.zeros(0)
    agree(lambda v: (v.sum(), v.prod(), v.any(), v.all()), empty)
    agree(lambda v: v.mean(), empty, reference=lambda v: np.float64("nan"))
    with pytest.raises(ValueError, match="min"):
        interpret(lambda v: v.min(), empty)


@pytest.mark.parametrize(
    "bounds", [(5,), (2, 7), (7, 2, -2), (0, 1, 0.3), (1.5,), (2, 2), (np.int32(3),)]
)
def test_arange(bounds: tuple[Any, ...]) -> None:
    agree(lambda: creation.arange(*bounds), reference=lambda: np.arange(*bounds))


def test_creation_with_sizes_at_run_time() -> None:
    agree(lambda n: creation.arange(n), 5, reference=np.arange)
    agree(lambda n: creation.eye(n, k=1), 4, reference=lambda n: np.eye(n, k=1))
    agree(lambda n: creation.zeros((n, 2)), 4, reference=lambda n: np.zeros((n, 2)))
    agree(lambda n: creation.full(n, 2.5), 3, reference=lambda n: np.full(n, 2.5))
    agree(lambda n: creation.ones(n, np.int8), 3, reference=lambda n: np.ones(n, np.int8))
    agree(lambda n: creation.identity(n), 3, reference=np.identity)


def test_a_negative_size_raises() -> None:
    with pytest.raises(errors.ShapeError, match="negative dimensions are not allowed"):
        stage(lambda x: creation.zeros(-1), X)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        interpret(lambda n: creation.zeros(n), -1)


def test_lists_of_staged_numbers_are_arrays() -> None:
    agree(lambda v: np.stack([v[0], v[1] * 2, 3]), V)
    agree(lambda v: np.stack([v[0], 2.5]), V.astype(np.float32))
    agree(lambda v: np.stack([v[0], 2]), V.astype(np.int8))
    agree(lambda v: np.hstack([v, v.max(), 2]), V)
    agree(lambda v: np.vstack([v[:1], v.max()]), V)
    agree(lambda v: np.column_stack([v[:1], v.max()]), V)
    agree(lambda v: v[:2] + [v[0], 1], V, reference=lambda v: v[:2] + np.array([v[0], 1]))


def test_numbers_are_not_concatenated() -> None:
    with pytest.raises(errors.ShapeError, match=r"np\.concatenate of a number"):
        stage(lambda v: np.concatenate([v[0], v[1]]), V)


def test_the_rest_is_refused_by_name() -> None:
    with pytest.raises(errors.Limitation, match=r"^np\.linalg\.eig is not supported") as info:
        stage(lambda x: np.linalg.eig(x), X)
    assert "instead: np.linalg.eigh" in str(info.value)
    with pytest.raises(errors.Limitation, match=r"np\.var .* argument 'mean'"):
        stage(lambda x: np.var(x, mean=0.0), X)
    with pytest.raises(errors.StagingTypeError, match="min does not have an identity"):
        stage(lambda x: np.min(x, where=x > 0), X)
    with pytest.raises(errors.Limitation, match=r"np\.add with where= and no out="):
        stage(lambda x: np.add(x, x, where=x > 0), X)
    with pytest.raises(errors.Limitation, match=r"np\.pad with mode='mean'"):
        stage(lambda x: np.pad(x, 1, "mean"), X)
    with pytest.raises(errors.Limitation, match=r"np\.clip .* unexpected keyword argument 'dtype'"):
        stage(lambda x: np.clip(x, 0, 1, dtype=np.float32), X)
    with pytest.raises(errors.ShapeError, match="axis 2 is out of bounds"):
        stage(lambda x: x.sum(axis=2), X)
    with pytest.raises(errors.StagingTypeError, match="an axis must be a Python integer"):
        stage(lambda x, k: x.sum(axis=k), X, 1)


EDGES: list[Callable[[Any, Any], Any]] = [
    lambda a, v: tuple(np.convolve(a, v, mode) for mode in ("full", "same", "valid")),
    lambda a, v: tuple(np.correlate(a, v, mode) for mode in ("full", "same", "valid")),
    lambda a, v: (np.convolve(a > 0, v > 0), np.correlate(a > 0, v > 0, "full")),
    lambda a, v: (np.take(a, v, mode="clip"), np.take(a, v, mode="wrap")),
    lambda a, v: (np.logical_xor.reduce(a * 0.5), np.divide.reduce(a), np.arctan2.reduce(v)),
    lambda a, v: (np.floor_divide.reduce(a > 0), np.add.reduce(v, dtype=np.int8)),
    lambda a, v: (np.minimum.reduce(a[:, None] * v, axis=None), np.add.reduce(a[:, None] * v)),
    lambda a, v: (np.gradient(a + 1j * a), (a > 0).conj()),
]


@pytest.mark.parametrize("function", EDGES)
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (2, 4), (4, 2), (3, 3)])
def test_vectors_of_either_length_and_narrow_types(
    function: Callable[[Any, Any], Any], sizes: tuple[int, int]
) -> None:
    a, v = np.arange(1, sizes[0] + 1), np.arange(-1, sizes[1] - 1).astype(np.int8)
    assert_agree(interpret(function, a, v), function(a, v))


def test_narrow_positions_reach_the_end_of_a_long_axis() -> None:
    a, v = np.arange(1000), np.array([3, 127], np.int8)
    assert_agree(interpret(lambda a, v: np.take(a, v, mode="clip"), a, v), a[v])


OUTSIDE: list[tuple[Callable[[Any], Any], int, str]] = [
    (lambda a: np.insert(a, 3, 0.0), 2, "index 3 is out of bounds"),
    (lambda a: np.insert(a, -4, 0.0), 3, "index -4 is out of bounds"),
    (lambda a: np.delete(a, 2), 2, "index 2 is out of bounds"),
    (lambda a: np.gradient(a), 0, "too small to calculate a numerical gradient"),
    (lambda a: np.convolve(a, a), 0, "cannot be empty"),
    (lambda a: np.squeeze(a[:1]), 2, "squeeze of axis 0, whose size is computed and 1"),
]


@pytest.mark.parametrize(("function", "size", "message"), OUTSIDE)
def test_a_position_or_size_that_does_not_fit_is_an_error(
    function: Callable[[Any], Any], size: int, message: str
) -> None:
    with pytest.raises((IndexError, ValueError), match=message):
        interpret(function, np.ones(size))


def test_reductions_whose_results_do_not_combine_are_refused() -> None:
    for function in (lambda x: np.less.reduce(x), lambda x: np.hypot.reduce(x)):
        with pytest.raises((errors.StagingTypeError, errors.Limitation), match=r"reduce"):
            stage(function, V)
    with pytest.raises(errors.Limitation, match=r"np\.fmod\.reduce of integers"):
        stage(lambda x: np.fmod.reduce(x), np.arange(3))


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.insert(a, 0, 300),
        lambda a: np.pad(a, 1, constant_values=300),
        lambda a: np.piecewise(a, [a > 0], cast(Any, [300, 1])),
        lambda a: np.max(a, initial=300),
    ],
)
def test_a_python_integer_that_the_dtype_does_not_hold_is_an_error(
    function: Callable[[Any], Any],
) -> None:
    for call in (function, lambda a: interpret(function, a)):
        with pytest.raises(OverflowError, match="300 out of bounds for int8"):
            call(np.ones(3, np.int8))
