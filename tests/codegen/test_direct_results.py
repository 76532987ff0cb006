"""Results that a launch writes to the user's arrays itself, and those that it must not."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.runtime import memory
from parloom.codegen.runtime.memory import Store

N = memory.SMALL // 4
X = np.arange(float(N))


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """The process's store, for one test."""
    made = Store(1 << 30)
    monkeypatch.setattr(memory, "_store", made)
    return made


@pytest.fixture(params=["llvm", "numba", "python"])
def on(request: pytest.FixtureRequest) -> Any:
    if request.param == "python":
        return lambda jitted: jitted.on("python")
    return lambda jitted: jitted.on(printer=request.param)


def made(store: Store, jitted: Any, *args: Any, out: Any) -> int:
    """How many large arrays a call made."""
    jitted(*args, out=out)
    before = store.hits + store.misses
    jitted(*args, out=out)
    return store.hits + store.misses - before


def array(n: int = N, dtype: Any = np.float64) -> Any:
    return np.zeros(n, dtype)


def test_a_loop_writes_to_the_array_itself(store: Store, on: Any) -> None:
    y = array()
    assert made(store, on(pm.jit(lambda x: x * 2.0)), X, out=y) == 0
    assert y[-1] == 2.0 * (N - 1)


def test_a_subclass_too(store: Store) -> None:
    y = array().view(pm.Array)
    assert made(store, pm.jit(lambda x: x * 2.0), X, out=y) == 0
    assert y[-1] == 2.0 * (N - 1)


def test_all_results_of_a_loop(store: Store, on: Any) -> None:
    jitted: Any = on(pm.jit(lambda x: (x + 1.0, x.sum(), x > 2.0)))
    y, z = array(), array(dtype=bool)
    assert made(store, jitted, X, out=(y, None, z)) == 0
    assert (y[-1], bool(z[-1])) == (float(N), True)
    assert made(store, jitted, X, out=(y, None, None)) <= 1


def test_a_result_that_a_later_loop_reads(store: Store, on: Any) -> None:
    @pm.jit
    def centred(x: Any) -> Any:
        moved = x - x.sum() / x.shape[0]
        return moved, (moved[::-1] * moved).sum()

    y = array()
    f: Any = on(centred)
    assert made(store, f, X, out=(y, None)) == 0
    first, total = f(X)
    assert y.tolist() == first.tolist()
    assert f(X, out=(y, None))[1] == total


def test_what_must_be_copied(store: Store, on: Any) -> None:
    doubled: Any = on(pm.jit(lambda x: x * 2.0))
    assert made(store, doubled, X, out=array(2 * N)[::2]) == 1
    assert made(store, doubled, X.copy()[::-1], out=array()) == 0
    x = X.copy()
    assert made(store, doubled, x, out=x) == 1
    both: Any = on(pm.jit(lambda x: (x + 1.0, x + 2.0)))
    y = array(N + 1)
    assert made(store, both, X, out=(y[1:], y[:-1])) == 2
    assert made(store, both, X, out=(y[1:], y[1:])) == 2


def test_no_loop_writes_that_may_fault(store: Store, on: Any) -> None:
    picked: Any = on(pm.jit(lambda x, at: pm.range(at.shape[0]).map(lambda i: x[at[i]])))
    assert made(store, picked, X, np.zeros(N, np.int64), out=array()) == 1


def test_no_loop_writes_before_what_may_fault(store: Store, on: Any) -> None:
    @pm.jit
    def checked(x: Any, k: Any) -> Any:
        made = x * 2.0
        return made, made[k]

    y = array()
    f: Any = on(checked)
    assert made(store, f, X, 1, out=(y, None)) == 1
    y[:] = 99.0
    with pytest.raises(IndexError):
        f(X, N, out=(y, None))
    assert (y == 99.0).all()


def test_no_loop_writes_if_another_array_may_not_fit(store: Store, on: Any) -> None:
    f: Any = on(pm.jit(lambda x: (x * 2.0, x[x > 1.0])))
    y = array()
    with pytest.raises(ValueError, match=r"out\[1\] has shape"):
        f(X, out=(y, array(N)))
    assert not y.any()
    assert f(X, out=(y, array(N - 2)))[0] is y
    assert y[-1] == 2.0 * (N - 1)
