"""A replay is the same program; a pass changes what it says it changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from parloom.patterns.generators import MultiLoop
from parloom.patterns.reference import interpret
from parloom.staging import primitives as p
from parloom.staging.builder import Builder
from parloom.staging.checker import check
from parloom.staging.equality import equal
from parloom.staging.nodes import Apply, Const, Operand, Stmt
from parloom.staging.parser import parse
from parloom.staging.printer import to_text
from parloom.staging.replay import Replay, replay_program
from parloom.staging.types import F64
from parloom.transforms.analyses.definitions import bound_inside
from tests.compare import assert_agree
from tests.program_arguments import random_arguments
from tests.programs import random_program


@pytest.mark.parametrize("seed", range(30))
def test_a_replayed_program_computes_the_same(seed: int) -> None:
    program = random_program(seed)
    again = replay_program(program)
    check(again, "the replayed program")
    arguments = random_arguments(program, seed)
    results = zip(interpret(again, arguments), interpret(program, arguments), strict=True)
    for found, wanted in results:
        assert_agree(found, wanted)
    assert equal(replay_program(again), again)


def test_what_a_replay_leaves_as_it_is_stays_the_same_object() -> None:
    program = random_program(3)
    again = replay_program(program)
    assert replay_program(again) is again


def test_statements_before_and_after_a_change_stay() -> None:
    text = """program f(x: f64) {
      a: f64 = sqrt(x)
      b: f64 = a + a
      c: f64 = sqrt(b)
      d: f64 = x * a
      return c, d
    }"""
    program = parse(text)
    again = replay_program(program, Doubling)
    first, second, third, last = program.body.stmts
    kept, changed, behind, beside = again.body.stmts
    assert kept is first
    assert beside is last
    assert changed is not second
    assert behind is not third
    assert not {*changed.binders, *behind.binders} & {*second.binders, *third.binders}


def test_a_block_that_is_replayed_twice_gets_variables_of_its_own() -> None:
    program = parse("""program f(n; x: f64[n]) {
      s: f64 = loop (i < n) {
        v: f64 = x[i]
        w: f64 = v * v
        reduce sum (w)
      }
      return s
    }""")
    (stmt,) = program.body.stmts
    assert isinstance(stmt.op, MultiLoop)
    builder = Builder()
    replay = Replay(builder)
    params = replay.fresh((*program.sizes, *program.params))
    builder.open(params)
    first, second = replay.op(stmt.op), replay.op(stmt.op)
    assert isinstance(second, MultiLoop)
    assert first is stmt.op
    assert equal(first, second)
    assert not bound_inside(stmt.op.body) & bound_inside(second.body)


def test_names_facts_and_lines_are_kept() -> None:
    text = "program f(n; x: f64[n] contiguous, s: f64) {\n  total: f64 = s + s\n  return total\n}"
    program = parse(text, file="step.py")
    again = replay_program(program)
    assert to_text(again, locations=True) == to_text(program, locations=True)


class Doubling(Replay):
    """x + x becomes 2 * x."""

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        op = stmt.op
        if not isinstance(op, Apply) or op.primitive is not p.ADD or op.args[0] != op.args[1]:
            return None
        x = self.operand(op.args[0])
        return self.builder.emit(Apply(p.MULTIPLY, (Const(2, F64), x)), ("twice",), stmt.sources)


def test_a_pass_writes_only_what_changes_and_reaches_nested_blocks() -> None:
    program = parse(
        """\
program f(n; x: f64[n], s: f64) {
  a: f64 = s + s
  y: f64[n] = loop (i < n) {
    v: f64 = x[i]
    w: f64 = v + v
    q: f64 = w + a
    collect q
  }
  return a, y
}"""
    )
    assert to_text(replay_program(program, Doubling)) == (
        """\
program f(n; x: f64[n], s: f64) {
  twice: f64 = 2.0_f64 * s
  y: f64[n] = loop (i < n) {
    v: f64 = x[i]
    twice_2: f64 = 2.0_f64 * v
    q: f64 = twice_2 + twice
    collect q
  }
  return twice, y
}"""
    )


class Dropping(Replay):
    """Every sum becomes its first operand: statements vanish, their uses see another operand."""

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        if isinstance(stmt.op, Apply) and stmt.op.primitive is p.ADD:
            return (self.operand(stmt.op.args[0]),)
        return None


def test_a_size_replaced_by_another_changes_the_types() -> None:
    program = parse(
        """\
program f(n; x: f64[n]) {
  m: i64~ = n + 1
  y: f64[m] = loop (i < m) {
    collect 0.0_f64
  }
  return y
}"""
    )
    again = replay_program(program, Dropping)
    check(again)
    assert to_text(again).splitlines()[1] == "  y: f64[n] = loop (i < n) {"
