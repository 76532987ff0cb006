"""Lists, dicts and objects that change in staged branches and loops are refused, by name."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from parloom.staging import errors

from .running import everywhere, run

X = np.array([3.0, -1.0, 2.5, 0.0])


@dataclass
class Box:
    value: Any


def appends(x: Any, c: Any) -> Any:
    found: list[int] = []
    if c > 0:
        found.append(1)
    return len(found)


def sets_a_key(x: Any, c: Any) -> Any:
    table = {"a": {"b": 1}}
    if c > 0:
        table["a"]["b"] = 2
    return table["a"]["b"]


def sets_an_attribute(x: Any, c: Any) -> Any:
    box = Box(0)
    while c > 0:
        box.value = 5
        c -= 1
    return box.value


def appends_in_a_loop(x: Any, c: Any) -> Any:
    found: list[int] = []
    for _ in x:
        found.append(1)
    return len(found)


def counts_in_a_function(x: Any, c: Any) -> Any:
    n = 0

    def count() -> None:
        nonlocal n
        n += 1

    for _ in x:
        count()
    return n


def appends_in_a_pattern(x: Any, c: Any) -> Any:
    found: list[int] = []

    def body(v: Any) -> Any:
        found.append(1)
        return v

    return x.map(body), len(found)


def gives_it_to_a_function(x: Any, c: Any) -> Any:
    found = {1}

    def add(to: Any) -> None:
        if c > 0:
            to.add(2)

    add(found)
    return len(found)


def counter() -> Any:
    n = 0

    def count() -> int:
        nonlocal n
        n += 1
        return n

    return count


def in_a_conditional_expression(x: Any, c: Any) -> Any:
    count = counter()
    return (count() if c > 0 else 0), count()


def behind_and(x: Any, c: Any) -> Any:
    found: set[int] = set()
    return c > 0 and found.__ior__({1}) == {1}, len(found)


def behind_or(x: Any, c: Any) -> Any:
    box = Box(0)

    def change() -> bool:
        box.value += 1
        return True

    return c > 0 or change(), box.value


def in_a_chained_comparison(x: Any, c: Any) -> Any:
    count = counter()
    return 0 < c < count(), count()


def of_another_function(x: Any, c: Any) -> Any:
    count = functools.partial(counter())
    if c > 0:
        count()
    return count()


def in_a_comprehension(x: Any, c: Any) -> Any:
    count = counter()
    return np.array([v + count() for v in x]), count()


def takes_from_an_iterator(x: Any, c: Any) -> Any:
    values = iter([1, 2])
    if c > 0:
        next(values)
    return next(values)


def takes_from_a_generator(x: Any, c: Any) -> Any:
    values = enumerate(v for v in (1, 2))
    return (next(values) if c > 0 else (0, 0)), next(values)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (appends, "found"),
        (sets_a_key, "table"),
        (sets_an_attribute, "box"),
        (appends_in_a_loop, "found"),
        (counts_in_a_function, "n"),
        (appends_in_a_pattern, "found"),
        (gives_it_to_a_function, "to"),
        (in_a_conditional_expression, "n"),
        (behind_and, "found"),
        (behind_or, "box"),
        (in_a_chained_comparison, "n"),
        (of_another_function, "n"),
        (in_a_comprehension, "n"),
        (takes_from_an_iterator, "values"),
        (takes_from_a_generator, "values"),
    ],
)
def test_what_changes_is_named(f: Any, name: str) -> None:
    with pytest.raises(errors.UserError, match=f"^{name} changes in a staged (branch|loop)"):
        run(f, X, 1)


def test_what_a_function_reads_of_the_branch_may_change() -> None:
    def f(x: Any, c: Any) -> Any:
        n, values = 0, iter([1, 2])

        def twice() -> Any:
            return 2 * n

        if c > 0:
            n = n + c
        for k in range(c):
            n = n + k
        return twice(), n if c > 5 else twice(), next(values)

    everywhere(f, (X, 3), (X, -1))


def test_what_is_made_there_or_assigned_may_change() -> None:
    def f(x: Any, c: Any) -> Any:
        parts = [x[0]]
        box = Box(1.0)
        if c > 0:
            parts = [x[1]]
            own = [1]
            own.append(2)
            parts[0] = parts[0] * len(own)
            box = Box(2.0)
            box.value += 1
        for k in (1, 2):
            parts.append(x[k])
        table = {"s": 0.0}
        for v in x:
            table = {**table, "s": table["s"] + v}
        return parts, box.value, table

    everywhere(f, (X, 1), (X, -1))
