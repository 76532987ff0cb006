"""What a workload file declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = tuple[NDArray[Any], ...]
Function: TypeAlias = Callable[..., Any]

# The constant c of the bounded tier: |error| <= c log2(n) eps sum|x|.
BOUND = 8.0


@dataclass(frozen=True, slots=True)
class Implementation:
    """One way to compute a workload.

    `make` returns the function that is timed. It does its own imports, so that a process loads
    only what its implementation needs; `imports` names them, to be loaded before the clock of the
    first call starts.
    """

    name: str
    make: Callable[[], Function]
    note: str
    imports: tuple[str, ...] = ("numpy",)


@dataclass(frozen=True, slots=True)
class Cost:
    """What any implementation must do at least.

    bytes : of arguments read and results written, once each
    flops : operations on elements of the dtype; a multiply-add is two
    """

    bytes: int
    flops: int
    dtype: str = "float64"


@dataclass(frozen=True, slots=True)
class Workload:
    """A computation, its seeded data, and its implementations; the first is the reference.

    `sizes` has the entries "full" and "small"; `data(**size)` makes the arguments of every
    implementation. `magnitude` gives, for each result, the sum of absolute values that the
    bounded tier refers to, divided by whatever the result is divided by. `cost(**size)` is what the
    roofline is drawn by.
    """

    name: str
    title: str
    sizes: Mapping[str, Mapping[str, int]]
    data: Callable[..., Arrays]
    magnitude: Callable[..., Arrays]
    cost: Callable[..., Cost]
    implementations: tuple[Implementation, ...]

    def implementation(self, name: str) -> Implementation:
        """The implementation of that name."""
        return next(i for i in self.implementations if i.name == name)

    def shape(self, size: str) -> str:
        """The size in words: n = 1,000,000, d = 20."""
        return ", ".join(f"{name} = {extent:,}" for name, extent in self.sizes[size].items())

    def worst(self, found: Arrays, expected: Arrays, args: Arrays) -> float:
        """The largest error of any element, as a part of the bound it must keep (so at most 1)."""
        n = max(len(args[0]), 2)
        worst = 0.0
        for f, e, m in zip(found, expected, self.magnitude(*args), strict=True):
            if f.shape != e.shape:
                return float("inf")
            kind = f.dtype if f.dtype.kind == "f" else np.float64
            bound = BOUND * np.log2(n) * np.finfo(kind).eps * m
            error = np.where(f == e, 0.0, np.abs(f - e) / np.maximum(bound, 1e-300))
            worst = max(worst, float(np.where(np.isnan(error), np.inf, error).max(initial=0.0)))
        return worst


def results(value: Any) -> Arrays:
    """The results of one call as arrays."""
    parts = value if isinstance(value, tuple) else (value,)
    return tuple(np.asarray(part) for part in parts)
