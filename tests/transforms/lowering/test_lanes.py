"""Reductions over lanes: bits and values are the interpreter's, NumPy's where they are exact."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.reference import interpret
from parloom.staging.nodes import Program
from parloom.staging.parser import parse
from parloom.staging.passes import run
from parloom.staging.printer import to_text
from parloom.transforms import cpu_levels
from parloom.transforms.pipelines import CPU
from tests.codegen.kernels import run_llvm, run_numba, run_plain, same_bits

LENGTHS = (1, 3, 7, 8, 9, 23, 24, 25, 61, 62, 130)
LEAST_AND_GREATEST = """
program f(n; x: f64[n]) {
  a: f64, b: f64 = loop (i < n) {
    t: f64 = x[i]
    c: bool = t == t
    where c: reduce reducer "both" associative commutative (p: f64, q: f64, r: f64, s: f64) {
      u: f64 = minimum(p, r)
      v: f64 = maximum(q, s)
      yield u, v
    } (t, t)
  }
  return a, b
}
"""
SUM_AND_PRODUCT = (
    LEAST_AND_GREATEST.replace("f64", "f32")
    .replace("commutative (", "commutative identity (0.0_f32, 1.0_f32) (")
    .replace("minimum(p, r)", "p + r")
    .replace("maximum(q, s)", "q * s")
)
Runs = Callable[[Program, Sequence[Any]], list[Any]]


def masked(x: Any) -> Any:
    """Reductions under a condition, with and without an identity."""
    above = x.filter(lambda v: v > 0)
    return x.sum(where=lambda v: v > 0), above.max(), above.count()


def beside_an_array(x: Any) -> Any:
    """A sum in the loop that makes an array."""
    y = x * 2 + 1
    return y, y.sum()


def least_and_greatest(x: Any) -> Any:
    """A reducer of two components, written out."""
    pairs = x.map(lambda v: (v, v))
    return pairs.reduce(lambda a, b: (np.minimum(a[0], b[0]), np.maximum(a[1], b[1])))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 24 for eight lanes, of 12 for four; chunks of 60."""
    monkeypatch.setattr(cpu_levels, "LANES", 8)
    monkeypatch.setattr(cpu_levels, "BLOCK", 3)
    monkeypatch.setattr(cpu_levels, "CHUNK", 60)
    monkeypatch.setattr(cpu_levels, "VECTOR", 1)


def traced(function: Callable[..., Any], dtype: str) -> Program:
    """The program of a function of one array."""
    jitted: Any = pm.jit(function)
    program: Program = jitted.trace(np.zeros(5, dtype))
    return program


def agree(program: Program, x: np.ndarray, *others: Runs) -> list[Any]:
    """The interpreter's results, which the LLVM text and `others` have, too."""
    mapped = run(program, CPU).program
    expected = interpret(mapped, [x])
    for runs in (run_llvm, *others):
        assert same_bits(runs(mapped, [x]), expected), runs.__name__
    return expected


def wild(n: int, dtype: str, seed: int) -> np.ndarray:
    """Ties, both zeros, infinities, now and then a NaN."""
    rng = np.random.default_rng(seed)
    if dtype[0] != "f":
        return rng.integers(0 if dtype[0] in "ub" else -3, 4, n).astype(dtype)
    values = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 2.5, 1e-3], dtype)
    x = rng.choice(values, n)
    return np.where(rng.random(n) < 0.1 * (seed % 2), np.nan, x).astype(dtype)


def check(program: Program, dtype: str, names: Sequence[str], *others: Runs) -> None:
    """Results for every length; those with a name are NumPy's, too."""
    for seed, n in enumerate(LENGTHS):
        x = wild(n, dtype, seed)
        found = agree(program, x, *(others if n < 63 else ()))
        for name, result in zip(names, found, strict=False):
            if name:
                np.testing.assert_array_equal(result, getattr(x, name)())


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
def test_numbers(dtype: str) -> None:
    names = ["min", "max", "argmin", "argmax", "any", "all", "" if dtype[0] == "f" else "sum"]
    program = traced(lambda x: (*(getattr(x, n)() for n in names[:-1]), x.sum()), dtype)
    check(program, dtype, names, run_plain)
    assert "lanes=4" in to_text(run(program, CPU).program)


def test_truth_values() -> None:
    names = ("any", "all", "sum", "min")
    check(traced(lambda x: [getattr(x, n)() for n in names], "?"), "?", names, run_plain)


def test_one_at_a_time() -> None:
    for name in ("min", "argmax"):
        check(traced(lambda x, n=name: getattr(x, n)(), "f8"), "f8", [name], run_numba)
    sums = traced(lambda x: x.sum(), "f4")
    assert "lanes=8" in to_text(run(sums, CPU).program)
    check(sums, "f4", [""], run_numba)


@pytest.mark.parametrize("dtype", ["f8", "i4"])
def test_conditions(dtype: str) -> None:
    for function in (masked, beside_an_array):
        check(traced(function, dtype), dtype, (), run_plain)
    if dtype == "f8":
        check(parse(LEAST_AND_GREATEST), dtype, (), run_plain)
        check(parse(SUM_AND_PRODUCT), "f4", (), run_plain)


def test_empty() -> None:
    for function in (lambda x: x.min(), lambda x: x.argmax(), lambda x: x.filter(np.isnan).max()):
        f: Any = pm.jit(function)
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            f(np.empty(0))
    f = pm.jit(lambda x: (x.sum(), x.any(), x.all()))
    assert f(np.empty(0)) == (0.0, False, True)
    with pytest.raises(ValueError, match="zero-size array"):
        pm.jit(lambda x: x.filter(np.isnan).max())(np.ones(130))


def test_strides_do_not_matter() -> None:
    f: Any = pm.jit(lambda x: (x.sum(), x.min(), x.argmin(), (x > 0).all()))
    for x in (wild(130, "f8", 1), wild(130, "f4", 2)):
        spread = np.repeat(x, 3)[::3]
        back = x[::-1].copy()[::-1]
        assert same_bits(f(spread), f(x))
        assert same_bits(f(back), f(x))


def test_what_cannot_run_over_lanes() -> None:
    """Faults, work that repeats, reducers that do not commute, the payload of an argmin."""
    for function in (
        lambda x: x.map(lambda v: x[v.astype(int)]).sum(),
        lambda x: x.map(lambda v: x.sum(lambda w: w * v)).max(),
        lambda x: x.reduce(lambda a, b: a - b),
        lambda x: pm.range(x.shape[0]).filter(lambda i: x[i] > 0).argmin(lambda i: x[i]),
    ):
        result = run(traced(function, "f8"), CPU)
        assert "lanes=" not in to_text(result.program)
