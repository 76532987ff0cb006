"""Locks that a forked child finds free: the threads that held them are not there."""

from __future__ import annotations

import os
import threading
import weakref


class Lock:
    """A reentrant lock, for `with`; in a forked child only the thread that forked may hold it."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def free(self) -> None:
        """In a forked child: nobody else holds it."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in list(_locks):
        lock.free()


os.register_at_fork(after_in_child=_after_fork)
