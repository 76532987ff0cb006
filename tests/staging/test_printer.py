"""Programs as text."""

from __future__ import annotations

import numpy as np
import pytest

import parloom.patterns
from parloom.patterns.generators import Collect, Generator, MultiLoop, Reduce
from parloom.patterns.reducers import Reducer, binary
from parloom.patterns.syntax import standard_name
from parloom.staging import primitives as p
from parloom.staging import printer, syntax
from parloom.staging.dataclass import dataclass
from parloom.staging.equality import equal
from parloom.staging.errors import InternalError
from parloom.staging.literals import SCALARS
from parloom.staging.locations import Location
from parloom.staging.nodes import (
    Apply,
    Block,
    Callback,
    Const,
    Contiguous,
    Op,
    Operand,
    Program,
    PythonFunction,
    SizeCheck,
    Stmt,
    Var,
)
from parloom.staging.parser import parse
from parloom.staging.printer import statement_text, to_text
from parloom.staging.types import F64, I64, INDEX, Array, Scalar

assert parloom.patterns.syntax

KMEANS = """\
program kmeans(n, d, k; x: f64[n, d] contiguous, mu: f64[k, d]) {
  require mu.1 == x.1
  label: i64[n] = loop (i < n) {
    least: f64, nearest: i64 = loop (j < k) {
      s: f64 = loop (t < d) {
        a: f64 = x[i, t]
        b: f64 = mu[j, t]
        e: f64 = a - b
        q: f64 = e * e
        reduce sum (q)
      }
      at: i64 = j as i64
      reduce argmin (s, at)
    }
    collect nearest
  }
  count: i64[k], m: i64~, kept: f64[m] = loop (i < n) {
    l: i64 = label[i]
    c: bool = l == 3_i64
    fold sum as "count" order(minimum=4, chunks=8) into [k]? (l: 1_i64)
    where c: collect {
      v: f64 = x[i, 0]?
      w: f64 = -v
      yield w
    }
  }
  small: bool = n < 3
  check small else ValueError("no \\"x\\" # here")
  r: f64, rest: f64[m] = if small {
    yield 1.0_f64, kept
  } else {
    u: f64 = sqrt(0.5_f64)
    yield u, kept
  }
  f: f64 = for (i < n; acc: f64 = 0.0_f64) {
    acc_2: f64 = acc + r
    yield acc_2
  }
  z: f64, steps: i64~ = while (acc: f64 = f, step: i64~ = 0) {
    go: bool = step < 10
    yield go
  } do (acc: f64, step: i64~) {
    acc_2: f64 = minimum(acc, r)
    step_2: i64~ = step + 1
    yield acc_2, step_2
  }
  first: f64 = loop (i < n) {
    v: f64 = x[i, 0]?
    reduce reducer "first" associative identity (0.0_f64) (a: f64, b: f64) {
      yield a
    } (v)
  }
  return label, count, rest, z, first
}"""


def one_statement(op: Op, *params: Var, name: str = "") -> str:
    """The line of a program that applies `op` to its parameters."""
    (type_,) = op.signature()
    result = Var(type_, name)
    program = Program("f", (), params, Block((), (Stmt((result,), op),), (result,)))
    return to_text(program).splitlines()[1].strip()


def test_the_whole_grammar_stays_as_it_is() -> None:
    assert to_text(parse(KMEANS)) == KMEANS


def test_locations_stand_in_comments_of_the_first_line() -> None:
    n, x = Var(INDEX, "n"), Var(F64, "x")
    y = Var(Array(F64, (n,)), "y")
    a = Var(Array(F64, (n,)), "a")
    body = Block((Var(INDEX, "i"),), (), (Collect(None, Block((), (), (x,))),))
    where = (Location("/home/me/step.py", 12), Location("/home/me/step.py", 14))
    stmt = Stmt((y,), MultiLoop((n,), body), where)
    checks = (SizeCheck(3, (0, 0), Location("/home/me/step.py", 9)),)
    program = Program("f", (n,), (a, x), Block((), (stmt,), (y,)), checks)
    lines = to_text(program, locations=True).splitlines()
    assert lines[1:3] == [
        f"{'  require a.0 == 3':62}  # step.py:9",
        f"{'  y: f64[n] = loop (i < n) {':62}  # step.py:12, step.py:14",
    ]
    assert equal(parse("\n".join(lines)), program)
    assert "#" not in to_text(program)


@pytest.mark.parametrize(
    ("primitive", "args", "line"),
    [
        (p.ADD, "xy", "r: f64 = x + y"),
        (p.POWER, "xy", "r: f64 = x ** y"),
        (p.LESS_EQUAL, "xy", "r: bool = x <= y"),
        (p.NEGATIVE, "x", "r: f64 = -x"),
        (p.LOGICAL_NOT, "x", "r: bool = not x"),
        (p.MAXIMUM, "xy", "r: f64 = maximum(x, y)"),
        (p.SELECT, "cxy", "r: f64 = select(c, x, y)"),
    ],
)
def test_primitives_with_a_symbol_are_infix(primitive: p.Primitive, args: str, line: str) -> None:
    named = {"x": Var(F64, "x"), "y": Var(F64, "y"), "c": Var(SCALARS["bool"], "c")}
    used = tuple(named[name] for name in args)
    assert one_statement(Apply(primitive, used), *used, name="r") == line


def test_a_sign_before_a_literal_is_the_literals() -> None:
    op = Apply(p.NEGATIVE, (Const(-1.0, F64),))
    assert one_statement(op, name="r") == "r: f64 = negative(-1.0_f64)"


def test_names_are_unique_where_they_are_visible_and_come_again_elsewhere() -> None:
    x, hidden, keyword, literal, odd = (Var(F64, h) for h in ("x", "x", "loop", "nan", "λ.2"))
    names = (x, hidden, keyword, literal, odd, Var(F64), Var(F64, "_"))
    text = to_text(Program("f", (), names, Block((), (), (x,))))
    header = "x: f64, x_2: f64, loop_: f64, nan_: f64, __2: f64, t1: f64, t2: f64"
    assert text.splitlines()[0] == f"program f({header}) {{"


def test_indices_without_a_name_are_i_j_k() -> None:
    n = Var(INDEX, "n")
    a = Var(Array(F64, (n, n)), "i")
    value = Block((), (), (Const(0.0, F64),))
    body = Block((Var(INDEX), Var(INDEX)), (), (Collect(None, value),))
    stmt = Stmt((Var(Array(F64, (n, n)), "y"),), MultiLoop((n, n), body))
    program = Program("f", (n,), (a,), Block((), (stmt,), stmt.binders))
    assert "loop (j < n, k < n)" in to_text(program)


def test_a_program_name_that_is_no_identifier_is_quoted() -> None:
    program = Program("<lambda>", (), (), Block((), (), ()))
    assert to_text(program) == 'program "<lambda>"() {\n}'
    assert parse(to_text(program)).name == "<lambda>"


def test_python_functions_have_unique_names_and_parse_by_them() -> None:
    def show(value: object) -> None:
        del value

    one, other = PythonFunction(show), PythonFunction(show)
    x = Var(F64, "x")
    stmts = tuple(Stmt((), Callback(f, (x,))) for f in (one, other, one))
    program = Program("f", (), (x,), Block((), stmts, ()))
    lines = [line.strip() for line in to_text(program).splitlines()[1:4]]
    assert lines == ["call show(x)", "call show_2(x)", "call show(x)"]
    table = printer.functions(program)
    assert table == {"show": one, "show_2": other}
    assert equal(parse(to_text(program), table), program)


def test_standard_reducers_go_by_structure_not_by_name() -> None:
    assert standard_name(binary(p.ADD, F64, "total")) == "sum"
    assert standard_name(binary(p.ADD, Array(F64, (3,)), "sum")) == "sum"
    assert standard_name(binary(p.MULTIPLY, I64, "sum")) == "prod"
    a, b = Var(F64, "a"), Var(F64, "b")
    assert standard_name(Reducer(Block((a, b), (), (b,)), "sum")) is None


@dataclass(frozen=True, slots=True)
class PrefixSums(Generator):
    """A generator that another layer adds."""

    reducer: Reducer
    inclusive: bool
    lanes: int

    def results(self, domain: tuple[Operand, ...], first: int) -> tuple[Array]:
        assert isinstance(domain[0], Var)
        return (Array(F64, (domain[0],)),)


@pytest.mark.parametrize(
    ("inclusive", "line"),
    [
        (True, "where c: prefix_sums sum inclusive lanes=4 (x)"),
        (False, "where c: prefix_sums sum lanes=4 (x)"),
    ],
)
def test_a_new_generator_needs_no_more_than_its_fields(
    monkeypatch: pytest.MonkeyPatch, inclusive: bool, line: str
) -> None:
    for table in ("forms", "by_keyword"):
        monkeypatch.setattr(syntax, table, dict(getattr(syntax, table)))
    syntax.form(PrefixSums)
    n, x, c = Var(INDEX, "n"), Var(F64, "x"), Var(SCALARS["bool"], "c")
    a = Var(Array(F64, (n,)), "a")
    scan = PrefixSums(c, Block((), (), (x,)), binary(p.ADD, F64, "sum"), inclusive, 4)
    y = Var(Array(F64, (n,)), "y")
    stmt = Stmt((y,), MultiLoop((n,), Block((Var(INDEX, "i"),), (), (scan,))))
    program = Program("f", (n,), (a, x, c), Block((), (stmt,), (y,)))
    assert to_text(program).splitlines()[2].strip() == line
    assert equal(parse(to_text(program)), program)


def test_a_node_without_syntax_is_our_bug() -> None:
    @dataclass(frozen=True, slots=True)
    class Unknown(Op):
        def signature(self) -> tuple[Scalar]:
            return (F64,)

    with pytest.raises(InternalError, match="no syntax is registered for Unknown"):
        one_statement(Unknown())


def test_facts_are_printed_and_kept() -> None:
    x = Var(Array(F64, (3,)), "x", frozenset({Contiguous()}))
    program = Program("f", (), (x,), Block((), (), (x,)))
    text = to_text(program)
    assert text.startswith("program f(x: f64[3] contiguous) {")
    assert parse(text).params[0].facts == {Contiguous()}
    plain = parse(text.replace(" contiguous", ""))
    assert not equal(plain, program)


def test_free_variables_of_a_statement_keep_their_names() -> None:
    x = Var(F64, "x")
    stmt = Stmt((Var(F64, "x"),), Apply(p.ADD, (x, x)))
    assert statement_text(stmt) == "x_2: f64 = x + x"


def test_weak_types_are_marked() -> None:
    n = Var(INDEX, "n")
    op = Apply(p.ADD, (n, Const(np.int64(1), INDEX)))
    assert one_statement(op, n, name="m") == "m: i64~ = n + 1"


def test_value_blocks_with_statements_stand_in_braces() -> None:
    n, x, c = Var(INDEX, "n"), Var(F64, "x"), Var(SCALARS["bool"], "c")
    y = Var(F64, "y")
    value = Block((), (Stmt((y,), Apply(p.SQRT, (x,))),), (y,))
    reduce = Reduce(c, value, binary(p.ADD, F64, "sum"))
    total = Var(F64, "total")
    stmt = Stmt((total,), MultiLoop((n,), Block((Var(INDEX, "i"),), (), (reduce,))))
    assert statement_text(stmt).splitlines() == [
        "total: f64 = loop (i < n) {",
        "  where c: reduce sum {",
        "    y: f64 = sqrt(x)",
        "    yield y",
        "  }",
        "}",
    ]
