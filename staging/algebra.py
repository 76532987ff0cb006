"""Constant folding and algebra on scalars: only what holds for every bit pattern.

For floats x*0, x-x and x+0.0 do not hold (NaN, infinities, -0.0); x*1 and x/1 do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import primitives as p
from .nodes import Apply, Block, Cast, Const, If, Operand
from .rules import rule
from .types import BOOL, Scalar

if TYPE_CHECKING:
    from .builder import Builder


@rule(Apply)
def fold_constants(builder: Builder, op: Apply) -> tuple[Operand, ...] | None:
    """All operands constant -> the constant."""
    values = [a.value for a in op.args if isinstance(a, Const)]
    if len(values) < len(op.args):
        return None
    (result,) = op.signature()
    assert isinstance(result, Scalar)
    return (Const(op.primitive.evaluate(*values), result),)


@rule(Cast)
def fold_cast(builder: Builder, op: Cast) -> tuple[Operand, ...] | None:
    """A cast to the own type vanishes; a constant is converted now."""
    if op.arg.type == op.to:
        return (op.arg,)
    if isinstance(op.arg, Const):
        with np.errstate(all="ignore"):
            return (Const(op.arg.value.astype(op.to.dtype), op.to),)
    return None


@rule(Apply)
def choose(builder: Builder, op: Apply) -> tuple[Operand, ...] | None:
    """select(True, a, b) -> a; select(c, a, a) -> a."""
    if op.primitive is not p.SELECT:
        return None
    cond, a, b = op.args
    if isinstance(cond, Const):
        return (a,) if cond.value else (b,)
    return (a,) if a == b else None


def _is_int(operand: Operand, value: int) -> bool:
    return (
        isinstance(operand, Const)
        and operand.type.dtype.kind in "iub"
        and bool(operand.value == value)
    )


def _is_one(operand: Operand) -> bool:
    return (
        isinstance(operand, Const) and operand.type.dtype.kind in "iuf" and bool(operand.value == 1)
    )


@rule(Apply)
def neutral(builder: Builder, op: Apply) -> tuple[Operand, ...] | None:
    """Integer x+0, x-0, x*0, x|0, x^0; any x*1, x/1; the neutral and absorbing sides of and, or."""
    if op.primitive.arity != 2:
        return None
    x, y = op.args
    if x.type != y.type or op.signature() != (x.type,):
        return None
    match op.primitive:
        case p.ADD | p.BITWISE_OR | p.BITWISE_XOR | p.LOGICAL_OR | p.LOGICAL_XOR if _is_int(y, 0):
            return (x,)
        case p.ADD | p.BITWISE_OR | p.BITWISE_XOR | p.LOGICAL_OR | p.LOGICAL_XOR if _is_int(x, 0):
            return (y,)
        case p.SUBTRACT | p.LEFT_SHIFT | p.RIGHT_SHIFT if _is_int(y, 0):
            return (x,)
        case p.MULTIPLY | p.DIVIDE if _is_one(y):
            return (x,)
        case p.MULTIPLY if _is_one(x):
            return (y,)
        case p.FLOOR_DIVIDE if _is_int(y, 1):
            return (x,)
        case p.MULTIPLY | p.LOGICAL_AND if _is_int(y, 0):
            return (y,)
        case p.MULTIPLY | p.LOGICAL_AND if _is_int(x, 0):
            return (x,)
        case p.LOGICAL_AND if _is_int(y, 1):
            return (x,)
        case p.LOGICAL_AND if _is_int(x, 1):
            return (y,)
        case p.LOGICAL_OR if _is_int(y, 1):
            return (y,)
        case p.LOGICAL_OR if _is_int(x, 1):
            return (x,)
        case _:
            return None


@rule(Apply)
def same_operands(builder: Builder, op: Apply) -> tuple[Operand, ...] | None:
    """x == x, x <= x on integers; min(x, x), max(x, x), x and x, x or x."""
    if op.primitive.arity != 2 or op.args[0] != op.args[1]:
        return None
    x = op.args[0]
    assert isinstance(x.type, Scalar)
    idempotent = (p.MINIMUM, p.MAXIMUM, p.LOGICAL_AND, p.LOGICAL_OR, p.BITWISE_AND, p.BITWISE_OR)
    if op.primitive in idempotent and op.signature() == (x.type,):
        return (x,)
    if x.type.dtype.kind in "iub":
        if op.primitive in (p.EQUAL, p.LESS_EQUAL, p.GREATER_EQUAL):
            return (Const(True, BOOL),)
        if op.primitive in (p.NOT_EQUAL, p.LESS, p.GREATER):
            return (Const(False, BOOL),)
        if op.primitive is p.SUBTRACT and x.type.dtype.kind != "b":
            return (Const(0, x.type),)
    return None


@rule(Apply)
def unary_plus(builder: Builder, op: Apply) -> tuple[Operand, ...] | None:
    """+x -> x for numbers."""
    if op.primitive is p.POSITIVE:
        return (op.args[0],)
    return None


@rule(If)
def decided_branch(builder: Builder, op: If) -> tuple[Operand, ...] | None:
    """An `If` on a constant is its branch, spliced into the current block."""
    if not isinstance(op.cond, Const):
        return None
    from .replay import Replay

    branch: Block = op.then if op.cond.value else op.orelse
    return Replay(builder).inline(branch, ())
