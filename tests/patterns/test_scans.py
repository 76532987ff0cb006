"""Scans against NumPy and eager mode, on every target, whole and in chunks of two elements."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import StagingTypeError
from parloom.transforms import cpu_levels

Function = Callable[[Any], Any]
SIZES = (0, 1, 2, 7)
TARGETS = ("reference", "python", "cpu")


@pytest.fixture(autouse=True)
def _chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are cut where there is anything to cut."""
    monkeypatch.setattr(cpu_levels, "CHUNK", 2)


def jit(f: Function) -> Any:
    return pm.jit(f)


def same(f: Function, expected: Any, x: Any) -> None:
    """The staged f gives the expected dtypes, shapes and values, floats up to rounding."""
    for target in TARGETS:
        found: Any = jit(f).on(target)(x)
        several = isinstance(found, tuple)
        pairs: Any = zip(found, expected, strict=True) if several else [(found, expected)]
        for a, b in pairs:
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6, err_msg=target)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i1", "u2", "?"])
@pytest.mark.parametrize(
    "f", [np.cumsum, np.cumprod, np.maximum.accumulate, np.logical_or.accumulate]
)
def test_dtypes_widen_as_in_numpy(f: Function, dtype: str) -> None:
    for n in SIZES:
        x = np.random.default_rng(n).integers(0, 5, n).astype(dtype)
        same(lambda x: f(x), f(x), x)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_any_axis(axis: int | None) -> None:
    x = np.random.default_rng(1).normal(size=(3, 5, 2))
    same(lambda x: np.cumsum(x, axis), np.cumsum(x, axis), x)
    same(lambda x: x.cumprod(axis), x.cumprod(axis), x)


def test_nan() -> None:
    x = np.array([1.0, np.nan, 3.0, 2.0, np.nan])
    same(lambda x: np.maximum.accumulate(x), np.maximum.accumulate(x), x)
    same(lambda x: np.nancumsum(x), np.nancumsum(x), x)
    same(lambda x: np.nancumprod(x), np.nancumprod(x), x)


def test_functions_that_do_not_associate_run_in_order() -> None:
    x = np.random.default_rng(2).normal(size=9)
    same(lambda x: np.subtract.accumulate(x), np.subtract.accumulate(x), x)
    jitted = jit(lambda x: x.scan(lambda a, b: a / 2 + b))
    (order,) = [d for d in jitted.explain(x).decisions if d.id.startswith("cpu_levels.order")]
    assert order.reason == "the reducer scan is not known to be associative: one chunk"


def test_the_first_result_of_what_is_included() -> None:
    x = np.arange(1.0, 6.0)
    same(
        lambda x: np.cumulative_sum(x, include_initial=True),
        np.cumulative_sum(x, include_initial=True),
        x,
    )


def test_less_is_no_accumulation_of_numbers() -> None:
    with pytest.raises(StagingTypeError, match=r"np\.less\.accumulate of f64"):
        jit(lambda x: np.less.accumulate(x))(np.ones(3))


# xs.scan(f)

FUNCTIONS: list[Function] = [
    lambda x: x.scan(lambda a, b: a + b),
    lambda x: x.scan(lambda a, b: a + b, 10.5),
    lambda x: x.scan(lambda a, b: a * 0.5 + b, 1, exclusive=True),
    lambda x: x.zip(x * 2).scan(lambda a, b: (a[0] + b[0], np.maximum(a[1], b[1]))),
    lambda x: x.zip(x).scan(lambda a, b: (a[0] * b[1] + b[0], a[1] + b[1]), (1.0, 2.0)),
    lambda x: x.filter(lambda v: v > 0).scan(lambda a, b: a + b),
]
OF_ROWS: list[Function] = [
    lambda m: m.rows.scan(lambda a, b: np.maximum(a, b)),
    lambda m: m.rows.scan(lambda a, b: a + b, np.ones(4)),
    lambda m: m.rows.scan(lambda a, b: a + b, np.ones(4), exclusive=True),
    lambda m: m.rows.map(lambda r: r.scan(lambda a, b: a - b)),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_functions_of_ones_own(f: Function) -> None:
    jitted = jit(f)
    for n in SIZES[1:]:
        x = np.random.default_rng(n).normal(size=n) + 0.5
        same(f, jitted.eager(x), x)


@pytest.mark.parametrize("f", OF_ROWS)
def test_rows(f: Function) -> None:
    jitted = jit(f)
    for n in SIZES[1:]:
        m = np.random.default_rng(n).normal(size=(n, 4))
        same(f, jitted.eager(m), m)


def test_an_exclusive_scan_begins_with_the_identity() -> None:
    k = np.array([3, 1, 4, 1, 5])
    same(lambda k: k.scan(lambda a, b: a + b, exclusive=True), np.cumsum(k) - k, k)
    with pytest.raises(StagingTypeError, match="whose identity is not known"):
        jit(lambda k: k.scan(lambda a, b: a - b, exclusive=True))(k)


def test_a_scan_has_one_axis() -> None:
    with pytest.raises(StagingTypeError, match="a scan over several axes"):
        jit(lambda m: m.scan(lambda a, b: a + b))(np.ones((2, 2)))


def test_sums_of_what_is_not_negative_do_not_fall() -> None:
    x = np.random.default_rng(3).random(1001)
    found = jit(lambda x: np.cumsum(x))(x)
    assert np.all(np.diff(found) >= 0)


def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from parloom.codegen.runtime import threads

    x = np.random.default_rng(4).normal(size=500)
    jitted = jit(lambda x: np.cumsum(x * x))
    results: list[np.ndarray] = []
    for count in (1, 2, 7):
        monkeypatch.setattr(threads, "_wanted", count)
        results.append(jitted(x))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_a_fault_in_a_scan_is_raised() -> None:
    k = np.array([0, 1, 2, 3, 99, 5, 6, 7, 8])
    with pytest.raises(IndexError, match="index 99 is out of bounds"):
        jit(lambda k: np.cumsum(k[k]))(k)
