"""The builder shares along enclosing blocks, never between siblings, and binds sizes."""

from __future__ import annotations

import pytest

from parloom.patterns.generators import Collect, MultiLoop
from parloom.staging import primitives as p
from parloom.staging.builder import Builder, close_type, make_binders
from parloom.staging.locations import Location
from parloom.staging.nodes import (
    Apply,
    Block,
    Check,
    Const,
    Contiguous,
    ErrorKind,
    Index,
    Op,
    Operand,
    Var,
)
from parloom.staging.types import BOOL, F64, INDEX, Array, Exists

X, N, C = Var(F64, "x"), Var(INDEX, "n"), Var(BOOL, "c")
A = Var(Array(F64, (N,)), "a")
DOUBLE = Apply(p.ADD, (X, X))


@pytest.fixture
def builder() -> Builder:
    """A builder with one open block that binds n, x, c and a."""
    made = Builder()
    made.open((N, X, C, A))
    return made


def one(builder: Builder, op: Op) -> Operand:
    """The single result of an emitted op."""
    (result,) = builder.emit(op)
    return result


def test_equal_statements_are_shared_in_a_block(builder: Builder) -> None:
    assert one(builder, DOUBLE) is one(builder, DOUBLE)
    assert len(builder.scopes[0].stmts) == 1


def test_a_nested_block_shares_with_its_enclosing_ones(builder: Builder) -> None:
    outer = one(builder, DOUBLE)
    builder.open()
    assert one(builder, DOUBLE) is outer
    assert builder.close((outer,)).stmts == ()


def test_siblings_do_not_share(builder: Builder) -> None:
    results: list[Operand] = []
    for _ in range(2):
        builder.open()
        results.append(one(builder, DOUBLE))
        assert len(builder.close((results[-1],)).stmts) == 1
    assert results[0] is not results[1]
    assert one(builder, DOUBLE) not in results


def test_blocks_are_equal_up_to_renaming(builder: Builder) -> None:
    found: list[Operand] = []
    for name in ("i", "j"):
        index = Var(INDEX, name)
        builder.open((index,))
        value = one(builder, Index(A, (index,)))
        body = builder.close((Collect(None, Block((), (), (value,))),))
        found.append(one(builder, MultiLoop((N,), body)))
    assert found[0] is found[1]


def test_effects_in_order_are_never_shared(builder: Builder) -> None:
    check = Check(C, ErrorKind.VALUE, "no")
    assert builder.emit(check) == ()
    assert builder.emit(check) == ()
    assert len(builder.scopes[0].stmts) == 2


def test_constants_differ_by_bits(builder: Builder) -> None:
    plus, minus = (one(builder, Apply(p.ADD, (X, Const(v, F64)))) for v in (0.0, -0.0))
    assert plus is not minus


def test_names_sources_and_facts_reach_the_binder(builder: Builder) -> None:
    where, facts = (Location("step.py", 3),), frozenset({Contiguous()})
    (result,) = builder.emit(DOUBLE, ("twice",), where, (facts,))
    assert isinstance(result, Var)
    assert (result.name, result.facts) == ("twice", facts)
    assert builder.scopes[0].stmts[0].sources == where


def test_size_arithmetic_goes_where_its_operands_are_known(builder: Builder) -> None:
    index = Var(INDEX, "i")
    builder.open((index,))
    half = builder.emit_outermost(Apply(p.FLOOR_DIVIDE, (N, Const(2, INDEX))), "half")
    below = builder.emit_outermost(Apply(p.SUBTRACT, (half, index)), "below")
    assert isinstance(half, Var)
    assert isinstance(below, Var)
    assert (builder.depth(half), builder.depth(below)) == (0, 1)
    assert [len(scope.stmts) for scope in builder.scopes] == [1, 1]


def test_what_a_closed_block_binds_is_not_seen(builder: Builder) -> None:
    index = Var(INDEX, "i")
    builder.open((index,))
    inner = one(builder, Apply(p.ADD, (index, index)))
    assert builder.sees(inner)
    builder.close(())
    assert not builder.sees(inner)
    assert builder.sees(X)
    assert builder.sees(Const(1, INDEX))
    assert not builder.sees(Var(F64, "stranger"))


def test_abandon_drops_everything_inside(builder: Builder) -> None:
    scope = builder.open()
    builder.open()
    builder.abandon(scope)
    assert len(builder.scopes) == 1


def test_existential_sizes_become_the_binders_before() -> None:
    size, kept = make_binders((INDEX, Array(F64, (Exists(0), 3))), ("m", "ys"))
    assert kept.type == Array(F64, (size, 3))
    assert (size.name, kept.name) == ("m", "ys")


def test_a_constant_size_becomes_static() -> None:
    assert close_type(Array(F64, (Exists(0), N)), (Const(4, INDEX),)) == Array(F64, (4, N))
