"""A small program for each form that lowering knows (forms.txt), and exact arguments for it.

    for name, text in FORMS.items():
        program = structure.program(text)
        arguments = whole_numbers(program, {"n": 5})

With whole numbers no sum rounds, so every order and every printing gives the interpreter's bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from parloom.staging.nodes import Contiguous, Program
from parloom.staging.types import Scalar


def read(path: Path) -> dict[str, str]:
    """Programs by name: each stands under a line `# name`."""
    parts = re.split(r"^# (.*)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


FORMS = read(Path(__file__).with_name("forms.txt"))


def whole_numbers(
    program: Program, sizes: Mapping[str, int], seed: int = 0, most: int = 4
) -> list[Any]:
    """Arguments with whole numbers from -3 to 3; arrays named `k` hold locations below `m`.

    Sizes not named are `most`. Arrays that need not be contiguous have negative strides.
    """
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for param in program.params:
        if isinstance(param.type, Scalar):
            found.append(param.type.dtype.type(rng.integers(-3, 4)))
            continue
        shape = [d if isinstance(d, int) else sizes.get(str(d), most) for d in param.type.shape]
        low, high = (0, sizes.get("m", most)) if param.name == "k" else (-3, 4)
        array = rng.integers(low, max(high, 1), shape).astype(param.type.element.dtype)
        found.append(array if Contiguous() in param.facts else array[::-1].copy()[::-1])
    return found
