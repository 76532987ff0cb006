"""Memory of results: used again when nobody holds it, and never before; the limit; forks; exit."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.byte_counts import bytes_of
from parloom.codegen.runtime import memory, threads
from parloom.codegen.runtime.memory import Block, Store, available, rounded
from tests.codegen.blocks import LENGTH, SIZE, address, new

F8 = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The process's store, for one test; only its garbage is collected meanwhile."""
    made = Store(1 << 30)
    monkeypatch.setattr(memory, "_store", made)
    gc.freeze()
    yield made
    gc.unfreeze()


# What an array is.


@pytest.mark.parametrize("length", [0, 1, LENGTH, 3 * LENGTH + 5])
def test_an_array_is_an_ordinary_one(length: int) -> None:
    x = new(length)
    assert type(x) is np.ndarray
    assert (x.shape, x.dtype, x.flags.c_contiguous, x.flags.writeable) == (
        (length,),
        F8,
        True,
        True,
    )
    x[:] = 1.0
    assert x.sum() == length
    x.flags.writeable = False
    x.flags.writeable = True


def test_large_arrays_begin_at_a_line_of_the_cache() -> None:
    assert [address(new(LENGTH + k)) % 64 for k in range(20)] == [0] * 20


def test_small_arrays_are_numpys_own(store: Store) -> None:
    x = new(memory.SMALL // 8 - 1)
    assert x.flags.owndata
    assert store.misses == 0


def test_an_array_in_a_block_cannot_be_resized() -> None:
    with pytest.raises(ValueError, match="does not own its data"):
        new().resize(3)


@pytest.mark.parametrize("exponent", [17, 20, 26, 33])
def test_at_most_an_eighth_of_a_block_is_unused(exponent: int) -> None:
    for size in (1 << exponent, (1 << exponent) + 1, 3 << (exponent - 1), (1 << exponent + 1) - 1):
        assert size <= rounded(size) <= size + max(size // 8, 4096)
        assert rounded(rounded(size)) == rounded(size)
        assert rounded(size) % 4096 == 0


# The limit.


def test_the_longest_unused_goes_first(store: Store) -> None:
    store.limit = 3 * SIZE
    arrays = [new() for _ in range(5)]
    places = [address(x) for x in arrays]
    for k in (3, 0, 4, 1, 2):
        arrays[k] = np.empty(0)
    assert store.waiting == 3 * SIZE
    kept = [new() for _ in range(3)]
    assert [address(x) for x in kept] == [places[2], places[1], places[4]]
    assert store.hits == 3


def test_blocks_of_all_sizes_are_under_one_limit(store: Store) -> None:
    large = new(8 * LENGTH)
    first = new()
    store.limit = rounded(64 * LENGTH) + SIZE
    del large
    del first
    assert store.waiting == store.limit
    pair = new(2 * LENGTH), new(2 * LENGTH)
    del pair
    assert store.waiting == 5 * SIZE  # the large one was the oldest


def test_what_is_above_the_limit_alone_is_numpys(store: Store) -> None:
    store.limit = SIZE - 1
    assert new().flags.owndata
    store.limit = SIZE
    assert not new().flags.owndata


def test_a_limit_lowered_meanwhile_keeps_nothing(store: Store) -> None:
    x = new()
    store.limit = 0
    del x
    assert (store.held, store.waiting) == (0, 0)


def test_the_report_counts(store: Store) -> None:
    x = new()
    del x
    x, y = new(), new()
    assert pm.memory() == memory.Memory(2 * SIZE, 0, 1 << 30, 1, 2)
    del y
    report = pm.memory(limit="1M")
    assert (report.held, report.waiting, report.limit) == (SIZE, SIZE, 1 << 20)
    assert str(report) == (
        "256.0 KiB in results, 256.0 KiB of at most 1.0 MiB kept for the next ones; "
        "1 of 3 large arrays got memory that was there"
    )
    report.clear()
    assert (pm.memory().held, pm.memory().waiting) == (SIZE, 0)
    assert x.size == LENGTH


def test_a_lower_limit_holds_at_once(store: Store) -> None:
    arrays = [new() for _ in range(4)]
    arrays.clear()
    assert store.waiting == 4 * SIZE
    assert pm.memory(limit=2 * SIZE + 5).waiting == 2 * SIZE
    assert pm.memory(limit=0).waiting == 0


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLOOM_MEMORY", "1.5M")
    monkeypatch.setattr(memory, "_store", None)
    assert pm.memory().limit == 3 << 19
    monkeypatch.delenv("PARLOOM_MEMORY")
    monkeypatch.setattr(memory, "_store", None)
    assert pm.memory().limit == available() // 8


@pytest.mark.parametrize("setting", ["", "much", "-1", "1X", "nan", "inf", "G", -5])
def test_a_setting_that_is_no_size(setting: int | str) -> None:
    with pytest.raises(ValueError, match="memory must be a number of bytes such as"):
        bytes_of(setting, "memory")


# Errors.


def test_no_memory_names_the_array() -> None:
    with pytest.raises(MemoryError, match=r"no memory for x: float64 of shape \(1152921504606846"):
        new(1 << 60)


def test_what_waits_is_given_back_before_memory_ends(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new()
    waited: list[int] = []

    def none_left(size: int) -> Block:
        waited.append(store.waiting)
        if store.waiting:
            raise OSError("no memory")
        return Block(size)

    monkeypatch.setattr(memory, "Block", none_left)
    assert new(2 * LENGTH).size == 2 * LENGTH
    assert waited == [SIZE, 0]


# Threads, forks, the end.


def test_threads_never_share_a_block(store: Store) -> None:
    store.limit = 6 * SIZE
    wrong: list[str] = []

    def hammer(seed: int) -> None:
        random = np.random.default_rng(seed)
        mine: list[tuple[np.ndarray, float]] = []
        for step in range(300):
            x = new(LENGTH * int(random.integers(1, 3)))
            tag = float(seed * 1000 + step)
            x[::512] = tag
            mine.append((x[512:], tag))
            if step % 50 == 0:
                cycle: list[Any] = [mine[-1]]
                cycle.append(cycle)
            if len(mine) > int(random.integers(1, 4)):
                view, known = mine.pop(int(random.integers(len(mine))))
                if not (view[::512] == known).all():
                    wrong.append(f"thread {seed}, step {step}")

    started = [threading.Thread(target=hammer, args=(seed,)) for seed in range(8)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    gc.collect()
    assert wrong == []
    assert store.held == 0
    assert 0 < store.waiting <= store.limit
    assert store.hits > store.misses


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_memory_of_its_own(store: Store) -> None:
    held = new()
    held[:] = 1.0
    new()  # waits
    child = os.fork()
    if child == 0:
        status = 1
        try:
            kept_none = store.waiting == 0
            held[:] = 2.0
            other = new()
            other[:] = 3.0
            del other
            right = kept_none and (held == 2.0).all() and store.waiting == SIZE
            status = 0 if right else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.waiting == SIZE
    assert (held == 1.0).all()
    assert (new() != 3.0).all()


AT_EXIT = """
import atexit, gc, threading, time
import numpy as np
from parloom.codegen.runtime.memory import allocate

def new():
    x = allocate((100_000,), np.dtype(float), "x")
    x[:] = 5.0
    return x

class Late:
    def __init__(self):
        self.held, self.me = new(), self
    def __del__(self):
        assert self.held[99_999] == 5.0

kept, late, view = new(), Late(), memoryview(new())
gc.disable()
Late()
thread = threading.Thread(target=lambda x: time.sleep(60), args=(new(),), daemon=True)
thread.start()
atexit.register(lambda: kept[0] + new()[0])
"""


def test_a_process_ends_in_silence() -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", AT_EXIT]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


# Results of compiled functions.


@pytest.mark.parametrize("target", ["cpu", "python"])
def test_results_and_temporaries_are_used_again(
    store: Store, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_wanted", 3)
    jitted: Any = pm.jit(lambda x: (x * 2.0)[x > 0.0]).on(target)
    x = np.ones(100_000)
    jitted(x)
    misses = store.misses
    assert misses
    for _ in range(5):
        assert (jitted(x) == 2.0).all()
    assert store.misses == misses
    assert store.held == 0


def test_a_result_that_is_held_is_left_alone() -> None:
    jitted: Any = pm.jit(lambda x, k: x + k)
    x = np.zeros(30_000)
    first = jitted(x, 1)[:3]
    found = [jitted(x, k) for k in range(2, 6)]
    assert first.tolist() == [1.0, 1.0, 1.0]
    assert [r[0] for r in found] == [2.0, 3.0, 4.0, 5.0]
