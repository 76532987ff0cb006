"""`out=`: results in the user's arrays, on every target, and what is left as it was."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import (
    Limitation,
    ReadOnlyError,
    ShapeError,
    StagedIndexError,
    StagingTypeError,
)
from parloom.transforms import cpu_levels

On = Callable[[Any], Any]
WAYS: dict[str, On] = {
    "llvm": lambda jitted: jitted,
    "numba": lambda jitted: jitted.on(printer="numba"),
    "python": lambda jitted: jitted.on("python"),
    "reference": lambda jitted: jitted.on("reference"),
    "eager": lambda jitted: jitted.eager,
}


@pytest.fixture(params=WAYS)
def on(request: pytest.FixtureRequest) -> On:
    """A jitted function on each target, with each printer, and eagerly."""
    return WAYS[request.param]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_levels, "CHUNK", 7)


@pm.jit
def affine(x: Any, k: Any) -> Any:
    return x * 2.0 + k


@pm.jit
def several(x: Any) -> Any:
    return x + 1.0, {"sum": x.sum(), "kept": x[x > 1.0]}, [x < 2.0]


X = np.arange(30.0)


def test_the_result_is_the_array_that_was_given(on: On) -> None:
    y = np.full(30, np.nan)
    assert on(affine)(X, 1.0, out=y) is y
    assert y.tolist() == (X * 2.0 + 1.0).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros(60)[::2],
        lambda: np.zeros(30)[::-1],
        lambda: np.zeros((30, 2)).T[1],
        lambda: np.zeros(31)[1:],
        lambda: np.zeros(241, np.uint8)[1:].view(np.float64),
        lambda: np.zeros(30).view(pm.Array),
    ],
    ids=["every second", "backwards", "column", "offset", "unaligned", "eager array"],
)
def test_any_strides(on: On, make: Callable[[], Any]) -> None:
    y = make()
    assert on(affine)(X, 1.0, out=y) is y
    assert y.tolist() == (X * 2.0 + 1.0).tolist()


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_orders_of_a_matrix(on: On, order: Any) -> None:
    columns: Any = pm.jit(lambda x: x.T * 2.0)
    y = np.zeros((5, 6), order=order)
    on(columns)(X.reshape(6, 5), out=y)
    assert (y == X.reshape(6, 5).T * 2.0).all()


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (slice(0, 20), slice(0, 20)),
        (slice(0, 20), slice(10, 30)),
        (slice(10, 30), slice(0, 20)),
        (slice(0, 20), slice(19, None, -1)),
        (slice(0, 20, 2), slice(0, 10)),
    ],
)
def test_an_array_that_overlaps_an_argument_gets_the_right_elements(
    on: On, read: slice, written: slice
) -> None:
    around: Any = pm.jit(lambda x: x[::-1] + x)
    base = np.arange(30.0)
    expected = base[read][::-1] + base[read]
    untouched = np.delete(base, np.arange(30)[written])
    on(around)(base[read], out=base[written])
    assert base[written].tolist() == expected.tolist()
    assert np.delete(base, np.arange(30)[written]).tolist() == untouched.tolist()


def test_an_array_that_overlaps_a_captured_one(on: On) -> None:
    table = np.arange(10.0)
    shifted: Any = pm.jit(lambda x: x[::-1] + table)
    on(shifted)(np.zeros(10), out=table[::-1])
    assert table.tolist() == list(range(9, -1, -1))


def test_arrays_that_overlap_each_other_are_written_in_order(on: On) -> None:
    pair: Any = pm.jit(lambda x: (x + 1.0, x + 2.0))
    y = np.zeros(11)
    on(pair)(X[:10], out=(y[:10], y[1:]))
    assert y.tolist() == [1.0, *(X[:10] + 2.0)]


def test_several_results(on: On) -> None:
    first, total, kept, small = np.zeros(30), np.zeros(()), np.zeros(28), np.zeros(30, bool)
    out = (first, {"sum": total, "kept": kept}, [small])
    found = on(several)(X, out=out)
    assert found[0] is first
    assert found[1]["sum"] is total
    assert found[1]["kept"] is kept
    assert found[2][0] is small
    assert first.tolist() == (X + 1.0).tolist()
    assert float(total) == X.sum()
    assert kept.tolist() == X[2:].tolist()
    assert small.tolist() == (X < 2.0).tolist()


def test_none_makes_an_array(on: On) -> None:
    y = np.zeros(28)
    first, rest, (small,) = on(several)(X, out=(None, {"sum": None, "kept": y}, None))
    assert rest["kept"] is y
    assert y.tolist() == X[2:].tolist()
    assert isinstance(rest["sum"], np.float64)
    assert first.tolist() == (X + 1.0).tolist()
    assert small.tolist() == (X < 2.0).tolist()
    assert on(affine)(X, 1, out=None).tolist() == (X * 2.0 + 1.0).tolist()


@dataclass
class Pair:
    left: Any
    right: Any


def test_a_dataclass(on: On) -> None:
    split: Any = pm.jit(lambda x: Pair(x[:3], x[3:]))
    y = np.zeros(27)
    found = on(split)(X, out=Pair(None, y))
    assert found.right is y
    assert found.left.tolist() == [0.0, 1.0, 2.0]
    assert y.tolist() == X[3:].tolist()


def test_one_array_for_an_argument_that_is_returned(on: On) -> None:
    same: Any = pm.jit(lambda x: (x, x + 1.0, x))
    x, y = np.arange(5.0), np.zeros(5)
    first, second, third = on(same)(x, out=(y, x, None))
    assert (first is y, second is x) == (True, True)
    assert first.tolist() == third.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert second.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_results_of_branches_and_loops(on: On) -> None:
    @pm.jit
    def halve(x: Any, k: Any) -> Any:
        while k > 0:
            x = x / 2.0
            k = k - 1
        return x if x[0] > 0.0 else -x

    for k in (0, 2):
        for x in (X + 1.0, -X - 1.0):
            y = np.zeros(30)
            assert on(halve)(x, k, out=y) is y
            assert y.tolist() == np.abs(x / 2.0**k).tolist()
            assert abs(x[0]) == 1.0


def test_an_empty_result(on: On) -> None:
    y = np.zeros(0)
    assert on(affine)(np.zeros(0), 1.0, out=y) is y


# What is wrong, and that nothing is written then.


def untouched(*shape: int, dtype: Any = np.float64) -> Any:
    return np.full(shape, 99, dtype)


@pytest.mark.parametrize(
    ("out", "kind", "what"),
    [
        (untouched(29), ShapeError, "out has shape (29,), the result (30,)"),
        (untouched(30, 1), ShapeError, "out has shape (30, 1), the result (30,)"),
        (untouched(1), ShapeError, "out has shape (1,), the result (30,)"),
        (
            untouched(30, dtype=np.float32),
            StagingTypeError,
            "out has dtype float32, the result float64",
        ),
        (
            untouched(30).astype(">f8"),
            StagingTypeError,
            "out has dtype >f8, the result float64",
        ),
        (np.broadcast_to(np.float64(99), 30), ReadOnlyError, "out is read-only"),
        (np.ma.ones(30) * 99, StagingTypeError, "out is a MaskedArray"),
        ([99.0] * 30, StagingTypeError, "out is a list of 30, not an array"),
        ((untouched(30),), StagingTypeError, "out is a tuple of 1, not an array"),
        (99.0, StagingTypeError, "out is a float, not an array"),
    ],
)
def test_an_array_that_does_not_fit(on: On, out: Any, kind: type[Exception], what: str) -> None:
    with pytest.raises(kind) as caught:
        on(affine)(X, 1.0, out=out)
    assert str(caught.value).startswith(what + "\n  at ")
    flat = out[0] if isinstance(out, tuple) else out
    assert (np.asarray(flat) == 99).all()


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ({"sum": None, "kept": untouched(29)}, "out[1]['kept'] has shape (29,), the result (28,)"),
        ({"sum": untouched(1), "kept": None}, "out[1]['sum'] has shape (1,), the result ()"),
        ({"sum": None}, "out[1] is a dict of 1, where the result is a dict of 2"),
        ({"kept": None, "sum": None}, "out[1] has kept, sum, where the result has sum, kept"),
        ([None, None], "out[1] is a list of 2, where the result is a dict of 2"),
        (untouched(30), "out[1] is a ndarray, where the result is a dict of 2"),
    ],
)
def test_one_that_does_not_fit_leaves_all_as_they_were(on: On, second: Any, what: str) -> None:
    first = untouched(30)
    with pytest.raises((ShapeError, StagingTypeError)) as caught:
        on(several)(X, out=(first, second, None))
    assert str(caught.value).startswith(what)
    assert (first == 99.0).all()


def test_no_array_for_what_is_none() -> None:
    nothing: Any = pm.jit(lambda x: (x + 1.0, None, "name", 3))
    y, three = np.zeros(30), np.zeros((), np.int64)
    assert nothing(X, out=(y, None, None, three))[2:] == ("name", three)
    assert [float(y[0]), int(three)] == [1.0, 3]
    with pytest.raises(StagingTypeError, match=r"out\[1\] is an array, where the result has none"):
        nothing(X, out=(None, y, None, None))


def test_a_fault_leaves_the_array_as_it_was(on: On) -> None:
    @pm.jit
    def picked(x: Any, at: Any) -> Any:
        return pm.range(at.shape[0]).map(lambda i: x[at[i]])

    y = untouched(40)
    at = np.r_[np.arange(30), np.full(10, 30)]
    with pytest.raises(IndexError):
        on(picked)(X, at, out=y)
    assert (y == 99.0).all()
    on(picked)(X, at % 30, out=y)
    assert y.tolist() == X[at % 30].tolist()


def test_a_fault_behind_the_loop_leaves_the_array_as_it_was() -> None:
    @pm.jit
    def checked(x: Any, k: Any) -> Any:
        made = x * 2.0
        return made, x[k]

    y = untouched(30)
    for way in ("llvm", "numba", "python", "reference"):
        with pytest.raises(StagedIndexError):
            WAYS[way](checked)(X, 30, out=(y, None))
        assert (y == 99.0).all()


# Whose `out` it is.


def test_a_parameter_called_out_is_the_functions(on: On) -> None:
    scaled: Any = pm.jit(lambda x, out: x * out)
    rest: Any = pm.jit(lambda x, **rest: x * rest["out"])
    assert on(scaled)(X, out=2.0).tolist() == (X * 2.0).tolist()
    assert on(rest)(X, out=3.0).tolist() == (X * 3.0).tolist()


def test_a_method() -> None:
    class Model:
        k = 3.0

        @pm.jit
        def apply(self, x: Any) -> Any:
            return x * self.k

    y = np.zeros(30)
    bound: Any = Model().apply
    assert bound(X, out=y) is y
    assert y.tolist() == (X * 3.0).tolist()


def test_inside_of_a_staged_function_it_is_refused() -> None:
    outer: Any = pm.jit(lambda x: affine(x, 1.0, out=x))
    with pytest.raises(Limitation) as caught:
        outer(X)
    assert caught.value.instead == "y[...] = f(x)"


def test_inside_of_an_eager_call_it_is_numpys() -> None:
    outer: Any = pm.jit(lambda x: affine(x, 1.0, out=np.empty(30)) + 1.0)
    assert outer.eager(X).tolist() == (X * 2.0 + 2.0).tolist()
    y = np.zeros(30)
    with pm.disable_jit():
        assert affine(X, 1.0, out=y) is y
    assert y.tolist() == (X * 2.0 + 1.0).tolist()


def test_one_version_serves_calls_with_and_without() -> None:
    doubled: Any = pm.jit(lambda x: x * 2.0)
    doubled(X)
    doubled(X, out=np.zeros(30))
    assert doubled.stats().compiles == 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
        doubled.explain(X, out=np.zeros(30))
