"""The pool: every chunk once, errors and interrupts, nested and simultaneous launches, forks."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from parloom.codegen.runtime import threads
from parloom.codegen.runtime.threads import Pool


@pytest.fixture(params=[1, 2, 7])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    made = Pool(request.param)
    yield made
    made.close()


@pytest.fixture
def four() -> Iterator[Pool]:
    made = Pool(4)
    yield made
    made.close()


def run_counted(pool: Pool, chunks: int) -> Counter[int]:
    """How often each chunk ran."""
    ran: Counter[int] = Counter()
    lock = threading.Lock()

    def task(chunk: int, worker: int) -> None:
        assert 0 <= worker < pool.size
        with lock:
            ran[chunk] += 1

    pool.run(task, chunks)
    return ran


@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 64, 1000])
def test_every_chunk_runs_once(pool: Pool, chunks: int) -> None:
    assert run_counted(pool, chunks) == Counter(range(chunks))


def test_many_launches_one_after_the_other(four: Pool) -> None:
    for chunks in range(2, 300):
        assert run_counted(four, chunks).total() == chunks


def test_a_launch_has_no_more_workers_than_chunks() -> None:
    """Also where workers wake late, from the launch before."""
    pool = Pool(7)

    def task(chunk: int, worker: int) -> None:
        assert worker < 2
        time.sleep(0.0002)

    try:
        for _ in range(300):
            run_counted(pool, 7)
            pool.run(task, 2)
    finally:
        pool.close()


def test_a_worker_is_never_in_two_chunks_at_once(four: Pool) -> None:
    inside: Counter[int] = Counter()

    def task(chunk: int, worker: int) -> None:
        inside[worker] += 1
        assert inside[worker] == 1
        time.sleep(0.0005)
        inside[worker] -= 1

    for _ in range(10):
        four.run(task, 20)


def test_what_a_chunk_raises_is_raised_and_stops_the_others(pool: Pool) -> None:
    ran: list[int] = []

    def task(chunk: int, worker: int) -> None:
        ran.append(chunk)
        if chunk == 3:
            raise ValueError("in chunk 3")

    with pytest.raises(ValueError, match="in chunk 3"):
        pool.run(task, 10_000)
    assert len(ran) < 10_000
    assert run_counted(pool, 20) == Counter(range(20))


def test_a_launch_inside_of_a_chunk_runs_on_its_thread(four: Pool) -> None:
    inner: list[tuple[int, int]] = []

    def outer(chunk: int, worker: int) -> None:
        four.run(lambda c, w: inner.append((chunk, w)), 5)

    four.run(outer, 6)
    assert Counter(chunk for chunk, _ in inner) == Counter({chunk: 5 for chunk in range(6)})
    assert {worker for _, worker in inner} == {0}


def test_two_threads_launch_at_once(four: Pool) -> None:
    found: list[Counter[int]] = []
    together = threading.Barrier(3)

    def caller() -> None:
        together.wait()
        found.extend(run_counted(four, 50) for _ in range(20))

    callers = [threading.Thread(target=caller) for _ in range(3)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert found == [Counter(range(50))] * 60


def test_an_interrupt_stops_between_chunks_and_the_pool_lives_on(pool: Pool) -> None:
    main = threading.get_ident()
    ran: list[int] = []

    def task(chunk: int, worker: int) -> None:
        ran.append(chunk)
        if threading.get_ident() == main:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.0001)

    with pytest.raises(KeyboardInterrupt):
        pool.run(task, 10_000)
    assert len(ran) < 10_000
    for _ in range(20):
        assert run_counted(pool, 30) == Counter(range(30))


def test_an_interrupt_while_the_caller_waits(four: Pool) -> None:
    """The caller has no chunk left, the others still work: they finish theirs, no more."""
    main = threading.get_ident()
    begun, ended = threading.Barrier(2), [0]

    def task(chunk: int, worker: int) -> None:
        if threading.get_ident() == main:
            begun.wait(5)
            return
        begun.wait(5)
        time.sleep(0.05)
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.05)
        ended[0] += 1

    with pytest.raises(KeyboardInterrupt):
        four.run(task, 2)
    assert ended == [1]
    assert run_counted(four, 30) == Counter(range(30))


# The process's pool.


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_wanted", None)
    monkeypatch.delenv("PARLOOM_NUM_THREADS", raising=False)


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert threads.num_threads() == len(os.sched_getaffinity(0))
    monkeypatch.setenv("PARLOOM_NUM_THREADS", "3")
    assert threads.pool().size == 3
    threads.set_num_threads(5)
    assert threads.pool().size == 5
    assert threads.pool() is threads.pool()


def test_threads_of_a_pool_that_is_replaced_end() -> None:
    threads.set_num_threads(6)
    run_counted(threads.pool(), 40)
    before = set(threading.enumerate())
    threads.set_num_threads(1)
    threads.pool()
    deadline = time.monotonic() + 5
    while len(before & set(threading.enumerate())) > 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    names = [t.name for t in before & set(threading.enumerate())]
    assert not any(name.startswith("parloom-") for name in names)


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
        threads.pool()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    threads.set_num_threads(4)
    run_counted(threads.pool(), 30)
    child = os.fork()
    if child == 0:
        good = run_counted(threads.pool(), 30) == Counter(range(30))
        os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert run_counted(threads.pool(), 30) == Counter(range(30))
