"""Types at parameters: what they demand of a call, what they tell the compiler, and editors."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated, Any, assert_type

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors

X = np.arange(6.0).reshape(3, 2)
Y = np.ones(3)

Matrix = Annotated[Any, pm.f64["n", "d"]]
Vector = Annotated[Any, pm.f64["n"]]


@pm.jit
def weighted(x: Matrix, y: Vector, k: Annotated[float, pm.f64] = 2.0) -> Any:
    total = (x * y[:, None]).sum(axis=0)
    return total * k


@pm.jit
def columns(x: Annotated[Any, pm.f32[..., 3]]) -> Any:
    return [c.sum() for c in pm.unroll(x.cols)]


@pm.jit
def total(x: pm.Array, k: int) -> np.float64:
    found: np.float64 = x.rows.map(lambda row: row.sum()).sum() * k
    return found


def test_editors_see_the_users_types() -> None:
    assert_type(total(pm.asarray(X), 2), np.float64)
    assert_type(total.eager(pm.asarray(X), 2), np.float64)
    assert total(pm.asarray(X), 2) == 30.0


def test_what_fits_runs_everywhere() -> None:
    for f in (weighted, weighted.on("reference"), weighted.on("python"), weighted.eager):
        assert f(X, Y).tolist() == [12.0, 18.0]
        assert f(X.tolist(), [1.0, 2.0, 3.0], 1).tolist() == [16.0, 22.0]
        assert f(X[:1], Y[:1]).tolist() == [0.0, 2.0]


def test_named_sizes_are_one_size_of_the_program() -> None:
    program = weighted.trace(X, Y)
    assert [size.name for size in program.sizes] == ["x_0", "x_1"]
    assert "y_0" not in str([p.type for p in program.params])


def test_known_sizes_are_constants() -> None:
    assert columns(np.ones((2, 3), "f4")) == [2.0, 2.0, 2.0]


WRONG: list[tuple[Any, tuple[Any, ...], type[Exception], str]] = [
    (
        *(weighted, (X, np.ones(4)), errors.ShapeError),
        'two sizes "n": axis 0 of x has size 3, axis 0 of y has size 4',
    ),
    (weighted, (Y, Y), errors.ShapeError, r'x is declared as pm.f64\["n", "d"\], found: an array'),
    (weighted, (X.astype("f4"), Y), TypeError, "found: ndarray of float32"),
    (weighted, (X, Y, 1j), TypeError, "k is declared as pm.f64, found: complex"),
    (weighted, (X, Y, np.float32(1)), TypeError, "found: float32 of float32"),
    (weighted, (X, "y"), TypeError, "found: str"),
    (columns, (np.ones((2, 4), "f4"),), errors.ShapeError, "axis 1 of x has size 4, where 3 is"),
]


@pytest.mark.parametrize(("f", "args", "kind", "message"), WRONG)
def test_what_does_not_fit_is_refused(
    f: Any, args: tuple[Any, ...], kind: type[Exception], message: str
) -> None:
    for call in (f, f.eager, f.trace):
        with pytest.raises(kind, match=message) as caught:
            call(*args)
        places = caught.value.where  # type: ignore[attr-defined]
        assert [place.text.split()[0] for place in places][1:] == ["def"]


def test_annotations_of_other_kinds_say_nothing() -> None:
    def f(x: Any, y: list[int], z: float | None) -> Any:
        return x

    f.__annotations__ = {"x": "unknown", "y": "list[int]", "z": pm.disable_jit}

    assert pm.jit(f)(1.0, [1], None) == 1.0


@pytest.mark.parametrize("dims", [("n", 1.5), (-1,), ("not a name",), (..., "n", ...)])
def test_what_is_no_axis(dims: Any) -> None:
    with pytest.raises(errors.StagingTypeError):
        pm.f64[dims]


# f.compile


def test_compiling_without_data() -> None:
    f = pm.jit(weighted.function)
    f.compile()
    f(X, Y)
    assert f.stats().compiles == 1
    g = pm.jit(lambda x, y: x @ y)
    g.compile(pm.f64["n", "m"], SimpleNamespace(shape=(7,), dtype=np.dtype("f8")))
    assert g(X, np.ones(2)).tolist() == [1.0, 5.0, 9.0]
    assert g.stats().compiles == 1


def test_types_that_do_not_suffice() -> None:
    f: Any = pm.jit(lambda x, y=1: x * y)
    with pytest.raises(errors.UserError, match="there is no type for the parameter x"):
        f.compile()
    with pytest.raises(
        errors.StagingTypeError, match=r"the rank of x is not known: pm.f32\[..., 3"
    ):
        columns.compile()
    g: Any = pm.jit(lambda x: [0] * pm.static(x.shape[0]))
    with pytest.warns(UserWarning, match="pm.static numbers that were made up: 2"):
        g.compile(pm.f64["n"])
    g.compile(pm.f64[5])
    assert len(g(np.ones(5))) == 5
