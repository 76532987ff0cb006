"""What is the same in every iteration of a loop is computed once in front of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from ..patterns.generators import Generator
from ..staging.builder import Builder
from ..staging.nodes import Block, If, Node, Operand, Program, Stmt, Var
from ..staging.replay import Replay, replay_program
from ..staging.traversal import blocks, free_vars, result_blocks, type_vars
from .analyses.definitions import define
from .analyses.ranges import Ranges
from .analyses.speculation import speculatable

T = TypeVar("T")


def hoist_invariants(program: Program) -> Program:
    """Moves statements out of loops (also nested loops, as a whole) on whose indices or state they
    do not depend, as far out as their operands are known.

    Before:
        program f(n; x: f64[n], b: f64) {
          ys: f64[n] = loop (i < n) {
            a: f64 = exp(b)
            v: f64 = x[i]
            w: f64 = v * a
            collect w
          }
          return ys
        }

    After:
        program f(n; x: f64[n], b: f64) {
          a: f64 = exp(b)
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]
            w: f64 = v * a
            collect w
          }
          return ys
        }

    Requires: work that cannot fault, reads proven inside where they come to stand: the loop may run
    zero times.
    Does not: move anything out of a branch, or out of a value under a condition.
    """
    if not _may_move(program.body):
        return program
    ranges = Ranges(define(program))
    return replay_program(program, lambda builder: _Hoist(builder, ranges))


def _may_move(block: Block) -> bool:
    """Whether any statement of a loop's body inside needs nothing that its block binds."""
    bodies = [b for stmt in block.stmts for b in blocks(stmt.op)] + list(result_blocks(block))
    return any(_leaves(body) or _may_move(body) for body in bodies)


def _leaves(body: Block) -> bool:
    own = {*body.params, *(binder for stmt in body.stmts for binder in stmt.binders)}
    return any(own.isdisjoint(_needed(stmt)) for stmt in body.stmts)


def _needed(stmt: Stmt) -> set[Var]:
    """The variables that the statement names, but for its own."""
    used = set(free_vars(stmt.op))
    for binder in stmt.binders:
        used.update(type_vars(binder.type))
    return used.difference(stmt.binders)


class _Hoist(Replay):
    def __init__(self, builder: Builder, ranges: Ranges) -> None:
        super().__init__(builder)
        self.ranges = ranges
        self.floors = [0]  # for each open block, the outermost that its statements may move to

    def _kept(self, replay: Callable[[], T]) -> T:
        """What `replay` makes; the blocks that it opens keep their statements."""
        self.floors.append(len(self.builder.scopes))
        try:
            return replay()
        finally:
            self.floors.pop()

    def node(self, node: Node) -> Node:
        if isinstance(node, Generator) and node.cond is not None:
            return self._kept(partial(super().node, node))
        return super().node(node)

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        if isinstance(stmt.op, If):
            return self._kept(partial(self.copy, stmt))
        depth = self._depth(stmt)
        if depth >= len(self.builder.scopes) - 1:
            return None
        return self.replace(stmt, self.op(stmt.op), depth)

    def _depth(self, stmt: Stmt) -> int:
        """The outermost open block in which the statement may stand."""
        here = len(self.builder.scopes) - 1
        if self.floors[-1] >= here:
            return here
        depth = self.floors[-1]
        for var in _needed(stmt):
            operand = self.operand(var)
            if isinstance(operand, Var):
                depth = max(depth, self.builder.depth(operand))
        if depth >= here or not speculatable(stmt.op, self.ranges):
            return here
        return depth
