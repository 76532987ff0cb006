"""Changes of a staged function's surroundings: they would happen once, so they are refused, before
anything has changed.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportConstantRedefinition=false

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from parloom.staging.errors import UserError
from parloom.staging.tracing import trace_function

from .running import run

COUNT: Any = 0
LIST: Any = [1.0]
TABLE: Any = {"k": 0}
QUEUE: Any = deque([1])
COUNTS: Any = Counter("a")
ARRAYS: Any = [np.zeros(3)]


class Box:
    def __init__(self) -> None:
        self.k: Any = 0
        self.items: Any = [1]

    def bump(self) -> None:
        self.k += 1


BOX: Any = Box()


def rebinds(x: Any) -> Any:
    global COUNT
    COUNT += 1
    return x


def assigns(x: Any) -> Any:
    global COUNT
    COUNT = 5
    return x


def loops(x: Any) -> Any:
    global COUNT
    for COUNT in range(3):
        x = x + COUNT
    return x


def attribute(x: Any) -> Any:
    BOX.k += 1
    return x


def assigned_attribute(x: Any) -> Any:
    BOX.k = 0
    return x


def named_attribute(x: Any) -> Any:
    setattr(BOX, "k", 1)  # noqa: B010
    return x


def method(x: Any) -> Any:
    BOX.bump()
    return x


def item_of_attribute(x: Any) -> Any:
    BOX.items[0] += 1
    return x


def item(x: Any) -> Any:
    TABLE["k"] += 1
    return x


def deleted_item(x: Any) -> Any:
    del TABLE["k"]
    return x


def item_of_counter(x: Any) -> Any:
    COUNTS["a"] += 1
    return x


def append(x: Any) -> Any:
    LIST.append(x)
    return x


def queue(x: Any) -> Any:
    QUEUE.popleft()
    return x


def element(x: Any) -> Any:
    ARRAYS[0][1] = 3
    return x


def filled(x: Any) -> Any:
    ARRAYS[0].fill(1)
    return x


CASES: list[tuple[Callable[[Any], Any], str, str]] = [
    (rebinds, "COUNT", "COUNT += 1"),
    (assigns, "COUNT", "COUNT = 5"),
    (loops, "COUNT", "for COUNT in range(3):"),
    (attribute, "BOX.k", "BOX.k += 1"),
    (assigned_attribute, "BOX.k", "BOX.k = 0"),
    (named_attribute, "the attribute k", 'setattr(BOX, "k", 1)  # noqa: B010'),
    (method, "self.k", "self.k += 1"),
    (item_of_attribute, "BOX.items[0]", "BOX.items[0] += 1"),
    (item, "TABLE['k']", 'TABLE["k"] += 1'),
    (deleted_item, "TABLE['k']", 'del TABLE["k"]'),
    (item_of_counter, "COUNTS['a']", 'COUNTS["a"] += 1'),
    (append, "LIST", "LIST.append(x)"),
    (queue, "QUEUE", "QUEUE.popleft()"),
    (element, "ARRAYS[0][1]", "ARRAYS[0][1] = 3"),
    (filled, "an object (ndarray) made outside", "ARRAYS[0].fill(1)"),
]


@pytest.mark.parametrize(("f", "name", "line"), CASES, ids=[f.__name__ for f, _, _ in CASES])
def test_what_is_outside_does_not_change(f: Callable[[Any], Any], name: str, line: str) -> None:
    with pytest.raises(UserError) as caught:
        trace_function(f, (np.ones(2),))
    assert caught.value.what == f"{name} changes while the function is staged"
    assert caught.value.where[0].text.strip() == line
    assert caught.value.instead == "pass it as an argument and return the new value"
    assert (COUNT, LIST, TABLE, list(QUEUE), COUNTS) == (0, [1.0], {"k": 0}, [1], {"a": 1})
    assert (BOX.k, BOX.items, ARRAYS[0].tolist()) == (0, [1], [0.0, 0.0, 0.0])


def test_a_variable_of_an_enclosing_function_does_not_change() -> None:
    n = 0

    def count(x: Any) -> Any:
        nonlocal n
        n += 1
        return x + n

    with pytest.raises(UserError, match="n changes while the function is staged"):
        trace_function(count, (1.0,))
    assert n == 0


def test_a_static_argument_does_not_change() -> None:
    def f(box: Any, x: Any) -> Any:
        box.k += 1
        return x

    with pytest.raises(UserError, match=r"box\.k changes"):
        trace_function(f, (Box(), 1.0))


def test_what_the_function_makes_is_ordinary_python() -> None:
    def f(x: Any) -> Any:
        seen, table, box, total = [x], {"a": 0.0}, Box(), 0

        def count() -> None:
            nonlocal total
            total += 1

        seen.append(2 * x)
        table["a"] += 1
        box.bump()
        box.items.append(2)
        count()
        zeros = np.zeros(2)
        zeros[0] = x
        return seen[1] + table["a"] + box.k + len(box.items) + total + zeros

    np.testing.assert_array_equal(run(f, 1.5), 3.0 + 1 + 1 + 2 + 1 + np.array([1.5, 0.0]))


def test_names_that_are_declared_and_only_read_are_read() -> None:
    def f(x: Any) -> Any:
        global COUNT
        return x + COUNT

    assert run(f, 1.5) == 1.5
