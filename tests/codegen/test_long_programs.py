"""Programs as long as a person, or a program, may write them: no part recurses along them."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm

STEPS = ("np.sqrt(x)", "np.floor(x)", "np.abs(x)", "x * {c}", "x + {c}", "np.square(x)", "x - {c}")


def straight_line(length: int, path: Path) -> Any:
    """A function of `length` distinct operations, one after the other."""
    steps = [STEPS[k % len(STEPS)].format(c=1 + k / 977) for k in range(length)]
    lines = ["import numpy as np", "def f(x):", *(f"    x = {s}" for s in steps), "    return x"]
    path.write_text("\n".join(lines))
    linecache.checkcache(str(path))
    variables: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), variables)
    return variables["f"]


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_a_straight_line_of_a_thousand_operations(target: str, tmp_path: Path) -> None:
    f = straight_line(1000, tmp_path / "line.py")
    x = np.linspace(0.0, 1.0, 11)
    with np.errstate(all="ignore"):
        wanted = f(x)
    jitted: Any = pm.jit(f, target=target)
    np.testing.assert_array_equal(jitted(x), wanted)


def test_one_lambda_of_a_thousand_operations() -> None:
    def element(v: Any) -> Any:
        for k in range(400):
            v = abs(v - 1.0 - k / 977) + 0.5
        return v

    def f(x: Any) -> Any:
        return x.map(element)

    x = np.linspace(0.0, 1.0, 5)
    jitted: Any = pm.jit(f)
    np.testing.assert_array_equal(jitted(x), element(x))
