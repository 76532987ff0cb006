"""The C library's vector functions: accuracy, special values, the same bits in every lane, and that
loops use them.

A reference is NumPy's function in extended precision for float64, in float64 for float32; for what
NumPy lacks (erf), Python's own.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen import objects, vector_math
from parloom.codegen.cpu import code
from parloom.codegen.llvm import engine
from parloom.codegen.native import ArrayParam, NativeFunction, ScalarParam, Signature
from parloom.codegen.numba import engine as numba_engine
from parloom.codegen.python_text import print_kernels
from parloom.codegen.vector_math import ABIS, C_NAMES, Abi, Routine, vector_routine
from parloom.staging.primitives import BY_NAME
from parloom.transforms.lowering.program import lower_program
from tests.codegen.kernels import mapped, same_bits
from tests.compare import Ulps, assert_agree

DTYPES = ("float64", "float32")
RNG = np.random.default_rng(7)


def available() -> Iterator[Abi]:
    """The instruction sets of this processor."""
    features = objects.host().features.split(",")
    for abi in ABIS:
        if objects.host().triple.startswith(abi.triple) and f"+{abi.feature}" in features:
            yield abi


ROUTINES = [
    r
    for abi in available()
    for name in C_NAMES
    for dtype in DTYPES
    if (r := vector_routine(name, dtype, abi)) is not None
]
needs_vectors = pytest.mark.skipif(not ROUTINES, reason="the C library has no vector functions")


LOOP = """
define internal void @body(PARAMETERS, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %head]
  LOADS
  %found = call TYPE @CALLEE(GIVEN)
  %out.i = getelementptr TYPE, ptr %out, i64 %i
  store TYPE %found, ptr %out.i
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %head, label %done
done:
  ret void
}
define void @SYMBOL(ptr %table) {
  SLOTS
  call void @body(PASSED, i64 %n)
  ret void
}
"""


@cache
def loop(r: Routine) -> NativeFunction:
    """The routine's wrapper over arrays, in a loop that becomes one over vectors."""
    names = ("x", "y")[: r.arity]
    slots = [(f"{a}", "ptr", 3 * k) for k, a in enumerate((*names, "out"))]
    slots.append(("n", "i64", 3 * len(slots)))
    parts = {
        "PARAMETERS": ", ".join(f"ptr noalias %{a}" for a in (*names, "out")),
        "PASSED": ", ".join(f"ptr %{a}" for a in (*names, "out")),
        "LOADS": "\n".join(
            f"%{a}.i = getelementptr {r.type}, ptr %{a}, i64 %i\n%{a}.v = load {r.type}, ptr %{a}.i"
            for a in names
        ),
        "GIVEN": ", ".join(f"{r.type} %{a}.v" for a in names),
        "SLOTS": "\n".join(
            f"%{a}.p = getelementptr i64, ptr %table, i64 {slot}\n%{a} = load {type_}, ptr %{a}.p"
            for a, type_, slot in slots
        ),
        "TYPE": r.type,
        "CALLEE": r.callee,
        "SYMBOL": objects.symbol("all"),
    }
    text = LOOP
    for name, part in parts.items():
        text = re.sub(rf"\b{name}\b", part, text)
    array = ArrayParam(np.dtype(r.dtype), 1)
    signature: Signature = (*[array] * (r.arity + 1), ScalarParam(np.dtype(np.int64)))
    module = engine.module("\n".join((*vector_math.wrappers([r]), text)), ("all",))
    return objects.load(objects.emit(module, ("all",)), {"all": signature})["all"]


def run(r: Routine, *arguments: np.ndarray) -> np.ndarray:
    """The routine, element by element."""
    out = np.empty_like(arguments[0])
    if len(out):
        loop(r)(*arguments, out, len(out))
    return out


# Arguments.


def arguments(r: Routine, count: int) -> list[np.ndarray]:
    """Numbers of every size, near 1, near multiples of pi / 2, whole, and special ones."""
    limits: Any = np.finfo(r.dtype)
    special = [0.0, 1.0, 0.5, 2.0, 3.0, np.inf, np.nan, limits.max, limits.tiny]
    special += [limits.smallest_subnormal, 1 - limits.epsneg, 1 + limits.eps, 1e22, 1e10, 26.5]
    special += [88.0, 88.8, 103.9, 709.78, 709.79, 710.47, 710.48, 745.1, 745.2, 1022.5, 1075.0]
    special += [126.5, 127.99, 128.0, 149.5, 150.0, 2.0**24, 2.0**52, 2.0**53 + 2, 1.5]
    largest = np.log2(float(limits.max))
    parts = [
        np.array(special + [-v for v in special]),
        2.0 ** RNG.uniform(-largest, largest, count),
        RNG.uniform(-20, 20, count),
        RNG.uniform(-1, 1, count),
        1 + RNG.uniform(-1, 1, count) * 2.0 ** RNG.uniform(-30, -1, count),
        RNG.integers(-1000, 1000, count) * (np.pi / 2) * (1 + RNG.normal(size=count) * 1e-9),
        RNG.uniform(-largest - 60, largest + 60, count),
        RNG.integers(-40, 40, count).astype(np.float64),
    ]
    signs = RNG.choice([-1.0, 1.0], count)
    parts[1] = parts[1] * signs
    with np.errstate(over="ignore"):
        x = np.concatenate(parts).astype(r.dtype)
    if r.arity == 1:
        return [x]
    first, second = (a.ravel() for a in np.meshgrid(x[: 2 * len(special)], x[: 2 * len(special)]))
    pairs = [np.concatenate([first, x]), np.concatenate([second, RNG.permutation(x)])]
    if r.name == "power":  # of positive numbers, else most are NaN
        base = np.abs(x).astype(r.dtype)
        pairs = [np.concatenate([pairs[0], base]), np.concatenate([pairs[1], x[::-1] / 4])]
    return pairs


def reference(r: Routine, given: list[np.ndarray]) -> np.ndarray:
    """The values, rounded to the dtype."""
    function = BY_NAME[r.name].function
    wide = np.longdouble if r.dtype == "float64" else np.float64
    if not isinstance(function, np.ufunc):
        wide = np.float64
    with np.errstate(all="ignore"):
        return np.asarray(function(*(a.astype(wide) for a in given)).astype(r.dtype))


def ids(r: Routine) -> str:
    return r.symbol


@needs_vectors
@pytest.mark.parametrize("r", ROUTINES, ids=ids)
def test_accuracy_and_special_values(r: Routine) -> None:
    given = arguments(r, 2000)
    found, expected = run(r, *given), reference(r, given)
    assert_agree(found, expected, Ulps(4))
    zero = expected == 0
    assert np.array_equal(np.signbit(found[zero]), np.signbit(expected[zero]))


@needs_vectors
@pytest.mark.parametrize("r", ROUTINES, ids=ids)
def test_an_element_has_the_same_bits_in_every_place(r: Routine) -> None:
    """In every lane, beside any neighbours, in a loop's rest, and alone."""
    given = arguments(r, 40)
    found = run(r, *given)
    order = RNG.permutation(len(found))
    assert same_bits([run(r, *(a[order] for a in given))], [found[order]])
    for start in range(3):
        for count in range(1, 9):
            part = slice(start, start + count)
            assert same_bits([run(r, *(a[part].copy() for a in given))], [found[part]])
    alone = [run(r, *(a[k : k + 1].copy() for a in given))[0] for k in range(0, len(found), 7)]
    assert same_bits([np.array(alone)], [found[::7]])


# Loops.

X = RNG.uniform(0.1, 2, 1000)
M = X.reshape(100, 10)


def vector_calls(f: Callable[..., Any], *args: Any) -> set[str]:
    """The vector functions that the kernels of a call use in loops."""
    jitted: Any = pm.jit(f)
    return calls_in(jitted.explain(*args).optimised())


def calls_in(module: str) -> set[str]:
    """The vector functions that kernels call: all but those in wrappers."""
    functions = re.findall(r"^define .*?^}", module, re.DOTALL | re.MULTILINE)
    kernels = [text for text in functions if not re.match(r"[^@]*@parloom\.", text)]
    return set(re.findall(r"call [^@]*@_ZGV\wN\d+v+_(\w+)", "".join(kernels)))


LOOPS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], set[str]]] = {
    "elementwise": (lambda x: np.exp(x) * np.log(x), (X,), {"exp", "log"}),
    "choices": (
        lambda x: np.where(x > 0.5, np.exp(np.maximum(x, 0.2)), np.sin(x)),
        (X,),
        {"exp", "sin"},
    ),
    "branches": (lambda x: x.map(lambda v: np.exp(v) if v > 0.5 else np.tanh(v)), (X,), {"exp"}),
    "powers": (lambda x, y: x**y, (X, X), {"pow"}),
    "a constant power": (lambda x: x**1.7, (X,), {"pow"}),
    "a sum in order": (lambda x: np.exp(x).sum(), (X,), {"exp"}),
    "float32": (lambda x: np.exp(x) * np.log(x), (X.astype(np.float32),), {"expf", "logf"}),
    "softmax": (
        lambda m: m.rows.map(lambda r: np.exp(r - r.max()) / np.exp(r - r.max()).sum()),
        (M,),
        {"exp"},
    ),
    "strips": (
        lambda m: m.rows.map(lambda r: m.rows.sum(lambda c: np.exp(-((r - c) ** 2).sum()))),
        (M,),
        {"exp"},
    ),
}


@needs_vectors
@pytest.mark.parametrize("name", LOOPS)
def test_loops_are_vectorised(name: str) -> None:
    function, args, wanted = LOOPS[name]
    assert wanted <= vector_calls(function, *args)


@needs_vectors
def test_loops_are_vectorised_by_the_other_printer() -> None:
    f: Any = pm.jit(lambda x: np.where(x > 0.5, np.exp(np.maximum(x, 0.2)), np.log(x)))
    kernels = list(lower_program(mapped(f.trace(X))).values())
    module = numba_engine.module(print_kernels(kernels), code.signatures(kernels))
    assert calls_in(str(module)) == {"exp", "log"}


def test_without_vector_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a processor or a C library without them runs: libm's, in float64."""
    monkeypatch.setattr(vector_math, "ABIS", ())
    vector_math.routine.cache_clear()
    try:
        for x in (X, X.astype(np.float32)):
            f: Any = pm.jit(lambda x: (np.exp(x), x**1.7, np.arctan2(x, 2 * x), pm.erf(x)))
            found = f(x)
            assert same_bits(f.on("python")(x), found)
            assert_agree(
                found[:3], (np.exp(x), x ** x.dtype.type(1.7), np.arctan2(x, 2 * x)), Ulps()
            )
            assert found[3].tolist() == [x.dtype.type(math.erf(v)) for v in x]
            assert "_ZGV" not in f.explain(x).source("llvm")
    finally:
        vector_math.routine.cache_clear()
