"""The worker threads that run chunks: native threads, one pool for the process.

The calling thread works, too; the others are made when a launch first wants them, and sleep between
launches (pool_text.py). A launch while another Python thread has the pool runs on its own thread
alone. So do all launches where there are no POSIX threads, and those before the first one that
wants threads: what runs a job alone (job_text.py) compiles in half the time.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

from ...staging.errors import InternalError
from .. import cache as disk
from .. import objects
from ..llvm_binding import llvm
from ..native import NativeFunction
from . import job_text, pool_text
from . import pool as records
from .job import Job

_LINE = 64  # bytes of a cache line
_TYPES = {
    "start": ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64),
    "stop": ctypes.CFUNCTYPE(None, ctypes.c_void_p),
    "run": ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p),
    "cancel": ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p),
}
# What a thread of the pool must not be asked to handle: all signals but those of its own faults.
_FOREIGN = signal.valid_signals() - {
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGABRT,
    signal.SIGTRAP,
}


class Pool:
    """The calling thread and the threads beside it.

    code : the functions of pool_text.py, or of job_text.py: then there are no other threads
    run, cancel : native code, called with the pool's address and that of a job
    """

    def __init__(self, code: dict[str, NativeFunction]) -> None:
        self._owners = code
        self._memory = ctypes.create_string_buffer(ctypes.sizeof(records.Pool) + _LINE)
        offset = -ctypes.addressof(self._memory) % _LINE
        self._record = records.Pool.from_buffer(self._memory, offset)
        self.address = ctypes.addressof(self._record)
        calls = {name: _TYPES[name](function.address) for name, function in code.items()}
        self.run: Callable[[int, int], int] = calls["run"]
        self.cancel: Callable[[int, int], None] = calls["cancel"]
        self._stop = calls.get("stop")
        self._start = calls.get("start")
        if self._start is not None:
            self._start(self.address, 0)

    @property
    def size(self) -> int:
        """How many workers there are, the caller among them."""
        return int(self._record.threads) + 1

    def grow(self, size: int) -> None:
        """Makes threads until there are `size` workers, or as many as the system allows."""
        if self._start is None or self._record.closing:
            return
        with _lock, _masked():
            while self.size < min(size, records.MOST):
                if self._start(self.address, self.size):
                    return

    def stop(self) -> None:
        """Ends the threads, unless a launch is using them; launches then run alone."""
        if self._stop is not None:
            self._stop(self.address)

    def lose(self) -> None:
        """Says that this is a child process, in which the threads do not exist."""
        self._record.forked = 1


@cache
def pool_code() -> dict[str, NativeFunction]:
    """The functions of the pool; without POSIX threads, those that do without."""
    try:
        return _load(pool_text.pool_text(), pool_text.FUNCTIONS)
    except objects.UnresolvedSymbol:
        return alone_code()


@cache
def alone_code() -> dict[str, NativeFunction]:
    """The functions that run a job on the calling thread."""
    return _load(job_text.job_text(), job_text.FUNCTIONS)


def _load(text: str, functions: tuple[str, ...]) -> dict[str, NativeFunction]:
    def build() -> bytes:
        objects.host()
        return objects.emit(llvm.parse_assembly(text), functions).code

    def load(code: bytes) -> dict[str, NativeFunction]:
        return objects.load(objects.ObjectCode(functions, code), dict.fromkeys(functions, ()))

    key = hashlib.sha256(text.encode()).hexdigest()
    return disk.fetch("pool", key, build, load, ("codegen",)).value


@contextmanager
def _masked() -> Generator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FOREIGN)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(job: Job, workers: int) -> bool:
    """Runs a job; whether a function of it recorded a fault.

    An interrupt (Ctrl-C) stops between chunks: native code comes back regularly, so that Python can
    run its signal handlers.
    """
    pool = the_pool(workers)
    run, where, what = pool.run, pool.address, ctypes.addressof(job)
    try:
        said = run(where, what)
        while said == job_text.AGAIN:
            said = run(where, what)
    except BaseException:
        pool.cancel(where, what)
        raise
    if said == job_text.FORKED:
        raise InternalError("the process was forked by a signal handler, while a loop ran")
    return said == job_text.FAULTED


@cache
def _alone() -> Pool:
    return Pool(alone_code())


_pool: Pool | None = None
_lock = threading.RLock()
_wanted: int | None = None


def the_pool(workers: int) -> Pool:
    """The process's pool, with threads for so many workers; for one worker, what runs jobs alone as
    long as nobody wanted more."""
    global _pool
    pool = _pool
    if pool is None:
        if workers == 1:
            return _alone()
        with _lock:
            if _pool is None:
                _pool = Pool(pool_code())
                atexit.register(_pool.stop)
            pool = _pool
    if pool.size < workers:
        pool.grow(workers)
    return pool


def set_num_threads(count: int) -> None:
    """Sets the number of threads for the launches that follow; at least 1."""
    global _wanted
    if count < 1:
        raise ValueError(f"the number of threads must be at least 1, not {count}")
    _wanted = count


def num_threads() -> int:
    """The number of threads: `set_num_threads`, else PARLOOM_NUM_THREADS, else all processors."""
    global _wanted
    if _wanted is None:
        _wanted = _default()
    return _wanted


def _default() -> int:
    setting = os.environ.get("PARLOOM_NUM_THREADS", "")
    if setting:
        if not setting.isdigit() or int(setting) < 1:
            raise ValueError(f"PARLOOM_NUM_THREADS must be a positive integer, not {setting!r}")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _after_fork() -> None:
    """A forked child has none of its parent's threads: its pool is made anew."""
    global _pool, _lock
    if _pool is not None:
        _pool.lose()
    _pool, _lock = None, threading.RLock()


os.register_at_fork(after_in_child=_after_fork)
