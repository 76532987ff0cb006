"""Reductions inside loops."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging.jit import jit


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_a_declared_float_reduction_inside_a_loop_combines_its_blocks(target: str) -> None:
    def f(x: Any) -> Any:
        def norm(row: Any) -> Any:
            return row.reduce(lambda p, q: np.hypot(p, q), identity=0.0, associative=True)

        return x.rows.map(norm)

    x = np.arange(1200.0).reshape(4, 300)
    np.testing.assert_allclose(jit(f).on(target)(x), np.sqrt((x * x).sum(axis=1)))
