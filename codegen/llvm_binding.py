"""LLVM through llvmlite, which is imported when it is used for the first time.

A fork waits until no other thread is inside LLVM: the child, where that thread is not, would wait
for llvmlite's lock for ever.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import llvmlite.binding as llvm
else:

    class _Binding:
        """Has the names of `llvmlite.binding`."""

        def __getattr__(self, name):
            import llvmlite.binding

            return getattr(llvmlite.binding, name)

    llvm = _Binding()


def _lock_of_llvmlite() -> Any:
    """The lock that llvmlite takes around each call, None before it is imported."""
    ffi = sys.modules.get("llvmlite.binding.ffi")
    return getattr(getattr(ffi, "lib", None), "_lock", None)


def _before_fork() -> None:
    if (lock := _lock_of_llvmlite()) is not None:
        lock.__enter__()
        _held.append(lock)


def _after_fork() -> None:
    if _held:
        _held.pop().__exit__(None, None, None)


_held: list[Any] = []  # by the thread that forks, while it does
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

__all__ = ["llvm"]
