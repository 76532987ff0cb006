"""What work costs, in additions: a rough measure that the decisions compare.

A loop whose extent is known only at run time counts as `NOMINAL` iterations.
"""

from __future__ import annotations

from math import prod

from ...patterns.generators import Combining, Generator, MultiLoop
from ...staging.nodes import (
    Apply,
    Block,
    Cast,
    Const,
    ForLoop,
    If,
    Index,
    Op,
    Operand,
    Stmt,
    Update,
    While,
)
from ...staging.traversal import blocks
from ...staging.types import Array

NOMINAL = 16


def cost(op: Op) -> int:
    """The cost of one execution of an op."""
    match op:
        case Apply():
            return op.primitive.cost
        case Index() | Update():
            return 1
        case Cast():
            return 0
        case If():
            return 1 + max(block_cost(op.then), block_cost(op.orelse))
        case MultiLoop():
            return iterations(op.domain) * (block_cost(op.body) + sum(map(_store, op.generators)))
        case While() | ForLoop():
            return NOMINAL * sum(block_cost(b) for b in blocks(op))
        case _:
            return NOMINAL


def block_cost(block: Block) -> int:
    """The cost of a block's statements, and of its generators' values."""
    generators = tuple(r for r in block.results if isinstance(r, Generator))
    return stmts_cost(block.stmts) + sum(block_cost(g.value) for g in generators)


def stmts_cost(stmts: tuple[Stmt, ...]) -> int:
    """The cost of running statements once."""
    return sum(cost(s.op) for s in stmts)


def iterations(domain: tuple[Operand, ...]) -> int:
    """The number of indices, `NOMINAL` for an unknown extent."""
    return prod(int(d.value.item()) if isinstance(d, Const) else NOMINAL for d in domain)


def _store(generator: Generator) -> int:
    """Storing or combining one value."""
    if isinstance(generator, Combining):
        value = generator.value.operands[-1]
        return NOMINAL if isinstance(value.type, Array) else 1
    return 1
