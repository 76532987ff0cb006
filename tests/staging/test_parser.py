"""parse(to_text(p)) is p."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parloom.patterns.reference import interpret
from parloom.staging.checker import check
from parloom.staging.equality import equal
from parloom.staging.literals import LITERAL, SCALARS, read, text_of
from parloom.staging.nodes import Block, Const, Program
from parloom.staging.parser import ParseError, parse
from parloom.staging.printer import to_text
from parloom.staging.types import Scalar
from tests.compare import assert_agree
from tests.program_arguments import random_arguments
from tests.programs import random_program


@pytest.mark.parametrize("seed", range(60))
def test_programs_survive_the_text(seed: int) -> None:
    program = random_program(seed, faults=seed % 3 == 0)
    text = to_text(program)
    again = parse(text)
    check(again, "the parsed program")
    assert equal(again, program)
    assert to_text(again) == text


@pytest.mark.parametrize("seed", range(8))
def test_a_parsed_program_computes_the_same(seed: int) -> None:
    program = random_program(seed)
    again = parse(to_text(program))
    arguments = random_arguments(program, seed)
    for found, wanted in zip(
        interpret(again, arguments), interpret(program, arguments), strict=True
    ):
        assert_agree(found, wanted)


def test_sizes_that_the_program_computes() -> None:
    text = """\
program f(n, m; x: f64[n], y: f64[m], c: bool) {
  k: i64~, z: f64[k] = if c {
    yield n, x
  } else {
    yield m, y
  }
  q: i64~, w: f64[q] = for (i < 3; p: i64~ = k, v: f64[p] = z) {
    yield n, x
  }
  return z, w
}"""
    program = parse(text)
    check(program)
    assert to_text(program) == text


CONSTANTS = st.sampled_from(sorted(SCALARS)).flatmap(
    lambda name: st.binary(
        min_size=SCALARS[name].dtype.itemsize, max_size=SCALARS[name].dtype.itemsize
    ).map(lambda raw: (SCALARS[name], raw))
)


@settings(deadline=None, derandomize=True, max_examples=400)
@given(CONSTANTS)
def test_constants_keep_their_bits(case: tuple[Scalar, bytes]) -> None:
    scalar, raw = case
    raw = bytes([raw[0] & 1]) if scalar.dtype.kind == "b" else raw
    constant = Const(np.frombuffer(raw, scalar.dtype)[0], scalar)
    program = Program("f", (), (), Block((), (), (constant,)))
    (again,) = parse(to_text(program)).body.results
    assert again == constant
    assert isinstance(again, Const)
    assert again.value.tobytes() == constant.value.tobytes()


@pytest.mark.parametrize(
    ("value", "scalar", "text"),
    [
        (1, "i64~", "1"),
        (1, "i64", "1_i64"),
        (-128, "i8", "-128_i8"),
        (2**64 - 1, "u64", "18446744073709551615_u64"),
        (0.5, "f64~", "0.5"),
        (-0.0, "f64", "-0.0_f64"),
        (0.1, "f32", "0.1_f32"),
        (np.inf, "f64~", "inf"),
        (-np.nan, "f64", "-nan_f64"),
        (1e300, "f64", "1e+300_f64"),
        (True, "bool", "True"),
        (True, "bool~", "True_bool~"),
        (complex(1, -0.0), "c64", "c64(1.0, -0.0)"),
        (complex(np.nan, 2), "c128~", "c128~(nan, 2.0)"),
    ],
)
def test_constants_read_well(value: complex, scalar: str, text: str) -> None:
    constant = Const(value, SCALARS[scalar])
    assert text_of(constant) == text
    if "(" not in text:
        sign, digits = text.startswith("-"), text.removeprefix("-")
        assert LITERAL.fullmatch(digits)
        assert read(digits, sign) == constant


def test_a_nan_with_a_payload_is_its_bits() -> None:
    value = np.uint64(0x7FF8000000000001).view(np.float64)
    assert text_of(Const(value, SCALARS["f64"])) == "0x7ff8000000000001_f64"


BAD = [
    ("prog f() {\n}", 1, 1, "expected program, found prog"),
    ("program f(x: f63) {\n}", 1, 14, "expected a scalar type, found f63"),
    ("program f(x: f64[n]) {\n}", 1, 18, "n is not bound here"),
    ("program f(x: f64, x: f64) {\n}", 1, 22, "x is bound twice"),
    ("program f() {\n  y: f64 = x + 1.0\n}", 2, 12, "x is not bound here"),
    ("program f(x: f64) {\n  y: f64 = x\n}", 2, 13, "expected an operation, found the end of the"),
    ("program f(x: f64) {\n  y: f64 = x + x x\n}", 2, 18, "expected the end of the line, found x"),
    ("program f(x: f64) {\n  y: f64 = sqrt(x, x)\n}", 2, 22, "sqrt takes 1 operands"),
    ("program f(x: f64) {\n  loop: f64 = x + x\n}", 2, 3, "expected a name, found the word loop"),
    ("program f(x: f64) {\n  return x\n", 3, 1, "expected }, found the end"),
    ("program f(x: u8) {\n  y: u8 = x + 256_u8\n}", 2, 15, "256 is no u8"),
    ("program f(x: f64) {\n  y: f64 = x $ x\n}", 2, 14, "unexpected '$'"),
    ("program f(x: f64) {\n  call g(x)\n}", 2, 8, "no Python function g was handed to the"),
    ('program f(c: bool) {\n  check c else Value("")\n}', 2, 16, "expected one of ValueError"),
    ("program f() {\n} }", 2, 3, "expected the end, found }"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), BAD)
def test_errors_say_where(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    what, shown, caret = str(caught.value).split("\n")
    assert what.startswith(f"line {line}, column {column}: {message}")
    assert shown[4:] == (text + "\n").split("\n")[line - 1]
    assert caret == " " * (column + 3) + "^"


def test_comments_and_blank_lines_do_not_count() -> None:
    text = "\n# before\nprogram f(x: f64) { # header\n\n  y: f64 = x + x # sum\n\n  return y\n}\n\n"
    assert to_text(parse(text)).splitlines() == [
        "program f(x: f64) {",
        "  y: f64 = x + x",
        "  return y",
        "}",
    ]


def test_statements_know_their_line_in_the_text() -> None:
    program = parse("program f(x: f64) {\n  y: f64 = x + x\n  return y\n}", file="step.ir")
    assert str(program.body.stmts[0].sources[0]) == "step.ir:2"


def test_lines_end_anywhere_inside_of_parentheses() -> None:
    names = [f"an_argument_{k}" for k in range(9)]
    text = f"program f({', '.join(f'{name}: f64' for name in names)}) {{\n  return {names[8]}\n}}"
    printed = to_text(parse(text))
    assert printed.splitlines()[1].startswith("    an_argument_")
    assert max(map(len, printed.splitlines())) <= 100
    assert equal(parse(printed), parse(text))
