"""Writes at computed positions against NumPy, on every target, whole and in chunks of two."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.generators import Conflict, MultiLoop, Scatter
from parloom.staging.errors import CheckFailed
from parloom.staging.traversal import walk_stmts
from parloom.transforms import cpu_levels
from tests.transforms.structure import program

Function = Callable[..., Any]
TARGETS = ("reference", "python", "cpu")
X = np.random.default_rng(1).normal(size=8)
K = np.array([1, -1, 3, 1, 0, 7])
V = np.random.default_rng(2).normal(size=6)
MASK = X > 0
KEPT = V[: int(MASK.sum())]
M = np.random.default_rng(3).normal(size=(4, 5))
I, J = np.array([1, -1, 3, 1, 0, 2]), np.array([0, 1, 2, 0, -1, 3])


@pytest.fixture(autouse=True)
def _chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are cut where there is anything to cut."""
    monkeypatch.setattr(cpu_levels, "CHUNK", 2)


def written(f: Function) -> Function:
    """The function that writes to a copy of its first argument."""

    def copied(x: Any, *rest: Any) -> Any:
        a = x.copy()
        f(a, *rest)
        return a

    return copied


def agree(f: Function, *args: Any) -> None:
    """A function that writes to its first argument does so as NumPy does."""
    jitted: Any = pm.jit(written(f))
    expected = written(f)(*args)
    for target in TARGETS:
        found = jitted.on(target)(*args)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=target)


def store(a: Any, k: Any, v: Any) -> None:
    a[k] = v


def add(a: Any, k: Any, v: Any) -> None:
    a[k] += v


def of_a_view(a: Any, k: Any, v: Any) -> None:
    a[::2][k[:1]] = v[0]


def swapped(a: Any, k: Any, v: Any) -> None:
    a[k] = a[k][::-1] + v


def again_and_again(a: Any, k: Any, v: Any) -> None:
    for i in range(3):
        a[k] = v * i
        np.add.at(a, k, v)


def under_a_condition(a: Any, k: Any, v: Any) -> None:
    if v[0] > 0:
        a[k] = v


def columns(a: Any, k: Any, v: Any) -> None:
    a[:, k] = v


VECTORS: list[Function] = [
    store,
    add,
    of_a_view,
    swapped,
    again_and_again,
    under_a_condition,
    lambda a, k, v: np.put(a, k, v),
    lambda a, k, v: np.put(a, k, [1, 2]),
    lambda a, k, v: np.add.at(a, k, v),
    lambda a, k, v: np.multiply.at(a, k, 2),
    lambda a, k, v: np.maximum.at(a, k, v),
    lambda a, k, v: np.subtract.at(a, k, v),
]


@pytest.mark.parametrize("f", VECTORS)
def test_positions(f: Function) -> None:
    agree(f, X, K, V)


def test_masks() -> None:
    agree(store, X, MASK, KEPT)
    agree(store, X, MASK, 2)
    agree(add, X, MASK, KEPT)
    agree(store, M, M > 0.2, np.arange(float((M > 0.2).sum())))
    agree(columns, M, np.array([True, False, True, False, False]), M[:, :2] + 1)


def test_a_mask_takes_as_many_values_as_it_keeps() -> None:
    with pytest.raises(ValueError, match="an assignment"):
        pm.jit(written(store))(X, MASK, V[:4])


def test_several_axes() -> None:
    agree(store, M, I, np.random.default_rng(5).normal(size=(6, 5)))
    agree(store, M, I, M[0])
    agree(columns, M, J, 1.5)
    agree(lambda a, i, j, v: store(a, (i, j), v), M, I, J, V)
    agree(lambda a, i, j, v: np.add.at(a, (i, j), v), M, I, J, V)
    agree(lambda a, k: np.put_along_axis(a, k, 9.0, 1), M, np.array([[0], [4], [-1], [2]]))
    agree(lambda a, k: np.put_along_axis(a, k, 9.0, 0), M, np.array([[0, 1, 3, -1, 2]]))
    agree(lambda a, k: np.put(a, k, 9.0), M, np.array([0, 19, -2]))


def test_values_take_the_arrays_dtype() -> None:
    agree(store, np.arange(8), K, V * 10)
    agree(lambda a, k: np.add.at(a, k, 1), np.arange(8, dtype=np.int8), K)
    agree(lambda a, k, v: np.add.at(a, k, v), X.astype(np.float32), K, V)


@pytest.mark.parametrize("target", TARGETS)
def test_outside(target: str) -> None:
    with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 8"):
        pm.jit(written(store)).on(target)(X, np.array([0, 8]), 1)
    with pytest.raises(IndexError):
        pm.jit(written(of_a_view)).on(target)(X, np.array([4]), V)
    with pytest.raises(IndexError):
        pm.jit(lambda x, k: x[2:5][k]).on(target)(X, np.array([3]))


@pytest.mark.parametrize("target", ["eager", *TARGETS])
def test_scatter_says_what_a_conflict_means(target: str) -> None:
    def f(x: Any, k: Any, v: Any, conflict: str) -> Any:
        return pm.scatter(x, k, v, conflict)

    jitted: Any = pm.jit(f, static_argnames="conflict")
    run: Function = jitted.eager if target == "eager" else jitted.on(target)
    x, k, v = np.zeros(4), np.array([2, 0, 2]), np.array([1.0, 2.0, 3.0])
    assert run(x, k, v, "last").tolist() == [2, 0, 3, 0]
    assert run(x, k, v, "first").tolist() == [2, 0, 1, 0]
    assert run(x, k[:2], v[:2], "unique").tolist() == [2, 0, 1, 0]
    with pytest.raises(CheckFailed, match="values 0 and 2 both go to place 2"):
        run(x, k, v, "unique")
    with pytest.raises(pm.UserError, match="conflict='other'"):
        run(x, k, v, "other")


def conflicts(f: Function, *args: Any) -> list[Conflict]:
    """Those of the scatters that the staged function has."""
    body = pm.jit(f).trace(*args).body
    loops = [s.op for s in walk_stmts(body) if isinstance(s.op, MultiLoop)]
    return [g.conflict for loop in loops for g in loop.generators if isinstance(g, Scatter)]


def test_what_a_mask_keeps_goes_to_different_places() -> None:
    assert conflicts(written(store), X, MASK, KEPT) == [Conflict.PROVEN]
    assert conflicts(lambda x, k: pm.scatter(x, k, 1.0), X, K) == [Conflict.LAST]


def test_the_last_value_is_found_in_order() -> None:
    report: Any = pm.jit(lambda x, k, v: pm.scatter(x, k, v)).explain(X, K, V)
    reasons = [d.reason for d in report.decisions if d.id.startswith("cpu_levels.order")]
    assert "several values may go to one place: one chunk" in reasons


def test_loops_write_in_place() -> None:
    from parloom.transforms.analyses.storage import find_reuse

    p = program("""
        program f(n; x: f64[n], k: i64[n]) {
          z: f64[n] = loop (i < n) {
            collect 0.0_f64
          }
          r: f64[n] = for (u < 3; a: f64[n] = z) {
            b: f64[n] = loop (i < n) {
              v: f64 = x[i]
              at: i64 = k[i]
              scatter last into a? (at: v)
            }
            yield b
          }
          c: f64[n] = loop (i < n) {
            v: f64 = r[i]
            at: i64 = k[i]
            scatter last into r? (at: v)
          }
          return c
        }""")
    assert sorted(v.name for v in find_reuse(p).taken) == ["b"]
