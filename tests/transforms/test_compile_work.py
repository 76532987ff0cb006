"""What compiling costs: counted in calls, so that the count is the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import parloom as pm
from parloom.staging.passes import run
from parloom.transforms.lowering.program import lower_program
from parloom.transforms.pipelines import CPU


def straight_line(count: int, folder: Path) -> Any:
    """A function of so many different operations, one a line."""
    operations = ["np.sqrt(x)", "np.negative(x)", "x * {0}", "x + {0}", "np.floor(x)"]
    lines = [operations[k % 5].format(1 + k / 7) for k in range(count)]
    text = "".join(f"    x = {line}\n" for line in lines)
    file = folder / f"line_{count}.py"
    file.write_text(f"def f(x):\n{text}    return x\n")
    names: dict[str, Any] = {"np": np}
    exec(compile(file.read_text(), str(file), "exec"), names)
    return pm.jit(names["f"])


def calls(work: Callable[[], object]) -> int:
    """How many functions the work calls, those in C among them."""
    found = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def test_work_grows_with_the_program_and_not_faster(tmp_path: Path) -> None:
    def compiled(count: int) -> Callable[[], object]:
        f = straight_line(count, tmp_path)
        return lambda: lower_program(run(f.trace(np.ones(3)), CPU).program)

    compiled(10)()  # what is made once for the process
    small, large = calls(compiled(60)), calls(compiled(240))
    assert small > 1_000
    assert large < 4.4 * small, large / small
