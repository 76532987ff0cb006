"""OptiML: one definition serves eager and staged runs, and stages to the loops that fuse."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.dsls import optiml as ml
from parloom.patterns import reducers
from parloom.patterns.eager import wrap
from parloom.patterns.generators import Collect, Fold, Generator, MultiLoop, Reduce
from parloom.staging import errors
from parloom.staging import primitives as p
from parloom.staging.nodes import Callback, While
from tests.dsls import programs
from tests.patterns.staged import agree, interpret, loops, ops, stage

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(12, 3))
Y = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1], np.int64)
W = RANDOM.normal(size=3)
MU = X[:2] + 0.1

PROGRAMS: list[tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = [
    (programs.kmeans_step, programs.numpy_kmeans_step, (X, MU)),
    (programs.kmeans_masks, programs.numpy_kmeans_step, (X, MU)),
    (programs.kmeans_groups, programs.numpy_kmeans_step, (X, MU)),
    (programs.logistic_gradient_rows, programs.numpy_logistic_gradient, (X, Y, W)),
    (programs.logistic_gradient_matrix, programs.numpy_logistic_gradient, (X, Y, W)),
    (programs.gda_rows, programs.numpy_gda, (X, Y)),
    (programs.gda_matrix, programs.numpy_gda, (X, Y)),
]


@pytest.mark.parametrize(("program", "reference", "args"), PROGRAMS)
def test_programs_are_numpys_eagerly_and_staged(
    program: Callable[..., Any], reference: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    agree(program, *args, reference=reference)
    agree(program, *args, reference=lambda *own: program(*wrap(own)))


def numpy_kmeans(x: np.ndarray, mu: np.ndarray, tol: float, max_iter: int) -> np.ndarray:
    change, steps = np.inf, 0
    while change > tol and steps < max_iter:
        following = programs.numpy_kmeans_step(x, mu)
        change, mu, steps = ((following - mu) ** 2).sum(), following, steps + 1
    return mu


@pytest.mark.parametrize(("tol", "max_iter"), [(1e-9, 100), (1e-9, 1), (1e3, 9)])
def test_kmeans_converges_as_numpy_does(tol: float, max_iter: int) -> None:
    agree(programs.kmeans, X, MU, tol, max_iter, reference=numpy_kmeans)
    x, mu = wrap((X, MU))
    eager = programs.kmeans(x, mu, tol, max_iter)
    np.testing.assert_allclose(eager, numpy_kmeans(X, MU, tol, max_iter), rtol=1e-13)


def test_an_empty_cluster() -> None:
    far = np.vstack([MU, [[99.0, 99.0, 99.0]]])
    assert interpret(programs.kmeans_step, X, far)[2].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(interpret(programs.kmeans_groups, X, far)[2]).all()


# What the passes start from.


def generators(loop: MultiLoop) -> list[type[Generator]]:
    return [type(g) for g in loop.generators]


def test_kmeans_stages_to_an_argmin_inside_a_loop_and_conditional_reduces_inside_another() -> None:
    program, _, _ = stage(programs.kmeans_step, X, MU)
    n, _, k = program.sizes
    outermost = [s.op for s in program.body.stmts]
    label, centroids = (op for op in outermost if isinstance(op, MultiLoop))
    assert (label.domain, generators(label)) == ((n,), [Collect])
    (argmin,) = [op for op in loops(program) if op.domain == (k,) and generators(op) == [Reduce]]
    assert argmin.generators[0].reducer.name == "argmin"  # type: ignore[attr-defined]
    assert (centroids.domain, generators(centroids)) == ((k,), [Collect])
    mask, total, count, _ = (s.op for s in centroids.body.stmts if isinstance(s.op, MultiLoop))
    assert [op.domain for op in (mask, total, count)] == [(n,)] * 3
    assert [generators(op) for op in (mask, total, count)] == [[Collect], [Reduce], [Reduce]]
    for op in (total, count):
        (reduce,) = op.generators
        assert isinstance(reduce, Reduce)
        assert reduce.cond is not None
        assert reducers.scalar_primitive(reduce.reducer) is p.ADD


def test_group_by_stages_to_two_folds() -> None:
    program, _, _ = stage(programs.kmeans_groups, X, MU)
    assert sum(generators(op) == [Fold] for op in loops(program)) == 2


def test_until_converged_records_its_step_once() -> None:
    program, _, _ = stage(lambda x, mu: programs.kmeans(x, mu, 1e-3, 100), X, MU)
    assert len(ops(program, While)) == 1
    argmins = [op for op in loops(program) if "argmin" in _reducers(op)]
    assert len(argmins) == 1


def _reducers(loop: MultiLoop) -> list[str]:
    return [g.reducer.name for g in loop.generators if isinstance(g, Reduce)]


# until_converged.


def halve(x: Any) -> Any:
    return x / 2


def test_a_tuple_needs_a_difference() -> None:
    f: Any = pm.jit(lambda a: ml.until_converged((a, a), lambda pair: pair))
    for run in (f, f.eager):
        with pytest.raises(TypeError, match="a tuple without a difference"):
            run(np.ones(2))


def test_the_named_default_difference_is_the_sum_of_squares() -> None:
    start = np.array([3.0, 4.0])
    by_default = ml.until_converged(start, halve, tol=0.1)
    named = ml.until_converged(start, halve, tol=0.1, difference=ml.sum_of_squares)
    assert by_default.tolist() == named.tolist() == (start / 16).tolist()
    agree(lambda x: ml.until_converged(x, halve, tol=0.1), start, reference=lambda x: x / 16)


def test_limits_of_iterations() -> None:
    runs: list[int] = []

    def step(x: Any) -> Any:
        runs.append(1)
        return x

    ml.until_converged(1.0, step)
    assert len(runs) == 1
    ml.until_converged(1.0, step, min_iter=3)
    assert len(runs) == 4
    assert ml.until_converged(1.0, halve, tol=0, max_iter=5) == 1 / 32
    agree(
        lambda x: ml.until_converged(x, halve, tol=0, max_iter=5),
        X,
        reference=lambda x: x / 32,
    )
    agree(
        lambda x: ml.until_converged(x, halve, tol=0, min_iter=0, max_iter=0),
        X,
        reference=lambda x: x,
    )


def test_a_nan_difference_ends_the_loop() -> None:
    diverge: Callable[[Any], Any] = lambda x: x * np.float64("nan")
    assert np.isnan(ml.until_converged(np.array([1.0]), diverge)).all()
    agree(
        lambda x: ml.until_converged(x, lambda v: v * np.float64("nan")),
        X,
        reference=lambda x: x * np.nan,
    )


def test_integer_state_widens() -> None:
    agree(
        lambda x: ml.until_converged(x, halve, tol=1.0),
        np.array([8, 0]),
        reference=lambda x: x / 8,
    )


def test_a_difference_over_a_record() -> None:
    def step(state: Any) -> Any:
        x, _ = state
        return x / 2, x

    def f(x: Any) -> Any:
        change: Callable[[Any, Any], Any] = lambda a, b: ml.dist(a[0], b[0], ml.ABS)
        return ml.until_converged((x, x), step, tol=1.0, difference=change)

    agree(f, np.array([8.0]), reference=lambda x: (x / 8, x / 4))


def test_on_iteration_sees_every_step() -> None:
    seen: list[tuple[int, float]] = []

    def watch(iteration: Any, change: Any) -> None:
        seen.append((int(iteration), float(change)))

    def f(x: Any) -> Any:
        return ml.until_converged(x, halve, tol=0.3, on_iteration=watch)

    expected = [(1, 4.0), (2, 1.0), (3, 0.25)]
    f(np.array([4.0]))
    assert seen == expected
    seen.clear()
    program, _, _ = stage(f, np.array([4.0]))
    assert len(ops(program, Callback)) == 1
    interpret(f, np.array([4.0]))
    assert seen == expected


# Operations.


def test_distances() -> None:
    for metric, reference in [
        (ml.ABS, lambda a, b: np.abs(a - b).sum()),
        (ml.SQUARE, lambda a, b: ((a - b) ** 2).sum()),
        (ml.EUC, lambda a, b: np.linalg.norm(a - b)),
    ]:
        agree(lambda a, b, m=metric: ml.dist(a, b, m), W, MU[0], reference=reference)
        agree(lambda a, b, m=metric: ml.dist(a, b, m), X, X + 1, reference=reference)
    with pytest.raises(errors.StagingTypeError, match=r"ml\.ABS, ml\.SQUARE or ml\.EUC"):
        ml.dist(W, W, "euclid")  # type: ignore[arg-type]


def test_sums() -> None:
    keep = X[:, 0] > 0
    agree(lambda x: ml.sum(x), X, reference=lambda x: x.sum())
    agree(lambda x: ml.sum(pm.range(x.shape[0]), lambda i: x[i]), X, reference=lambda x: x.sum(0))
    agree(lambda x: ml.sum_if(x, lambda e: e > 0), X, reference=lambda x: x[x > 0].sum())
    agree(lambda x: ml.sum_rows(x), X, reference=lambda x: x.sum(axis=0))
    agree(lambda x: ml.sum_cols(x), X, reference=lambda x: x.sum(axis=1))
    agree(lambda x: ml.mean(x.rows, lambda r: r[0]), X, reference=lambda x: x[:, 0].mean())
    for condition in (lambda x: x[:, 0] > 0, lambda x: lambda row: row[0] > 0):
        agree(
            lambda x, c=condition: ml.sum_rows_if(x, c(x), lambda row: row * 2),
            X,
            reference=lambda x: x[keep].sum(axis=0) * 2,
        )


def test_lists_are_arrays() -> None:
    assert ml.sum_rows_if([[1, 2], [3, 4]], [True, False]).tolist() == [1, 2]
    assert ml.outer([1, 2], [3.0]).tolist() == [[3.0], [6.0]]
    agree(lambda w: ml.dot(w, [1.0, 2.0, 3.0]), W, reference=lambda w: w @ [1.0, 2.0, 3.0])


def test_a_mask_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(errors.ShapeError, match="a mask"):
        ml.sum_rows_if(X, [True, False])


def test_sigmoid() -> None:
    extremes = np.array([-1000.0, 0.0, 1000.0])
    agree(lambda x: ml.sigmoid(x), extremes, reference=lambda x: np.array([0.0, 0.5, 1.0]))
    assert ml.sigmoid([0.0]).tolist() == [0.5]
