"""The main jobs come to one pass over their rows for each level of dependence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from parloom.patterns import public as pm
from parloom.patterns.generators import MultiLoop
from parloom.patterns.reference import interpret
from parloom.staging.nodes import Block, Program, Var, While
from parloom.staging.types import Array
from tests.dsls import programs
from tests.patterns.staged import stage
from tests.program_arguments import random_arguments
from tests.programs import random_program
from tests.transforms.chains import random_chain
from tests.transforms.structure import (
    Fold,
    Reduce,
    arrays_over,
    fused,
    loop_of,
    loops,
    loops_over,
    shape_of,
)

_DATA = np.random.default_rng(0)
X = _DATA.normal(size=(7, 2))
MU = _DATA.normal(size=(3, 2))
Y = (_DATA.random(7) < 0.4).astype(np.int64)
W = _DATA.normal(size=2)


def _rows(program: Program) -> Var:
    """The number of rows of the first argument."""
    type_ = program.params[0].type
    assert isinstance(type_, Array)
    rows = type_.shape[0]
    assert isinstance(rows, Var)
    return rows


def _fused(f: Callable[..., Any], *arguments: Any) -> Program:
    program, values, _ = stage(f, *arguments)
    return fused(program, values)


def _assert_kmeans_step(block: Block, rows: Var) -> None:
    """One loop over the rows: sums and counts; then a loop over the centroids."""
    (loop,) = loops_over(block, rows)
    assert shape_of(loop) == [Fold, Fold]
    assert all(g.cond is None for g in loop_of(loop).generators)
    assert arrays_over(block, rows) == []
    # the distances: argmin over the centroids of a sum over the columns, without arrays
    (nearest,) = [s for s in loops(loop_of(loop).body) if shape_of(s) == [Reduce]]
    assert [shape_of(s) for s in loops(loop_of(nearest).body)] == [[Reduce]]
    assert loop in block.stmts


@pytest.mark.parametrize(
    "step", [programs.kmeans_step, programs.kmeans_masks, programs.kmeans_groups]
)
@pytest.mark.parametrize("n", [7, 1, 0])
def test_kmeans_step_is_one_pass(step: Callable[..., Any], n: int) -> None:
    program = _fused(step, X[:n], MU)
    if n > 1:
        _assert_kmeans_step(program.body, _rows(program))
        assert len(loops(program.body)) == 2


def test_kmeans_iterates_one_pass() -> None:
    program = _fused(programs.kmeans, X, MU, 1e-9, 2)
    (loop,) = [s.op for s in program.body.stmts if isinstance(s.op, While)]
    _assert_kmeans_step(loop.body, _rows(program))


@pytest.mark.parametrize(
    "gradient", [programs.logistic_gradient_rows, programs.logistic_gradient_matrix]
)
def test_the_logistic_gradient_is_one_pass(gradient: Callable[..., Any]) -> None:
    program = _fused(gradient, X, Y, W)
    (loop,) = loops(program.body)
    assert shape_of(loop) == [Reduce]
    assert loops_over(program.body, _rows(program)) == [loop]
    assert arrays_over(program.body, _rows(program)) == []


@pytest.mark.parametrize("gda", [programs.gda_rows, programs.gda_matrix])
def test_gda_is_one_pass_for_each_level(gda: Callable[..., Any]) -> None:
    """The means need all rows, the scatter needs the means."""
    program = _fused(gda, X, Y)
    first, second = loops_over(program.body, _rows(program))
    assert set(shape_of(first)) == {Reduce}
    assert shape_of(second) == [Reduce]
    assert arrays_over(program.body, _rows(program)) == []


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.int64, np.uint64])
def test_labels_of_any_width_are_keys(dtype: type[np.generic]) -> None:
    """More keys than the dtype holds: 256 is no label of a u8, and not the label 0."""
    label, values, width = np.array([1, 0, 2, 1]).astype(dtype), np.arange(4.0), np.zeros(260)

    def totals(v: Any, label: Any, width: Any) -> Any:
        def total(j: Any) -> Any:
            return v[label == j].sum()

        return pm.range(width.shape[0]).map(total)

    program, arguments, _ = stage(totals, values, label, width)
    after = fused(program)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [Fold]
    expected = np.bincount(label.astype(np.int64), values, len(width))
    np.testing.assert_array_equal(interpret(after, arguments)[0], expected, strict=True)


def test_standardising_stays_three_passes() -> None:
    """Means, then deviations, then the result: each needs all of the one before."""

    def standardised(x: Any) -> Any:
        return (x - x.mean(axis=0)) / x.std(axis=0)

    program = _fused(standardised, X)
    assert len(loops_over(program.body, _rows(program))) == 3


def test_softmax_is_one_loop_over_rows() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(axis=1)[:, None])
        return e / e.sum(axis=1)[:, None]

    program = _fused(softmax, X)
    (loop,) = loops(program.body)
    assert isinstance(loop.op, MultiLoop)
    assert len(arrays_over(program.body, _rows(program))) == 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sizes", [(4, 2, 2), (0, 2, 2)])
def test_random_chains_keep_their_bits(seed: int, sizes: tuple[int, int, int]) -> None:
    """At every step of the pipeline."""
    program, arguments = random_chain(seed, *sizes)
    fused(program, arguments)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("faults", [False, True])
def test_random_programs_keep_their_meaning(seed: int, faults: bool) -> None:
    """No result changes, no fault appears; sizes of 0 included."""
    program = random_program(seed, faults=faults)
    for least, most in ((1, 4), (0, 2)):
        fused(program, random_arguments(program, seed, least=least, most=most))
