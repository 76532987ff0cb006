"""Where the sequential part lets go of arrays: their memory serves the launches that follow."""

from __future__ import annotations

from collections.abc import Container

from ..staging.nodes import Block, Op, Program, Stmt, Update, Var
from ..staging.traversal import blocks, free_vars
from ..staging.types import Array


def last_uses(program: Program, launched: Container[Op]) -> dict[Stmt, tuple[Var, ...]]:
    """The arrays of launches that nothing reads after a statement of the same block.

    Left out are results, what an update may have handed on under the same name, and what is only
    dead where the program ends.
    """
    found: dict[Stmt, tuple[Var, ...]] = {}
    visit(program.body, launched, found)
    for stmt in program.body.stmts[-1:]:
        found.pop(stmt, None)
    return found


def visit(block: Block, launched: Container[Op], found: dict[Stmt, tuple[Var, ...]]) -> None:
    """Adds what is dead within a block, and the blocks inside."""
    waiting: set[Var] = set()
    used = [free_vars(stmt.op) for stmt in block.stmts]
    for stmt in block.stmts:
        if stmt.op in launched or stmt.op.makes_arrays:
            waiting.update(b for b in stmt.binders if isinstance(b.type, Array))
        else:
            for inner in blocks(stmt.op):
                visit(inner, launched, found)
    waiting.difference_update(v for v in block.operands if isinstance(v, Var))
    waiting.difference_update(v for v in waiting.copy() if is_updated(block, v))
    for stmt, reads in zip(reversed(block.stmts), reversed(used), strict=True):
        dead = tuple(v for v in (*stmt.binders, *reads) if v in waiting)
        if dead:
            found[stmt] = dead
            waiting.difference_update(dead)


def is_updated(block: Block, var: Var) -> bool:
    """Whether an update reads the array, in the block or inside."""
    return any(
        (isinstance(stmt.op, Update) and stmt.op.array is var)
        or any(is_updated(inner, var) for inner in blocks(stmt.op))
        for stmt in block.stmts
    )


def reads_inside(op: Op, var: Var) -> bool:
    """Whether a block of the op reads the variable."""
    return any(var in free_vars(block) for block in blocks(op))
