"""Random arguments for a program's parameters."""

from __future__ import annotations

import random

import numpy as np

from parloom.staging.nodes import Contiguous, Program
from parloom.staging.types import Scalar

SPECIAL = (0.0, -0.0, 1.0, -1.5, 0.1, np.inf, -np.inf, np.nan, 1e300, 5e-324)


def random_arguments(
    program: Program, seed: int, *, least: int = 1, most: int = 6
) -> list[np.generic | np.ndarray]:
    """Arguments for a program's parameters, each size from `least` to `most`, with special values.

    An array without the fact Contiguous may be transposed or have negative strides.
    """
    rng = random.Random(seed)
    sizes: dict[int | object, int] = {size: rng.randint(least, most) for size in program.sizes}
    arguments: list[np.generic | np.ndarray] = []
    for param in program.params:
        if isinstance(param.type, Scalar):
            arguments.append(random_values(rng, param.type, 1)[0])
            continue
        shape = [d if isinstance(d, int) else sizes[d] for d in param.type.shape]
        flat = random_values(rng, param.type.element, int(np.prod(shape)))
        arguments.append(_laid_out(rng, flat.reshape(shape), Contiguous() in param.facts))
    return arguments


def random_values(rng: random.Random, type_: Scalar, count: int) -> np.ndarray:
    kind = type_.dtype.kind
    if kind == "b":
        return np.array([rng.random() < 0.5 for _ in range(count)], bool)
    if kind in "iu":
        info = np.iinfo(type_.dtype.name)
        extreme = (info.min, info.max, 0, 1, info.max - 1)
        least = max(info.min, -9)
        found = [
            rng.choice(extreme) if rng.random() < 0.2 else rng.randint(least, 9)
            for _ in range(count)
        ]
        return np.array(found, type_.dtype)
    floats = [rng.choice(SPECIAL) if rng.random() < 0.2 else rng.gauss(0, 3) for _ in range(count)]
    with np.errstate(over="ignore"):
        return np.array(floats).astype(type_.dtype)


def _laid_out(rng: random.Random, array: np.ndarray, contiguous: bool) -> np.ndarray:
    how = 0 if contiguous else rng.randrange(3)
    if how == 1:
        return np.ascontiguousarray(array.T).T
    if how == 2:
        return np.ascontiguousarray(array[::-1])[::-1]
    return array
