"""The worker threads that run chunks.

One pool for the process, made on first use. The calling thread works, too; the others sleep between
launches. Kernels release the GIL, so threads run side by side. A launch from inside a chunk, or
while another Python thread has the pool, runs on its own thread alone.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

Task = Callable[[int, int], None]


@dataclass(slots=True)
class Job:
    """One launch: `task(chunk, worker)` for every chunk below `chunks`."""

    task: Task
    chunks: int
    next_chunk: itertools.count[int] = field(default_factory=itertools.count)
    error: BaseException | None = None

    def work(self, worker: int) -> None:
        """Takes chunks until there are none left, or a task raised."""
        while self.error is None:
            chunk = next(self.next_chunk)
            if chunk >= self.chunks:
                return
            try:
                self.task(chunk, worker)
            except BaseException as error:  # noqa: BLE001 - re-raised by the caller of `run`
                self.error = error


class Pool:
    """`size` workers, of which the caller is number 0."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._busy = threading.Lock()
        self._job: Job | None = None
        self._start = [threading.Semaphore(0) for _ in range(size - 1)]
        self._done = threading.Semaphore(0)
        for worker in range(1, size):
            name = f"parloom-{worker}"
            threading.Thread(target=self._serve, args=(worker,), name=name, daemon=True).start()

    def _serve(self, worker: int) -> None:
        while True:
            self._start[worker - 1].acquire()
            job = self._job
            if job is not None:
                job.work(worker)
            self._done.release()

    def run(self, task: Task, chunks: int) -> None:
        """Runs all chunks; returns when they are done, raises what a task raised.

        An interrupt (Ctrl-C) stops between chunks.
        """
        job = Job(task, chunks)
        if chunks <= 1 or self.size == 1 or not self._busy.acquire(blocking=False):
            job.work(0)
        else:
            try:
                self._share(job)
            finally:
                self._busy.release()
        if job.error is not None:
            raise job.error

    def _share(self, job: Job) -> None:
        helpers = min(self.size, job.chunks) - 1
        self._job = job
        for start in self._start[:helpers]:
            start.release()
        try:
            job.work(0)
        except BaseException as error:  # noqa: BLE001 - an interrupt between two chunks
            job.error = error
        finally:
            self._join(helpers, job)
            self._job = None

    def _join(self, helpers: int, job: Job) -> None:
        """Waits for the workers; an interrupt meanwhile stops them after their chunk."""
        while helpers:
            try:
                self._done.acquire()
                helpers -= 1
            except KeyboardInterrupt as error:
                job.error = error


_pool: Pool | None = None
_lock = threading.Lock()
_wanted: int | None = None


def set_num_threads(count: int) -> None:
    """Sets the number of threads for the launches that follow; at least 1."""
    global _wanted
    if count < 1:
        raise ValueError(f"the number of threads must be at least 1, not {count}")
    _wanted = count


def num_threads() -> int:
    """The number of threads: `set_num_threads`, else PARLOOM_NUM_THREADS, else all processors."""
    if _wanted is not None:
        return _wanted
    setting = os.environ.get("PARLOOM_NUM_THREADS", "")
    if setting:
        if not setting.isdigit() or int(setting) < 1:
            raise ValueError(f"PARLOOM_NUM_THREADS must be a positive integer, not {setting!r}")
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pool() -> Pool:
    """The process's pool, with the wanted number of threads."""
    global _pool
    wanted = num_threads()
    with _lock:
        if _pool is None or _pool.size != wanted:
            _pool = Pool(wanted)
        return _pool


def _after_fork() -> None:
    """A forked child has none of its parent's threads: its pool is made anew."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
