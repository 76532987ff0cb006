"""Small inputs that compilers in use today answer wrongly, on every target, with passes on and off.

The right answer is NumPy's, unless a program has patterns: then it stands beside it.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import parloom as pm
from tests.compare import assert_agree

WAYS: tuple[tuple[str, dict[str, object]], ...] = (
    ("reference", {}),
    ("python", {}),
    ("python", {"limit": 0}),
    ("cpu", {}),
    ("cpu", {"limit": 0}),
)
MATRICES = np.random.default_rng(2).integers(-1, 2, size=(1000, 2, 2))
STRIDED = np.arange(6000.0).reshape(30, 100, 2)[::-1, :, 0]


def in_every_way(f: Callable[..., Any], args: Sequence[Any], expected: Any) -> None:
    """The function gives the expected values on every target, with any number of threads."""
    for target, options in WAYS:
        jitted: Any = pm.jit(f, target=target)
        assert_agree(jitted.on(**options)(*args) if options else jitted(*args), expected)
    for count in (1, 2, 7):
        pm.set_num_threads(count)
        assert_agree(pm.jit(f)(*args), expected)


def positions(a: Any) -> Any:
    """What is kept, beside its new index."""
    kept = a.filter(lambda v: v > 0)
    return kept, kept.zip(pm.range(kept.shape[0])).map(lambda v, i: i)


def shifted(a: Any) -> Any:
    """Both sides of the write overlap."""
    b = a.copy()
    b[1:] = b[:-1]
    return b


def increased(a: Any) -> Any:
    """A write to the argument itself."""
    a += 1
    return a


def counted(a: Any) -> Any:
    """A loop over bools that counts from 1."""
    s = 1
    for c in a:
        if c:
            s += 1
    return s


LIKE_NUMPY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "an array by its greatest": (lambda a: a / a.max(), (np.array([0, 1.5, 3]),)),
    "the least with a NaN": (lambda a: a.min(), (np.array([3, np.nan, 1, 7]),)),
    "the least with a NaN at the end": (lambda a: a.min(), (np.array([*range(999), np.nan]),)),
    "the least of infinities": (lambda a: a.min(), (np.array([np.inf, np.inf]),)),
    "the sum and product of nothing": (lambda a: (a.sum(), a.prod()), (np.zeros(0),)),
    "small integers widen": (lambda a: a.sum(), (np.full(4, 2**30, np.int32),)),
    "large integers stay": (lambda a: a + 0, (np.array([2**32]),)),
    "uint64 and int64": (lambda a, b: a + b, (np.uint64(2**63), np.int64(1))),
    "uint64 and int64 arrays": (lambda a, b: a + b, (np.array([2**63], np.uint64), np.array([1]))),
    "a write onto itself": (shifted, (np.arange(6.0),)),
    "division rounds down": (lambda a: (a // 2, a % 3, a / 2), (np.array([-7, 7]),)),
    "a view with negative strides": (lambda a: a - 0.25, (STRIDED,)),
    "a sum over one": (lambda a: (a.sum(axis=0), a.sum(axis=1)), (STRIDED,)),
}


@pytest.mark.parametrize("name", LIKE_NUMPY)
def test_the_answer_is_numpys(name: str) -> None:
    f, args = LIKE_NUMPY[name]
    in_every_way(f, args, f(*args))


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_the_least_of_nothing_raises(target: str) -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation min"):
        pm.jit(lambda a: a.min(), target=target)(np.zeros(0))


def test_the_index_of_what_is_kept_is_new() -> None:
    found = np.array([1, 2]), np.array([0, 1])
    in_every_way(positions, (np.array([0, 1, 0, 0, 2]),), found)


@pytest.mark.parametrize("n", [16384 + k for k in range(8)] + [1, 0])
def test_every_element_around_the_width_of_a_chunk(n: int) -> None:
    a = np.arange(n)
    add: Any = pm.jit(lambda a, b: a + b)
    for f in (add, add.on(limit=0)):
        np.testing.assert_array_equal(f(a, a), 2 * a, strict=True)


def test_rows_that_are_added() -> None:
    rows, more = np.array([[1, 2], [3, 4]]), np.array([10, 20])
    f = lambda rows, more: (rows + more).rows.reduce(lambda p, q: p + q) + 2
    in_every_way(f, (rows, more), np.array([26, 48]))


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_an_index_at_run_time_outside_names_the_line(target: str) -> None:
    a = np.arange(3.0)
    with pytest.raises(IndexError, match=r"test_known_inputs\.py"):
        pm.jit(lambda a, k: a[k], target=target)(a, 7)
    with pytest.raises(IndexError, match=r"test_known_inputs\.py"):
        pm.jit(lambda a, k: k.map(lambda i: a[i]), target=target)(a, np.array([0, 7]))


def test_a_loop_that_counts() -> None:
    in_every_way(counted, (np.ones(100, bool),), 101)


def test_a_reduction_by_matrix_products() -> None:
    f = lambda m: m.rows.reduce(lambda p, q: p @ q)
    in_every_way(f, (MATRICES,), functools.reduce(np.matmul, MATRICES))


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_both_sides_of_a_write_to_an_argument_overlap(target: str) -> None:
    def shift(b: Any) -> None:
        b[1:] = b[:-1]

    b = np.arange(6.0)
    pm.jit(shift, target=target, inout="b")(b)
    assert b.tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_every_second_slot_of_an_argument_is_written(target: str) -> None:
    base = np.arange(10)
    found = pm.jit(increased, target=target, inout="a")(base[::2])
    assert found.tolist() == [1, 3, 5, 7, 9]
    assert base.tolist() == [1, 1, 3, 3, 5, 5, 7, 7, 9, 9]


@pytest.mark.parametrize("target", ["reference", "python", "cpu"])
def test_a_later_call_leaves_the_first_result(target: str) -> None:
    add: Any = pm.jit(lambda a, b: a + b, target=target)
    a, b = np.arange(3.0), np.ones(3)
    first = add(a, b)
    second = add(a, first)
    np.testing.assert_array_equal(first, [1, 2, 3])
    np.testing.assert_array_equal(second, [1, 3, 5])


def test_a_straight_line_of_unary_operations() -> None:
    def line(a: Any) -> Any:
        for k in range(40):
            a = np.sqrt(a + k) if k % 2 else np.abs(a - k)
        return a

    x = np.linspace(-1, 1, 5)
    in_every_way(line, (x,), line(x))


@pytest.fixture(autouse=True)
def threads_as_before() -> Any:
    """The number of threads is the process's."""
    from parloom.codegen.runtime import threads

    wanted = threads._wanted  # pyright: ignore[reportPrivateUsage]
    yield
    threads._wanted = wanted  # pyright: ignore[reportPrivateUsage]
