"""Reads and folds whose indices are provably inside need no check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..patterns.generators import Fold, MultiLoop, Scatter
from ..staging.builder import Builder
from ..staging.nodes import Bounds, Index, Node, Operand, Program, Stmt
from ..staging.replay import Replay, replay_program
from ..staging.traversal import walk_stmts
from .analyses.definitions import define
from .analyses.ranges import Ranges


def prove_bounds(program: Program) -> Program:
    """Marks as proven what ranges.py can prove: such work may move, and costs no test.

    Before:
        program f(n; x: f64[n]) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]?
            collect v
          }
          return ys
        }

    After:
        program f(n; x: f64[n]) {
          ys: f64[n] = loop (i < n) {
            v: f64 = x[i]
            collect v
          }
          return ys
        }

    Requires: an index that is an index of a loop over the axis, argmin's result over it, a clipped
    or otherwise bounded integer.
    Does not: use what conditions around the read say.
    """
    if not any(_is_checked(s) for s in walk_stmts(program.body)):
        return program
    ranges = Ranges(define(program))
    return replay_program(program, lambda builder: _Prove(builder, ranges))


def _is_checked(stmt: Stmt) -> bool:
    if isinstance(stmt.op, MultiLoop):
        return any(g.places for g in stmt.op.generators)
    return isinstance(stmt.op, Index) and stmt.op.bounds is Bounds.CHECKED


class _Prove(Replay):
    def __init__(self, builder: Builder, ranges: Ranges) -> None:
        super().__init__(builder)
        self.ranges = ranges

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        op = stmt.op
        if not isinstance(op, Index) or op.bounds is Bounds.PROVEN:
            return None
        if not self.ranges.index_inside(op):
            return None
        return self.replace(stmt, self.op(replace(op, bounds=Bounds.PROVEN)))

    def node(self, node: Node) -> Node:
        if isinstance(node, Fold | Scatter) and node.bounds is Bounds.CHECKED:
            if all(self.ranges.inside(at, size) for at, size in node.places):
                return super().node(replace(node, bounds=Bounds.PROVEN))
        return super().node(node)
