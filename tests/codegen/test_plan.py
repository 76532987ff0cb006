"""Plans: the memory of chunks and workers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from parloom.codegen.runtime.plan import spread
from parloom.transforms.kernel_ir import Buffer, Space


@pytest.mark.parametrize("name", ["float64", "int8", "bool", "complex128", "float32"])
@pytest.mark.parametrize("shape", [(1,), (3,), (0,), (8,), (5, 7), (2, 0, 3), (64,)])
def test_arrays_of_neighbours_share_no_cache_line(name: str, shape: tuple[int, ...]) -> None:
    buffer = Buffer("state", np.dtype(name), shape, Space.STATE)
    found = spread(5, buffer, shape)
    assert found.shape == (5, *shape)
    assert found.dtype == np.dtype(name)
    assert all(part.flags.c_contiguous for part in found)
    places = [part.__array_interface__["data"][0] for part in found]
    lines = [
        set(range(at // 64, (at + part.nbytes + 63) // 64))
        for at, part in zip(places, found, strict=True)
    ]
    if found.size:
        assert not any(a & b for a, b in pairwise(lines))


def test_what_is_alone_has_no_gaps() -> None:
    found = spread(1, Buffer("state", np.dtype("f8"), (3,), Space.STATE), (3,))
    assert found.shape == (1, 3)
    assert found.flags.c_contiguous
