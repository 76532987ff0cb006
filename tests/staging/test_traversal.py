"""What the fields of a node tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parloom.patterns.generators import Collect, MultiLoop
from parloom.staging import equality
from parloom.staging import primitives as p
from parloom.staging import traversal as t
from parloom.staging.nodes import (
    Apply,
    Block,
    Bounds,
    Check,
    Const,
    Contiguous,
    Effects,
    ErrorKind,
    If,
    Index,
    Operand,
    Stmt,
    Var,
)
from parloom.staging.parser import parse
from parloom.staging.printer import to_text
from parloom.staging.types import BOOL, F64, INDEX, Array
from tests.programs import random_program

N, X, C = Var(INDEX, "n"), Var(F64, "x"), Var(BOOL, "c")
A = Var(Array(F64, (N,)), "a")
ONE = Const(1.0, F64)


def block(stmt_op: Apply | Index | Check, params: tuple[Var, ...] = ()) -> Block:
    """A block of one statement that returns what it binds."""
    binders = tuple(Var(type_) for type_ in stmt_op.signature())
    return Block(params, (Stmt(binders, stmt_op),), binders)


def test_operands_stand_in_field_order_and_outside_of_blocks() -> None:
    assert t.operands(Index(A, (N, Const(0, INDEX)))) == (A, N, Const(0, INDEX))
    assert t.operands(If(C, block(Apply(p.ADD, (X, X))), Block((), (), (X,)))) == (C,)


def test_blocks_of_a_loop_are_its_body_and_the_generators_stand_in_its_results() -> None:
    value = Block((), (), (X,))
    body = Block((Var(INDEX, "i"),), (), (Collect(C, value),))
    loop = MultiLoop((N,), body)
    assert t.blocks(loop) == (body,)
    assert t.result_blocks(body) == (value,)


def test_map_fields_replaces_operands_and_blocks() -> None:
    swap: dict[Operand, Operand] = {X: ONE}
    mapped = t.map_fields(Apply(p.ADD, (X, A)), lambda o: swap.get(o, o), lambda b: b)
    assert mapped == Apply(p.ADD, (ONE, A))
    empty = Block((), (), (X,))
    branch = t.map_fields(If(C, empty, empty), lambda o: o, lambda b: replace(b, results=(ONE,)))
    assert branch.then.results == (ONE,)


def test_free_variables_are_those_bound_outside_sizes_included() -> None:
    i, m = Var(INDEX, "i"), Var(INDEX, "m")
    ys = Var(Array(F64, (m,)), "ys")
    inner = Block((i,), (Stmt((ys,), Apply(p.ADD, (X, i))),), (ys,))
    assert list(t.free_vars(inner)) == [X, m]
    assert list(t.free_vars(MultiLoop((N,), inner))) == [N, X, m]


def test_effects_are_the_union_over_everything_inside() -> None:
    checked = block(Index(A, (N,), Bounds.CHECKED))
    proven = block(Index(A, (N,), Bounds.PROVEN))
    assert t.effects(If(C, proven, proven)) is Effects.NONE
    assert t.effects(If(C, checked, proven)) is Effects.FAULT
    loop = MultiLoop((N,), Block((Var(INDEX),), (), (Collect(C, checked),)))
    assert t.effects(loop) is Effects.FAULT
    check = Block((), (Stmt((), Check(C, ErrorKind.VALUE, "no")),), ())
    assert t.block_effects(check) == Effects.CHECK | Effects.FAULT


def test_statements_are_walked_outer_before_inner() -> None:
    program = parse(
        "program f(n; x: f64[n], c: bool) {\n"
        "  a: f64 = if c {\n    b: f64 = 1.0_f64 + 1.0_f64\n    yield b\n  } else (0.0_f64)\n"
        "  d: f64[n] = loop (i < n) {\n    e: f64 = x[i]\n    collect e\n  }\n"
        "}"
    )
    names = [s.binders[0].name for s in t.walk_stmts(program.body)]
    assert names == ["a", "b", "d", "e"]


def test_keys_are_equal_up_to_bound_names_and_count_free_variables_by_identity() -> None:
    def body(index: Var, array: Var) -> Block:
        return block(Index(array, (index,)), (index,))

    other = Var(Array(F64, (N,)), "a")
    first = body(Var(INDEX, "i"), A)
    assert equality.key(first) == equality.key(body(Var(INDEX, "j"), A))
    assert equality.equal(first, body(Var(INDEX, "j"), A))
    assert not equality.equal(first, body(Var(INDEX, "i"), other))
    assert hash(equality.key(first)) == hash(equality.key(body(Var(INDEX), A)))


def test_keys_tell_operands_types_and_static_data_apart() -> None:
    i = Var(INDEX)
    assert not equality.equal(Apply(p.ADD, (X, ONE)), Apply(p.SUBTRACT, (X, ONE)))
    assert not equality.equal(Apply(p.ADD, (X, ONE)), Apply(p.ADD, (ONE, X)))
    assert not equality.equal(Index(A, (N,), Bounds.PROVEN), Index(A, (N,), Bounds.CHECKED))
    assert not equality.equal(Block((i,), (), (i,)), Block((Var(F64),), (), (i,)))
    assert not equality.equal(Block((), (), (Const(0.0, F64),)), Block((), (), (Const(-0.0, F64),)))


TEXT = "program f(n; x: f64[n] contiguous) {\n  require x.0 == 3\n  return x\n}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(n; x: f64[n] contiguous)", "(n, m; x: f64[n] contiguous, y: f64[m])"),
        (" contiguous", ""),
        ("f64", "f32"),
        ("  require x.0 == 3\n", ""),
        ("return x", "return x, x"),
    ],
)
def test_programs_differ_by_header_checks_and_results(old: str, new: str) -> None:
    assert equality.equal(parse(TEXT), parse(TEXT.replace("x", "z").replace("f(", "g(")))
    assert not equality.equal(parse(TEXT), parse(TEXT.replace(old, new)))


@pytest.mark.parametrize("seed", range(20))
def test_equal_programs_print_alike_and_others_do_not(seed: int) -> None:
    program, other = random_program(seed), random_program(seed + 1)
    assert equality.equal(program, random_program(seed))
    assert to_text(program) == to_text(random_program(seed))
    assert not equality.equal(program, other)


def test_facts_of_statements_are_no_part_of_equality() -> None:
    marked = Var(F64, "y", frozenset({Contiguous()}))
    op = Apply(p.ADD, (X, X))
    plain = block(op)
    assert equality.equal(Block((), (Stmt((marked,), op),), (marked,)), plain)
