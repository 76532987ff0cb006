"""The generators' meaning, over Python callables."""

from __future__ import annotations

import numpy as np
import pytest

from parloom.patterns import semantics
from parloom.patterns.reducers import Order
from parloom.patterns.semantics import Element
from parloom.staging.errors import CheckFailed, InternalError, ShapeError, StagedIndexError
from parloom.staging.nodes import Bounds
from tests.compare import assert_agree


def test_collect_is_dense_over_the_domain() -> None:
    found = semantics.collect((2, 3), lambda i: i[0] * 10 + i[1])
    assert_agree(found, np.array([[0, 1, 2], [10, 11, 12]]))


def test_collect_with_a_condition_is_compacted_in_index_order() -> None:
    found = semantics.collect((2, 3), lambda i: i[0] * 10 + i[1], cond=lambda i: i[1] != 1)
    assert_agree(found, np.array([0, 2, 10, 12]))


def test_collect_appends_the_value_s_shape() -> None:
    found = semantics.collect((2,), lambda i: np.full(3, i[0], np.float32))
    assert_agree(found, np.array([[0, 0, 0], [1, 1, 1]], np.float32))


def test_collect_of_nothing_takes_its_element() -> None:
    element = Element(np.dtype(np.int32), (4,))
    assert_agree(semantics.collect((0,), lambda i: 0, element=element), np.zeros((0, 4), np.int32))
    assert_agree(semantics.collect((3, 0), lambda i: 0), np.zeros((3, 0)))


def test_collect_promotes_as_numpy_does() -> None:
    mixed = [np.float32(1), 2, True]
    assert_agree(semantics.collect((3,), lambda i: mixed[i[0]]), np.array([1, 2, 1], np.float32))


def test_collect_refuses_values_of_different_shapes() -> None:
    with pytest.raises(ShapeError, match=r"different shapes: \(0,\) and \(1,\)"):
        semantics.collect((2,), lambda i: np.zeros(i[0]))


def subtract(a: tuple[float], b: tuple[float]) -> tuple[float]:
    return (a[0] - b[0],)


def test_reduce_combines_in_index_order() -> None:
    assert semantics.reduce((4,), lambda i: (float(i[0] + 1),), subtract) == (1.0 - 2 - 3 - 4,)


def test_reduce_counts_the_identity_as_the_start() -> None:
    found = semantics.reduce((3,), lambda i: (float(i[0]),), subtract, identity=(10.0,))
    assert found == (7.0,)


def text(i: tuple[int, ...]) -> tuple[str]:
    return (str(i[0]),)


def bracket(a: tuple[str], b: tuple[str]) -> tuple[str]:
    return (f"({a[0]}{b[0]})",)


@pytest.mark.parametrize(
    ("order", "identity", "expected"),
    [
        (None, None, "((((01)2)3)4)"),
        (None, ("e",), "(((((e0)1)2)3)4)"),
        (Order(minimum=1, chunks=2), None, "(((01)2)(34))"),
        (Order(minimum=1, chunks=2), ("e",), "((((e0)1)2)((e3)4))"),
        (Order(minimum=1, chunks=2, block=2), ("e",), "(((e((e0)1))(e2))(e((e3)4)))"),
        (Order(minimum=8, chunks=2), None, "((((01)2)3)4)"),
    ],
)
def test_reduce_follows_its_order(
    order: Order | None, identity: tuple[str] | None, expected: str
) -> None:
    assert semantics.reduce((5,), text, bracket, identity=identity, order=order) == (expected,)


def test_reduce_skips_a_chunk_without_a_value() -> None:
    order = Order(minimum=2, chunks=8)
    found = semantics.reduce((6,), text, bracket, cond=lambda i: i[0] not in (2, 3), order=order)
    assert found == ("((01)(45))",)


def test_order_cuts_the_first_index_of_several() -> None:
    found = semantics.reduce(
        (2, 2), lambda i: (f"{i[0]}{i[1]}",), bracket, order=Order(minimum=1, chunks=2)
    )
    assert found == ("((0001)(1011))",)


@pytest.mark.parametrize("order", [None, Order(minimum=4, chunks=2)])
def test_reduce_of_nothing_is_the_identity(order: Order | None) -> None:
    assert semantics.reduce((0,), text, bracket, identity=("e",), order=order) == ("e",)


@pytest.mark.parametrize("order", [None, Order(minimum=4, chunks=2)])
def test_reduce_of_nothing_without_identity_raises_as_numpy(order: Order | None) -> None:
    message = "zero-size array to reduction operation minimum which has no identity"
    with pytest.raises(CheckFailed, match=message):
        semantics.reduce((3,), text, bracket, cond=lambda i: False, order=order, name="minimum")
    with pytest.raises(ValueError, match=message):
        np.zeros(0).min()


def test_fold_accumulates_at_locations() -> None:
    found = semantics.fold(
        (5,),
        lambda i: ((i[0] % 2, 0), i[0]),
        lambda a, b: a + b,
        lambda: np.zeros((2, 1), np.int64),
        rank=2,
        cond=lambda i: i[0] != 3,
    )
    assert_agree(found, np.array([[6], [1]]))


def test_fold_accumulates_arrays() -> None:
    found = semantics.fold(
        (3,),
        lambda i: ((i[0] // 2,), np.array([1.0, i[0]])),
        lambda a, b: a + b,
        lambda: np.zeros((2, 2)),
    )
    assert_agree(found, np.array([[2.0, 1.0], [1.0, 2.0]]))


@pytest.mark.parametrize("block", [0, 1])
def test_fold_combines_partial_arrays_in_chunk_order(block: int) -> None:
    def update(i: tuple[int, ...]) -> tuple[tuple[int], str]:
        return (i[0] % 2,), str(i[0])

    found = semantics.fold(
        (4,),
        update,
        lambda a, b: f"({a}{b})",
        lambda: np.array(["e", "e"], object),
        order=Order(minimum=1, chunks=2, block=block),
    )
    if block:
        expected = ["(((e(e0))e)((e(e2))e))", "(((ee)(e1))((ee)(e3)))"]
    else:
        expected = ["((e0)(e2))", "((e1)(e3))"]
    assert list(found) == expected


@pytest.mark.parametrize("place", [-1, 2])
def test_fold_outside_is_an_index_error(place: int) -> None:
    def run(bounds: Bounds) -> None:
        semantics.fold(
            (1,), lambda i: ((place,), 1), lambda a, b: a + b, lambda: np.zeros(2), bounds=bounds
        )

    with pytest.raises(StagedIndexError, match=f"index {place} is out of bounds for axis 0"):
        run(Bounds.CHECKED)
    with pytest.raises(InternalError, match=f"an index proven inside is {place}"):
        run(Bounds.PROVEN)


def test_fold_of_nothing_is_initial() -> None:
    order = Order(minimum=1, chunks=2)
    found = semantics.fold((0,), lambda i: (i, 1), lambda a, b: a, lambda: np.ones(2), order=order)
    assert_agree(found, np.ones(2))
