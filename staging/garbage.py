"""Python's cyclic garbage collector, while a compilation makes many objects that stay."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """While it is open, the collector does not search all objects again and again for garbage.

    Compiling makes trees, not cycles: a quarter of its time went into searches that found nothing.
    """
    enabled = gc.isenabled()
    try:
        gc.disable()
        if enabled:
            _stopped_by.add(threading.get_ident())
        yield
    finally:
        if enabled:
            gc.enable()
            _stopped_by.discard(threading.get_ident())


_stopped_by: set[int] = set()


def _after_fork() -> None:
    """A forked child goes on collecting if the thread that stopped it is not there."""
    if _stopped_by and threading.get_ident() not in _stopped_by:
        gc.enable()
        _stopped_by.clear()


os.register_at_fork(after_in_child=_after_fork)
