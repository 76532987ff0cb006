"""The pool: every chunk once, faults and interrupts, nested and simultaneous launches."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from parloom.codegen.runtime import job_text, pool_text, threads
from tests.codegen.jobs import (
    Task,
    TestJob,
    interrupt_when,
    python_job,
    run,
    run_counted,
    spinning_job,
)

ROOT = Path(__file__).parents[2]
ALL = 10**6  # chunks that no test waits for


@pytest.fixture(params=[1, 2, 7])
def workers(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 64, 1000])
def test_every_chunk_runs_once(workers: int, chunks: int) -> None:
    assert run_counted(chunks, workers) == Counter(range(chunks))


def test_many_launches_one_after_the_other() -> None:
    for chunks in range(2, 300):
        assert run_counted(chunks, 2 + chunks % 5).total() == chunks


def meet(workers: int) -> dict[int, int]:
    """The workers' threads; each waits in its first chunk until all are there."""
    together = threading.Barrier(workers)
    met: dict[int, int] = {}

    def task(chunk: int, worker: int) -> None:
        if worker not in met:
            met[worker] = threading.get_native_id()
            together.wait(10)

    run(python_job(task, 40, workers))
    return met


def test_all_workers_take_part() -> None:
    met = meet(5)
    assert sorted(met) == list(range(5))
    assert len(set(met.values())) == 5
    assert met[0] == threading.get_native_id()


def test_a_worker_is_never_in_two_chunks_at_once() -> None:
    inside: Counter[int] = Counter()
    most: list[int] = []
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)

    def task(chunk: int, worker: int) -> None:
        inside[worker] += 1
        most.append(inside[worker])
        sum(range(300))
        inside[worker] -= 1

    try:
        for _ in range(10):
            run(python_job(task, 20, 4))
    finally:
        sys.setswitchinterval(switch)
    assert set(most) == {1}


def test_states_combine_in_the_order_of_chunks_and_then_finish(workers: int) -> None:
    said: list[tuple[str, int]] = []
    job = TestJob(6, workers).python("chunk", lambda chunk, worker: None)
    for step in ("combine", "finish"):

        def note(chunk: int, worker: int, step: str = step) -> None:
            said.append((step, chunk))

        job.python(step, note)
    for _ in range(3):
        said.clear()
        assert run(job) is False
        assert said == [*(("combine", k) for k in range(1, 6)), ("finish", 5)]


def test_each_chunk_begins_with_init(workers: int) -> None:
    begun: list[int] = []
    late: list[int] = []
    job = TestJob(50, workers).python("init", lambda chunk, worker: begun.append(chunk))
    job.python("chunk", lambda chunk, worker: late.append(chunk) if chunk not in begun else None)
    run(job)
    assert sorted(begun) == list(range(50))
    assert not late


def test_a_fault_lets_the_other_chunks_run_but_nothing_is_combined(workers: int) -> None:
    ran: list[int] = []
    combined: list[int] = []
    job = TestJob(30, workers)

    def task(chunk: int, worker: int) -> None:
        ran.append(chunk)
        if chunk % 7 == 3:
            job.fault(chunk)

    job.python("chunk", task).python("combine", lambda chunk, worker: combined.append(chunk))
    assert run(job) is True
    assert sorted(ran) == list(range(30))
    assert combined == []
    job.python("chunk", lambda chunk, worker: None)
    assert run(job) is False
    assert combined == list(range(1, 30))


def test_a_fault_while_combining_ends_it() -> None:
    combined: list[int] = []
    job = TestJob(9, 3).python("chunk", lambda chunk, worker: None)

    def combine(chunk: int, worker: int) -> None:
        combined.append(chunk)
        if chunk == 4:
            job.fault(0)

    job.python("combine", combine).python("finish", lambda chunk, worker: combined.append(-1))
    assert run(job) is True
    assert combined == [1, 2, 3, 4]


def test_a_launch_inside_of_a_chunk_runs_on_its_thread() -> None:
    inner: list[tuple[int, int, bool]] = []

    def outer(chunk: int, worker: int) -> None:
        here = threading.get_native_id()
        task: Task = lambda c, w: inner.append((c, w, here == threading.get_native_id()))
        run(python_job(task, 5, 4))

    run(python_job(outer, 6, 4))
    assert Counter(chunk for chunk, _, _ in inner) == Counter({chunk: 6 for chunk in range(5)})
    assert {(worker, same) for _, worker, same in inner} == {(0, True)}


def test_several_threads_launch_at_once() -> None:
    found: list[Counter[int]] = []
    together = threading.Barrier(3)

    def caller() -> None:
        together.wait()
        found.extend(run_counted(50, 4) for _ in range(20))
        for _ in range(300):
            job = spinning_job(9, 3, 50) if not made else made.pop()
            run(job)
            assert list(job.done) == [1] * 9
            job.done[:] = [0] * 9
            made.append(job)

    made: list[TestJob] = []
    callers = [threading.Thread(target=caller) for _ in range(3)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert found == [Counter(range(50))] * 60


def test_an_interrupt_stops_between_chunks_and_the_pool_lives_on(workers: int) -> None:
    job = spinning_job(ALL, workers, 100_000)
    thread = interrupt_when(lambda: job.job.next > 3)
    with pytest.raises(KeyboardInterrupt):
        run(job)
    thread.join()
    taken = job.job.next
    assert taken < ALL
    assert list(job.done[: taken - workers]) == [1] * (taken - workers)
    assert not any(job.done[taken:])
    assert run_counted(30, workers) == Counter(range(30))
    assert job.job.next == taken


def test_an_interrupt_while_the_caller_waits() -> None:
    """The caller has no chunk left, another one still works: it finishes its chunk, no more."""
    main = threading.get_ident()
    begun, sent = threading.Event(), threading.Event()
    ended: list[int] = []

    def task(chunk: int, worker: int) -> None:
        if threading.get_ident() == main:
            begun.wait(10)
            return
        begun.set()
        sent.wait(10)
        ended.append(chunk)

    job = python_job(task, 2, 2)

    def interrupt() -> None:
        while job.job.next < 3:  # the caller has asked for a third chunk
            pass
        signal.pthread_kill(main, signal.SIGINT)
        sent.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(job)
    thread.join()
    assert len(ended) == 1
    assert run_counted(30, 4) == Counter(range(30))


def test_an_interrupt_while_states_are_combined() -> None:
    chunks = 100_000  # half a second to combine, where it takes the other thread some turns to look
    job = spinning_job(chunks, 2, 5_000)
    job.native("combine", job.job.chunk.address)
    thread = interrupt_when(lambda: job.job.combined > 1)
    with pytest.raises(KeyboardInterrupt):
        run(job)
    thread.join()
    assert 1 < job.job.combined < chunks


def test_a_signal_handler_that_returns_interrupts_nothing() -> None:
    job = spinning_job(20_000, 2, 10_000)
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(job.job.next))
    try:
        thread = interrupt_when(lambda: job.job.next > 3)
        assert run(job) is False
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(job.done) == [1] * 20_000
    assert len(seen) == 1
    assert seen[0] < 20_000


# The process's pool.


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_wanted", None)
    monkeypatch.delenv("PARLOOM_NUM_THREADS", raising=False)


@pytest.fixture
def new_pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The next launch makes a pool; its threads end after the test."""
    threads.pool_code.cache_clear()
    monkeypatch.setattr(threads, "_pool", None)
    yield
    threads.the_pool(1).stop()
    threads.pool_code.cache_clear()


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads.num_threads() == len(os.sched_getaffinity(0))
    threads.set_num_threads(5)
    assert threads.num_threads() == 5
    monkeypatch.setattr(threads, "_wanted", None)
    monkeypatch.setenv("PARLOOM_NUM_THREADS", "3")
    assert threads.num_threads() == 3


def count_threads() -> int:
    """How many threads the system knows of this process."""
    return len(os.listdir("/proc/self/task"))


def test_threads_are_made_when_a_launch_wants_them_and_end_with_the_pool(new_pool: None) -> None:
    before = count_threads()
    assert run_counted(40, 1).total() == 40
    assert count_threads() == before
    assert run_counted(40, 3).total() == 40
    assert count_threads() == before + 2
    assert run_counted(40, 2).total() == run_counted(40, 6).total() == 40
    assert count_threads() == before + 5
    pool = threads.the_pool(1)
    pool.stop()
    assert run_counted(40, 9) == Counter(range(40))  # on this thread
    assert count_threads() <= before + 5


def test_launches_run_alone_until_one_wants_threads(new_pool: None) -> None:
    assert run_counted(40, 1).total() == 40
    alone = threads.the_pool(1)
    assert (alone.size, threads.pool_code.cache_info().misses) == (1, 0)
    assert run_counted(40, 2).total() == 40
    pool = threads.the_pool(1)
    assert (pool.size, threads.pool_code.cache_info().misses) == (2, 1)
    assert run_counted(40, 1).total() == 40


def test_threads_handle_no_signals(new_pool: None) -> None:
    """Else a thread of the pool, not one of Python's, could be interrupted in Python's stead."""
    for task in set(meet(3).values()) - {threading.get_native_id()}:
        status = Path(f"/proc/self/task/{task}/status").read_text()
        (line,) = (x for x in status.splitlines() if x.startswith("SigBlk"))
        blocked = int(line.split()[1], 16)
        assert blocked >> (signal.SIGINT - 1) & 1
        assert not blocked >> (signal.SIGSEGV - 1) & 1


@pytest.mark.parametrize("count", [0, -1])
def test_no_threads_at_all_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"must be at least 1, not {count}"):
        threads.set_num_threads(count)


@pytest.mark.parametrize("setting", ["0", "-2", "many", "1.5"])
def test_a_setting_that_is_no_number_is_refused(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLOOM_NUM_THREADS", setting)
    with pytest.raises(ValueError, match="PARLOOM_NUM_THREADS must be a positive integer"):
        threads.num_threads()


def test_without_posix_threads_launches_run_alone(
    new_pool: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = pool_text.pool_text().replace("pthread_create", "no_such_function")
    monkeypatch.setattr(pool_text, "pool_text", lambda: text)
    before = count_threads()
    assert run_counted(40, 4) == Counter(range(40))
    assert count_threads() == before
    assert set(threads.pool_code()) == set(job_text.FUNCTIONS)
    job = spinning_job(ALL, 4, 100_000)
    thread = interrupt_when(lambda: job.job.next > 3)
    with pytest.raises(KeyboardInterrupt):
        run(job)
    thread.join()
    assert run_counted(40, 4) == Counter(range(40))


def test_the_pool_needs_nothing_but_the_c_library() -> None:
    module = llvm.parse_assembly(pool_text.pool_text())
    module.verify()
    needed = {f.name for f in module.functions if f.is_declaration and not f.name[:5] == "llvm."}
    assert all(name.startswith("pthread_") or name == "clock_gettime" for name in needed)
