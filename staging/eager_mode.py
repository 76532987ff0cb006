"""Whether jitted functions run eagerly: a context variable, set by `disable_jit`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_disabled: ContextVar[bool] = ContextVar("parloom_jit_disabled", default=False)


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
