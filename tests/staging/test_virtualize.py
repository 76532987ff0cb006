"""Rewritten functions: Python's meaning outside of a trace, the staged one inside."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
import inspect
import linecache
import math
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parloom.staging import errors
from parloom.staging.tracing import trace_function
from parloom.staging.virtualize import is_rewritten, virtualize

from .running import agree, everywhere, run

SCALE = 3


def rewritten(f: Any) -> Any:
    made = virtualize(f)
    assert is_rewritten(made)
    return made


def everything(n: int, *args: int, key: int = 2, **rest: int) -> object:
    """One of each statement."""
    total = 0
    for k in range(n):
        if k == 1:
            continue
        if k > 5:
            break
        total += k
    else:
        total -= 100
    while True:
        total += 1
        if total > 3 and n < 40:
            break
    try:
        total += [1, 2][n]
    except IndexError:
        total += 1000
    finally:
        total += SCALE
    with_values = [x * y for x in range(3) for y in args if y]
    named = {"a": (m := n), **rest}
    match named:
        case {"a": 1, **others}:
            total += len(others)
        case _:
            total -= 1
    first, *others2 = (1, 2, 3)
    del first
    assert total != 12345, "never"
    return total, with_values, named, m, others2, key, 0 < n < 5, n in (1, 2), not n


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_python_values_keep_pythons_meaning(n: int) -> None:
    assert rewritten(everything)(n, 3, 0, key=5, z=1) == everything(n, 3, 0, key=5, z=1)


def test_generators_and_recursion_run() -> None:
    def count(n: int) -> Iterator[int]:
        for k in range(n):
            if k % 2:
                yield k
        yield -1

    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert list(rewritten(count)(6)) == [1, 3, 5, -1]
    assert rewritten(fib)(10) == 55


def factorial(n: Any) -> Any:
    return 1 if n <= 1 else n * factorial(n - 1)


def test_functions_that_call_themselves_find_themselves() -> None:
    assert rewritten(factorial)(5) == 120


def test_cells_are_shared_and_live() -> None:
    count = 1

    def read() -> int:
        return count

    def bump() -> None:
        nonlocal count
        count += 1

    made = rewritten(read)
    rewritten(bump)()
    assert made() == count == 2
    count = 7
    assert made() == 7


def test_metadata_defaults_and_signature_stay() -> None:
    def f(a: int, b: int = 4, *, c: int = 5) -> int:
        """Doc."""
        return a + b + c

    f.extra = 1  # type: ignore[attr-defined]
    made = rewritten(f)
    assert made(1) == 10
    assert (made.__name__, made.__qualname__, made.extra) == (f.__name__, f.__qualname__, 1)
    assert inspect.signature(made).parameters.keys() == {"a", "b", "c"}


def test_pythons_messages_name_the_users_functions() -> None:
    def outer(x: float) -> Any:
        inner: Any = lambda a, b: a + b
        return inner(x)

    with pytest.raises(TypeError) as caught:
        run(outer, 1.0)
    assert str(caught.value).startswith(f"{outer.__qualname__}.<locals>.<lambda>() missing 1")


def test_lambdas_are_found_by_their_columns() -> None:
    pair, third = (lambda x: x + 1, lambda x: x and x * 2), lambda x: lambda y: x < y < 3
    assert [rewritten(f)(2) for f in pair] == [3, 4]
    assert rewritten(third)(1)(2) is True
    assert rewritten(third)(1)(5) is False


class Counter:
    step = 2

    def __init__(self) -> None:
        self.__private = 5

    def up(self, n: int) -> int:
        if n > 0:
            self.__private += self.step
        return self.__private

    def made_here(self) -> int:
        return Counter.step

    def parent(self) -> str:
        return super().__repr__()[:1]


def test_methods_private_names_and_super() -> None:
    made = rewritten(Counter.up)
    assert made(Counter(), 1) == 7
    assert rewritten(Counter.made_here)(Counter()) == 2
    assert rewritten(Counter.parent)(Counter()) == "<"


def decorated(f: Callable[..., int]) -> Callable[..., int]:
    @functools.wraps(f)
    def wrapper(x: Any) -> int:
        return f(x) + 1

    return wrapper


@decorated
def doubled(x: Any) -> Any:
    if x > 1:
        return x * 2
    return x


def test_decorated_functions_and_what_they_call_are_rewritten() -> None:
    agree(lambda x: doubled(x), (0.5,), (3.0,))


def test_errors_show_the_users_lines() -> None:
    def fails(x: int) -> float:
        y = x
        return 1 / (y - y)

    with pytest.raises(ZeroDivisionError) as caught:
        rewritten(fails)(1)
    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.line, last.name) == (__file__, "return 1 / (y - y)", "fails")


def test_statements_know_line_columns_and_names() -> None:
    def f(x: Any) -> Any:
        total = x * 2 + 1
        return total

    traced = trace_function(f, (1.0,))
    last = traced.program.body.stmts[-1]
    place = last.sources[0]
    assert last.binders[0].name == "total"
    assert (place.file, place.function) == (__file__, "f")
    assert place.text[place.column : place.end_column] == "x * 2 + 1"


def test_thunks_carry_their_functions_name() -> None:
    def chooses(x: Any) -> Any:
        return x * 2 if x > 0 else x

    traced = trace_function(chooses, (1.0,))
    from parloom.staging.nodes import Apply
    from parloom.staging.traversal import walk_stmts

    places = [s.sources[0] for s in walk_stmts(traced.program.body) if isinstance(s.op, Apply)]
    assert {p.function for p in places} == {"chooses"}


def remember(filename: str, text: str) -> None:
    """Makes the text the source of a file that does not exist, as IPython does for its cells."""
    cache: dict[str, Any] = linecache.cache
    cache[filename] = (len(text), None, text.splitlines(True), filename)


def from_text(text: str, name: str = "f", filename: str = "<made up>", **globals_: Any) -> Any:
    exec(compile(text, filename, "exec"), globals_)
    return globals_[name]


def test_without_source_straight_lines_are_staged_and_control_flow_is_trapped() -> None:
    straight = from_text("def f(x):\n    return x * 2 + K\n", K=4)
    assert run(straight, 3.0) == 10.0
    branches = from_text("def f(x):\n    return 1 if x else 2\n")
    with pytest.raises(errors.StagingTypeError, match="needs True or False"):
        run(branches, 3.0)


def test_source_that_changed_since_the_import_is_not_believed() -> None:
    text = "def f(x):\n    return x + 1\n"
    f = from_text(text, filename="<edited>")
    edited = text.replace("1", "2")
    remember("<edited>", edited)
    try:
        assert not is_rewritten(virtualize(f))
    finally:
        del linecache.cache["<edited>"]


def test_source_in_linecache_is_enough() -> None:
    text = "def f(x):\n    return 1.0 if x > 0 else 2.0\n"
    remember("<cell>", text)
    try:
        f = from_text(text, filename="<cell>")
        assert is_rewritten(virtualize(f))
        assert run(f, 3.0) == 1.0
    finally:
        del linecache.cache["<cell>"]


def test_lambdas_of_conditional_expressions_are_found() -> None:
    pair = (lambda x: x if x > 1 else 0, lambda x: 1 if x > 2 else (2 if x > 1 else 3))
    assert [rewritten(f)(2) for f in pair] == [2, 2]
    agree(lambda x: [f(x) for f in pair], (1.0,), (2.0,), (3.0,))  # type: ignore[no-untyped-call]


def test_libraries_are_left_alone() -> None:
    def f(x: Any) -> Any:
        return functools.reduce(lambda a, b: a if a > b else b, [x, 2 * x, math.floor(x)])

    agree(f, (1.5,), (-1.5,))


def test_long_chains_of_elif_compile() -> None:
    lines = ["def f(x):", "    if x == 0:", "        y = 0"]
    for k in range(1, 40):
        lines += [f"    elif x == {k}:", f"        y = {k}"]
    text = "\n".join([*lines, "    else:", "        y = -1", "    return y", ""])
    remember("<long>", text)
    try:
        f = from_text(text, filename="<long>")
        assert [rewritten(f)(k) for k in (0, 13, 39, 77)] == [0, 13, 39, -1]
        with pytest.raises(errors.Limitation, match="nested this deep"):
            run(f, 5)
    finally:
        del linecache.cache["<long>"]


class Interval:
    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    @property
    def width(self) -> Any:
        if self.low > self.high:
            return 0.0
        return self.high - self.low


def test_properties_have_control_flow() -> None:
    def f(low: Any, high: Any) -> Any:
        return Interval(low, high).width

    everywhere(f, (1.0, 3.0), (3.0, 1.0))
