"""Random user functions, with descriptions of their arguments, from a seed.

>>> case = random_case(7)
>>> case == random_case(7)
True
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.arguments import Spec
from tests.fuzz.generate import Writer
from tests.fuzz.noise import quiet
from tests.fuzz.statements import write_function
from tests.fuzz.trees import Function


@dataclass(frozen=True, slots=True)
class Case:
    """A function with its arguments; `patterns`: whether it uses more than NumPy's vocabulary."""

    seed: int
    function: Function
    specs: tuple[Spec, ...]

    @property
    def patterns(self) -> bool:
        """Whether plain NumPy arrays are not enough to run it."""
        text = self.function.source()
        return any(word in text for word in ("lambda", "pm.", ".rows", ".cols", "for ", ".filter"))


def random_case(seed: int) -> Case:
    """A function of a seed; the same one each time."""
    for attempt in range(100):
        rng = random.Random(f"{seed} {attempt}")
        writer = Writer(rng)
        with quiet():
            function = write_function(writer)
        if function is not None:
            return Case(seed, function, tuple(writer.specs))
    raise AssertionError(f"no function for seed {seed}")
