"""Which sizes the sequential part uses as numbers, beside giving them to launches as extents."""

from __future__ import annotations

from collections.abc import Container, Mapping

from ..staging.nodes import Block, Op, Operand, Program
from ..staging.traversal import blocks, operands
from .runtime.launch import Launcher


def scalar_sizes(program: Program, launchers: Mapping[Op, Launcher]) -> Container[Operand]:
    """The operands of its scalar statements, its results, and what kernels read as a number."""
    used: set[Operand] = set(program.body.operands)

    def visit(block: Block) -> None:
        for stmt in block.stmts:
            launcher = launchers.get(stmt.op)
            if launcher is not None:
                used.update(var for var, _ in launcher.kernel.inputs)
                continue
            used.update(operands(stmt.op))
            for inner in blocks(stmt.op):
                used.update(inner.operands)
                visit(inner)

    visit(program.body)
    return used
