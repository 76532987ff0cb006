"""Launches: which fault is raised, what is dropped, what results own."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.cpu import code
from parloom.codegen.cpu.target import launchers
from parloom.codegen.llvm.printer import print_module
from parloom.codegen.runtime import native_launch, threads
from parloom.codegen.runtime.launch import Launcher
from parloom.codegen.runtime.plain_launch import PlainRunner
from parloom.staging.errors import CheckFailed, StagedIndexError, UserError
from parloom.staging.parser import parse
from parloom.transforms import cpu_levels
from parloom.transforms.lowering.program import lower_program
from tests.codegen.kernels import mapped, native_kernels, text_of

TARGETS = ("cpu", "python")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_levels, "CHUNK", 5)
    monkeypatch.setattr(cpu_levels, "VECTOR", 1)


@pytest.fixture(params=[1, 2, 7])
def count(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of threads."""
    monkeypatch.setattr(threads, "_wanted", request.param)
    return int(request.param)


def raised(f: Callable[..., Any], target: str, *args: Any) -> UserError:
    """What a call raises."""
    with pytest.raises(UserError) as caught:
        pm.jit(f, target=target)(*args)
    return caught.value


def gather(x: Any, at: Any) -> Any:
    return pm.range(at.shape[0]).map(lambda i: x[at[i]])


def two_gathers(x: Any, first: Any, second: Any) -> Any:
    def both(i: Any) -> Any:
        a = x[first[i]]
        b = x[second[i]]
        return a + b

    return pm.range(first.shape[0]).map(both)


@pytest.mark.parametrize("target", TARGETS)
def test_the_lowest_iteration_is_raised(target: str, count: int) -> None:
    at = np.zeros(100, np.int64)
    at[[13, 37, 71, 99]] = 113, 137, 171, 199
    for _ in range(5):
        error = raised(gather, target, np.arange(9.0), at)
        assert isinstance(error, StagedIndexError)
        assert isinstance(error, IndexError)
        assert error.what == "index 113 is out of bounds for axis 0 with size 9"
        (place,) = error.where
        assert place.text.strip() == "return pm.range(at.shape[0]).map(lambda i: x[at[i]])"
        assert place.file == __file__


@pytest.mark.parametrize("target", TARGETS)
def test_the_first_site_is_raised_before_an_earlier_iteration(target: str, count: int) -> None:
    first, second = np.zeros((2, 60), np.int64)
    first[41], second[2] = 50, 60
    error = raised(two_gathers, target, np.arange(9.0), first, second)
    assert "index 50 " in error.what
    assert error.where[0].text.strip() == "a = x[first[i]]"


@pytest.mark.parametrize("target", TARGETS)
def test_a_call_that_failed_leaves_nothing_behind(target: str, count: int) -> None:
    f: Any = pm.jit(gather, target=target)
    x, at = np.arange(9.0), np.arange(40) % 9
    bad = at.copy()
    bad[33] = 9
    for _ in range(2):
        with pytest.raises(IndexError):
            f(x, bad)
        assert f(x, at).tolist() == x[at].tolist()
    assert x.tolist() == list(range(9))


def test_a_check_of_an_empty_domain_names_the_line(count: int) -> None:
    least = lambda x: x.rows.map(lambda row: row.min())
    error = raised(least, "cpu", np.zeros((50, 0)))
    assert isinstance(error, CheckFailed)
    assert error.what == "zero-size array to reduction operation min which has no identity"
    assert "row.min()" in error.where[0].text


def test_a_filter_keeps_its_order_over_chunks(count: int) -> None:
    positive: Any = pm.jit(lambda x: x[x > 0])
    for kept in ([], [0], [4, 5], list(range(23)), [0, 11, 22], list(range(5, 10))):
        x = np.full(23, -1.0)
        x[kept] = np.arange(1.0, len(kept) + 1)
        found = positive(x)
        assert found.tolist() == x[x > 0].tolist()
        assert found.base is None


def test_results_own_their_memory(count: int) -> None:
    columns: Any = pm.jit(lambda x: x.sum(axis=0))
    found = columns(np.ones((100, 3)))
    assert found.tolist() == [100.0] * 3
    assert found.base is None or found.base.size == found.size


def test_results_share_nothing_with_arguments_or_each_other() -> None:
    same: Any = pm.jit(lambda x: (x, x, x[::2]))
    x = np.arange(6.0)
    first, second, third = same(x)
    first[:] = 0
    assert x.tolist() == second.tolist() == list(range(6))
    assert third.tolist() == [0, 2, 4]


@pytest.mark.parametrize("side", [10**7, 2**40])
def test_what_does_not_fit_is_a_memory_error(side: int) -> None:
    table: Any = pm.jit(lambda n: pm.collect((n, n), lambda i, j: i + j))
    with pytest.raises(MemoryError, match="no memory for"):
        table(side)
    assert table(2).tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("target", TARGETS)
def test_after_an_interrupt_the_next_call_is_whole(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    double: Any = pm.jit(lambda x: x * 2.0, target=target)
    x = np.arange(50.0)
    assert double(x).tolist() == (x * 2).tolist()

    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threads, "run", interrupted)
        patched.setattr(PlainRunner, "chunk", interrupted)
        with pytest.raises(KeyboardInterrupt):
            double(x)
    assert double(x).tolist() == (x * 2).tolist()


# Plans: what launches of the same sizes share.


def columns_and_total(x: Any, k: Any) -> Any:
    return x.sum(axis=0) * k, (x * k).sum(), x.rows.map(lambda row: row * k)


@pytest.mark.parametrize("target", TARGETS)
def test_sizes_may_change_from_call_to_call(target: str, count: int) -> None:
    f: Any = pm.jit(columns_and_total, target=target)
    for rows in (7, 1, 0, 7, 23, 7, *range(3, 14), 7):
        x = np.arange(rows * 3.0).reshape(rows, 3)
        columns, total, table = f(x, 2.0)
        assert columns.tolist() == (x.sum(axis=0) * 2).tolist()
        assert total == x.sum() * 2
        assert table.tolist() == (x * 2).tolist()


def test_results_of_one_call_outlive_the_next(count: int) -> None:
    f: Any = pm.jit(columns_and_total)
    x = np.arange(60.0).reshape(20, 3)
    first = f(x, 1.0)
    kept = [np.array(v) for v in first]
    f(x, -3.0)
    for value, old in zip(first, kept, strict=True):
        np.testing.assert_array_equal(value, old)


def test_the_number_of_threads_may_change_from_call_to_call() -> None:
    f: Any = pm.jit(columns_and_total)
    x = np.arange(600.0).reshape(200, 3)
    expected = [np.array(v) for v in f(x, 0.5)]
    for number in (3, 1, 8, 2, 5):
        threads.set_num_threads(number)
        for value, wanted in zip(f(x, 0.5), expected, strict=True):
            np.testing.assert_array_equal(value, wanted)


def test_several_threads_call_one_function_while_another_sets_their_number() -> None:
    f: Any = pm.jit(columns_and_total)
    arrays = [np.arange(3.0 * n).reshape(n, 3) for n in (4, 40, 41, 200)]
    expected = [[np.array(v) for v in f(x, 2.0)] for x in arrays]
    wrong: list[int] = []

    def call() -> None:
        for k in range(200):
            found = f(arrays[k % 4], 2.0)
            if not all(map(np.array_equal, found, expected[k % 4])):
                wrong.append(k)

    callers = [threading.Thread(target=call) for _ in range(3)]
    for thread in callers:
        thread.start()
    number = 1
    while any(thread.is_alive() for thread in callers):
        number = number % 5 + 1
        threads.set_num_threads(number)
    for thread in callers:
        thread.join()
    assert wrong == []


def test_large_states_are_not_kept() -> None:
    text = """
    program f(n; x: i64[n] contiguous) {
      h: i64[262144] = loop (i < n) {
        k: i64 = x[i]
        fold sum into [262144] (k: 1_i64)
      }
      return h
    }
    """
    launcher = compiled_launcher(text)
    x = np.array([5, 7, 5, 262143, 5, 0])
    for _ in range(2):
        (found,) = launcher(x, np.int64(6))
        assert found[[5, 7, 262143, 0, 1]].tolist() == [3, 1, 1, 1, 0]
        assert found.sum() == 6
    assert not launcher.kept


def compiled_launcher(text: str) -> Launcher:
    """The launcher of a program of one loop."""
    kernels = native_kernels(mapped(parse(text)))
    ordered = list(kernels.values())
    compiled = code.by_llvm(ordered, print_module(ordered))
    (launcher,) = launchers(kernels, compiled).values()
    return launcher


@pytest.mark.parametrize(("least", "workers"), [(0, [3, 3]), (10**12, [1, 1])])
def test_small_work_stays_on_the_calling_thread(
    least: int, workers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as it is known to be small; the results are the same."""
    monkeypatch.setattr(native_launch, "SMALL", least)
    monkeypatch.setattr(threads, "_wanted", 3)
    launcher, x = compiled_launcher(DOUBLE), np.arange(100.0)
    found: list[int] = []
    for _ in range(2):
        assert launcher(x, 100)[0].tolist() == (x * 2).tolist()
        ((_, run),) = launcher.kept.values()
        assert isinstance(run, native_launch.NativeRunner)
        found.append(run.job.workers)
    assert found == workers


def test_work_that_is_small_for_many_threads_only_is_shared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_wanted", 3)
    launcher, x = compiled_launcher(DOUBLE), np.arange(100.0)
    found: list[int] = []
    for least in (10**12, 0, 10**12):
        monkeypatch.setattr(native_launch, "SMALL", least)
        launcher(x, 100)
        ((_, run),) = launcher.kept.values()
        assert isinstance(run, native_launch.NativeRunner)
        found.append(run.job.workers)
    assert found == [1, 3, 3]


def test_an_array_of_another_type_is_refused() -> None:
    launcher = compiled_launcher(DOUBLE)
    assert launcher(np.arange(3.0), 3)[0].tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(TypeError, match="takes an array of float64, not of float32"):
        launcher(np.arange(3.0).astype(np.float32), 3)


DOUBLE = """
program f(n; x: f64[n] contiguous) {
  y: f64[n] = loop (i < n) {
    t: f64 = x[i]
    u: f64 = t + t
    collect u
  }
  return y
}
"""


# The interface: what a launcher takes and gives.


def test_a_launcher_takes_the_operands_and_gives_the_binders_values() -> None:
    text = """
    program f(n, m; x: f64[n, m] contiguous, k: f64) {
      s: f64, r: f64[n] = loop (i < n) {
        t: f64 = loop (j < m) {
          u: f64 = x[i, j]
          reduce sum (u)
        }
        v: f64 = t * k
        reduce sum (t)
        collect v
      }
      return s, r
    }
    """
    program = mapped(parse(text))
    kernels = lower_program(program)
    (launcher,) = launchers(kernels, code.plain(text_of(program))).values()
    x = np.arange(6.0).reshape(2, 3)
    given = {"x": x, "n": np.int64(2), "m": np.int64(3), "k": np.float64(2)}
    assert {v.name for v in launcher.operands} == set(given)
    total, rows = launcher(*[given[v.name] for v in launcher.operands])
    assert total == 15.0
    assert rows.tolist() == [6.0, 24.0]
