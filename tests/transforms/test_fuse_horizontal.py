"""Independent loops over one domain become one, and twins where they must not."""

from __future__ import annotations

import numpy as np

from parloom.staging.decisions import recording
from parloom.staging.nodes import Program
from parloom.transforms.fuse_horizontal import fuse_horizontal
from tests.transforms.structure import apply, declined, loop_of, loops, program

SUM = "{name}: f64 = loop (i < {size}) {{\n v: f64 = {array}[i]\n reduce sum (v)\n }}\n"
MAP = "{name}: f64[n] = loop (i < n) {{\n v: f64 = x[i]\n w: f64 = v {op}\n collect w\n }}\n"


def _sums(*loops: tuple[str, str, str], between: str = "") -> Program:
    lines = between.join(SUM.format(name=n, size=s, array=a) for n, s, a in loops)
    names = ", ".join(n for n, _, _ in loops)
    return program(
        f"program f(n, k; x: f64[n], y: f64[k], z: f64[n]) {{\n{lines}return {names}\n}}"
    )


X, Y = np.arange(5.0), np.arange(3.0)


def test_three_become_one() -> None:
    before = _sums(("a", "n", "x"), ("b", "n", "z"), ("c", "n", "x"))
    after = apply(fuse_horizontal, before, X, Y, X)
    (loop,) = loops(after.body)
    assert len(loop_of(loop).generators) == 3
    assert len(loop_of(loop).body.stmts) == 2  # x is read once


def test_loops_inside_of_the_merged_ones_meet() -> None:
    rows = "{name}: f64[n] = loop (i < n) {{\n {name}_r: f64 = loop (t < k) {{\n v: f64 = y[t]\n"
    rows += " u: f64 = x[i]\n w: f64 = v {op} u\n reduce sum (w)\n }}\n collect {name}_r\n }}\n"
    before = program(
        "program f(n, k; x: f64[n], y: f64[k]) {\n"
        + rows.format(name="a", op="*")
        + rows.format(name="b", op="+")
        + "return a, b\n}"
    )
    (loop,) = loops(apply(fuse_horizontal, before, X, Y).body)
    assert [len(loop_of(s).generators) for s in loops(loop_of(loop).body)] == [2]


def test_not_over_sizes_that_are_equal_by_accident() -> None:
    before = _sums(("a", "n", "x"), ("b", "k", "y"))
    assert len(loops(apply(fuse_horizontal, before, Y, Y, Y).body)) == 2


def test_over_a_loop_of_another_domain() -> None:
    before = _sums(("a", "n", "x"), ("b", "k", "y"), ("c", "n", "z"))
    assert len(loops(apply(fuse_horizontal, before, X, Y, X).body)) == 2


def test_not_across_a_check() -> None:
    check = 'ok: bool = n == k\ncheck ok else ValueError("sizes")\n'
    before = _sums(("a", "n", "x"), ("b", "n", "z"), between=check)
    after = apply(fuse_horizontal, before, Y, Y, Y)
    # one loop, behind the check on which its reads may rest
    assert [type(s.op).__name__ for s in after.body.stmts] == ["Apply", "Check", "MultiLoop"]


def test_not_across_a_dependence() -> None:
    before = program(
        "program f(n; x: f64[n]) {\n"
        + SUM.format(name="s", size="n", array="x")
        + MAP.format(name="y", op="/ s")
        + "return y\n}"
    )
    assert len(loops(apply(fuse_horizontal, before, X).body)) == 2
    assert declined(fuse_horizontal, before) == [
        "the later loop needs a whole result of the earlier one"
    ]


def test_not_across_an_indirect_dependence() -> None:
    before = program(
        "program f(n; x: f64[n]) {\n"
        + SUM.format(name="s", size="n", array="x")
        + "t: f64 = sqrt(s)\n"
        + MAP.format(name="y", op="/ t")
        + "return y\n}"
    )
    assert len(loops(apply(fuse_horizontal, before, X).body)) == 2


def test_the_third_joins_the_first_past_a_dependent_second() -> None:
    before = program(
        "program f(n; x: f64[n]) {\n"
        + SUM.format(name="s", size="n", array="x")
        + MAP.format(name="y", op="/ s")
        + MAP.format(name="z", op="* 2.0_f64")
        + "return y, z\n}"
    )
    after = apply(fuse_horizontal, before, X)
    assert [len(loop_of(s).generators) for s in loops(after.body)] == [2, 1]


def test_an_option_keeps_two_loops() -> None:
    before = _sums(("a", "n", "x"), ("b", "n", "z"))
    with recording({"fuse_horizontal.a_b": False}):
        assert len(loops(fuse_horizontal(before).body)) == 2


def test_a_limit_keeps_two_loops() -> None:
    before = _sums(("a", "n", "x"), ("b", "n", "z"), ("c", "n", "x"))
    with recording(limit=1):
        assert len(loops(fuse_horizontal(before).body)) == 2
