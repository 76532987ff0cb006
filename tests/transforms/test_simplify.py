"""Cleaning: what goes, what moves, and what must stay where it is."""

from __future__ import annotations

import numpy as np
import pytest

from parloom.patterns.reference import interpret
from parloom.staging.nodes import Apply, Check, If, Index
from parloom.staging.traversal import walk_stmts
from parloom.transforms.convert_branches import convert_branches
from parloom.transforms.eliminate_dead_code import eliminate_dead_code
from parloom.transforms.hoist_invariants import hoist_invariants
from parloom.transforms.share_generators import share_generators
from parloom.transforms.simplify import simplify
from tests.transforms.structure import Reduce, apply, arrays_over, loop_of, loops, program, shape_of

X = np.array([0.5, -1.0, 2.0])


# Dead code.


def test_a_check_stays() -> None:
    before = program("""
        program f(x: f64) {
          a: f64 = x + 1.0_f64
          c: bool = x > 0.0_f64
          check c else ValueError("no")
          return x
        }""")
    after = apply(eliminate_dead_code, before, np.float64(1))
    assert [type(s.op) for s in after.body.stmts] == [Apply, Check]


def test_a_loop_that_only_checks_stays() -> None:
    before = program("""
        program f(n; x: f64[n]) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]
            c: bool = v > -2.0_f64
            check c else ValueError("no")
            collect v
          }
          return n
        }""")
    after = apply(eliminate_dead_code, before, X)
    assert shape_of(loops(after.body)[0]) == [Reduce]
    assert arrays_over(after.body, after.sizes[0]) == []
    with pytest.raises(ValueError, match="no"):
        interpret(after, [-9 * X])


def test_a_filter_of_which_only_the_length_is_needed_is_a_count() -> None:
    before = program("""
        program f(n; x: f64[n]) {
          m: i64~, ys: f64[m] = loop (i < n) {
            v: f64 = x[i]
            c: bool = v > 0.0_f64
            where c: collect v
          }
          return m
        }""")
    after = apply(eliminate_dead_code, before, X)
    assert shape_of(loops(after.body)[0]) == [Reduce]
    assert arrays_over(after.body, after.sizes[0]) == []


# Invariants.


@pytest.mark.parametrize("x", [X, np.zeros(0)])
def test_a_nested_loop_moves_as_a_whole(x: np.ndarray) -> None:
    before = program("""
        program f(n, m; x: f64[n], y: f64[m]) {
          ys: f64[n] = loop (i < n) {
            s: f64 = loop (j < m) {
              v: f64 = y[j]
              reduce sum (v)
            }
            v: f64 = x[i]
            w: f64 = v * s
            collect w
          }
          return ys
        }""")
    after = apply(hoist_invariants, before, x, X)
    assert [len(loop_of(s).body.stmts) for s in loops(after.body)] == [1, 2]


@pytest.mark.parametrize("read", ["y[0]?", "y[0]"])
def test_a_read_stays_in_a_loop_that_may_run_zero_times(read: str) -> None:
    """Also one that was proven inside where it stands: y may be empty where x is."""
    before = program(f"""
        program f(n, m; x: f64[n], y: f64[m]) {{
          ys: f64[n] = loop (i < n) {{
            v: f64 = x[i]
            a: f64 = {read}
            w: f64 = v * a
            collect w
          }}
          return ys
        }}""")
    after = apply(hoist_invariants, before, np.zeros(0), np.zeros(0))
    assert len(after.body.stmts) == 1


def test_a_reduction_that_may_raise_stays() -> None:
    before = program("""
        program f(n, m; x: f64[n], y: f64[m]) {
          ys: f64[n] = loop (i < n) {
            s: f64 = loop (j < m) {
              v: f64 = y[j]
              reduce max (v)
            }
            collect s
          }
          return ys
        }""")
    assert len(loops(apply(hoist_invariants, before, np.zeros(0), np.zeros(0)).body)) == 1


def test_work_in_a_branch_stays() -> None:
    before = program("""
        program f(n; x: f64[n], b: f64) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]
            c: bool = v > 0.0_f64
            w: f64 = if c {
              e: f64 = exp(b)
              yield e
            } else (v)
            collect w
          }
          return ys
        }""")
    after = apply(hoist_invariants, before, X, np.float64(2))
    assert len(after.body.stmts) == 1


def test_work_of_a_while_loop_moves() -> None:
    before = program("""
        program f(n; x: f64[n], b: f64) {
          r: f64 = while (s: f64 = b) {
            c: bool = s < 9.0_f64
            yield c
          } do (s: f64) {
            t: f64 = loop (i < n) {
              v: f64 = x[i]
              w: f64 = absolute(v)
              reduce sum (w)
            }
            u: f64 = s + t
            yield u
          }
          return r
        }""")
    after = apply(hoist_invariants, before, X, np.float64(1))
    assert len(loops(after.body)) == 1


# Branches.


def test_a_branch_that_may_fault_stays() -> None:
    before = program("""
        program f(n; x: f64[n], k: i64) {
          c: bool = k >= 0_i64
          y: f64 = if c {
            v: f64 = x[k]?
            yield v
          } else (0.0_f64)
          return y
        }""")
    after = apply(convert_branches, before, X, np.int64(-1))
    assert any(isinstance(s.op, If) for s in after.body.stmts)


def test_a_branch_with_a_loop_stays() -> None:
    before = program("""
        program f(n; x: f64[n], c: bool) {
          y: f64 = if c {
            s: f64 = loop (i < n) {
              v: f64 = x[i]
              reduce sum (v)
            }
            yield s
          } else (0.0_f64)
          return y
        }""")
    after = apply(convert_branches, before, X, np.True_)
    assert any(isinstance(s.op, If) for s in after.body.stmts)


# Copies.


def test_a_copy_of_an_argument_stays() -> None:
    """Results never are arguments."""
    before = program("""
        program f(n; x: f64[n]) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]
            collect v
          }
          return ys
        }""")
    assert len(loops(apply(share_generators, before, X).body)) == 1


def test_a_copy_of_a_result_stays() -> None:
    before = program("""
        program f(n; x: f64[n]) {
          a: f64[n] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = exp(v)
            collect w
          }
          b: f64[n] = loop (i < n) {
            v: f64 = a[i]
            collect v
          }
          return a, b
        }""")
    assert len(loops(apply(share_generators, before, X).body)) == 2


# All together.


def test_simplify_twice_is_simplify_once() -> None:
    before = program("""
        program f(n; x: f64[n], k: i64) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]?
            c: bool = k > 3_i64
            w: f64 = if c {
              a: f64 = v * 1.0_f64
              yield a
            } else (0.0_f64)
            z: i64 = k * 0_i64
            d: f64 = z as f64
            collect w
          }
          return ys
        }""")
    once = apply(simplify, before, X, np.int64(4))
    assert apply(simplify, once, X, np.int64(4)).body.stmts[-1].op is not None
    ops = [type(s.op) for s in walk_stmts(once.body)]
    assert ops.count(If) == 0
    assert ops.count(Index) == 1
    twice = simplify(once)
    assert [type(s.op) for s in walk_stmts(twice.body)] == ops
