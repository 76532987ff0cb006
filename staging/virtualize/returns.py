"""Early returns: an `if` that returns becomes one whose branches both give the result.

    if c:              if c:
        return a           ret = a
    rest          ->   else:
    return b               rest
                           ret = b
                       return ret

Where that is not possible (a return inside a loop, `with` or `try`; branches that both may fall
through) the returns become flags (jumps.py).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .tree import own_statements

RESULT = "_parloom_result"
RETURNED = "_parloom_returned"  # the flag of a return inside a loop (jumps.py)


class LiftedIf(ast.If):
    """An `if` of which every branch ends by assigning the result."""


def lift_returns(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A function's body with its early returns lifted."""
    lifted = _lift(body)
    if lifted is None:
        return list(body)
    last = lifted[-1]
    result = ast.copy_location(ast.Name(RESULT, ast.Load()), last)
    return [*lifted, ast.copy_location(ast.Return(result), last)]


def _lift(body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """The statements, the last a LiftedIf, an assignment of the result or a `raise`; None if
    impossible."""
    for k, stmt in enumerate(body):
        if isinstance(stmt, ast.Return):
            return [*body[:k], _assign(stmt)]
        if isinstance(stmt, ast.Raise):
            return list(body[: k + 1])
        if _returns(stmt):
            branches = _branches(stmt, body[k + 1 :]) if isinstance(stmt, ast.If) else None
            return None if branches is None else [*body[:k], branches]
    return None


def _branches(stmt: ast.If, rest: Sequence[ast.stmt]) -> LiftedIf | None:
    falls = [side for side in (stmt.body, stmt.orelse) if _falls_through(side)]
    if len(falls) == 2 and rest:
        return None  # the rest would be needed twice
    sides: list[list[ast.stmt]] = []
    for side in (stmt.body, stmt.orelse):
        whole = [*side, *rest] if _falls_through(side) else list(side)
        if _falls_through(whole):
            whole.append(ast.copy_location(ast.Return(None), whole[-1] if whole else stmt))
        lifted = _lift(whole)
        if lifted is None:
            return None
        sides.append(lifted)
    made = LiftedIf(stmt.test, sides[0], sides[1])
    return ast.copy_location(made, stmt)


def _assign(stmt: ast.Return) -> ast.stmt:
    value = stmt.value or ast.copy_location(ast.Constant(None), stmt)
    target = ast.copy_location(ast.Name(RESULT, ast.Store()), stmt)
    return ast.copy_location(ast.Assign([target], value), stmt)


def _returns(stmt: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return) for n in own_statements([stmt]))


def _falls_through(body: Sequence[ast.stmt]) -> bool:
    """Whether control may reach the end of the statements."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return _falls_through(last.body) or _falls_through(last.orelse)
    return True
