"""Reductions under `key == j` become one fold by key, and twins where they must not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging.nodes import Bounds, Program
from parloom.transforms.reduce_conditionally import reduce_conditionally
from parloom.transforms.simplify import simplify
from tests.transforms.structure import (
    Fold,
    Reduce,
    apply,
    count,
    declined,
    loop_of,
    loops,
    outcome,
    program,
)

KEYS = np.array([0, 2, -1, 2, 5, 1, 0])
X = np.array([0.5, -1.0, 2.0, np.nan, 3.0, -0.0, 0.1])
R = np.zeros(4)


def _sums(
    inner: str = "", value: str = "v", *, key: str = "i64", reducer: str = "sum", outer: str = ""
) -> Program:
    """Of the values whose key is j, for every j below k; `inner` may redefine v and c."""
    return program(f"""
        program f(n, k; x: f64[n], key: {key}[n], r: f64[k]) {{
          ys: f64[k] = loop (j < k) {{
            own: {key} = j as {key}
            {outer}
            s: f64 = loop (i < n) {{
              l: {key} = key[i]
              c: bool = l == own
              v: f64 = x[i]
              {inner}
              where c: reduce {reducer} ({value})
            }}
            collect s
          }}
          return ys
        }}""")


def _fold(after: Program) -> Fold:
    first, second = loops(after.body)
    (generator,) = loop_of(first).generators
    assert isinstance(generator, Fold)
    assert count(second.op.body, Reduce) == 0  # type: ignore[attr-defined]
    return generator


@pytest.mark.parametrize("reducer", ["sum", "prod"])
@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("k", [0, 1, 4])
def test_one_fold(reducer: str, n: int, k: int) -> None:
    after = apply(reduce_conditionally, _sums(reducer=reducer), X[:n], KEYS[:n], R[:k])
    fold = _fold(after)
    assert fold.bounds is Bounds.PROVEN
    assert fold.cond is not None  # the keys are data: tested against the range


def test_other_conditions_stay() -> None:
    inner = "p: bool = v > 0.0_f64\nboth: bool = p and c\nw: f64 = select(both, v, 0.0_f64)"
    before = program(f"""
        program f(n, k; x: f64[n], key: i64[n], r: f64[k]) {{
          ys: f64[k] = loop (j < k) {{
            s: f64 = loop (i < n) {{
              l: i64 = key[i]
              own: i64 = j as i64
              c: bool = l == own
              v: f64 = x[i]
              {inner}
              reduce sum (w)
            }}
            collect s
          }}
          return ys
        }}""")
    assert _fold(apply(reduce_conditionally, before, X, KEYS, R)).cond is not None


def test_a_key_that_is_in_the_range_is_not_tested() -> None:
    """argmin's index over the k centroids."""
    before = program("""
        program f(n, k; x: f64[n], mu: f64[k]) {
          label: i64[n] = loop (i < n) {
            v: f64 = x[i]
            best: f64, at: i64 = loop (j < k) {
              m: f64 = mu[j]
              d: f64 = v - m
              q: f64 = d * d
              jj: i64 = j as i64
              reduce argmin (q, jj)
            }
            collect at
          }
          ys: f64[k] = loop (j < k) {
            own: i64 = j as i64
            s: f64 = loop (i < n) {
              l: i64 = label[i]
              c: bool = l == own
              v: f64 = x[i]
              where c: reduce sum (v)
            }
            collect s
          }
          return ys
        }""")
    after = apply(reduce_conditionally, before, X, np.array([-1.0, 0.0, 2.0]))
    (generator,) = loop_of(loops(after.body)[1]).generators
    assert isinstance(generator, Fold)
    assert generator.cond is None


@pytest.mark.parametrize(
    ("value", "type_"), [("select(c, v, 0.0_f64)", "f64"), ("c as i64", "i64")]
)
def test_a_sum_of_selected_values(value: str, type_: str) -> None:
    before = program(f"""
        program f(n, k; x: f64[n], key: i64[n], r: f64[k]) {{
          ys: {type_}[k] = loop (j < k) {{
            s: {type_} = loop (i < n) {{
              l: i64 = key[i]
              own: i64 = j as i64
              c: bool = l == own
              v: f64 = x[i]
              w: {type_} = {value}
              reduce sum (w)
            }}
            collect s
          }}
          return ys
        }}""")
    assert _fold(apply(reduce_conditionally, before, X, KEYS, R))


def test_another_outer_index_becomes_a_dimension_of_the_value() -> None:
    before = program("""
        program f(n, d, k; x: f64[n, d], key: i64[n], r: f64[k]) {
          ys: f64[k, d] = loop (j < k, t < d) {
            s: f64 = loop (i < n) {
              l: i64 = key[i]
              own: i64 = j as i64
              c: bool = l == own
              v: f64 = x[i, t]
              where c: reduce sum (v)
            }
            collect s
          }
          return ys
        }""")
    x = np.random.default_rng(0).normal(size=(7, 3))
    fold = _fold(apply(reduce_conditionally, before, x, KEYS, R))
    assert len(fold.shape) == 1


def test_rows_of_an_array_value() -> None:
    before = program("""
        program f(n, d, k; x: f64[n, d], key: i64[n], r: f64[k]) {
          ys: f64[k, d] = loop (j < k) {
            s: f64[d] = loop (i < n) {
              l: i64 = key[i]
              own: i64 = j as i64
              c: bool = l == own
              where c: reduce sum {
                row: f64[d] = loop (t < d) {
                  v: f64 = x[i, t]
                  collect v
                }
                yield row
              }
            }
            collect s
          }
          return ys
        }""")
    x = np.random.default_rng(0).normal(size=(7, 3))
    assert _fold(apply(simplify, apply(reduce_conditionally, before, x, KEYS, R), x, KEYS, R))


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (_sums(key="f64"), "the key is no integer"),
        (_sums("w: f64 = r[j]\nu: f64 = v * w", "u"), "the value depends on the outer"),
        (_sums(reducer="max"), "the reducer has no identity"),
        (_sums(outer="e: f64 = r[j]\ng: f64 = exp(e)"), ""),
    ],
)
def test_twins(before: Program, reason: str) -> None:
    keys = KEYS.astype(before.params[1].type.element.dtype)  # type: ignore[union-attr]
    after = apply(reduce_conditionally, before, X, keys, R[:3])
    reasons = declined(reduce_conditionally, before)
    if reason:
        assert count(after.body, Fold) == 0
        assert reasons
        assert reasons[0].startswith(reason)
    else:
        assert count(after.body, Fold) == 1


def test_not_by_an_index_that_wraps() -> None:
    """As u8 the indices 0 and 256 are one: every key would stand for several of them."""
    before = _sums(key="u8")
    r = np.zeros(300)
    after = apply(reduce_conditionally, before, X, KEYS.astype(np.uint8), r)
    assert count(after.body, Fold) == 0


def _lookup(k: int) -> tuple[Program, list[Any]]:
    before = program("""
        program f(n, m, k; x: f64[n], at: i64[n], table: i64[m], r: f64[k]) {
          ys: f64[k] = loop (j < k) {
            own: i64 = j as i64
            s: f64 = loop (i < n) {
              a: i64 = at[i]
              l: i64 = table[a]?
              c: bool = l == own
              v: f64 = x[i]
              where c: reduce sum (v)
            }
            collect s
          }
          return ys
        }""")
    return before, [X, KEYS, np.array([0, 1]), R[:k]]


def test_no_fault_may_appear() -> None:
    """Without any j the keys are never looked up, so their fault must not be hoisted."""
    before, arguments = _lookup(0)
    assert isinstance(outcome(before, arguments), list)
    after = apply(reduce_conditionally, before, *arguments)
    assert count(after.body, Fold) == 0
    assert declined(reduce_conditionally, before) == [
        "the key's computation may fault, and the outer loop may run zero times"
    ]
