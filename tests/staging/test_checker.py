"""The checker accepts what staging makes, and names the statement that is wrong."""

from __future__ import annotations

import pytest

from parloom.patterns.generators import Collect, MultiLoop
from parloom.staging import primitives as p
from parloom.staging.checker import check
from parloom.staging.errors import InternalError
from parloom.staging.nodes import Apply, Block, If, Program, Stmt, Var
from parloom.staging.parser import parse
from parloom.staging.types import BOOL, F64, INDEX, Array
from tests.programs import random_program


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_are_well_formed(seed: int) -> None:
    check(random_program(seed, faults=True))


HEADER = "program f(n, m; x: f64[n], y: f64[m, n], c: bool, s: f64, l: i64)"

WRONG = [
    # scopes, binders
    ("t: f32 = s + s", "t is f32, its value is f64"),
    ("t: f64, u: f64 = s + s", "it binds 2 variables for 1 results"),
    # Apply, Cast, Index
    ("t: f64 = s + l", "the operands of add: f64, i64 instead of f64, f64"),
    ("t: f64 = s + 1.0", "the operands of add: f64, f64~ instead of f64, f64"),
    ("t: f64 = x + x", "add takes scalars"),
    ("t: f64 = s & s", "bitwise_and is not defined for f64, f64"),
    ("t: f32 = x as f32", "a f64[n] is cast"),
    ("t: f64 = s[l]", "a f64 is indexed"),
    ("t: f64 = y[l]", "1 indices for rank 2"),
    ("t: f64 = x[s]", "index s is f64, not i64"),
    ("t: f64 = x[1_i32]", "index 1 is i32, not i64"),
    # Update
    ("t: f64[n] = x with [l] = l", "the new element: i64 instead of f64"),
    ("t: f64 = s with [l] = s", "a f64 is indexed"),
    ("t: f64[m, n] = y with [l] = s", "1 indices for rank 2"),
    # If
    ("t: f64 = if s (s) else (s)", "the condition is f64, not bool"),
    ("t: f64 = if c (s) else (l)", "the branches' results: f64 instead of i64"),
    ("t: f64 = if c (s) else (s, s)", "the branches' results: f64 instead of f64, f64"),
    ("t: f64[n] = if c (x) else (y)", "the branches' results: f64[0] instead of f64[0, 0]"),
    # ForLoop, While
    ("t: f64 = for (i < s; a: f64 = s) {\nyield a\n}", "the count is f64, not i64"),
    ("t: f64 = for (i < n; a: f64 = l) {\nyield a\n}", "the initial state: i64 instead of f64"),
    ("t: f64 = for (i < n; a: f64 = s) {\nyield l\n}", "the new state: i64 instead of f64"),
    ("t: f64 = for (i < n; a: f64 = s) {\nyield a, a\n}", "the new state has 2 values"),
    (
        "t: f64 = while (a: f64 = s) {\nyield a\n} do (b: f64) {\nyield b\n}",
        "the condition: f64 instead of bool",
    ),
    (
        "t: f64 = while (a: f64 = s) {\nyield c\n} do (b: f32) {\nyield b\n}",
        "the parameters of the condition: f64 instead of f32",
    ),
    # Check
    ('check s else ValueError("")', "the condition is f64, not bool"),
    # MultiLoop and its generators
    ("t: f64[n] = loop (i < l) {\ncollect s\n}", "the domain: i64 instead of i64~"),
    ("t: f64[m] = loop (i < n) {\ncollect s\n}", "t is f64[m], its value is f64[n]"),
    (
        "t: f64[n] = loop (i < n) {\ncollect {\nu: f64 = s + s\nyield u\n}\n}",
        "an unconditional generator has statements of its own",
    ),
    ("t: f64[n] = loop (i < n) {\nyield s\n}", "a result is no generator"),
    ("loop (i < n) {\n}", "a loop without generators"),
    (
        "k: i64~, t: f64[k] = loop (i < n) {\nwhere s: collect s\n}",
        "a generator's condition is f64, not bool",
    ),
    ("t: f64[n] = loop (i < n) {\ncollect (s, s)\n}", "a collect takes one value"),
    (
        'r: f64 = loop (i < n) {\nreduce reducer "r" (a: f32, b: f32) {\nyield a\n} (s)\n}',
        "the reduced values: f64 instead of f32",
    ),
    (
        'r: f64 = loop (i < n) {\nreduce reducer "r" (a: f64, b: f32) {\nyield a\n} (s)\n}',
        "the reducer's parameters: f64, f32 instead of f64, f64",
    ),
    (
        'r: f64 = loop (i < n) {\nreduce reducer "r" (a: f64, b: f64) {\nyield l\n} (s)\n}',
        "the reducer's results: i64 instead of f64",
    ),
    (
        'r: f64 = loop (i < n) {\nreduce reducer "r" identity (0) (a: f64, b: f64) {\n'
        "yield a\n} (s)\n}",
        "the reducer's identity: i64~ instead of f64",
    ),
    (
        "r: f64[m] = loop (i < n) {\nfold min into [m] (i: s)\n}",
        "a fold without an identity and without init",
    ),
    ("r: f64[m] = loop (i < n) {\nfold sum into [m] (s: s)\n}", "location s is f64, not i64"),
    (
        "r: f64[m] = loop (i < n) {\nfold sum into [m] (i, i: s)\n}",
        "a fold takes one location a dimension and one value",
    ),
]


@pytest.mark.parametrize(("lines", "message"), WRONG, ids=[line[1] for line in WRONG])
def test_what_is_wrong_is_named(lines: str, message: str) -> None:
    program = parse(f"{HEADER} {{\n{lines}\n}}")
    with pytest.raises(InternalError) as caught:
        check(program, "the program after tile#1")
    first = str(caught.value).splitlines()[0]
    assert first == f"the program after tile#1 is not well formed: {message}"


def test_the_statement_is_shown_with_the_users_line() -> None:
    program = parse(f"{HEADER} {{\n  t: f64 = s + l\n}}")
    with pytest.raises(InternalError) as caught:
        check(program)
    assert str(caught.value) == (
        "the program is not well formed: the operands of add: f64, i64 instead of f64, f64\n"
        "  in \n"
        "    t: f64 = s + l\n"
        "  at <program>:2"
    )


def test_the_innermost_statement_is_named() -> None:
    program = parse(
        f"{HEADER} {{\n  t: f64[n] = loop (i < n) {{\n    u: f64 = s + l\n    collect u\n  }}\n}}"
    )
    with pytest.raises(InternalError) as caught:
        check(program)
    assert "\n    u: f64 = s + l\n" in str(caught.value)
    assert caught.value.where[0].line == 3


N = Var(INDEX, "n")
X = Var(Array(F64, (N,)), "x")


def broken(*stmts: Stmt, results: tuple[Var, ...] = ()) -> Program:
    """f(x: f64[n])."""
    return Program("f", (N,), (X,), Block((), stmts, results))


def loop(index: Var, value: Var) -> MultiLoop:
    """Collects `value` over n."""
    return MultiLoop((N,), Block((index,), (), (Collect(None, Block((), (), (value,))),)))


def test_a_variable_is_seen_only_where_it_is_bound() -> None:
    i = Var(INDEX, "i")
    with pytest.raises(InternalError, match="i is not visible here"):
        check(broken(results=(i,)))
    escaped = Stmt((Var(Array(INDEX.strong, (N,)), "y"),), loop(i, i))
    check(broken(escaped))
    with pytest.raises(InternalError, match="i is not visible here"):
        check(broken(escaped, results=(i,)))


def test_a_variable_is_bound_once() -> None:
    i = Var(INDEX, "i")
    first, second = (Stmt((Var(Array(INDEX.strong, (N,)), h),), loop(i, i)) for h in "yz")
    with pytest.raises(InternalError, match="i is bound twice"):
        check(broken(first, second))


def test_the_sizes_of_a_type_are_visible() -> None:
    stranger = Var(INDEX, "k")
    program = Program("f", (), (Var(Array(F64, (stranger,)), "x"),), Block((), (), ()))
    with pytest.raises(InternalError, match="size k of x is not visible here"):
        check(program)


def test_the_size_of_an_inner_filter_cannot_leave_its_loop() -> None:
    text = """\
program f(n; x: f64[n], c: bool) {
  t: f64[n, 3] = loop (i < n) {
    k: i64~, z: f64[k] = loop (j < n) {
      where c: collect 1.0_f64
    }
    collect z
  }
}"""
    with pytest.raises(InternalError, match=r"t is f64\[n, 3\], its value is f64\[n, k\]"):
        check(parse(text))


def test_every_size_belongs_to_a_parameter() -> None:
    with pytest.raises(InternalError, match="size n is the size of no parameter"):
        check(Program("f", (N,), (), Block((), (), ())))


def test_a_block_that_was_right_elsewhere_is_wrong_where_it_does_not_fit() -> None:
    x, y, c = Var(F64, "x"), Var(F64, "y"), Var(BOOL, "c")
    inner = Block((), (Stmt((y,), Apply(p.NEGATIVE, (x,))),), (y,))
    branch = If(c, inner, Block((), (), (x,)))
    right = Stmt(tuple(Var(t) for t in branch.signature()), branch)
    check(Program("f", (), (x, c), Block((), (right,), right.binders)))
    with pytest.raises(InternalError, match="x is not visible"):
        check(Program("f", (), (c,), Block((), (right,), right.binders)))
    again = Stmt(tuple(Var(t) for t in branch.signature()), branch)
    with pytest.raises(InternalError, match="y is bound twice"):
        check(Program("f", (), (x, c), Block((), (right, again), right.binders)))
