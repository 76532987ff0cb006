"""Small branches that cannot fault become selections."""

from __future__ import annotations

from collections.abc import Sequence

from ..staging.builder import Builder
from ..staging.nodes import Apply, Block, If, Operand, Program, Stmt
from ..staging.primitives import SELECT
from ..staging.replay import Replay, replay_program
from ..staging.traversal import walk_stmts
from ..staging.types import Scalar
from .analyses.costs import stmts_cost
from .analyses.definitions import define
from .analyses.ranges import Ranges
from .analyses.speculation import speculatable

SMALL = 8  # additions that a branch may cost when both are always computed


def convert_branches(program: Program) -> Program:
    """Computes both branches and selects: straight code, which vectorises.

    Before:
        program f(x: f64, c: bool) {
          y: f64 = if c {
            a: f64 = x + 1.0_f64
            yield a
          } else {
            yield x
          }
          return y
        }

    After:
        program f(x: f64, c: bool) {
          a: f64 = x + 1.0_f64
          y: f64 = select(c, a, x)
          return y
        }

    Requires: scalar results, and branches whose work is small and cannot fault.
    Does not: convert branches with loops, checks or reads that are not proven inside.
    """
    if not any(isinstance(s.op, If) for s in walk_stmts(program.body)):
        return program
    ranges = Ranges(define(program))
    return replay_program(program, lambda builder: _Convert(builder, ranges))


class _Convert(Replay):
    def __init__(self, builder: Builder, ranges: Ranges) -> None:
        super().__init__(builder)
        self.ranges = ranges

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        op = stmt.op
        if not isinstance(op, If) or not all(isinstance(b.type, Scalar) for b in stmt.binders):
            return None
        if not (self._small(op.then) and self._small(op.orelse)):
            return None
        cond = self.operand(op.cond)
        first, second = self.inline(op.then, ()), self.inline(op.orelse, ())
        chosen: list[Operand] = []
        for a, b, binder in zip(first, second, stmt.binders, strict=True):
            select = Apply(SELECT, (cond, a, b))
            chosen.extend(self.builder.emit(select, (binder.name,), stmt.sources))
        return chosen

    def _small(self, block: Block) -> bool:
        small = stmts_cost(block.stmts) <= SMALL
        return small and all(speculatable(s.op, self.ranges) for s in block.stmts)
