"""Arrays that are unpacked into names, where the program finds how long they are."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm

from .running import everywhere

POINTS = np.array([[3.0, 1.0], [-1.0, 2.0], [0.5, 4.0]])


def test_assignments() -> None:
    def f(points: Any, k: Any) -> Any:
        a, b, c = points
        [x, y] = points[k]
        x, y = y, x
        doubled, *_ = (2 * a, b, c)
        p, q = (v + 1 for v in points[0])
        return a - c, x / y, doubled, p * q

    everywhere(f, (POINTS, 1))


def test_loops_and_comprehensions() -> None:
    def f(points: Any, limit: Any) -> Any:
        found = -1.0, -1.0
        area = 0.0
        for a, b in points:
            area += a * b
        for a, b in points:
            if a < limit:
                found = a, b
                break
        for row in points:
            a, b = row
            area = area * b - a
        for a, b in [points[0], points[1]]:
            area += a / b
        return found, area, sum([a - b for a, b in points]), sum(a for a, b in points if b > 1)

    everywhere(f, (POINTS, 0.0), (POINTS[::-1], 1.0), (POINTS, -9.0))


def test_another_length_is_an_error_where_it_is_unpacked() -> None:
    def f(x: Any, unpacks: Any) -> Any:
        found = 0.0
        if unpacks:
            a, b = x
            found = a - b
        return found

    jitted: Any = pm.jit(f)
    assert jitted(POINTS[0], True) == 2.0
    assert jitted(np.ones(3), False) == 0.0
    for wrong in (np.ones(3), np.ones(0)):
        with pytest.raises(ValueError, match="the values to unpack are not 2"):
            jitted(wrong, True)
