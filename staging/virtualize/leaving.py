"""`pm.slowpath()` ends what is staged of a path, as a `raise` does.

    pm.slowpath()          if pm.slowpath():
    rest              ->       raise _parloom_.left
                           else:
                               rest

It is known by its name, and answers True while staging only.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .tree import SCOPES

NAME = "slowpath"
LEFT = "left"


def lower_leaving(stmts: Sequence[ast.stmt], hooks: str) -> list[ast.stmt]:
    """The statements with everything behind a `slowpath()` on its other side."""
    made: list[ast.stmt] = []
    for k, stmt in enumerate(stmts):
        if isinstance(stmt, ast.Expr) and _leaves(stmt.value):
            left = ast.Attribute(ast.Name(hooks, ast.Load()), LEFT, ast.Load())
            jump = ast.Raise(left, None)
            for node in (left.value, left, jump):
                ast.copy_location(node, stmt)
            rest = lower_leaving(stmts[k + 1 :], hooks)
            return [*made, ast.copy_location(ast.If(stmt.value, [jump], rest), stmt)]
        if not isinstance(stmt, SCOPES):
            _inside(stmt, hooks)
        made.append(stmt)
    return made


def _inside(node: ast.AST, hooks: str) -> None:
    for name in ("body", "orelse", "finalbody"):
        if hasattr(node, name):
            setattr(node, name, lower_leaving(getattr(node, name), hooks))
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        _inside(part, hooks)


def _leaves(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == NAME
