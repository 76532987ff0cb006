"""Views: index maps cost no loop, slices are Python's, sizes are equal by construction."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from parloom.patterns import sizes
from parloom.patterns.views import Cut, View, cut
from parloom.staging.context import Trace, enter
from parloom.staging.errors import ShapeError
from parloom.staging.nodes import Bounds, Check, Index, Var, size_operand
from parloom.staging.types import INDEX
from tests.patterns.staged import agree, loops, ops, stage

X = np.arange(20.0).reshape(5, 4)
V = np.arange(6.0)


@pytest.fixture
def n() -> Iterator[Var]:
    """A size of the program, inside a trace."""
    trace = Trace()
    leave = enter(trace)
    size = Var(INDEX, "n")
    trace.sizes.append(size)
    trace.builder.open((size,))
    yield size
    leave()


def static(found: Cut) -> list[int]:
    start, size = sizes.static(found.start), sizes.static(found.size)
    assert start is not None
    assert size is not None
    return [start + found.step * k for k in range(size)]


@pytest.mark.usefixtures("n")
def test_cut_is_pythons_slice() -> None:
    bounds = [None, -7, -3, -1, 0, 1, 2, 4, 9]
    for length, start, stop in product([0, 1, 3, 4], bounds, bounds):
        for step in (1, 2, 3, -1, -2, -3):
            given = [None if b is None else size_operand(b) for b in (start, stop)]
            found = cut(size_operand(length), given[0], given[1], step)
            assert static(found) == list(range(length))[start:stop:step]


def test_cut_of_a_run_time_size_has_equal_sizes_by_construction(n: Var) -> None:
    one, minus_one = size_operand(1), size_operand(-1)
    tail, head = cut(n, one, None, 1), cut(n, None, minus_one, 1)
    assert tail.size is head.size
    assert cut(n, None, None, -1).size is n


@pytest.mark.usefixtures("n")
def test_cut_refuses_step_0() -> None:
    with pytest.raises(ShapeError, match="slice step cannot be zero"):
        cut(size_operand(3), None, None, 0)


def test_composed_views_locate_base_indices(n: Var) -> None:
    three = size_operand(3)
    view = View.whole((n, three)).permute((1, 0)).insert(1)
    assert view.shape == (three, size_operand(1), n)
    row = view.fix(0, size_operand(2), True).slice(1, size_operand(4), -2, size_operand(3))
    assert row.locate((size_operand(0), size_operand(1))) == (size_operand(2), size_operand(2))


def test_only_the_straight_full_view_is_whole(n: Var) -> None:
    whole = View.whole((n, n))
    assert whole.is_whole((n, n))
    assert not whole.permute((1, 0)).is_whole((n, n))
    assert not whole.slice(0, size_operand(0), 1, size_operand(2)).is_whole((n, n))
    assert not whole.fix(0, size_operand(0), True).is_whole((n, n))


def test_broadcast_repeats_static_ones_only(n: Var) -> None:
    one = size_operand(1)
    stretched = View.whole((one,)).broadcast((n, n), "sizes")
    assert stretched.shape == (n, n)
    assert stretched.locate((size_operand(3), size_operand(4))) == (size_operand(0),)
    with pytest.raises(ShapeError, match="2 axes do not broadcast to 1"):
        View.whole((n, n)).broadcast((n,), "sizes")


VIEWS: list[Callable[[Any], Any]] = [
    lambda x: x.T,
    lambda x: x[::-1],
    lambda x: x[1:, ::2],
    lambda x: x[:, None, :-1],
    lambda x: x[-2],
    lambda x: x[..., -1],
    lambda x: x[3:0:-2, 1:][::-1].T,
    lambda x: x[7:],
    lambda x: x[2:-2][0],
    lambda x: x[:, 1:][:, 1:][1],
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_one_loop_when_it_is_returned(view: Callable[[Any], Any]) -> None:
    agree(view, X)
    program, _, _ = stage(view, X)
    assert len(loops(program)) == 1


def test_reading_a_view_costs_no_loop() -> None:
    program, _, _ = stage(lambda x: x.T[::-1][1, 2], X)
    assert loops(program) == []


def test_neighbours_need_no_check_at_run_time() -> None:
    program, _, _ = stage(lambda v: v[1:] - v[:-1], V)
    assert ops(program, Check) == []
    assert {read.bounds for read in ops(program, Index)} == {Bounds.PROVEN}
    agree(lambda v: v[1:] - v[:-1], V)


@pytest.mark.parametrize("k", [-9, -3, 0, 2, 9])
def test_slices_at_run_time(k: int) -> None:
    agree(lambda v, k: v[k:], V, k)
    agree(lambda v, k: v[:k], V, k)
    agree(lambda v, k: v[k::-2], V, k)
    agree(lambda v, k: v[:k:-1], V, k)
    agree(lambda v, k: v[1:k:2], V, k)


def test_empty_axes() -> None:
    empty = np.zeros((0, 3))
    agree(lambda x: x[::-1, 1:], empty)
    agree(lambda x: x[1:].T, empty)
    agree(lambda x: x.sum(axis=0), empty)
