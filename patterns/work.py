"""How much work a loop is: the iterations inside of one index of it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from ..staging.nodes import Block, Operand
from ..staging.traversal import result_blocks
from .generators import MultiLoop


def work_per_index(loop: MultiLoop) -> tuple[tuple[Operand, ...], ...]:
    """The innermost iterations of one first index: for each nest of loops the extents whose product
    they are. Extents that the loop itself computes are left out.
    """
    found: list[tuple[Operand, ...]] = []
    bound: set[Operand] = set(loop.body.params)

    def visit(block: Block, outer: tuple[Operand, ...]) -> None:
        found.append(outer)
        inside = [block, *result_blocks(block)]
        for stmt in (s for b in inside for s in b.stmts):
            bound.update(stmt.binders)
            if isinstance(stmt.op, MultiLoop):
                known = tuple(d for d in stmt.op.domain if d not in bound)
                visit(stmt.op.body, (*outer, *known))

    visit(loop.body, loop.domain[1:])
    return tuple(found)


def evaluated_work(loop: MultiLoop, extent: Callable[[Operand], int]) -> int:
    """The greatest number of `work_per_index`, given the operands' values."""
    return max(prod(map(extent, nest)) for nest in work_per_index(loop))
