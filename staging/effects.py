"""Effects of a call that may have to be done again: they wait until its outcome is known.

A compiled version that rests on assumptions (assumptions.py) may find, half way, that one does not
hold. Then its results are dropped, and so is what it was going to print; the version that takes its
place does it once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from .dataclass import dataclass

Waiting = list[tuple[Callable[..., object], tuple[object, ...]]]

_waiting: ContextVar[Waiting | None] = ContextVar("parloom_effects", default=None)


def perform(function: Callable[..., object], *values: object) -> None:
    """Calls a user's function that the program calls, now or when `tentative` says so; the values
    are its own.
    """
    waiting = _waiting.get()
    if waiting is None:
        function(*values)
    else:
        waiting.append((function, values))


@dataclass(frozen=True, slots=True, eq=False)
class PythonFunction:
    """A user's function that runs unstaged; compared by identity."""

    function: Callable[..., object]

    def __call__(self, *values: object) -> None:
        """Calls it, at once or when it is sure that the program's run counts."""
        perform(self.function, *values)

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", "function")


@contextmanager
def tentative() -> Generator[None]:
    """The calls that are made while it is open wait for its end; an exception drops them.

    >>> with tentative():
    ...     perform(print, "first")
    ...     print("second")
    second
    first
    """
    waiting: Waiting = []
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
    for function, values in waiting:
        perform(function, *values)
