"""Which operands are provably inside, and which only seem to be."""

from __future__ import annotations

import pytest

from parloom.staging.nodes import Index
from parloom.staging.traversal import walk_stmts
from parloom.transforms.analyses.definitions import define
from parloom.transforms.analyses.ranges import Ranges
from tests.transforms.structure import program


def _inside(lines: str, extent: str = "n", sizes: str = "n, k") -> bool:
    """Whether the read x[at] in a loop is proven; `lines` bind `at`."""
    parsed = program(f"""
        program f({sizes}; x: f64[n], key: i64[k], small: u8[k], big: f64[300], p: i64) {{
          m: i64~ = n - 1
          ys: f64[{extent}] = loop (i < {extent}) {{
            {lines}
            collect v
          }}
          return ys
        }}""")
    ranges = Ranges(define(parsed))
    (last,) = [s.op for s in walk_stmts(parsed.body) if "v" in [b.name for b in s.binders]]
    assert isinstance(last, Index)
    return ranges.index_inside(last)


@pytest.mark.parametrize(
    ("lines", "extent"),
    [
        ("v: f64 = x[i]", "n"),
        ("v: f64 = x[i]", "m"),
        ("at: i64~ = i + 1\nv: f64 = x[at]", "m"),
        ("a: i64 = i as i64\nat: i64~ = a as i64~\nv: f64 = x[at]", "n"),
        ("at: i64~ = minimum(i, 7)\nv: f64 = x[at]", "n"),
        ("at: i64~ = i // 2\nv: f64 = x[at]", "n"),
        ("at: i64 = p % 300_i64\nv: f64 = big[at]", "n"),
        ("v: f64 = big[299]", "n"),
        ("a: u8 = small[i]\nat: i64 = a as i64\nv: f64 = big[at]", "k"),
        ("c: bool = p > 0_i64\nat: i64~ = select(c, i, i)\nv: f64 = x[at]", "n"),
    ],
)
def test_inside(lines: str, extent: str) -> None:
    assert _inside(lines, extent)


@pytest.mark.parametrize(
    ("lines", "extent"),
    [
        ("v: f64 = x[i]", "k"),
        ("v: f64 = x[0]", "n"),
        ("at: i64~ = i + 1\nv: f64 = x[at]", "n"),
        ("at: i64~ = i - 1\nv: f64 = x[at]", "n"),
        ("at: i64~ = i * 2\nv: f64 = x[at]", "n"),
        ("a: i64 = n as i64\nat: i64 = p % a\nv: f64 = x[at]", "k"),
        ("at: i64 = p % -300_i64\nv: f64 = big[at]", "n"),
        ("v: f64 = big[300]", "n"),
        ("at: i64 = key[i]\nv: f64 = x[at]", "k"),
        ("a: i8 = i as i8\nat: i64 = a as i64\nv: f64 = x[at]", "n"),
        ("at: i64~ = maximum(i, 7)\nv: f64 = x[at]", "n"),
        ("a: i64 = absolute(p)\nb: i64 = n as i64\nat: i64 = minimum(a, b)\nv: f64 = x[at]", "n"),
    ],
)
def test_not_inside(lines: str, extent: str) -> None:
    assert not _inside(lines, extent)
