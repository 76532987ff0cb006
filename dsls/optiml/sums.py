"""Sums over elements and rows, of all of them or of those where a condition holds.

A condition is a function of the element (of the row), or a boolean array with a value for each. A
collection is an array, a list, or anything with the patterns: `x.rows`, `pm.range(n)`, a zip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...patterns import eager_patterns
from ...patterns.public import asarray
from ...patterns.vocabulary import Patterns

Condition = Any
Function = Callable[..., Any]


def sum(x: Any, f: Function | None = None) -> Any:
    """The sum of the elements of a collection, or of `f` of each.

    f : of an element; returns a number, or an array -> an array of the same shape

    >>> float(sum([1.0, 2.0, 3.0], lambda v: v * v))
    14.0
    """
    return _collection(x).sum(f)


def sum_if(x: Any, condition: Condition, f: Function | None = None) -> Any:
    """The sum of the elements where the condition holds, or of `f` of each of these.

    >>> float(sum_if([1.0, -2.0, 3.0], lambda v: v > 0))
    4.0
    """
    return _collection(x).sum(f, where=condition)


def sum_rows(x: Any, f: Function | None = None) -> Any:
    """The sum of the rows of a matrix, or of `f` of each row.

    x : [n, d] -> [d]; 0 when there are no rows

    >>> sum_rows([[1.0, 2.0], [3.0, 4.0]])
    Array([4., 6.])
    """
    return asarray(x).rows.sum(f)


def sum_rows_if(x: Any, condition: Condition, f: Function | None = None) -> Any:
    """The sum of the rows where the condition holds, or of `f` of each of these.

    x : [n, d], condition : bool [n], or a function of a row -> [d]; 0 where no row is chosen

    Raises ValueError when the condition's length is not the number of rows.

    >>> sum_rows_if([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [True, False, True])
    Array([6., 8.])
    """
    return asarray(x).rows.sum(f, where=condition)


def sum_cols(x: Any, f: Function | None = None) -> Any:
    """The sum of the columns of a matrix, or of `f` of each column.

    x : [n, d] -> [n]

    >>> sum_cols([[1.0, 2.0], [3.0, 4.0]])
    Array([3., 7.])
    """
    return asarray(x).cols.sum(f)


def mean(x: Any, f: Function | None = None) -> Any:
    """The mean of the elements of a collection, or of `f` of each; of integers as float64.

    >>> float(mean([1, 2]))
    1.5
    """
    return _collection(x).mean(f)


def _collection(x: Any) -> Any:
    return x if isinstance(x, Patterns | eager_patterns.Patterns) else asarray(x)
