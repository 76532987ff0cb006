"""What the CPU targets refuse: by name, at the user's line, before anything is printed."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.cpu import target
from parloom.codegen.target import COMPLEX, cpu_problems
from parloom.staging.errors import Limitation, UserError
from tests.transforms.forms import FORMS
from tests.transforms.structure import program

Z = np.array([1 + 2j, 3 - 1j])


@pytest.fixture(params=["cpu", "python"])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A target of which nothing may be printed; its disk cache is empty."""

    def printed(*args: Any) -> str:
        raise AssertionError("something was printed")

    monkeypatch.setattr(target, "print_kernels", printed)
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PARLOOM_CACHE", raising=False)
    return str(request.param)


def refusal(f: Callable[..., Any], name: str, *args: Any) -> Limitation:
    """The refusal of a call, twice the same: nothing is kept of the first."""
    jitted: Any = pm.jit(f, target=name)
    with pytest.raises(Limitation) as first:
        jitted(*args)
    with pytest.raises(Limitation) as second:
        jitted(*args)
    assert str(first.value) == str(second.value)
    assert jitted.stats().compiles == 0
    return first.value


def call_back(x: Any) -> Any:
    def show(v: Any) -> Any:
        print(v)
        return v * 2

    return x.map(show)


def test_a_call_back_inside_a_parallel_loop(name: str) -> None:
    error = refusal(call_back, name, np.ones(3))
    assert error.what == (
        f"a call back into Python inside a parallel loop is not supported by the target {name}"
    )
    assert [place.text.strip() for place in error.where] == ["print(v)"]
    assert error.why == "the iterations run on several threads, without the interpreter"
    assert error.instead == "collect the values in an array, and call the function after the loop"


def test_a_call_back_outside_of_loops_is_fine(capsys: pytest.CaptureFixture[str]) -> None:
    def total(x: Any) -> Any:
        s = x.sum()
        print(s)
        return s

    assert pm.jit(total)(np.ones(3)) == 3
    assert capsys.readouterr().out == "3.0\n"


def test_a_dtype_that_a_value_has(name: str) -> None:
    error = refusal(lambda x: np.sqrt(x), name, np.ones(3, np.int8))
    assert error.what == f"the dtype of a value (f16[x_0]) is not supported by the target {name}"
    assert "np.sqrt(x)" in error.where[0].text
    assert error.instead == "convert it: x.astype(np.float32), say"


@pytest.mark.parametrize(
    ("function", "primitive"),
    [
        (lambda x: np.exp(x), "exp"),
        (lambda x: x.min(), "minimum"),
        (lambda x: x < 2, "less"),
        (lambda x: x**1.5, "power"),
        (lambda x: np.sign(x), "sign"),
    ],
)
def test_functions_of_complex_numbers(name: str, function: Any, primitive: str) -> None:
    error = refusal(function, name, Z)
    what = f"{primitive} of complex numbers inside a parallel loop"
    assert error.what == f"{what} is not supported by the target {name}"
    (place,) = error.where
    assert place.file == __file__
    assert all(known.name in error.why for known in COMPLEX)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x - x / 3,
        lambda x: abs(x),
        lambda x: x.sum(),
        lambda x: x.prod(),
        lambda x: x.mean(),
        lambda x: np.where(x == 3 - 1j, x, -x),
        lambda x: np.isnan(x) | np.isfinite(x),
        lambda x: x[x != 0],
        lambda x: x.astype(np.complex64),
    ],
)
def test_other_functions_of_complex_numbers_work(function: Callable[..., Any]) -> None:
    expected: Any = function(Z)
    for target_name in ("cpu", "python"):
        jitted: Any = pm.jit(function, target=target_name)
        found: Any = jitted(Z)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "longdouble", "M8[s]", "O", "U3"])
def test_dtypes_of_arguments(name: str, dtype: str) -> None:
    with pytest.raises((Limitation, UserError)) as caught:
        pm.jit(lambda x: x, target=name)(np.zeros(3, dtype))
    assert str(np.dtype(dtype)) in str(caught.value)
    assert "x" in str(caught.value)


def chosen_printer(f: Any, *args: Any) -> tuple[object, str]:
    [found] = [d for d in f.explain(*args).decisions if d.id == "codegen.printer"]
    return found.chosen, found.reason


def test_the_printer_for_whoever_chooses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARLOOM_PRINTER", raising=False)
    x = np.ones(3)
    assert chosen_printer(pm.jit(lambda x: x + 1), x)[0] == "llvm"
    monkeypatch.setenv("PARLOOM_PRINTER", "numba")
    by_variable = ("numba", "the variable PARLOOM_PRINTER")
    assert chosen_printer(pm.jit(lambda x: x + 1), x) == by_variable
    f: Any = pm.jit(lambda x: x + 1)
    assert chosen_printer(f.on(printer="llvm"), x) == ("llvm", "the option printer")
    monkeypatch.setenv("PARLOOM_PRINTER", "llvm")
    assert chosen_printer(pm.jit(lambda x: x + 1), x * 1j)[0] == "numba"
    monkeypatch.setenv("PARLOOM_PRINTER", "fortran")
    with pytest.raises(UserError, match="there is no printer 'fortran'"):
        pm.jit(lambda x: x + 1)(x)


def test_an_unknown_printer() -> None:
    double: Any = pm.jit(lambda x: x * 2)
    with pytest.raises(UserError, match="there is no printer 'fortran'"):
        double.on(printer="fortran")(np.ones(3))


def test_every_form_is_accepted() -> None:
    for text in FORMS.values():
        assert list(cpu_problems(program(text))) == []


def test_sequential_loops_of_complex_numbers_stay_with_the_driver() -> None:
    def iterate(z: Any, n: int) -> Any:
        k = 0
        while k < n:
            z = np.exp(z) - 1.0
            k = k + 1
        return z

    z = np.complex128(0.1 + 0.2j)
    expected = np.exp(np.exp(z) - 1) - 1
    for target_name in ("cpu", "python"):
        assert pm.jit(iterate, target=target_name)(z, 2) == expected
