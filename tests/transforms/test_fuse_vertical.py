"""Producers join their consumers, and twins where they must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.transforms.eliminate_dead_code import eliminate_dead_code
from parloom.transforms.fuse_vertical import fuse_vertical
from tests.transforms.structure import (
    Collect,
    Fold,
    Reduce,
    Scan,
    apply,
    arrays_over,
    declined,
    loop_of,
    loops,
    program,
    shape_of,
)

X = np.array([0.5, -1.0, 2.0, np.nan, 3.0])
EMPTY = np.zeros(0)
ROOTS = """
  b: f64[n] = loop (i < n) {
    v: f64 = x[i]
    w: f64 = sqrt(v)
    collect w
  }"""
KEPT = """
  m: i64~, b: f64[m] = loop (i < n) {
    v: f64 = x[i]
    c: bool = v > 0.0_f64
    where c: collect v
  }"""


@pytest.mark.parametrize("x", [X, EMPTY])
@pytest.mark.parametrize(
    ("consumer", "generator"),
    [
        ("s: f64 = loop (j < n) {\n v: f64 = b[j]\n reduce sum (v)\n }", Reduce),
        ("s: f64[n] = loop (j < n) {\n v: f64 = b[j]\n w: f64 = v + v\n collect w\n }", Collect),
        (
            "s: f64[3] = loop (j < n) {\n v: f64 = b[j]\n k: i64~ = j % 3\n"
            " fold sum into [3] (k: v)\n }",
            Fold,
        ),
    ],
)  # fmt: skip
def test_every_consumer(consumer: str, generator: type, x: np.ndarray) -> None:
    before = program(f"program f(n; x: f64[n]) {{{ROOTS}\n{consumer}\nreturn s\n}}")
    merged = apply(fuse_vertical, before, x)
    after = apply(eliminate_dead_code, merged, x)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [generator]
    assert len(arrays_over(after.body, after.sizes[0])) == (generator is Collect)


def test_the_array_stays_when_it_is_a_result() -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{ROOTS}\n"
        "s: f64 = loop (j < n) {\n v: f64 = b[j]\n reduce sum (v)\n }\nreturn b, s\n}"
    )
    after = apply(eliminate_dead_code, apply(fuse_vertical, before, X), X)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [Collect, Reduce]


def test_rows_join_a_loop_over_rows() -> None:
    """The producer over (n, d) becomes a loop over n; its rows live inside of the merged loop."""
    before = program("""
        program f(n, d; x: f64[n, d]) {
          b: f64[n, d] = loop (i < n, t < d) {
            v: f64 = x[i, t]
            w: f64 = exp(v)
            collect w
          }
          s: f64[n] = loop (i < n) {
            r: f64 = loop (t < d) {
              v: f64 = b[i, t]
              reduce sum (v)
            }
            collect r
          }
          return s
        }""")
    merged = apply(fuse_vertical, before, np.ones((4, 3)))
    after = apply(eliminate_dead_code, apply(fuse_vertical, merged), np.ones((4, 3)))
    (loop,) = loops(after.body)
    assert len(loop_of(loop).domain) == 1
    assert len(arrays_over(after.body, after.sizes[0])) == 1


@pytest.mark.parametrize(
    ("consumer", "reason"),
    [
        ("j: i64~ = n - i\n k: i64~ = j - 1\n v: f64 = b[k]", "the consumer needs the whole"),
        ("v: f64 = b[0]?", "the consumer needs the whole"),
    ],
)
def test_not_at_another_index(consumer: str, reason: str) -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{ROOTS}\n"
        f"s: f64 = loop (i < n) {{\n {consumer}\n reduce sum (v)\n }}\nreturn s\n}}"
    )
    after = apply(fuse_vertical, before, X)
    assert len(loops(after.body)) == 2
    assert any(r.startswith(reason) for r in declined(fuse_vertical, before))


def test_not_across_a_reduction() -> None:
    before = program("""
        program f(n; x: f64[n]) {
          s: f64 = loop (i < n) {
            v: f64 = x[i]
            reduce sum (v)
          }
          b: f64[n] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = v / s
            collect w
          }
          return b
        }""")
    assert len(loops(apply(fuse_vertical, before, X).body)) == 2
    assert declined(fuse_vertical, before) == [
        "what the producer combines is complete only after its loop"
    ]


def test_a_scan_takes_a_map_in_and_ends_its_loop() -> None:
    before = program(f"""
        program f(n; x: f64[n]) {{{ROOTS}
          s: f64[n] = loop (j < n) {{
            v: f64 = b[j]
            scan sum (v)
          }}
          c: f64[n] = loop (k < n) {{
            v: f64 = s[k]
            w: f64 = v + v
            collect w
          }}
          return c
        }}""")
    after = apply(eliminate_dead_code, apply(fuse_vertical, before, X), X)
    assert [shape_of(loop) for loop in loops(after.body)] == [[Scan], [Collect]]
    (reason,) = declined(fuse_vertical, before)
    assert reason == "what the producer combines is complete only after its loop"


def test_a_scan_stays_behind_a_filter() -> None:
    before = program(f"""
        program f(n; x: f64[n]) {{{KEPT}
          s: f64[m] = loop (j < m) {{
            v: f64 = b[j]
            scan sum (v)
          }}
          return s
        }}""")
    assert len(loops(apply(fuse_vertical, before, X).body)) == 2
    assert declined(fuse_vertical, before) == ["a scan runs over all that the filter keeps"]


def test_not_across_a_statement_that_needs_the_array() -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{ROOTS}\n"
        "t: f64 = b[0]?\n"
        "s: f64 = loop (j < n) {\n v: f64 = b[j]\n w: f64 = v * t\n reduce sum (w)\n }\n"
        "return s\n}"
    )
    assert len(loops(apply(fuse_vertical, before, X).body)) == 2
    assert declined(fuse_vertical, before) == ["a statement between them needs the whole array"]


def test_not_in_front_of_a_check() -> None:
    """The consumer's reads may rest on the check, so the producer moves behind it."""
    before = program(
        f"program f(n; x: f64[n]) {{{ROOTS}\n"
        'c: bool = n < 9\ncheck c else ValueError("long")\n'
        "s: f64 = loop (j < n) {\n v: f64 = b[j]\n reduce sum (v)\n }\nreturn s\n}"
    )
    after = apply(fuse_vertical, before, X)
    assert [type(s.op).__name__ for s in after.body.stmts] == ["Apply", "Check", "MultiLoop"]


@pytest.mark.parametrize("x", [X, EMPTY])
def test_a_filter_is_a_condition(x: np.ndarray) -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{KEPT}\n"
        "s: f64 = loop (j < m) {\n v: f64 = b[j]\n c: bool = v < 1.0_f64\n"
        " where c: reduce sum (v)\n }\nreturn s\n}"
    )
    after = apply(eliminate_dead_code, apply(fuse_vertical, before, x), x)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [Reduce]
    assert loop_of(loop).generators[0].cond is not None
    assert arrays_over(after.body, after.sizes[0]) == []


@pytest.mark.parametrize("x", [X, EMPTY])
def test_the_length_of_a_fused_filter_is_counted(x: np.ndarray) -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{KEPT}\n"
        "s: f64 = loop (j < m) {\n v: f64 = b[j]\n reduce sum (v)\n }\nreturn s, m\n}"
    )
    after = apply(eliminate_dead_code, apply(fuse_vertical, before, x), x)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [Reduce, Reduce]


def test_a_map_over_a_filter_is_a_filter() -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{KEPT}\n"
        "z: f64[m] = loop (j < m) {\n v: f64 = b[j]\n w: f64 = sqrt(v)\n collect w\n }\n"
        "s: f64 = loop (j < m) {\n v: f64 = z[j]\n reduce max (v)\n }\nreturn s, m\n}"
    )
    once = apply(eliminate_dead_code, apply(fuse_vertical, before, X), X)
    after = apply(eliminate_dead_code, apply(fuse_vertical, once, X), X)
    (loop,) = loops(after.body)
    assert set(shape_of(loop)) == {Reduce}


def test_a_filter_of_rows_is_a_filter_for_what_runs_over_all_axes() -> None:
    x = np.arange(12.0).reshape(4, 3)

    def above(row: Any) -> Any:
        return row[0] > 1

    def roots(x: Any) -> Any:
        return np.sqrt(x[:].rows.filter(above).map(abs))

    f: Any = pm.jit(roots)
    np.testing.assert_array_equal(f(x), np.sqrt(x[1:]))
    assert f.explain(x).ir("fused").count("loop (i < x_0)") == 1


def test_a_filter_joins_one_consumer_at_a_time() -> None:
    before = program(f"""
        program f(n; x: f64[n]) {{{KEPT}
          z: f64[m] = loop (j < m) {{
            v: f64 = b[j]
            w: f64 = sqrt(v)
            collect w
          }}
          s: f64 = loop (i < n) {{
            v: f64 = x[i]
            reduce sum (v)
          }}
          t: f64 = loop (i < n) {{
            v: f64 = x[i]
            w: f64 = v / s
            reduce sum (w)
          }}
          return z, t
        }}""")
    assert len(loops(apply(fuse_vertical, before, X).body)) == 3


def test_a_merged_filter_is_not_merged_again_at_once() -> None:
    before = program("""
        program f(n; x: f64[n]) {
          a: f64[n], m: i64~, b: f64[m] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = exp(v)
            c: bool = v > 0.0_f64
            collect w
            where c: collect v
          }
          z: f64 = loop (j < m) {
            v: f64 = b[j]
            reduce sum (v)
          }
          s: f64 = loop (i < n) {
            v: f64 = a[i]
            reduce sum (v)
          }
          return z, s
        }""")
    once = apply(fuse_vertical, before, X)
    assert len(loops(once.body)) == 2
    assert len(loops(apply(fuse_vertical, once, X).body)) == 1


def test_faulting_work_stays_behind_the_filter() -> None:
    """y has one element: reading it at an index that the filter drops would raise."""
    before = program("""
        program f(n, k; x: i64[n], y: f64[k]) {
          m: i64~, b: i64[m] = loop (i < n) {
            v: i64 = x[i]
            c: bool = v == 0_i64
            where c: collect v
          }
          s: f64 = loop (j < m) {
            v: i64 = b[j]
            w: f64 = y[v]?
            c: bool = w < 2.0_f64
            where c: reduce sum (w)
          }
          return s
        }""")
    x, y = np.array([5, 0, 7, 0]), np.array([1.5])
    after = apply(eliminate_dead_code, apply(fuse_vertical, before, x, y), x, y)
    (loop,) = loops(after.body)
    assert [type(s.op).__name__ for s in loop_of(loop).body.stmts] == ["Index", "Apply", "If"]


def test_not_when_the_new_position_is_used() -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{KEPT}\n"
        "s: f64 = loop (j < m) {\n v: f64 = b[j]\n k: f64 = j as f64\n w: f64 = v * k\n"
        " reduce sum (w)\n }\nreturn s\n}"
    )
    assert len(loops(apply(fuse_vertical, before, X).body)) == 2
    assert declined(fuse_vertical, before) == [
        "the position among the kept elements is used, which only the filter counts"
    ]


def test_not_when_two_arrays_share_the_length() -> None:
    before = program(
        f"program f(n; x: f64[n]) {{{KEPT}\n"
        "z: f64[m] = loop (j < m) {\n v: f64 = b[j]\n w: f64 = sqrt(v)\n collect w\n }\n"
        "return b, z\n}"
    )
    assert len(loops(apply(fuse_vertical, before, X).body)) == 2
    assert declined(fuse_vertical, before) == [
        "two arrays of the filter's length would each need a length of their own"
    ]
