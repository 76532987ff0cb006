"""What another thread was doing when the process forked does not stop the child."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.llvm_binding import llvm
from parloom.staging.forking import Lock
from parloom.staging.garbage import uncollected

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


def child_says(check: Callable[[], bool], meanwhile: AbstractContextManager[object]) -> bool:
    """What the check finds in a child that is forked while a thread is inside of `meanwhile`; the
    thread leaves it a little later, or when the check is done.
    """
    entered, forked = threading.Event(), threading.Event()

    def stays() -> None:
        with meanwhile:
            entered.set()
            forked.wait(0.1)

    thread = threading.Thread(target=stays)
    thread.start()
    entered.wait()
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = in_time(check)
        finally:
            os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    forked.set()
    thread.join()
    return os.waitstatus_to_exitcode(status) == 0


def in_time(check: Callable[[], bool]) -> bool:
    found: list[bool] = []
    thread = threading.Thread(target=lambda: found.append(check()), daemon=True)
    thread.start()
    thread.join(20)
    return found == [True]


def works() -> bool:
    def f(x: Any) -> Any:
        return x * 2 + os.getpid() * 0

    jitted: Any = pm.jit(f)
    return bool(jitted(np.ones(3)).tolist() == [2.0] * 3)


def test_locks_are_free() -> None:
    lock = Lock()

    def takes_it() -> bool:
        with lock:
            return works()

    assert child_says(takes_it, lock)


def test_llvm_is_left_before_the_fork() -> None:
    assert works()
    lock: Any = llvm.ffi.lib._lock
    assert child_says(works, lock)


def test_the_collector_works() -> None:
    assert child_says(gc.isenabled, uncollected())
    assert gc.isenabled()
