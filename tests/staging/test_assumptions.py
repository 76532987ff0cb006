"""What a version may rely on, and what is done when it does not hold, on each target."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import assumptions, errors
from parloom.staging.traversal import walk_stmts

from .running import results

X = np.array([1.0, 4.0, 9.0])
TABLE = np.array([[2.0, 1.0], [1.0, 3.0]])
KNOWN = {"rate": 2.0}


def jitted(f: Callable[..., Any], target: str = "cpu") -> Any:
    return pm.jit(f, target=target)


# speculate


def roots(x: Any) -> Any:
    print("roots of", x.shape[0])
    if pm.speculate(x.min() >= 0):
        return np.sqrt(x)
    print("some are negative")
    return np.sqrt(np.abs(x))


def test_a_call_against_the_odds_is_done_again(capsys: pytest.CaptureFixture[str]) -> None:
    for found in (*results(roots, X), *results(roots, -X)):
        assert found.tolist() == [1.0, 2.0, 3.0]
    capsys.readouterr()
    f = jitted(roots)
    for x in (X, -X, X):
        f(x)
    once, general = "roots of 3\n", "roots of 3\nsome are negative\n"
    assert capsys.readouterr().out == once + general + once
    stats = f.stats()
    assert (stats.compiles, sum(stats.failures.values())) == (2, 1)
    assert "some are negative" not in str(f.explain(X).ir("staged"))


def test_what_fails_often_is_given_up() -> None:
    f = jitted(roots, "reference")
    for _ in range(assumptions.FAILURES + 3):
        f(-X)
    assert sum(f.stats().failures.values()) == assumptions.FAILURES
    assert f(X).tolist() == [1.0, 2.0, 3.0]
    assert f.stats().compiles == 2


def test_rare_failures_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "PATIENCE", 1)
    f = jitted(roots, "reference")
    for _ in range(assumptions.FAILURES + 3):
        for x in (-X, X, X):
            f(x)
    assert sum(f.stats().failures.values()) == assumptions.FAILURES + 3


def test_speculation_in_a_pattern() -> None:
    def f(x: Any) -> Any:
        return x.map(lambda v: np.sqrt(v) if pm.speculate(v >= 0) else -v)

    for found in (*results(f, X), *results(f, np.array([4.0, -1.0, 9.0]))):
        assert found[2] == 3.0
        assert found[1] in (2.0, 1.0)


def test_a_fault_on_the_wrong_path_is_none() -> None:
    """The index is inside where the condition holds, and is looked at before it may be."""

    def f(x: Any, i: Any) -> Any:
        if pm.speculate(i < x.shape[0]):
            return x[i]
        return -1.0

    assert results(f, X, 7) == [-1.0] * 4
    g = jitted(f)
    assert (g(X, 7), g(X, 2)) == (-1.0, 9.0)
    with pytest.raises(IndexError):
        g(X, -8)


def test_several_places_fail_one_after_the_other() -> None:
    def f(x: Any) -> Any:
        a = 1 if pm.speculate(x[0] > 0) else 2
        b = 10 if pm.speculate(x[1] > 0) else 20
        return a + b

    g = jitted(f, "reference")
    inputs = [np.array([p, q]) for p in (1.0, -1.0) for q in (1.0, -1.0)]
    assert [g(x) for x in inputs * 3] == [11, 21, 12, 22] * 3


def test_results_in_the_users_array() -> None:
    out = np.zeros(3)
    f = jitted(roots)
    assert f(-X, out=out) is out
    assert out.tolist() == [1.0, 2.0, 3.0]


# stable


def test_a_stable_value_is_a_number_on_the_second_call() -> None:
    def f(x: Any) -> Any:
        n = pm.stable(int(x.sum()))
        for _ in range(n):
            x = x + 1.0
        return x

    g = jitted(f)
    for x in (X, X, np.array([1.0, 2.0]), X, np.zeros(2), X):
        np.testing.assert_equal(g(x), x + int(x.sum()))
    program_sizes = [len(list(walk_stmts(v.body))) for v in (g.trace(X),)]
    assert program_sizes[0] < 20
    assert "pm.stable" in "".join(g.stats().failures)


def test_what_changes_too_often_stays_general() -> None:
    f = jitted(lambda x: x * pm.stable(x[0] * 2, limit=2), "reference")
    for k in range(1, 12):
        assert f(np.array([float(k)])).tolist() == [2.0 * k * k]
    assert sum(f.stats().failures.values()) == 2
    assert f.stats().compiles == 4


def test_stable_numbers_that_equal_others_are_not_relied_on() -> None:
    f = jitted(lambda x: np.ones(1) * pm.stable(x[0]), "reference")
    for value in (0.0, -0.0, np.nan, 0.0):
        for _ in range(2):
            assert repr(f(np.array([value]))) == repr(np.array([value]))


def test_stable_in_a_loop_is_refused() -> None:
    with pytest.raises(errors.Limitation, match=r"pm\.stable inside of a staged branch"):
        jitted(lambda x: x.map(lambda v: pm.stable(v)))(X)
    with pytest.raises(errors.StagingTypeError, match=r"pm\.stable of f64\[x_0\]"):
        jitted(lambda x: pm.stable(x))(X)


# slowpath


def summary(x: Any) -> Any:
    print("summary")
    if x.min() < 0:
        pm.slowpath()
        with np.errstate(all="raise"):
            return json.dumps(sorted(x.tolist()))
    return x.sum()


def test_a_call_that_leaves_runs_as_plain_python(capsys: pytest.CaptureFixture[str]) -> None:
    for found in results(summary, -X):
        assert found == "[-9.0, -4.0, -1.0]"
    assert results(summary, X) == [14.0] * 4
    capsys.readouterr()
    f = jitted(summary)
    for x in (-X, X):
        f(x)
    assert capsys.readouterr().out == "summary\n" * 2
    assert f.stats().compiles == 1


def test_leaving_whatever_happens_compiles_nothing() -> None:
    def f(x: Any) -> Any:
        pm.slowpath()
        return x.tolist()

    g = jitted(f)
    assert g(X) == g(X) == X.tolist()
    assert g.stats().compiles == 0
    with pytest.raises(errors.UserError, match="is not compiled for arguments like these"):
        g.explain(X)


def test_leaving_from_loops_patterns_and_helpers() -> None:
    def checked(v: Any) -> Any:
        if v < 0:
            pm.slowpath()
            raise KeyError(v)
        return v * 2

    def loops(x: Any) -> Any:
        total = 0.0
        for i in range(x.shape[0]):
            if x[i] > 5:
                pm.slowpath()
                return [total]
            total = total + x[i]
        return total

    for found in results(lambda x: x.map(checked), X):
        assert found.tolist() == [2.0, 8.0, 18.0]
    with pytest.raises(KeyError):
        jitted(lambda x: x.map(checked))(-X)
    assert results(loops, X) == [[5.0]] * 4
    assert results(loops, X[:2]) == [5.0] * 4


# together


def test_directives_in_a_function_that_another_one_calls() -> None:
    inner = jitted(roots)
    f = jitted(lambda x: inner(x) * 2)
    for x in (X, -X, X):
        assert f(x).tolist() == [2.0, 4.0, 6.0]
    assert inner.stats().calls == 0


def test_threads_agree() -> None:
    f = jitted(lambda x: np.sqrt(x) if pm.speculate(x.min() >= 0) else np.sqrt(np.abs(x)))
    found: list[Any] = []
    barrier = threading.Barrier(6)

    def work(k: int) -> None:
        barrier.wait()
        found.extend(f(X if (k + j) % 2 else -X).tolist() for j in range(5))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[1.0, 2.0, 3.0]] * 30


def test_without_jit_nothing_is_assumed() -> None:
    f = jitted(summary)
    with pm.disable_jit():
        assert f(-X) == "[-9.0, -4.0, -1.0]"
        assert pm.stable(3) == pm.static(3) == pm.freeze(3) == 3
        assert pm.speculate(False) is False
    assert f.stats().calls == 0
