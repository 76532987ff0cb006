"""Generators of one loop that do the same work share one result; copies of arrays disappear."""

from __future__ import annotations

from collections.abc import Sequence

from ..patterns.generators import Collect, Generator, MultiLoop, binder_slices, canonical
from ..staging.builder import Builder
from ..staging.equality import key
from ..staging.nodes import Block, Index, Op, Operand, Program, Stmt, Var, operand_dim
from ..staging.replay import Replay, replay_program
from ..staging.traversal import walk_stmts
from ..staging.types import Array
from .analyses.definitions import Definitions, define
from .analyses.uses import Uses, find_uses


def share_generators(program: Program) -> Program:
    """Drops generators that repeat another one of their loop, and loops that only copy a result.

    A copy `h = loop (j < d) { w = a[j]; collect w }` is `a` itself where that is a's only use. The
    replay folds constants, applies the algebra tables and shares equal statements, as every replay.

    Before:
        program f(n; x: f64[n]) {
          a: f64, b: f64 = loop (i < n) {
            v: f64 = x[i]
            reduce sum (v)
            reduce sum (v)
          }
          return a, b
        }

    After:
        program f(n; x: f64[n]) {
          a: f64 = loop (i < n) {
            v: f64 = x[i]
            reduce sum (v)
          }
          return a, a
        }

    Requires: for a copy, that the array is a loop's result which nothing else uses: results of the
    program stay different arrays, and never are its arguments.
    Does not: reorder the generators that stay.
    """
    if not any(_may_share(stmt) for stmt in walk_stmts(program.body)):
        return program
    definitions, uses = define(program), find_uses(program)
    return replay_program(program, lambda builder: _Share(builder, definitions, uses))


def _may_share(stmt: Stmt) -> bool:
    """Whether the loop has several generators, may be a copy, or is not canonical."""
    if not isinstance(stmt.op, MultiLoop):
        return False
    loop = stmt.op
    return len(loop.generators) > 1 or len(loop.body.stmts) == 1 or canonical(loop) is not loop


class _Share(Replay):
    def __init__(self, builder: Builder, definitions: Definitions, uses: Uses) -> None:
        super().__init__(builder)
        self.definitions = definitions
        self.uses = uses

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        if not isinstance(stmt.op, MultiLoop):
            return None
        copied = self._copied(stmt.op)
        if copied is not None:
            return (self.operand(copied),)
        loop = self.op(stmt.op)
        assert isinstance(loop, MultiLoop)
        return self._shared(stmt, canonical(loop))

    def _copied(self, loop: MultiLoop) -> Var | None:
        """The array of which the loop makes a needless copy."""
        generators, stmts = list(loop.generators), list(loop.body.stmts)
        if len(generators) != 1 or len(stmts) != 1:
            return None
        generator, read = generators[0], stmts[0]
        op = read.op
        if not isinstance(generator, Collect) or generator.cond is not None:
            return None
        if not isinstance(op, Index) or generator.value.results != read.binders:
            return None
        array = op.array
        if not isinstance(array, Var) or op.indices != loop.body.params:
            return None
        assert isinstance(array.type, Array)
        if array.type.shape != tuple(operand_dim(d) for d in loop.domain):
            return None
        made = self.definitions.source(array) is not None
        return array if made and len(self.uses.of(array)) == 1 else None

    def _shared(self, stmt: Stmt, loop: MultiLoop) -> Sequence[Operand]:
        known: dict[object, int] = {}
        kept: list[Generator] = []
        place: list[int] = []
        for generator in loop.generators:
            identity = key(generator)
            if identity not in known:
                known[identity] = len(kept)
                kept.append(generator)
            place.append(known[identity])
        if len(kept) == len(place):
            return self.replace(stmt, loop)
        slices = binder_slices(loop.generators, loop.domain)
        first = [slices[place.index(k)] for k in range(len(kept))]
        names = [b.name for part in first for b in stmt.binders[part]]
        facts = [b.facts for part in first for b in stmt.binders[part]]
        body = Block(loop.body.params, loop.body.stmts, tuple(kept))
        op: Op = MultiLoop(loop.domain, body, loop.mapping)
        found = self.builder.emit(op, names, stmt.sources, facts)
        own = binder_slices(tuple(kept), loop.domain)
        return [o for k in place for o in found[own[k]]]
