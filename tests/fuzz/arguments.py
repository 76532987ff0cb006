"""Arguments of random functions: dtypes, shapes, layouts and special values, from a description.

spec = ArraySpec("x", "float64", ("n", 1), "reversed", "special")
spec.value({"n": 5}, seed=3)
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Sizes = Mapping[str, int]

FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, np.inf, -np.inf, np.nan, 5e-324, 1e-45, 2.0, -3.0)
LARGE = (2.0**53 + 2, -(2.0**63), 1e20, -1e15)
LAYOUTS = ("plain", "transposed", "reversed", "strided", "broadcast", "read-only")


DTYPES = ("float64",) * 8 + ("int64",) * 5 + ("float32",) * 3 + ("bool",) * 2 + (
    "int32", "int8", "uint8", "uint64", "int16", "uint32", "uint16", "complex128",
)  # fmt: skip
SHAPES: tuple[tuple[str | int, ...], ...] = (
    *((("n",),) * 6), *((("n", "m"),) * 5), ("m",), ("m",), ("k", "m"), ("m", "n"), ("n", 1),
    (1, "m"), ("n", "m", "k"), ("k", "n", "m"), ("k",), ("n", "n"), (), (1,), ("n", 1, "m"),
)  # fmt: skip
NUMBERS = ("int", "int", "float", "float", "bool", "float32", "int64", "uint8", "float64")


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """An array argument.

    dims : names of sizes, or sizes
    layout : one of LAYOUTS
    values : "whole" numbers, "plain" ones, "special" and "extreme" ones among them
    """

    name: str
    dtype: str
    dims: tuple[str | int, ...]
    layout: str = "plain"
    values: str = "plain"

    def value(self, sizes: Sizes, seed: int) -> np.ndarray:
        """The array for these sizes."""
        shape = tuple(d if isinstance(d, int) else sizes[d] for d in self.dims)
        rng = random.Random(f"{seed} {self.name}")
        count = int(np.prod(shape))
        flat = np.array([self._number(rng) for _ in range(count)])
        with np.errstate(all="ignore"):
            return laid_out(flat.astype(self.dtype).reshape(shape), self.layout)

    def _number(self, rng: random.Random) -> Any:
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            return rng.random() < 0.5
        if kind in "iu":
            info = np.iinfo(self.dtype)
            if self.values == "extreme" and rng.random() < 0.2:
                return np.array(rng.choice([info.min, info.max, info.max - 1]), self.dtype)
            return np.array(rng.randint(max(int(info.min), -9), 9), self.dtype)
        real = self._float(rng)
        return complex(real, self._float(rng)) if kind == "c" else real

    def _float(self, rng: random.Random) -> float:
        if self.values == "extreme" and rng.random() < 0.15:
            return rng.choice(LARGE)
        if self.values in ("special", "extreme") and rng.random() < 0.25:
            return rng.choice(FLOATS)
        return float(rng.randint(-9, 9)) if self.values == "whole" else rng.gauss(0, 3)


@dataclass(frozen=True, slots=True)
class NumberSpec:
    """A number: of Python, or of a NumPy dtype."""

    name: str
    kind: str  # "int", "float", "bool", or a dtype

    def value(self, sizes: Sizes, seed: int) -> Any:
        """The number."""
        rng = random.Random(f"{seed} {self.name}")
        if self.kind == "int":
            return rng.randint(-5, 5)
        if self.kind == "float":
            return rng.choice([0.5, -1.25, 2.0, 0.1, -3.0, 1.0])
        if self.kind == "bool":
            return rng.random() < 0.5
        dtype = np.dtype(self.kind)
        low = 0 if dtype.kind == "u" else -5
        return dtype.type(rng.randint(low, 5) if dtype.kind != "f" else rng.gauss(0, 2))


Spec = ArraySpec | NumberSpec


def random_specs(rng: random.Random) -> list[Spec]:
    """Two or three arrays, perhaps a number or two."""
    values = rng.choice(("whole", "plain", "plain", "special", "special", "extreme"))
    specs: list[Spec] = []
    for name in "xyz"[: rng.choice((1, 2, 2, 3))]:
        layout = rng.choice(LAYOUTS) if rng.random() < 0.4 else "plain"
        dims = rng.choice(SHAPES)
        if layout == "broadcast" and not dims:
            layout = "plain"
        specs.append(ArraySpec(name, rng.choice(DTYPES), dims, layout, values))
    for name in "st"[: rng.choice((0, 0, 1, 1, 2))]:
        specs.append(NumberSpec(name, rng.choice(NUMBERS)))
    return specs


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same values (but for "broadcast") in another layout."""
    if not array.ndim:
        return array
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "strided":
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if layout == "broadcast" and len(array):
        return np.broadcast_to(array[:1], array.shape)
    if layout == "read-only":
        array.setflags(write=False)
    return array


def written(value: Any) -> str:
    """Source that makes the value again, with its layout as far as parloom can see it."""
    array: Any = np.asarray(value)
    if issubclass(type(value), np.generic):
        return f"np.{array.dtype}({value!s})"
    if not issubclass(type(value), np.ndarray):
        return repr(value)
    if not array.size:
        return f"np.zeros({array.shape}, np.{array.dtype})"
    numbers = np.array2string(
        array, separator=", ", threshold=100_000, max_line_width=88, floatmode="unique"
    )
    numbers = numbers.replace("nan", "np.nan").replace("inf", "np.inf")
    found = f"np.array({numbers}, np.{array.dtype})"
    if array.flags.c_contiguous:
        return found
    if array.strides[0] < 0:
        return f"np.flip(np.flip({found}, 0).copy(), 0)"
    if array.flags.f_contiguous:
        return f"np.asfortranarray({found})"
    return f"np.repeat({found}, 2, axis=-1)[..., ::2]"
