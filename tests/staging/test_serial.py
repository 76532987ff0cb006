"""Programs written as bytes come back with everything that they say."""

from __future__ import annotations

import pytest

from parloom.patterns.reference import interpret
from parloom.staging.checker import check
from parloom.staging.equality import equal
from parloom.staging.nodes import Const
from parloom.staging.parser import parse
from parloom.staging.passes import run
from parloom.staging.printer import to_text
from parloom.staging.serial import Unserialisable, dumps, loads
from parloom.staging.tracing import trace_function
from parloom.staging.traversal import operands, walk_stmts
from parloom.staging.types import F64
from parloom.transforms.pipelines import CPU
from tests.compare import assert_agree
from tests.program_arguments import random_arguments
from tests.programs import random_program


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_come_back(seed: int) -> None:
    program = run(random_program(seed), CPU).program
    again = loads(dumps(program))
    check(again)
    assert equal(again, program)
    assert to_text(again, locations=True) == to_text(program, locations=True)
    arguments = random_arguments(program, seed)
    found, wanted = interpret(again, arguments), interpret(program, arguments)
    for value, expected in zip(found, wanted, strict=True):
        assert_agree(value, expected)


def test_names_facts_lines_and_constants_come_back_as_they_were() -> None:
    text = """program f(n; x: f64[n] contiguous, s: f64) {
      total: f64 = s + -0.0_f64
      again: f64 = total * 2.0_f64
      return again
    }"""
    program = parse(text, file="step.py")
    again = loads(dumps(program))
    assert [s.sources for s in walk_stmts(again.body)] == [
        s.sources for s in walk_stmts(program.body)
    ]
    assert again.params[0].facts == program.params[0].facts
    assert dumps(again) == dumps(program)
    found = [a for s in walk_stmts(again.body) for a in operands(s.op) if isinstance(a, Const)]
    assert found == [Const(-0.0, F64), Const(2.0, F64)]


def test_a_program_that_calls_back_cannot_be_written() -> None:
    def f(x: float) -> float:
        print(x)
        return x

    with pytest.raises(Unserialisable):
        dumps(trace_function(f, (1.0,)).program)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b'{"classes": ["os:system"], "variables": [], "program": [3, 0]}',
        b'{"classes": ["parloom.staging.nodes:Var"], "variables": [], "program": [3, 0]}',
        b'{"classes": [], "variables": [], "program": 3}',
        b'{"classes": [], "variables": [], "program": [1, 7]}',
    ],
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        loads(data)
