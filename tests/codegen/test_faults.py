"""What a kernel's fault says: the interpreter's message, from either printer."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import StagedIndexError


@pm.jit
def gather(x: Any, at: Any) -> Any:
    return pm.range(at.shape[0]).map(lambda i: x[2, at[i]])


def message(options: dict[str, Any], *args: Any) -> str:
    with pytest.raises(StagedIndexError) as caught:
        gather.on(**options)(*args)
    return caught.value.render()


@pytest.mark.parametrize("options", [{"target": "python"}, {"printer": "llvm"}])
@pytest.mark.parametrize("place", [70, -8])
def test_an_index_outside_inside_a_parallel_loop_names_axis_index_and_size(
    options: dict[str, Any], place: int
) -> None:
    x, at = np.ones((4, 7)), np.array([0, 3, place, 99], dtype=np.int32)
    counted = place if place >= 0 else place + 7
    found = message(options, x, at)
    assert found.startswith(f"index {counted} is out of bounds for axis 1 with size 7\n")
    assert found == message({"target": "reference"}, x, at)
