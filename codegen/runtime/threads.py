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
    """One launch: `task(chunk, worker)` for every chunk below `chunks`.

    changed : the pool's, for the number of helpers
    helpers : how many workers beside the caller are at it now
    """

    task: Task
    chunks: int
    changed: threading.Condition
    next_chunk: itertools.count[int] = field(default_factory=itertools.count)
    error: BaseException | None = None
    helpers: int = 0

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

    def help(self, worker: int) -> None:
        """Works beside the caller; one who comes too late finds no chunk."""
        with self.changed:
            self.helpers += 1
        self.work(worker)
        with self.changed:
            self.helpers -= 1
            self.changed.notify()

    def wait(self) -> None:
        """Returns when no helper is at it any more, after the caller's own work.

        An interrupt meanwhile stops the helpers after their chunk.
        """
        while self.helpers:
            try:
                with self.changed:
                    while self.helpers:
                        self.changed.wait()
            except KeyboardInterrupt as error:
                self.error = error

    def close(self) -> None:
        """Lets go of what the task holds: a helper may keep the job until the next one."""
        self.task = _no_task


def _no_task(chunk: int, worker: int) -> None:
    raise AssertionError(f"chunk {chunk} of a job that is over, worker {worker}")


class Pool:
    """`size` workers, of which the caller is number 0."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._busy = threading.Lock()
        self._changed = threading.Condition()
        self._job: Job | None = None
        self._closed = False
        self._start = [threading.Semaphore(0) for _ in range(size - 1)]
        for worker in range(1, size):
            name = f"parloom-{worker}"
            threading.Thread(target=self._serve, args=(worker,), name=name, daemon=True).start()

    def _serve(self, worker: int) -> None:
        while not self._closed:
            self._start[worker - 1].acquire()
            job = self._job
            # Woken for a launch that is over, a worker may find another one, which it was not
            # counted for.
            if job is not None and worker < job.chunks:
                job.help(worker)

    def run(self, task: Task, chunks: int) -> None:
        """Runs all chunks; returns when they are done, raises what a task raised.

        An interrupt (Ctrl-C) stops between chunks.
        """
        job = Job(task, chunks, self._changed)
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
        try:
            self._job = job
            for start in self._start[: job.chunks - 1]:
                start.release()
            job.work(0)
        except BaseException as error:  # noqa: BLE001 - an interrupt between two chunks
            job.error = error
        finally:
            job.wait()
            job.close()
            self._job = None

    def close(self) -> None:
        """Lets the threads end; a launch that still runs goes on."""
        self._closed = True
        for start in self._start:
            start.release()


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
            if _pool is not None:
                _pool.close()
            _pool = Pool(wanted)
        return _pool


def _after_fork() -> None:
    """A forked child has none of its parent's threads: its pool is made anew."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
