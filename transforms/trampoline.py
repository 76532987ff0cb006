"""Recursion as deep as a program is long: generators that yield the steps they wait for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Steps = Generator["Steps", Any, Any]


def run(steps: Steps) -> Any:
    """What the generator returns; each generator that it yields runs first, and its result is what
    the `yield` gives.

    >>> def depth(n: int) -> Steps:
    ...     return 0 if n == 0 else 1 + (yield depth(n - 1))
    >>> run(depth(100_000))
    100000
    """
    waiting: list[Steps] = [steps]
    value: Any = None
    while waiting:
        try:
            deeper = waiting[-1].send(value)
        except StopIteration as done:
            waiting.pop()
            value = done.value
        else:
            waiting.append(deeper)
            value = None
    return value
