"""How often a function was called, staged and compiled, for how long, and why again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from .arguments import Leaf, leaves_of
from .assumptions import Site
from .dataclass import dataclass
from .layouts import is_array
from .state import describe

_KEPT = 100


@dataclass(slots=True)
class Stats:
    """Counts and seconds since the function was decorated.

    reasons : why it was compiled again, the last 100 times
    failures : how often what the user said may be assumed did not hold, by place
    """

    calls: int = 0
    traces: int = 0
    compiles: int = 0
    trace_seconds: float = 0.0
    compile_seconds: float = 0.0
    reasons: list[str] = field(default_factory=list[str])
    failures: Counter[str] = field(default_factory=Counter[str])

    def made(self, seconds: float, reason: str) -> None:
        """Counts a compilation; the first one has no reason."""
        self.compiles += 1
        self.compile_seconds += seconds
        if reason:
            self.reasons = [*self.reasons, reason][-_KEPT:]

    def failed(self, site: Site) -> None:
        """Counts a place whose assumption did not hold."""
        self.failures[str(site)] += 1


Signature = Mapping[str, str]


def signature(values: Sequence[Any], names: Sequence[str], static: frozenset[int]) -> Signature:
    """What a version is made for, in words, by the leaves of the arguments.

    >>> import numpy as np
    >>> signature([2.0, np.ones((3, 1))], ["x", "y"], frozenset())
    {'x': 'a Python number (f64)', 'y': 'an f64 array of rank 2, axis 1 of size 1'}
    """
    found: dict[str, str] = {}
    for k, (name, value) in enumerate(zip(names, values, strict=True)):
        leaves = [Leaf(name, value, None)] if k in static else leaves_of(value, name)[0]
        found |= {leaf.name: _description(leaf) for leaf in leaves}
    return found


def _description(leaf: Leaf) -> str:
    if leaf.type is None:
        return f"{leaf.value!r:.60}"
    array: object = leaf.value
    if not is_array(array):
        python = leaf.truth or getattr(leaf.type, "weak", False)
        return describe(leaf.type).replace("a number", "a Python number" if python else "a number")
    ones = [f", axis {k} of size 1" for k, size in enumerate(array.shape) if size == 1]
    gaps = "" if array.flags.c_contiguous else ", not contiguous"
    return describe(leaf.type) + "".join(ones) + gaps


def differences(new: Signature, known: Sequence[Signature]) -> str:
    """What the nearest of the known signatures has otherwise; "" if there are none.

    >>> differences({"x": "1", "n": "2"}, [{"x": "3", "n": "4"}, {"x": "1", "n": "4"}])
    'n is 2, was 4'
    """
    found: list[list[str]] = [
        [
            f"{name} is {new.get(name, 'absent')}, was {old.get(name, 'absent')}"
            for name in {**old, **new}
            if new.get(name) != old.get(name)
        ]
        for old in known
    ]
    fewest = min(map(len, found), default=0)
    return next(("; ".join(parts) for parts in found if len(parts) == fewest), "")
