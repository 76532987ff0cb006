"""Where launches get the memory of arrays from."""

from __future__ import annotations

import numpy as np


def allocate(shape: tuple[int, ...], dtype: np.dtype[np.generic], name: str) -> np.ndarray:
    """A new array with undefined contents.

    Raises MemoryError, with `name` for the user, also where NumPy calls the shape itself too large.
    """
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as error:
        raise MemoryError(f"no memory for {name}: {dtype} of shape {shape}") from error
