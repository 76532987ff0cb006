"""`pm.scatter`, eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np

from .eager import Array, asarray
from .generators import Conflict
from .scatter_semantics import same_place
from .scatters import conflict_of


def scatter(x: object, indices: Any, values: object, conflict: str) -> Array:
    """A copy of x in which `x[indices]` are the values."""
    kind = conflict_of(conflict)
    result = asarray(x).copy()
    if kind is Conflict.LAST:
        result[indices] = values
        return result
    numbers: np.ndarray = np.arange(result.size)
    places: np.ndarray = np.asarray(numbers.reshape(result.shape)[indices])
    found = np.broadcast_to(np.asarray(values), places.shape).ravel()
    flat: list[int] = places.ravel().tolist()
    first = sorted({place: k for k, place in reversed(list(enumerate(flat)))}.values())
    if kind is Conflict.UNIQUE and len(first) < len(flat):
        later = min(set(range(len(flat))) - set(first))
        raise same_place(flat.index(flat[later]), later, flat[later])
    result.flat[[flat[k] for k in first]] = found[first]
    return result
