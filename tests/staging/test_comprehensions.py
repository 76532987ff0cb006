"""Comprehensions and generator expressions over staged collections, and over what Python has."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.generators import MultiLoop
from parloom.staging import errors
from parloom.staging.tracing import trace_function

from .running import agree, everywhere, ops, run

X = np.arange(12.0).reshape(4, 3)


def test_over_rows_ranges_zips_and_enumerations() -> None:
    def f(x: Any, n: int) -> Any:
        scaled = [row * i for i, row in enumerate(x)]
        shifted = np.array([[a + b for a in row] for b, row in zip(x[:, 0], x, strict=True)])
        squares = np.array([k * k for k in range(n)])
        return np.array(scaled), scaled[0], scaled[-1], len(scaled), shifted, squares

    agree(f, (X, 5), (X, 0))


def test_under_conditions() -> None:
    def f(x: Any) -> Any:
        kept, total = [v * 2 for v in x if v > 1 if v < 8], 0.0
        for v in kept:
            total += v
        return np.array(kept), total, len(kept)

    everywhere(f, (X[:, 0],), (X[:0, 0],))


def test_generator_expressions_feed_builtins() -> None:
    def f(x: Any) -> Any:
        best = max(row.max() for row in x)
        return sum(row.sum() for row in x), best, any(row.sum() > 3 for row in x), all(x[0] >= 0)

    agree(f, (X,))


def test_tuples_are_collections_side_by_side() -> None:
    def f(x: Any) -> Any:
        return np.array([high - low for low, high in [(row.min(), row.max()) for row in x]])

    everywhere(f, (X,))


def test_it_is_one_parallel_loop() -> None:
    traced = trace_function(lambda x: np.array([v * 2 for v in x]), (X[0],))
    assert len(ops(traced, MultiLoop)) == 1


def test_a_fault_comes_when_the_program_runs() -> None:
    def f(x: Any, i: int) -> Any:
        return np.array([row[i] for row in x])

    np.testing.assert_array_equal(run(f, X, 2), X[:, 2])
    with pytest.raises(IndexError):
        run(f, X, 3)


def test_over_what_python_has() -> None:
    def f(x: Any) -> Any:
        parts = [x * k for k in (1, 2, 3) if k > 1]
        return parts, {str(k): x + k for k in (1, 2)}, [a * b for a in (1, 2) for b in (3, 4)]

    assert run(f, 3.0) == ([6.0, 9.0], {"1": 4.0, "2": 5.0}, [3, 4, 6, 8])


def _several(x: Any) -> Any:
    return [v for row in x for v in row]


def _named(x: Any) -> Any:
    return [(last := v) for v in x], last


def _set(x: Any) -> Any:
    return {v for v in x}


@pytest.mark.parametrize("f", [_several, _named, _set])
def test_what_makes_a_python_collection_is_refused(f: Callable[..., Any]) -> None:
    with pytest.raises(errors.StagingTypeError, match="a comprehension over a staged"):
        run(f, X)


def test_tuples_under_a_condition_are_refused() -> None:
    with pytest.raises(errors.Limitation, match="gives tuples"):
        run(lambda x: [(v, v) for v in x if v > 1], X[0])


def test_lists_do_not_change_in_one() -> None:
    def f(x: Any) -> Any:
        seen: list[Any] = []
        [seen.append(v) for v in x]  # type: ignore[func-returns-value]
        return seen

    with pytest.raises(errors.UserError, match="seen"):
        run(f, X[0])


def test_a_collection_has_no_arithmetic_of_lists() -> None:
    with pytest.raises(TypeError):
        run(lambda x: [v for v in x] + [1.0], X[0])


def test_collections_end() -> None:
    """Python would ask an object that has items, and no iterator, for ever more of them."""
    with pytest.raises(errors.StagingTypeError, match="iterated outside"):
        pm.jit(lambda x: np.stack(x.rows))(X)
