"""Reductions of columns become reductions of rows, and twins where they must not."""

from __future__ import annotations

import numpy as np
import pytest

from parloom.staging.nodes import Program
from parloom.transforms.interchange_reduce import interchange_reduce
from parloom.transforms.simplify import simplify
from tests.transforms.structure import (
    Reduce,
    apply,
    count,
    declined,
    loop_of,
    loops,
    program,
    shape_of,
)

EXPENSIVE = "b: f64 = x[0, j]?\nw: f64 = exp(b)"
X = np.random.default_rng(0).normal(size=(6, 3))


def _columns(
    inner: str = "v: f64 = x[i, j]", reducer: str = "sum", outer: str = "", result: str = "s"
) -> Program:
    return program(f"""
        program f(n, d; x: f64[n, d]) {{
          ys: f64[d] = loop (j < d) {{
            {outer}
            s: f64 = loop (i < n) {{
              {inner}
              reduce {reducer} (v)
            }}
            e: f64 = s + 1.0_f64
            collect {result}
          }}
          return ys
        }}""")


@pytest.mark.parametrize("shape", [(6, 3), (0, 3), (6, 0), (0, 0), (1, 1)])
def test_rows(shape: tuple[int, int]) -> None:
    x = np.random.default_rng(0).normal(size=shape)
    after = apply(simplify, apply(interchange_reduce, _columns(), x), x)
    (loop,) = loops(after.body)
    assert shape_of(loop) == [Reduce]
    assert loop_of(loop).domain == (after.sizes[0],)


def test_what_follows_the_reduction_stays_behind() -> None:
    after = apply(simplify, apply(interchange_reduce, _columns(result="e"), X), X)
    assert [loop_of(s).domain[0] for s in loops(after.body)] == list(after.sizes)


def test_work_of_the_row_is_done_once() -> None:
    """The dot product does not depend on the column."""
    inner = """u: f64 = x[i, j]
        p: f64 = loop (t < d) {
          w: f64 = x[i, t]
          reduce sum (w)
        }
        g: f64 = exp(p)
        v: f64 = u * g"""
    after = apply(interchange_reduce, _columns(inner), X)
    rows = loop_of(loops(after.body)[0])
    assert len(loops(rows.body)) == 2
    assert sum(len(loops(loop_of(s).body)) for s in loops(rows.body)) == 0


def test_two_outer_indices() -> None:
    before = program("""
        program f(n, d; x: f64[n, d]) {
          ys: f64[d, d] = loop (a < d, b < d) {
            s: f64 = loop (i < n) {
              v: f64 = x[i, a]
              w: f64 = x[i, b]
              q: f64 = v * w
              reduce sum (q)
            }
            collect s
          }
          return ys
        }""")
    after = apply(simplify, apply(interchange_reduce, before, X), X)
    (loop,) = loops(after.body)
    (rows,) = loops(loop_of(loop).body)
    assert len(loop_of(rows).domain) == 2


def test_a_second_reduction_that_needs_the_first() -> None:
    """The variance: its cheap work on the mean is repeated for every row."""
    before = program("""
        program f(n, d; x: f64[n, d]) {
          count: f64 = n as f64
          ys: f64[d] = loop (j < d) {
            s: f64 = loop (i < n) {
              v: f64 = x[i, j]
              reduce sum (v)
            }
            m: f64 = s / count
            q: f64 = loop (i < n) {
              v: f64 = x[i, j]
              a: f64 = v - m
              b: f64 = a * a
              reduce sum (b)
            }
            collect q
          }
          return ys
        }""")
    after = apply(simplify, apply(interchange_reduce, before, X), X)
    assert [loop_of(s).domain for s in loops(after.body)] == [(after.sizes[0],)] * 2


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (_columns(reducer="max"), "the reducer has no identity"),
        (
            _columns("a: f64 = x[i, j]\nv: f64 = a * w", outer=EXPENSIVE),
            "the value's computation in the outer loop",
        ),
    ],
)
def test_twins(before: Program, reason: str) -> None:
    after = apply(interchange_reduce, before, X)
    assert len(loops(after.body)) == 1
    reasons = declined(interchange_reduce, before)
    assert len(reasons) == 1
    assert reasons[0].startswith(reason)


def test_not_where_reads_run_along_rows_already() -> None:
    before = program("""
        program f(n, d; x: f64[n, d]) {
          ys: f64[n] = loop (i < n) {
            s: f64 = loop (t < d) {
              v: f64 = x[i, t]
              reduce sum (v)
            }
            collect s
          }
          return ys
        }""")
    assert len(loops(apply(interchange_reduce, before, X).body)) == 1
    assert count(apply(interchange_reduce, before, X).body, Reduce) == 1
    assert declined(interchange_reduce, before) == [
        "the reads do not run along rows when the outer index moves fastest"
    ]


def test_not_inside_another_loop() -> None:
    before = program("""
        program f(n, d; x: f64[n, d]) {
          zs: f64[3, d] = loop (r < 3) {
            f: f64 = r as f64
            ys: f64[d] = loop (j < d) {
              s: f64 = loop (i < n) {
                v: f64 = x[i, j]
                w: f64 = v * f
                reduce sum (w)
              }
              collect s
            }
            collect ys
          }
          return zs
        }""")
    after = apply(interchange_reduce, before, X)
    assert len(loops(loop_of(loops(after.body)[0]).body)) == 1
    assert declined(interchange_reduce, before) == [
        "inside another loop the reduction stays in a register"
    ]
