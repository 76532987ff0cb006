"""A condition as its parts: `a and (b and c)` is a, b, c."""

from __future__ import annotations

from ...staging.nodes import Apply, Operand, Var
from ...staging.primitives import BITWISE_AND, LOGICAL_AND
from ...staging.types import BOOL
from .definitions import Definitions


def conjuncts(cond: Operand | None, definitions: Definitions) -> tuple[Operand, ...]:
    """The truth values that all must hold; none for no condition."""
    if cond is None:
        return ()
    stmt = definitions.stmt(cond) if isinstance(cond, Var) else None
    if stmt is None or not isinstance(stmt.op, Apply) or cond.type != BOOL:
        return (cond,)
    if stmt.op.primitive not in (LOGICAL_AND, BITWISE_AND):
        return (cond,)
    return tuple(part for arg in stmt.op.args for part in conjuncts(arg, definitions))
