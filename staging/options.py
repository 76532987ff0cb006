"""`pm.options`: the target and the options of all calls in a block of code."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from .dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What is chosen for a call, unless `on` chose for the function.

    target : a back end's name, None for the function's own
    """

    target: str | None
    choices: Mapping[str, object]


_current: ContextVar[Options | None] = ContextVar("parloom_options", default=None)
options_now = _current.get


@contextmanager
def options(target: str | None = None, **choices: object) -> Generator[None]:
    """While it is open, jitted functions that are called run on this target, with these options.

    They are those of `f.on`, and what `f.on` chose for a function comes first. Blocks inside of
    each other add up. Other threads are not concerned.

    >>> with options("python"), options(limit=0):
    ...     options_now()
    Options(target='python', choices={'limit': 0})
    """
    around = _current.get()
    outer = Options(None, {}) if around is None else around
    chosen = Options(outer.target if target is None else target, {**outer.choices, **choices})
    token = _current.set(chosen)
    try:
        yield
    finally:
        _current.reset(token)
