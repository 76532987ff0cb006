"""Buckets on the CPU: tables for chunks, merged in order; the same bits from every printer."""

from __future__ import annotations

import re

import numpy as np
import pytest

from parloom.staging.checker import check
from parloom.staging.errors import InternalError
from parloom.staging.nodes import Program
from parloom.staging.parser import parse
from parloom.staging.printer import to_text
from parloom.transforms import cpu_levels
from tests.codegen.kernels import (
    interpret,
    mapped,
    run_llvm,
    run_numba,
    run_plain,
    same_bits,
)


def parsed(text: str) -> Program:
    """The program; its binders may stand on several lines."""
    return parse(re.sub(r",\n +", ", ", text))


RUNNERS = (run_plain, run_llvm, run_numba)


def buckets(key: str) -> Program:
    """Sums of float64 and of float32, least places, greatest values of a key of two parts, and all
    values, by keys of this type."""
    return parsed(f"""
    program f(n; k: {key}[n], x: f64[n], z: f32[n]) {{
      m: i64~, k1: {key}[m], s: f64[m],
          m2: i64~, k2: {key}[m2], s2: f32[m2],
          m3: i64~, k3: {key}[m3], v3: f64[m3], p3: i64[m3],
          m4: i64~, k4: {key}[m4], l4: f64[m4], g4: f64[m4],
          m5: i64~, total: i64~, k5: {key}[m5], starts: i64[m5], sizes: i64[m5],
          values: f64[total], places: i64[total] = loop (i < n) {{
        key: {key} = k[i]
        v: f64 = x[i]
        w: f32 = z[i]
        j: i64 = i as i64
        bucket sum by 1 (key, v)
        bucket sum by 1 (key, w)
        bucket argmin by 1 (key, v, j)
        bucket max by 2 (key, v, v)
        group by 1 (key, v, j)
      }}
      return m, k1, s, s2, p3, k4, l4, g4, k5, starts, sizes, values, places
    }}
    """)


def keys_of(key: str, n: int, groups: int) -> np.ndarray:
    """Keys of the type, special ones among them."""
    found = np.random.default_rng(n).integers(0, groups, n)
    dtype = {"bool": "?", "u8": "u1", "i32": "i4", "i64": "i8", "f32": "f4", "f64": "f8"}[key]
    keys = (found % 2 if key == "bool" else found).astype(dtype)
    if key == "i64" and n > 2:
        keys[:2] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    if key[0] == "f":
        keys[::7], keys[1::9], keys[3::11] = np.nan, -0.0, 0.0
    return keys


SIZES = [(0, 1), (1, 1), (10, 3), (100, 1000), (300, 40)]


@pytest.mark.parametrize("key", ["bool", "u8", "i32", "i64", "f32", "f64"])
def test_chunks_and_printers_agree_with_the_interpreter(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr(cpu_levels, "CHUNK", 3)
    program = mapped(buckets(key))
    for n, groups in SIZES:
        x = np.random.default_rng(1).integers(-3, 4, n) + 0.5
        arguments = [keys_of(key, n, groups), x, x.astype(np.float32)]
        expected = interpret(program, arguments)
        for run in RUNNERS if key == "f64" and n == 300 else RUNNERS[:2]:
            assert same_bits(run(program, arguments), expected), (n, groups, run)


ROWS = """
program f(r, n, d; k: i64[r, n], x: f64[r, n, d]) {
  sums: f64[r], firsts: f64[r] = loop (q < r) {
    m: i64~, keys: i64[m], s: f64[m, d],
        m2: i64~, total: i64~, keys2: i64[m2], starts: i64[m2], sizes: i64[m2],
        values: f64[total, d] = loop (i < n) {
      key: i64 = k[q, i]
      row: f64[d] = loop (e < d) {
        v: f64 = x[q, i, e]
        collect v
      }
      bucket sum by 1 (key, row)
      group by 1 (key, row)
    }
    squares: f64 = loop (g < m, e < d) {
      v: f64 = s[g, e]
      w: f64 = v * v
      reduce sum (w)
    }
    first: f64 = loop (g < m2, e < d) {
      start: i64 = starts[g]
      v: f64 = values[start, e]?
      reduce sum (v)
    }
    collect squares
    collect first
  }
  whole: f64[r] = loop (q < r) {
    a: f64 = sums[q]
    b: f64 = firsts[q]
    c: f64 = a + b
    collect c
  }
  return whole
}
"""


@pytest.mark.parametrize(("r", "n", "d"), [(0, 3, 2), (3, 0, 2), (2, 5, 0), (3, 40, 2)])
def test_inside_of_a_parallel_loop(r: int, n: int, d: int) -> None:
    program = mapped(parsed(ROWS))
    rng = np.random.default_rng(n)
    arguments = [rng.integers(0, 5, (r, n)), rng.integers(-3, 3, (r, n, d)).astype(float)]
    expected = interpret(program, arguments)
    for run in RUNNERS:
        assert same_bits(run(program, arguments), expected), run


GENERAL = """
program f(n; k: i64[n], x: i64[n]) {
  m: i64~, keys: i64[m], first: i64[m], last: i64[m] = loop (i < n) {
    key: i64 = k[i]
    v: i64 = x[i]
    bucket reducer "ends"FACTS (a: i64, b: i64, c: i64, d: i64) {
      e: i64 = a * 3_i64
      yield a, d
    } by 1 (key, v, v)
  }
  return keys, first, last
}
"""


@pytest.mark.parametrize("facts", ["", " associative"])
def test_a_reducer_without_identity(monkeypatch: pytest.MonkeyPatch, facts: str) -> None:
    """What is not known to be associative stays in one chunk."""
    monkeypatch.setattr(cpu_levels, "CHUNK", 3)
    program = mapped(parse(GENERAL.replace("FACTS", facts)))
    arguments = [np.arange(50) % 7, np.arange(50)]
    expected = [np.arange(7), np.arange(7), np.array([49, *range(43, 49)])]
    for run in (interpret, *RUNNERS):
        assert same_bits(run(program, arguments), expected), run


def test_syntax() -> None:
    program = buckets("i64")
    check(program)
    assert to_text(parse(to_text(program))) == to_text(program)


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        ("group by 1 (i)", "a bucket takes a key and a value"),
        ("group by 0 (v)", "a bucket takes a key and a value"),
        ("group by 1 (c, v)", "key c is no integer, truth value or float"),
    ],
)
def test_ill_formed(generator: str, message: str) -> None:
    text = """
    program f(n; x: f64[n], c: c128) {
      m: i64~, total: i64~, starts: i64[m], sizes: i64[m] = loop (i < n) {
        v: f64 = x[i]
        GENERATOR
      }
      return m
    }
    """
    with pytest.raises(InternalError, match=message):
        check(parse(text.replace("GENERATOR", generator)))
