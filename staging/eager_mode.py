"""Whether jitted functions run eagerly: by `disable_jit`, or as part of an eager call."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_disabled: ContextVar[bool] = ContextVar("parloom_jit_disabled", default=False)
_running: ContextVar[bool] = ContextVar("parloom_eager_call", default=False)


def jit_disabled() -> bool:
    """Whether a jitted function that is called now runs the user's own Python."""
    return _disabled.get()


@contextmanager
def disable_jit() -> Generator[None]:
    """While it is open, jitted functions run the user's own Python, breakpoints and all.

    >>> with disable_jit():
    ...     jit_disabled()
    True
    >>> jit_disabled()
    False
    """
    token = _disabled.set(True)
    try:
        yield
    finally:
        _disabled.reset(token)


def in_eager_call() -> bool:
    """Whether an eager call is in progress, so that a jitted function called now is part of it."""
    return _running.get()


@contextmanager
def eager_call() -> Generator[None]:
    """While it is open, an eager call is in progress; the jitted functions that it calls run as
    they are, on the arrays that they are given.
    """
    token = _running.set(True)
    try:
        with disable_jit():
            yield
    finally:
        _running.reset(token)
