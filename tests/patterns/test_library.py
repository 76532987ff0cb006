"""Library calls give NumPy's answers, fail at the user's line, and are refused inside of loops."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.library import Library
from parloom.staging import errors
from parloom.staging.parser import parse
from parloom.staging.printer import to_text
from tests.patterns.staged import interpret, stage

RNG = np.random.default_rng(3)
X = RNG.normal(size=(5, 3))
V = RNG.normal(size=6)
S = X.T @ X + np.eye(3)
STACK = RNG.normal(size=(2, 3, 3)) + 4 * np.eye(3)
NAN = np.array([[3.0, np.nan, 1.0], [np.nan, -np.inf, 1.0]])
TIES = np.array([2, 1, 2, 1, 0, 2], np.int8)


def same(f: Callable[..., Any], *args: Any) -> None:
    """The interpreter and the compiled function give NumPy's values, dtypes and shapes."""
    with np.errstate(all="ignore"):
        expected = f(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    compiled: Any = pm.jit(f)
    for found in (interpret(f, *args), compiled(*args)):
        many = found if isinstance(found, tuple) else (found,)
        assert len(many) == len(expected)
        for a, b in zip(many, expected, strict=True):
            assert (np.asarray(a).dtype, np.shape(a)) == (np.asarray(b).dtype, np.shape(b))
            np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype.itemsize < 8 else 1e-11)


SORTING: list[Callable[[Any], Any]] = [
    lambda x: np.sort(x),
    lambda x: np.sort(x, axis=0)[::-1],
    lambda x: np.sort(x, axis=None, kind="heapsort"),
    lambda x: np.argsort(x, kind="stable"),
    lambda x: np.argsort(x, axis=0, stable=True),
    lambda x: x.argsort(axis=None, kind="stable"),
    lambda x: np.sort(x.T),
    lambda x: np.median(x),
    lambda x: np.median(x, axis=0, keepdims=True),
    lambda x: np.median(x, keepdims=True),
    lambda x: np.quantile(x, 0.3, axis=-1),
    lambda x: np.quantile(x, [0.25, 0.5], axis=0, method="median_unbiased", keepdims=True),
    lambda x: np.percentile(x, 20),
    lambda x: np.percentile(x, [0, 50, 100], axis=-1, method="nearest"),
]


@pytest.mark.parametrize("f", SORTING)
def test_sorting(f: Callable[[Any], Any]) -> None:
    for x in (X, NAN, X.astype(np.float32), TIES, TIES.reshape(2, 3), V[:1]):
        same(f, x)


def test_sorting_of_bools_complex_and_nothing() -> None:
    for x in (TIES > 1, X[0] + 1j * TIES[:3], np.zeros((0, 2)), TIES.astype(np.uint16)):
        same(lambda x: (np.sort(x), np.argsort(x, kind="stable")), x)


def test_partitions_are_sorted() -> None:
    f: Any = pm.jit(lambda x: (np.partition(x, 2), np.argpartition(x, 2)))
    values, places = f(V)
    np.testing.assert_array_equal(values, np.sort(V))
    np.testing.assert_array_equal(V[places], values)


def test_sorting_by_several_keys() -> None:
    same(lambda a, b: np.lexsort((a, b)), V, TIES)
    same(lambda x: np.lexsort((x[1], x[0])), TIES.reshape(2, 3))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(side: Any) -> None:
    a = np.array([-1.0, 0.0, 0.0, 2.0, np.nan])
    v = np.array([[-5.0, -1.0, 0.0], [1.0, 2.0, np.nan]])
    same(lambda a, v: np.searchsorted(a, v, side), a, v)
    same(lambda a, v: np.searchsorted(a, v, side), TIES[np.argsort(TIES)], np.arange(4))
    same(lambda a, v: np.searchsorted(a, v, side, sorter=np.argsort(a)), V, V)
    same(lambda a, k: np.searchsorted(a, k, side), a, 0.5)
    same(lambda v: np.searchsorted(v, v, side), np.zeros(0))
    inside: Any = pm.jit(lambda a, v: v.map(lambda e: a.searchsorted(e, side)))
    np.testing.assert_array_equal(inside(a, v), np.searchsorted(a, v, side))


def test_sorting_in_place_is_seen_by_views() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        view = y[::-1]
        y.sort()
        return y, view

    same(f, V)


LINEAR: list[Callable[[Any], Any]] = [
    lambda a: np.linalg.inv(a),
    lambda a: np.linalg.det(a),
    lambda a: np.linalg.slogdet(a),
    lambda a: np.linalg.solve(a, a[..., 0, :] if a.ndim == 2 else a),
    lambda a: np.linalg.solve(a, a + 1),
    lambda a: np.linalg.eigvalsh(a + np.swapaxes(a, -1, -2)),
    lambda a: np.abs(np.linalg.eigh(a + np.swapaxes(a, -1, -2))[1]),
    lambda a: np.linalg.cholesky(a @ np.swapaxes(a, -1, -2) if a.ndim == 2 else a * 0 + S),
    lambda a: np.linalg.svdvals(a),
    lambda a: np.abs(np.linalg.svd(a)[2]),
    lambda a: np.linalg.qr(a),
    lambda a: np.linalg.qr(a, mode="r"),
    lambda a: np.linalg.matrix_power(a, 3),
    lambda a: np.linalg.matrix_power(a, -2),
    lambda a: np.linalg.matrix_rank(a),
    lambda a: np.linalg.pinv(a),
    lambda a: np.trace(a),
    lambda a: np.trace(a, 1, -1, 0),
]


@pytest.mark.parametrize("f", LINEAR)
def test_linear_algebra(f: Callable[[Any], Any]) -> None:
    for a in (S, STACK, S.astype(np.float32), np.array([[2, 1], [1, 3]])):
        same(f, a)


def test_decompositions_of_other_shapes() -> None:
    for a in (X, X.T, X.astype(np.float32)):
        same(lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[0]), a)
        same(lambda a: np.linalg.svd(a)[1], a)
        same(lambda a: np.abs(np.linalg.qr(a, mode="complete")[1]), a)
        same(lambda a: (np.linalg.pinv(a), np.linalg.matrix_rank(a)), a)


def test_least_squares() -> None:
    for b in (X[:, 0], X[:, :2]):
        same(lambda a, b: np.linalg.lstsq(a, b), X[:, 1:], b)
        same(lambda a, b: np.linalg.lstsq(a, b, 0.5), X[:, [1, 1]], b)


def test_solving_for_a_vector() -> None:
    same(lambda a, b: np.linalg.solve(a, b), S, X[0])
    same(lambda a, b: np.linalg.solve(a, b), STACK, X[0])


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, np.inf, -np.inf, -1])
def test_norms_of_vectors(ord: Any) -> None:
    for x in (X, X + 1j, X.astype(np.float32), TIES.reshape(3, 2)):
        same(lambda x: np.linalg.norm(x, ord, axis=1), x)
        same(lambda x: np.linalg.norm(x[0], ord), x)


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices(ord: Any) -> None:
    for x in (X, X + 1j, X.astype(np.float32)):
        same(lambda x: np.linalg.norm(x, ord), x)
        same(lambda x: np.linalg.norm(x, ord, (0, 1), keepdims=True), x)
    same(lambda x: np.linalg.norm(x, ord, axis=(2, 0)), STACK)


FOURIER: list[Callable[[Any], Any]] = [
    lambda x: np.fft.fft(x),
    lambda x: np.fft.fft(x, 4, axis=0, norm="ortho"),
    lambda x: np.fft.ifft(x, 7),
    lambda x: np.fft.irfft(x, norm="forward"),
    lambda x: np.fft.irfft(x, 7),
    lambda x: np.fft.hfft(x),
    lambda x: np.fft.fft2(x),
    lambda x: np.fft.ifft2(x, s=(4, 4)),
    lambda x: np.fft.fftn(x, axes=(0,)),
    lambda x: np.fft.irfft2(x),
    lambda x: np.fft.fftshift(x),
    lambda x: np.fft.ifftshift(x, axes=1),
]


def test_fourier_transforms_of_real_numbers() -> None:
    for x in (X, X.astype(np.float32), TIES):
        same(lambda x: (np.fft.rfft(x), np.fft.rfft(x, 5, axis=0), np.fft.ihfft(x)), x)
    same(lambda x: (np.fft.rfft2(x), np.fft.rfftn(x, axes=(0,))), X)


@pytest.mark.parametrize("f", FOURIER)
def test_fourier_transforms(f: Callable[[Any], Any]) -> None:
    same(f, X + 1j * X[::-1])
    same(f, X)
    same(f, X.astype(np.float32))


def test_a_failure_names_the_users_line() -> None:
    singular = np.zeros((2, 2))
    f: Any = pm.jit(lambda a: np.linalg.inv(a))
    for run in (f, lambda a: interpret(lambda a: np.linalg.inv(a), a)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular") as info:
            run(singular)
        assert "np.linalg.inv(a)" in str(info.value)
        assert isinstance(info.value, errors.UserError)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="sizes do not fit together"):
        pm.jit(lambda a: np.linalg.inv(a))(X)
    with pytest.raises(errors.ShapeError, match="a matrix has two axes"):
        stage(lambda v: np.linalg.det(v), V)


def test_inside_of_a_loop_it_is_refused_by_name() -> None:
    f: Any = pm.jit(lambda x: x.rows.map(lambda r: np.sort(r)))
    with pytest.raises(errors.Limitation, match="sort, a library's function, inside") as info:
        f(X)
    assert "np.sort(x, axis=1)" in str(info.value)
    np.testing.assert_array_equal(f.on("reference")(X), np.sort(X, axis=1))


def test_it_runs_inside_of_staged_control_flow() -> None:
    @pm.jit
    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = np.sort(x, axis=0) * 2 if x[0, 0] > -1 else np.linalg.inv(x @ x.T) @ x
        return x

    np.testing.assert_allclose(f(S, 3), f.eager(S, 3))


def test_equal_calls_are_one_and_calls_print_and_parse() -> None:
    program, _, _ = stage(lambda x: (np.sort(x), np.sort(x) + 1, np.linalg.svd(x)), X)
    calls = [s.op for s in program.body.stmts if isinstance(s.op, Library)]
    assert [type(c.routine).__name__ for c in calls] == ["Sort", "SingularValues"]
    text = to_text(program)
    assert "library sort(axis=1) of (" in text
    assert to_text(parse(text)) == text
