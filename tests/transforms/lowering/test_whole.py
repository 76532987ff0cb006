"""Generators that combine by whole arrays, in one loop with one that combines in a loop."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging.jit import jit


def several(x: Any, y: Any) -> Any:
    return (
        x.rows.reduce(lambda p, q: p - q),
        y.sum(),
        x.rows.reduce(lambda p, q: np.maximum(p, q)),
        x.sum(axis=0),
    )


@pytest.mark.parametrize("target", ["cpu", "python"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 1), (1, 3), (5, 3)])
def test_whole_arrays_and_loops_in_one_function(target: str, shape: tuple[int, int]) -> None:
    x = np.arange(float(shape[0] * shape[1])).reshape(shape)
    y = x[:, 0] + 0.5
    found = jit(several).on(target)(x, y)
    expected = (x[0] - x[1:].sum(axis=0), y.sum(), x.max(axis=0), x.sum(axis=0))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
