"""What the optimised code is made of: vector instructions where lanes were written, no calls."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen import vector_math

X = np.zeros(50)
M = np.zeros(50, np.bool_)


def optimised(function: Callable[..., Any], *args: Any) -> str:
    """The LLVM IR of a program's kernels after all passes."""
    jitted: Any = pm.jit(function)
    text: str = jitted.on(printer="llvm").explain(*args).optimised()
    return text


def vectors_of(text: str, instruction: str) -> set[str]:
    """The vector types that an instruction works on in the code."""
    return set(re.findall(rf"= (?:tail )?{instruction}[\w ]* (<\d+ x \w+>)", text))


REDUCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str, str]] = {
    "sum": (lambda x: x.sum(), (X,), "fadd", "<4 x double>"),
    "sum of float32": (lambda x: x.sum(), (X.astype("f4"),), "fadd", "<4 x double>"),
    "dot": (lambda x: x @ x, (X,), "call", "<4 x double>"),
    "min": (lambda x: x.min(), (X,), "fcmp olt", "<4 x double>"),
    "max of float32": (lambda x: x.max(), (X.astype("f4"),), "fcmp ogt", "<8 x float>"),
    "max of int32": (lambda x: x.max(), (X.astype("i4"),), "call", "<8 x i32>"),
    "argmin": (lambda x: x.argmin(), (X,), "fcmp ult", "<4 x double>"),
    "masked sum": (lambda x: x.sum(where=lambda v: v > 1), (X,), "fadd", "<4 x double>"),
    "masked max": (lambda x: x.filter(lambda v: v > 1).max(), (X,), "fcmp ogt", "<4 x double>"),
    "count": (lambda x: np.count_nonzero(x), (X,), "fcmp une", "<4 x double>"),
    "any": (lambda x: x.any(), (M,), "or", "<16 x i8>"),
    "all": (lambda x: (x > 0).all(), (X,), "fcmp ogt", "<16 x double>"),
    "strides": (lambda x: x.sum(), (np.zeros(99)[::3],), "fadd", "<4 x double>"),
}


def test_functions_of_the_elements() -> None:
    routine = vector_math.routine("exp", "float64")
    assert routine is not None
    text = optimised(lambda x: np.exp(x).sum(), X)
    assert routine.symbol in text
    assert ("alloca" not in text) == (routine.lanes > 0)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    function, args, instruction, vector = REDUCTIONS[name]
    text = optimised(function, *args)
    assert vector in vectors_of(text, instruction)
    assert "alloca" not in text, "accumulators are in registers"


@pytest.mark.parametrize("name", ["sum", "min", "argmin", "any", "masked"])
@pytest.mark.parametrize("kind", ["u1", "i2", "f4", "f8"])
def test_strides_of_any_size(name: str, kind: str, capfd: pytest.CaptureFixture[str]) -> None:
    functions: dict[str, Callable[..., Any]] = {
        "sum": lambda x: x.sum(),
        "min": lambda x: x.min(),
        "argmin": lambda x: x.argmin(),
        "any": lambda x: x.any(),
        "masked": lambda x: x.filter(lambda v: v > 1).sum(),
    }
    jitted: Any = pm.jit(functions[name])
    report = jitted.on(printer="llvm").explain(np.ones(99, kind)[::3])
    assert "vectorised" in str(report.vectorised()).partition(".unit")[0]
    assert capfd.readouterr().err == ""


def test_nothing_is_said_of_what_the_compiler_cannot_do(capfd: pytest.CaptureFixture[str]) -> None:
    optimised(lambda x: np.exp(x).sum(), X)
    optimised(lambda x: (x**3).max(), X.astype("i8"))
    optimised(lambda x: (np.exp(x) + np.log(x.astype(np.float64))).sum(), X.astype("f4"))
    assert capfd.readouterr().err == ""
