"""Agreement of results in the two tiers of the semantics: exact, and bounded by an error analysis.

    assert_agree(actual, expected)                             exact: the same bits
    assert_agree(least, expected, Exact(zero_sign=False))      min, max: a zero's sign is free
    assert_agree(total, expected, bounded(x, axis=0))          float sums, means, products
    assert_agree(powers, expected, Ulps(4))                    transcendentals
    assert_agree(any_result, expected, Spread(others))         runs that were rounded otherwise

dtype and shape are equal in every tier; a NaN equals a NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Exact:
    """Bit for bit; with `zero_sign=False` 0.0 and -0.0 are one."""

    zero_sign: bool = True


@dataclass(frozen=True, eq=False)
class Bounded:
    """|error| <= factor * log2(count) * eps * absolutes.

    absolutes : the sum of the absolute values that went into each result (broadcasts to it)
    count : how many there were
    """

    absolutes: Any
    count: int
    factor: float = 4.0


@dataclass(frozen=True)
class Ulps:
    """At most so many units in the last place of the expected value apart."""

    count: int = 4


@dataclass(frozen=True, eq=False)
class Spread:
    """At most some times as far from the expected value as other runs are, and a few units more.

    Any value will do where another run is no finite number and the expected value is one, or the
    other way around, and where integers differ.
    """

    others: tuple[np.ndarray, ...]
    factor: float = 32.0


Tier = Exact | Bounded | Ulps | Spread
EXACT = Exact()


def bounded(x: Any, axis: int | None = None, factor: float = 4.0) -> Bounded:
    """The tier of a float sum of `x` over `axis`."""
    array = np.asarray(x)
    count = array.size if axis is None else array.shape[axis]
    return Bounded(np.abs(array).sum(axis=axis), count, factor)


def assert_agree(actual: Any, expected: Any, tier: Tier = EXACT) -> None:
    """Raises AssertionError unless `actual` is `expected` within the tier.

    Goes into tuples, lists and dicts.
    """
    items: Any = expected
    if isinstance(expected, Mapping):
        assert list(actual) == list(items)
        for name in items:
            assert_agree(actual[name], items[name], tier)
    elif isinstance(expected, Sequence) and not isinstance(expected, str):
        assert len(actual) == len(items), f"{len(actual)} results, expected {len(items)}"
        for a, e in zip(actual, items, strict=True):
            assert_agree(a, e, tier)
    else:
        _assert_array(np.asarray(actual), np.asarray(expected), tier)


def _assert_array(actual: np.ndarray, expected: np.ndarray, tier: Tier) -> None:
    assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    with np.errstate(all="ignore"):
        wrong = ~_agrees(actual, expected, tier)
    if not wrong.any():
        return
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    raise AssertionError(
        f"{int(wrong.sum())} of {wrong.size} differ ({tier}); first at {where}: "
        f"{actual[where]!r}, expected {expected[where]!r}"
    )


def _agrees(actual: np.ndarray, expected: np.ndarray, tier: Tier) -> np.ndarray:
    """Element by element, whether the two agree."""
    if expected.dtype.kind not in "fc":
        return np.asarray((actual == expected) | _free(expected, tier))
    if expected.dtype.kind == "c":
        real = _agrees(np.real(actual), np.real(expected), _part(tier, np.real))
        imaginary = _agrees(np.imag(actual), np.imag(expected), _part(tier, np.imag))
        return np.asarray(real & imaginary)
    both_nan: np.ndarray = np.isnan(actual) & np.isnan(expected)
    same: np.ndarray = (actual == expected) & _same_zero(actual, expected, tier)
    finite: np.ndarray = np.isfinite(actual) & np.isfinite(expected)
    close: np.ndarray = np.abs(actual - expected) <= _bound(expected, tier)
    return np.asarray(both_nan | same | (finite & close) | _free(expected, tier))


def _part(tier: Tier, part: Callable[[np.ndarray], np.ndarray]) -> Tier:
    """The tier of the real or of the imaginary parts."""
    if isinstance(tier, Spread):
        return Spread(tuple(map(part, tier.others)), tier.factor)
    return tier


def _free(expected: np.ndarray, tier: Tier) -> np.ndarray:
    """Where any value will do."""
    found = np.zeros(expected.shape, bool)
    for other in tier.others if isinstance(tier, Spread) else ():
        if expected.dtype.kind == "f":
            found |= np.isfinite(other) != np.isfinite(expected)
            found |= np.isinf(other) & (other != expected)
        else:
            found |= other != expected
    return found


def _same_zero(actual: np.ndarray, expected: np.ndarray, tier: Tier) -> np.ndarray:
    free = not (isinstance(tier, Exact) and tier.zero_sign)
    return np.asarray((np.signbit(actual) == np.signbit(expected)) | free)


def _bound(expected: np.ndarray, tier: Tier) -> np.ndarray:
    """How far apart two unequal finite values may be; negative where they must be equal."""
    if isinstance(tier, Bounded):
        eps = np.finfo(expected.dtype).eps
        scale = tier.factor * np.log2(max(tier.count, 2)) * eps
        return np.asarray(scale * np.asarray(tier.absolutes))
    if isinstance(tier, Spread):
        away = [np.abs(other - expected) for other in tier.others]
        least = 8 * np.abs(np.spacing(expected)) + 8 * np.finfo(expected.dtype).tiny
        return np.asarray(tier.factor * np.max(away, axis=0) + least)
    if isinstance(tier, Ulps):
        return np.asarray(tier.count * np.abs(np.spacing(expected)))
    return np.asarray(-1.0)
