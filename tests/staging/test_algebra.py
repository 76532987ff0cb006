"""Folding and algebra give NumPy's bits for every operand, and apply where they should."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from parloom.staging import primitives as p
from parloom.staging.builder import Builder
from parloom.staging.literals import SCALARS
from parloom.staging.nodes import Apply, Block, Cast, Const, If, Op, Operand, Stmt, Var
from parloom.staging.types import BOOL, F32, F64, I64, INDEX, WEAK_FLOAT, Scalar

U8, I32 = SCALARS["u8"], SCALARS["i32"]
TYPES = (BOOL, U8, I32, I64, F32, F64, INDEX, WEAK_FLOAT)
BINARY = [q for q in p.ALL if q.arity == 2 and q not in (p.POWER, p.LEFT_SHIFT, p.RIGHT_SHIFT)]


def values(type_: Scalar) -> list[np.generic]:
    """Values with a special role in some rule."""
    if type_.dtype.kind == "b":
        return [np.False_, np.True_]
    if type_.dtype.kind in "iu":
        info = np.iinfo(type_.dtype.name)
        return [type_.dtype.type(v) for v in (0, 1, 2, info.min, info.max)]
    return [type_.dtype.type(v) for v in (0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan)]


def evaluate(stmts: list[Stmt], result: Operand, env: dict[Operand, np.generic]) -> np.generic:
    """What straight-line code computes."""

    def value(operand: Operand) -> np.generic:
        return operand.value if isinstance(operand, Const) else env[operand]

    for stmt in stmts:
        assert isinstance(stmt.op, Apply)
        env[stmt.binders[0]] = stmt.op.primitive.evaluate(*map(value, stmt.op.args))
    return value(result)


def built(op: Op, *params: Var) -> tuple[list[Stmt], Operand]:
    """The statements and the result that the builder makes of an op."""
    builder = Builder()
    builder.open(params)
    (result,) = builder.emit(op)
    return builder.scopes[0].stmts, result


def has_loop(primitive: p.Primitive, type_: Scalar) -> bool:
    """Whether the primitive takes two of the type as they are."""
    try:
        return primitive.loop((type_, type_)) == (type_, type_)
    except TypeError:
        return False


@pytest.mark.parametrize("primitive", BINARY, ids=repr)
def test_every_rule_keeps_the_bits(primitive: p.Primitive) -> None:
    for type_ in (t for t in TYPES if has_loop(primitive, t)):
        x = Var(type_, "x")
        fixed = [Const(v, type_) for v in values(type_)]
        pairs = [*itertools.product([x], fixed), *itertools.product(fixed, [x]), (x, x)]
        for pair, value in itertools.product(pairs, values(type_)):
            args = (a.value if isinstance(a, Const) else value for a in pair)
            stmts, result = built(Apply(primitive, pair), x)
            found = evaluate(stmts, result, {x: value})
            assert isinstance(result.type, Scalar)
            wanted = primitive.evaluate(*args).astype(result.type.dtype)
            assert found.tobytes() == wanted.tobytes() or (found != found and wanted != wanted), (
                f"{primitive}{pair} at {value!r}: {found!r} instead of {wanted!r}"
            )


@pytest.mark.parametrize("primitive", p.ALL, ids=repr)
def test_constants_fold_to_numpys_value(primitive: p.Primitive) -> None:
    types = (BOOL, F64, F64) if primitive is p.SELECT else (F64,) * primitive.arity
    try:
        loop = primitive.loop(types)
    except TypeError:
        loop = (I64,) * primitive.arity
    args = tuple(Const(values(t)[1], t) for t in loop)
    stmts, result = built(Apply(primitive, args))
    assert not stmts
    assert isinstance(result, Const)
    assert result == Const(primitive.evaluate(*(a.value for a in args)), result.type)


X, N, C, Y = Var(F64, "x"), Var(I64, "n"), Var(BOOL, "c"), Var(F64, "y")
ONE, ZERO, ONE_INT, ZERO_INT = Const(1, F64), Const(0, F64), Const(1, I64), Const(0, I64)
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)

SIMPLER: list[tuple[p.Primitive, tuple[Operand, ...], Operand]] = [
    (p.MULTIPLY, (X, ONE), X),
    (p.DIVIDE, (X, ONE), X),
    (p.ADD, (N, ZERO_INT), N),
    (p.MULTIPLY, (N, ZERO_INT), ZERO_INT),
    (p.SUBTRACT, (N, N), ZERO_INT),
    (p.EQUAL, (N, N), TRUE),
    (p.LESS, (N, N), FALSE),
    (p.MINIMUM, (X, X), X),
    (p.LOGICAL_AND, (C, TRUE), C),
    (p.LOGICAL_AND, (FALSE, C), FALSE),
    (p.LOGICAL_OR, (C, TRUE), TRUE),
    (p.SELECT, (TRUE, X, Y), X),
    (p.SELECT, (FALSE, X, Y), Y),
    (p.SELECT, (C, X, X), X),
    (p.POSITIVE, (X,), X),
]


@pytest.mark.parametrize(("primitive", "args", "result"), SIMPLER)
def test_what_is_simplified(
    primitive: p.Primitive, args: tuple[Operand, ...], result: Operand
) -> None:
    stmts, found = built(Apply(primitive, args), X, N, C, Y)
    assert not stmts
    assert found == result


KEPT: list[tuple[p.Primitive, tuple[Operand, ...]]] = [
    (p.MULTIPLY, (X, ZERO)),  # NaN, infinities, the sign of zero
    (p.ADD, (X, ZERO)),  # -0.0 + 0.0 is 0.0
    (p.SUBTRACT, (X, X)),  # NaN for NaN and infinities
    (p.DIVIDE, (X, X)),
    (p.EQUAL, (X, X)),  # False for NaN
    (p.LESS_EQUAL, (X, X)),
]


@pytest.mark.parametrize(("primitive", "args"), KEPT)
def test_what_does_not_hold_for_floats(primitive: p.Primitive, args: tuple[Operand, ...]) -> None:
    stmts, _ = built(Apply(primitive, args), X)
    assert [s.op for s in stmts] == [Apply(primitive, args)]


def test_casts_of_constants_and_to_the_own_type_vanish() -> None:
    assert built(Cast(X, F64), X) == ([], X)
    assert built(Cast(Const(2.5, F64), I64)) == ([], Const(2, I64))
    assert built(Cast(Const(1, INDEX), F32)) == ([], Const(1.0, F32))


def test_a_branch_on_a_constant_is_spliced() -> None:
    inner = Var(F64, "inner")
    then = Block((), (Stmt((inner,), Apply(p.ADD, (X, X))),), (inner,))
    orelse = Block((), (), (X,))
    stmts, result = built(If(TRUE, then, orelse), X)
    assert [s.op for s in stmts] == [Apply(p.ADD, (X, X))]
    assert result is stmts[0].binders[0]
    assert built(If(FALSE, then, orelse), X) == ([], X)
