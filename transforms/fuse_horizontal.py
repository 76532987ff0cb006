"""Loops over one domain that do not need each other become one loop with all their generators."""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import MultiLoop
from ..staging.decisions import decide, decline
from ..staging.nodes import ORDERED, Block, Node, Operand, Program, Stmt
from ..staging.replay import replay_program
from ..staging.traversal import effects
from .analyses.definitions import define, loop_of
from .analyses.dependence import Dependence
from .merge_loops import Member, MergeLoops, merged_sources, name_of


def fuse_horizontal(program: Program) -> Program:
    """Merges independent loops of one block over the same domain: the data is read once.

    Before:
        program f(n; x: f64[n]) {
          s: f64 = loop (i < n) {
            a: f64 = x[i]
            reduce sum (a)
          }
          t: f64 = loop (j < n) {
            a: f64 = x[j]
            b: f64 = a * a
            reduce sum (b)
          }
          return s, t
        }

    After:
        program f(n; x: f64[n]) {
          s: f64, t: f64 = loop (i < n) {
            a: f64 = x[i]
            b: f64 = a * a
            reduce sum (a)
            reduce sum (b)
          }
          return s, t
        }

    Requires: extents that are the same operands (equal by construction, not by accident).
    Does not: merge across a dependence, also an indirect one; merge loops with ordered effects;
    move a loop in front of a check.
    """
    definitions = define(program)
    return replay_program(program, lambda builder: _FuseHorizontal(builder, definitions))


class _FuseHorizontal(MergeLoops):
    def bodies(
        self, members: Sequence[Member], indices: tuple[Operand, ...]
    ) -> list[Operand | Node]:
        """The preludes as one block, so that the loops in them meet, then all generators."""
        self.run(Block((), tuple(s for m in members for s in m.loop.body.stmts), ()))
        return [g for m in members for g in self.results(m.loop.body)]

    def run(self, block: Block) -> None:
        for group in _arrange(block):
            if len(group) > 1:
                self.merge([Member(s, loop_of(s)) for s in group])
            else:
                super().run(Block((), group, ()))


def _arrange(block: Block) -> list[tuple[Stmt, ...]]:
    """The block's statements in order, those to be merged together."""
    graph = Dependence(block)
    leaders: list[int] = []
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt.op, MultiLoop) and not effects(stmt.op) & ORDERED:
            _join(graph, leaders, k)
    return graph.schedule()


def runs_in_order(stmt: Stmt) -> bool:
    """Whether the indices of the loop must run one after the other."""
    return any(g.sequential for g in loop_of(stmt).generators)


def _join(graph: Dependence, leaders: list[int], k: int) -> None:
    """Merges statement k with the first earlier group over its domain that it does not need."""
    stmt = graph.stmts[k]
    for leader in leaders:
        other = graph.stmts[leader]
        if loop_of(other).domain != loop_of(stmt).domain:
            continue
        id, sources = f"fuse_horizontal.{name_of(other, stmt)}", merged_sources((other, stmt))
        if not graph.can_merge(leader, k):
            decline(id, "the later loop needs a whole result of the earlier one", sources)
            continue
        if runs_in_order(other) is not runs_in_order(stmt):
            decline(id, "one of them runs in order, the other one on all cores", sources)
            continue
        reason = "they run over the same domain and neither needs the other"
        if decide(id, True, (True, False), reason, sources, neutral=False):
            graph.merge(leader, k)
            return
    leaders.append(k)
