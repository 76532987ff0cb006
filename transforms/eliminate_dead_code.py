"""Statements and generators that nothing needs disappear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..patterns.generators import Collect, Generator, MultiLoop, Reduce, binder_slices
from ..patterns.reducers import binary
from ..staging.builder import Builder
from ..staging.nodes import ORDERED, Block, Const, Operand, Program, Stmt, Var
from ..staging.primitives import ADD
from ..staging.replay import Replay, replay_program
from ..staging.traversal import block_effects, blocks, effects, operands, type_vars, walk_stmts
from ..staging.types import INDEX, Type
from .analyses.definitions import Definitions, Source, define


def eliminate_dead_code(program: Program) -> Program:
    """Keeps what the results, and statements with ordered effects, need.

    A loop keeps the generators whose results are needed; one that runs for its checks only has a
    count. A filter of which only the length is needed becomes a count.

    Before:
        program f(n; x: f64[n], y: f64) {
          a: f64 = y + 1.0_f64
          ys: f64[n], s: f64 = loop (i < n) {
            v: f64 = x[i]
            collect v
            reduce sum (v)
          }
          return s
        }

    After:
        program f(n; x: f64[n], y: f64) {
          s: f64 = loop (i < n) {
            v: f64 = x[i]
            reduce sum (v)
          }
          return s
        }

    Requires: nothing.
    Does not: drop a check, a callback or other ordered effects; keep a fault for its own sake (a
    value that nobody reads may lose its fault).
    """
    live = _Liveness(define(program))
    live.program(program)
    if all(live.needs_all_of(stmt) for stmt in walk_stmts(program.body)):
        return program
    return replay_program(program, lambda builder: _Eliminate(builder, live))


class _Liveness:
    """Marks what is needed, from the results backwards."""

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self.vars: set[Var] = set()
        self.stmts: set[Stmt] = set()
        self._pending: list[Operand] = []

    def program(self, program: Program) -> None:
        """Marks everything that the program needs."""
        self._block(program.body)
        for param in program.params:
            self._type(param.type)
        while self._pending:
            self._mark(self._pending.pop())

    def needs_all_of(self, stmt: Stmt) -> bool:
        """Whether the statement stays as it is."""
        loop = isinstance(stmt.op, MultiLoop)
        return stmt in self.stmts and (not loop or self.vars.issuperset(stmt.binders))

    def _block(self, block: Block) -> None:
        """A block whose results are needed."""
        self._pending.extend(r for r in block.results if isinstance(r, Var | Const))
        self._effects(block)
        for param in block.params:
            self._type(param.type)

    def _effects(self, block: Block) -> None:
        """The statements that stay for what they do."""
        for stmt in block.stmts:
            if effects(stmt.op) & ORDERED:
                self._stmt(stmt)

    def _type(self, type_: Type) -> None:
        self._pending.extend(type_vars(type_))

    def _mark(self, operand: Operand) -> None:
        if not isinstance(operand, Var) or operand in self.vars:
            return
        self.vars.add(operand)
        self._type(operand.type)
        stmt = self.definitions.stmt(operand)
        if stmt is None:
            return
        self._stmt(stmt)
        source = self.definitions.source(operand)
        if source is not None:
            self._generator(source, operand)

    def _stmt(self, stmt: Stmt) -> None:
        if stmt in self.stmts:
            return
        self.stmts.add(stmt)
        self._pending.extend(operands(stmt.op) if not isinstance(stmt.op, MultiLoop) else ())
        if isinstance(stmt.op, MultiLoop):
            self._loop(stmt, stmt.op)
            return
        self._pending.extend(stmt.binders)
        for block in blocks(stmt.op):
            self._block(block)

    def _loop(self, stmt: Stmt, loop: MultiLoop) -> None:
        self._pending.extend(loop.domain)
        self._effects(loop.body)
        for g, part in zip(
            loop.generators, binder_slices(loop.generators, loop.domain), strict=True
        ):
            if any(block_effects(b) & ORDERED for b in blocks(g)):
                self._pending.extend(stmt.binders[part])

    def _generator(self, source: Source, binder: Var) -> None:
        generator = source.generator
        if isinstance(generator, Collect) and source.component == 0 and generator.cond is not None:
            self._pending.append(generator.cond)  # the length alone
            return
        self._pending.extend(operands(generator))
        for block in blocks(generator):
            self._block(block)


class _Eliminate(Replay):
    def __init__(self, builder: Builder, live: _Liveness) -> None:
        super().__init__(builder)
        self.live = live

    def run(self, block: Block) -> None:
        for stmt in block.stmts:
            if stmt not in self.live.stmts:
                continue
            if isinstance(stmt.op, MultiLoop) and not self.live.vars.issuperset(stmt.binders):
                self._loop(stmt, stmt.op)
            else:
                self.bind(stmt, self.copy(stmt))

    def _loop(self, stmt: Stmt, loop: MultiLoop) -> None:
        """The loop with the generators that are needed."""
        generators: list[Generator] = []
        lengths: list[bool] = []
        binders: list[Var] = []
        for g, part in zip(
            loop.generators, binder_slices(loop.generators, loop.domain), strict=True
        ):
            own: Sequence[Var] = stmt.binders[part]
            needed = [b for b in own if b in self.live.vars]
            if not needed:
                continue
            only_length = isinstance(g, Collect) and g.cond is not None and len(needed) == 1
            generators.append(g)
            lengths.append(only_length)
            binders.extend(needed if only_length else own)
        body = Block(loop.body.params, loop.body.stmts, tuple(generators))
        kept = self.op(MultiLoop(loop.domain, body, loop.mapping))
        assert isinstance(kept, MultiLoop)
        names = [b.name for b in binders]
        facts = [b.facts for b in binders]
        found = self.builder.emit(_counting(kept, lengths), names, stmt.sources, facts)
        self.env.bind(zip(binders, found, strict=bool(binders)))


def _counting(loop: MultiLoop, lengths: Sequence[bool]) -> MultiLoop:
    """The loop with counts in place of the filters of which only the length is needed, and in the
    place of everything in a loop that runs for its checks.
    """
    pairs = zip(loop.generators, lengths, strict=True)
    generators = tuple(_count(g.cond) if only_length else g for g, only_length in pairs)
    generators = generators or (_count(None),)
    return replace(loop, body=Block(loop.body.params, loop.body.stmts, generators))


def _count(cond: Operand | None) -> Generator:
    """How many indices the condition holds for."""
    one = Block((), (), (Const(1, INDEX),))
    return Reduce(cond, one, binary(ADD, INDEX, "sum"))
