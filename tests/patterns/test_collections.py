"""The vocabulary: staged and interpreted it gives what eager mode gives, in the loops it should."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.eager import wrap
from parloom.patterns.generators import Collect, Fold, Reduce
from parloom.staging import errors
from parloom.staging.jit import jit
from parloom.staging.nodes import Bounds, Index
from tests.patterns.staged import agree, interpret, loops, ops, stage

X = np.random.default_rng(1).normal(size=(5, 3))
V = np.random.default_rng(2).normal(size=6)
LABEL = np.array([2, 0, 2, 3, 0], np.int64)


def both(f: Callable[..., Any], *args: Any) -> None:
    agree(f, *args, reference=lambda *own: f(*wrap(own)))


ROWS: list[Callable[[Any], Any]] = [
    lambda x: x.rows.map(lambda p: p.sum()),
    lambda x: x.rows.map(lambda p: p * 2),
    lambda x: x.cols.map(lambda p: p[::-1]),
    lambda x: x.rows.map(lambda p: (p.sum(), p)),
    lambda x: x.rows.map(lambda p: [p[0], p.sum(), 1])[:, 1],
    lambda x: x.rows.map(lambda p: {"low": p.min(), "high": p.max()})["high"],
    lambda x: x.rows.sum(),
    lambda x: x.rows.prod(),
    lambda x: x.rows.min(),
    lambda x: x.rows.max(lambda p: p[0]),
    lambda x: x.rows.mean(),
    lambda x: x.rows.mean(lambda p: p[1]),
    lambda x: x.cols.mean(),
    lambda x: x.rows.argmin(lambda p: p.sum()),
    lambda x: x.rows.argmax(lambda p: p.sum()),
    lambda x: x.rows.min_by(lambda p: p.sum()),
    lambda x: x.rows.max_by(lambda p: p.sum()),
    lambda x: x.rows.count(lambda p: p[0] > 0),
    lambda x: x.rows.any(lambda p: p[0] > 1),
    lambda x: x.rows.all(lambda p: p[0] > -9),
    lambda x: x.rows.sum(lambda p: p * p, where=lambda p: p[0] > 0),
    lambda x: x.rows.sum(where=x[:, 0] > 0),
    lambda x: x.rows.filter(lambda p: p[0] > 0).map(lambda p: p.sum()),
    lambda x: x.rows.filter(lambda p: p[0] > 0).sum(),
    lambda x: x.rows.filter(x[:, 0] > 9).mean(),
    lambda x: x.rows.reduce(lambda a, b: a + b),
    lambda x: x.rows.reduce(lambda a, b: a - b),
    lambda x: x.rows[1] + x.cols[0][0],
]


@pytest.mark.parametrize("f", ROWS)
def test_rows_and_columns(f: Callable[[Any], Any]) -> None:
    both(f, X)


ELEMENTS: list[Callable[[Any], Any]] = [
    lambda x: x.map(lambda e: e + 1),
    lambda x: x.filter(lambda e: e > 0),
    lambda x: x.reduce(lambda a, b: np.maximum(a, b)),
    lambda x: x.argmax(lambda e: abs(e)),
    lambda x: x.min_by(lambda e: abs(e)),
    lambda x: x.min(lambda e: abs(e)),
    lambda x: x.count(lambda e: e > 0),
    lambda x: x.mean(lambda e: e * e),
    lambda x: x.sum(lambda e: e > 0),
    lambda x: x.zip(x).map(lambda a, b: a * b),
]


@pytest.mark.parametrize("f", ELEMENTS)
def test_elements(f: Callable[[Any], Any]) -> None:
    both(f, X)
    both(f, V)


OTHERS: list[Callable[[Any], Any]] = [
    lambda x: pm.range(1, 9, 3).map(lambda i: i * i),
    lambda x: pm.range(9, 1, -3).map(lambda i: i),
    lambda x: pm.range(x.shape[0]).sum(),
    lambda x: pm.range(-3).sum(),
    lambda x: pm.range(x.shape[0]).map(lambda i: x[i, 0] * i),
    lambda x: pm.collect((3, x.shape[1]), lambda i, j: x[i, j] + i),
    lambda x: pm.collect(x.shape[0], lambda i: x[i]),
    lambda x: x.rows.zip(x.cols[0]).map(lambda row, e: row @ row + e),
    lambda x: x.rows.zip(pm.range(x.shape[0])).filter(lambda p, i: i > 1).map(lambda p, i: p * i),
    lambda x: x.rows.zip(pm.range(5)).filter(lambda p, i: i > 1).sum(lambda p, i: p),
    lambda x: pm.asarray(x.rows) + pm.asarray([1, 2, 3]),
]


@pytest.mark.parametrize("f", OTHERS)
def test_ranges_zips_and_comprehensions(f: Callable[[Any], Any]) -> None:
    both(f, X)


def test_zip_meets_sizes() -> None:
    with pytest.raises(errors.ShapeError, match="the sizes of a zip"):
        stage(lambda x: pm.range(3).zip(pm.range(4)).map(lambda a, b: a + b), X)


def test_group_by() -> None:
    both(lambda x, l: x.rows.group_by(l, size=4).sum(), X, LABEL)
    both(lambda x, l: x.rows.group_by(l, size=5).mean(), X, LABEL)
    both(lambda x, l: x.rows.group_by(l, size=4).count(), X, LABEL)
    both(lambda x, l: l.group_by(lambda e: e % 2, size=2).sum(), X, LABEL)
    both(lambda x, l: l.group_by(l, size=4).any(lambda e: e > 1), X, LABEL)
    program, _, _ = stage(lambda x, l: x.rows.group_by(l, size=4).sum(), X, LABEL)
    (fold,) = [g for loop in loops(program) for g in loop.generators if isinstance(g, Fold)]
    assert fold.bounds is Bounds.CHECKED


def test_a_key_outside_raises() -> None:
    with pytest.raises(errors.StagedIndexError):
        interpret(lambda x, l: x.rows.group_by(l, size=3).sum(), X, LABEL)


def test_groups_refuse_what_a_fold_cannot_do() -> None:
    with pytest.raises(errors.Limitation, match="min of groups"):
        stage(lambda x, l: x.rows.group_by(l, size=4).min(), X, LABEL)


# A user's reducer.


def reducer_of(f: Callable[[Any], Any], *args: Any) -> Any:
    program, _, _ = stage(f, *args)
    (found,) = [g for loop in loops(program) for g in loop.generators if isinstance(g, Reduce)]
    return found.reducer


def test_a_lambdas_facts_are_proven() -> None:
    total = reducer_of(lambda v: v.reduce(lambda a, b: a + b), V)
    assert (total.associative, total.commutative) == (True, True)
    assert total.identity is not None
    rows = reducer_of(lambda x: x.rows.reduce(lambda a, b: np.minimum(b, a)), X)
    assert (rows.associative, rows.identity) == (True, None)
    minus = reducer_of(lambda v: v.reduce(lambda a, b: a - b), V)
    assert not minus.associative


def test_facts_may_be_declared() -> None:
    found = reducer_of(lambda v: v.reduce(lambda a, b: a * 2 + b, associative=True, identity=0), V)
    assert found.associative
    assert not found.commutative
    assert [float(c.value.item()) for c in found.identity] == [0.0]


def test_a_reducers_type_widens() -> None:
    both(lambda v: v.reduce(lambda a, b: a * 2 + b), np.array([1, 2, 3]))
    agree(
        lambda v: v.reduce(lambda a, b: a + b / 2),
        np.array([1, 2, 3]),
        reference=lambda v: np.float64(3.5),
    )
    both(lambda v: v.zip(v).reduce(lambda a, b: (a[0] + b[0], np.maximum(a[1], b[1]))), V)


def test_a_reducer_returns_what_it_takes() -> None:
    with pytest.raises(errors.StagingTypeError, match="f must return what it takes"):
        stage(lambda v: v.reduce(lambda a, b: (a, b)), V)


# Structure.


def test_rows_cost_no_loop_and_need_no_check() -> None:
    program, _, _ = stage(lambda x: x.rows.map(lambda p: p[0] + p.sum()), X)
    outer, inner = loops(program)
    assert [type(g) for g in (*outer.generators, *inner.generators)] == [Collect, Reduce]
    reads = ops(program, Index)
    assert [r.bounds for r in reads] == [Bounds.CHECKED, Bounds.PROVEN]


def test_a_tuple_of_results_is_one_loop_with_two_generators() -> None:
    program, _, _ = stage(lambda x: x.rows.map(lambda p: (p[0], p[1])), X)
    (loop,) = loops(program)
    assert [type(g) for g in loop.generators] == [Collect, Collect]


def test_count_is_a_conditional_reduce_of_ones() -> None:
    program, _, _ = stage(lambda v: v.count(lambda e: e > 0), V)
    (loop,) = loops(program)
    (count,) = loop.generators
    assert count.cond is not None
    assert count.value.stmts == ()
    assert [str(r) for r in count.value.results] == ["1"]


def test_a_condition_guards_the_value() -> None:
    program, _, _ = stage(lambda v: v.sum(lambda e: np.exp(e), where=lambda e: e > 0), V)
    (loop,) = loops(program)
    (total,) = loop.generators
    assert len(total.value.stmts) == 1
    assert total.cond in [b for s in loop.body.stmts for b in s.binders]


def test_a_size_inside_a_pattern_lands_outside() -> None:
    program, _, _ = stage(lambda x: x.rows.map(lambda p: p[1:]), X)
    outer = loops(program)[0]
    assert all(not s.op.effects for s in program.body.stmts)
    assert len(program.body.stmts) > 1
    assert outer.domain == (program.sizes[0],)


def test_ragged_results_are_refused() -> None:
    with pytest.raises(errors.Limitation, match="lengths differ between elements"):
        stage(lambda x: x.rows.map(lambda p: p[p > 0]), X)
    both(lambda x: x.rows.map(lambda p: p[p > 0].sum()), X)


def test_an_error_inside_a_pattern_leaves_the_trace_usable() -> None:
    def f(x: Any) -> Any:
        with pytest.raises(ZeroDivisionError):
            x.rows.map(lambda p: p.sum() / (1 // 0))
        return x.rows.map(lambda p: p.sum())

    assert len(loops(stage(f, X)[0])) == 2


def test_a_leaked_element_is_refused() -> None:
    def f(v: Any) -> Any:
        kept: list[Any] = []

        def keep(e: Any) -> Any:
            kept.append(e + 1)
            return e

        v.map(keep)
        return kept[0] + 1

    with pytest.raises(errors.UserError, match="outside of the block that computes it"):
        stage(f, V)


@pytest.mark.parametrize("join", [np.stack, lambda kept: kept])
def test_a_leaked_element_is_no_part_of_an_array(join: Any) -> None:
    def f(v: Any) -> Any:
        kept: list[Any] = []
        v.map(lambda e: kept.append(e) or e)  # type: ignore[func-returns-value]
        return v + join(kept)[0]

    with pytest.raises(errors.UserError, match="outside of the block that computes it"):
        stage(f, V)


def test_empty_collections() -> None:
    empty = np.zeros((0, 3))
    both(lambda x: x.rows.sum(), empty)
    both(lambda x: x.rows.map(lambda p: p.sum()), empty)
    both(lambda x: x.rows.mean(), empty)
    with pytest.raises(ValueError, match="min"):
        interpret(lambda x: x.rows.min(lambda p: p[0]), empty)


def test_unknown_patterns_are_refused_by_name() -> None:
    with pytest.raises(errors.UnknownNameError, match="flat_map"):
        stage(lambda x: x.rows.flat_map(lambda p: p), X)


def test_tuples_are_no_array() -> None:
    for f in (lambda v: v.zip(v), lambda v: v.zip(v).filter(lambda a, b: a > 1)):
        with pytest.raises(errors.StagingTypeError, match="is used as an array"):
            jit(f)(np.arange(4.0))
    found = jit(lambda v: v.zip(v).filter(lambda a, b: a > 1).map(lambda a, b: a + b))(X[:, 0])
    np.testing.assert_array_equal(found, 2 * X[:, 0][X[:, 0] > 1])
