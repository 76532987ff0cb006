"""Arrays that live in blocks of the store."""

from __future__ import annotations

from typing import Any

import numpy as np

from parloom.codegen.runtime import memory
from parloom.codegen.runtime.memory import allocate, rounded

LENGTH = memory.SMALL // 4
SIZE = rounded(8 * LENGTH)


def new(length: int = LENGTH) -> Any:
    """An array of doubles; from `memory.SMALL` on it has a block."""
    return allocate((length,), np.dtype(np.float64), "x")


def address(array: np.ndarray) -> int:
    """Where its elements begin."""
    return int(array.__array_interface__["data"][0])
