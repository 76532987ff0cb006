"""Jobs for the pool whose chunks call back into Python, or only spend time."""

from __future__ import annotations

import ctypes
import signal
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from parloom.codegen import objects
from parloom.codegen.runtime import threads
from parloom.codegen.runtime.job import Job, Patch, Patches, Step

Task = Callable[[int, int], None]
_CALL = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_int64))

# Counts to the number in slot 2, by steps that LLVM cannot foresee; then writes 1 to slot 3.
_SPIN = """
define void @parloom_spin(ptr %table) {
entry:
  %from = getelementptr i64, ptr %table, i64 2
  %count = load i64, ptr %from
  %to.place = getelementptr i64, ptr %table, i64 3
  %to = load ptr, ptr %to.place
  br label %head
head:
  %k = phi i64 [0, %entry], [%following, %head]
  %value = phi i64 [1, %entry], [%mixed, %head]
  %tripled = mul i64 %value, 3
  %mixed = xor i64 %tripled, %k
  %following = add i64 %k, 1
  %more = icmp slt i64 %following, %count
  br i1 %more, label %head, label %done
done:
  %done.bit = or i64 %mixed, 1
  %one = and i64 %done.bit, 1
  store i64 %one, ptr %to
  ret void
}
"""


def spin() -> Any:
    """The native function."""
    code = objects.emit(llvm.parse_assembly(_SPIN), ["spin"])
    return objects.load(code, {"spin": ()})["spin"]


def patch(place: int, stride: int) -> Patch:
    """A slot that is another for each chunk or worker."""
    return Patch(place, stride, 2**63 - 1)


class TestJob:
    """A job of so many chunks, and the memory that it needs.

    Slots of the functions: the chunk, the worker, `count`, an address in `done` for each chunk.
    """

    __test__ = False

    def __init__(self, chunks: int, workers: int, *, count: int = 0) -> None:
        self.done = (ctypes.c_int64 * max(chunks, 1))()
        self.faults = (ctypes.c_int64 * (4 * max(chunks, 1)))()
        done, faults = map(ctypes.addressof, (self.done, self.faults))
        self.values = (ctypes.c_int64 * 5)(0, 0, count, done, faults)
        self.places = (ctypes.c_int64 * 5)(0, 1, 2, 3, 4)
        self.parts = (Patch * 3)(patch(0, 1), patch(3, 8), patch(4, 32))
        self.others = (Patch * 1)(patch(0, 1))
        self.scratch = (Patch * 1)(patch(1, 1))
        self.keep: list[object] = []
        self.job = Job()
        self.job.chunks, self.job.workers = chunks, workers
        self.job.count, self.job.table, self.job.fault = 5, 5, 4
        self.job.values = ctypes.addressof(self.values)
        self.job.parts = Patches(3, ctypes.addressof(self.parts))
        self.job.others = Patches(1, ctypes.addressof(self.others))
        self.job.scratch = Patches(1, ctypes.addressof(self.scratch))

    def native(self, step: str, address: int) -> TestJob:
        """Sets a step to a native function."""
        setattr(self.job, step, Step(address, 5, ctypes.addressof(self.places)))
        return self

    def python(self, step: str, task: Task) -> TestJob:
        """Sets a step to a Python function of the chunk and the worker."""

        def step_of(table: ctypes.Array[ctypes.c_int64]) -> None:
            task(table[0], table[1])

        call = _CALL(step_of)
        self.keep.append(call)
        address = ctypes.cast(call, ctypes.c_void_p).value
        assert address is not None
        return self.native(step, address)

    def fault(self, chunk: int) -> None:
        """Records a fault of a chunk, as a kernel does."""
        self.faults[4 * chunk] = 1


def python_job(task: Task, chunks: int, workers: int) -> TestJob:
    """A job whose chunks call the task."""
    return TestJob(chunks, workers).python("chunk", task)


def spinning_job(chunks: int, workers: int, count: int) -> TestJob:
    """A job whose chunks spend time in native code, about a nanosecond for each of `count`."""
    function = spin()
    job = TestJob(chunks, workers, count=count).native("chunk", function.address)
    job.keep.append(function)
    return job


def run(job: TestJob) -> bool:
    """Runs a job; whether there was a fault."""
    return threads.run(job.job, job.job.workers)


def run_counted(chunks: int, workers: int) -> Counter[int]:
    """How often each chunk ran."""
    ran: Counter[int] = Counter()
    lock = threading.Lock()

    def task(chunk: int, worker: int) -> None:
        assert 0 <= worker < workers
        with lock:
            ran[chunk] += 1

    run(python_job(task, chunks, workers))
    return ran


def interrupt_when(ready: Callable[[], bool]) -> threading.Thread:
    """A thread that interrupts the main thread as soon as it may."""
    main = threading.main_thread().ident
    assert main is not None

    def wait() -> None:
        while not ready():
            pass
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread
