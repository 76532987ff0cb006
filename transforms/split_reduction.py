"""split_reduction: a reduction over several axes becomes a reduction of reductions.

    Before:
        program f(n, m; x: f64[n, m]) {
          s: f64 = loop (i < n, j < m) {
            e: f64 = x[i, j]
            reduce sum (e)
          }
          return s
        }
    After:
        program f(n, m; x: f64[n, m]) {
          s: f64 = loop (i < n) {
            t: f64 = loop (j < m) {
              e: f64 = x[i, j]
              reduce sum (e)
            }
            reduce sum (t)
          }
          return s
        }

Requires: reducers that are associative and have an identity; scalar values without conditions.
Does not: touch loops inside of loops; they stay one nest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import MultiLoop, Reduce
from ..staging.nodes import Block, Operand, Program, Stmt
from ..staging.replay import Replay, replay_program
from ..staging.types import Scalar


def split_reduction(program: Program) -> Program:
    """Splits the outermost loops of the program's sequential part.

    The first axis is then the one that is cut into chunks, and the rounding of float sums grows
    with the blocks of either axis, not with their product.
    """
    return replay_program(program, Split)


class Split(Replay):
    """Replays with reductions over several axes split behind the first."""

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        """An outermost reduction over several axes; loops inside of a loop are copied."""
        op = stmt.op
        if not isinstance(op, MultiLoop):
            return None
        if not may_split(op):
            return Replay(self.builder, self.env).copy(stmt)
        first, *rest = op.body.params
        self.builder.open(self.fresh([first]))
        self.builder.open(self.fresh(rest))
        copying = Replay(self.builder, self.env)
        copying.run(op.body)
        inner = self.builder.close(copying.results(op.body))
        domain = tuple(self.operand(d) for d in op.domain)
        parts = self.builder.emit(MultiLoop(domain[1:], inner), (), stmt.sources)
        body = self.builder.close(tuple(self.outer(op, parts)))
        return self.replace(stmt, MultiLoop(domain[:1], body))

    def outer(self, op: MultiLoop, parts: Sequence[Operand]) -> list[Reduce]:
        """The reductions over the first axis, of the inner ones' results."""
        found: list[Reduce] = []
        for generator, part in zip(op.generators, parts, strict=True):
            again = self.node(generator)
            assert isinstance(again, Reduce)
            found.append(Reduce(None, Block((), (), (part,)), again.reducer))
        return found


def may_split(op: MultiLoop) -> bool:
    """Whether every generator is a plain reduction that may be regrouped."""
    if len(op.domain) == 1:
        return False
    return all(
        isinstance(g, Reduce)
        and g.cond is None
        and g.reducer.width == 1
        and g.reducer.associative
        and g.reducer.identity is not None
        and isinstance(g.value.operands[0].type, Scalar)
        for g in op.generators
    )
