"""Where every variable of a program is bound: by which statement, or as the index of which loop."""

from __future__ import annotations

from dataclasses import field

from ...patterns.generators import Collect, Generator, MultiLoop, binder_slices
from ...staging.dataclass import dataclass
from ...staging.nodes import Block, ForLoop, Operand, Program, Stmt, Var
from ...staging.traversal import blocks, free_vars, result_blocks, type_vars


@dataclass(frozen=True, slots=True)
class Source:
    """The generator that a loop's binder comes from.

    stmt : the loop's statement
    position : the generator's position in the loop
    component : the binder's position among the generator's own binders
    """

    stmt: Stmt
    position: int
    component: int

    @property
    def loop(self) -> MultiLoop:
        """The loop."""
        assert isinstance(self.stmt.op, MultiLoop)
        return self.stmt.op

    @property
    def generator(self) -> Generator:
        """The generator."""
        return self.loop.generators[self.position]


@dataclass(frozen=True, slots=True)
class Definitions:
    """The statement of every bound variable, the extent of every loop index."""

    stmts: dict[Var, Stmt] = field(default_factory=dict[Var, Stmt])
    extents: dict[Var, Operand] = field(default_factory=dict[Var, Operand])
    sizes: frozenset[Var] = frozenset()
    _needs: dict[Stmt, tuple[Var, ...]] = field(default_factory=dict[Stmt, tuple[Var, ...]])

    def enter(self, block: Block) -> None:
        """Adds those of a block that a pass has made."""
        _enter(block, self)

    def stmt(self, operand: Operand) -> Stmt | None:
        """The statement that binds the operand; None for constants, parameters and indices."""
        return self.stmts.get(operand) if isinstance(operand, Var) else None

    def source(self, operand: Operand) -> Source | None:
        """The generator that produces the operand; None when it is no loop's result."""
        stmt = self.stmt(operand)
        if stmt is None or not isinstance(stmt.op, MultiLoop):
            return None
        position = stmt.binders.index(operand)
        for k, part in enumerate(binder_slices(stmt.op.generators, stmt.op.domain)):
            if part.start <= position < part.stop:
                return Source(stmt, k, position - part.start)
        return None

    def needs(self, stmt: Stmt) -> tuple[Var, ...]:
        """The variables that a statement uses, its binders' sizes included, but its own binders
        not; remembered."""
        known = self._needs.get(stmt)
        if known is None:
            used = free_vars(stmt.op)
            for binder in stmt.binders:
                used.update(dict.fromkeys(type_vars(binder.type)))
            known = self._needs[stmt] = tuple([v for v in used if v not in stmt.binders])
        return known

    def same_size(self, a: Operand, b: Operand) -> bool:
        """Whether two sizes are equal by construction: one variable, or two filters' lengths under
        one condition of one loop."""
        if a == b:
            return True
        first, second = self.source(a), self.source(b)
        if first is None or second is None or first.stmt is not second.stmt:
            return False
        filters = [first.generator, second.generator]
        return all(isinstance(g, Collect) for g in filters) and filters[0].cond == filters[1].cond


def define(program: Program) -> Definitions:
    """The definitions of a whole program."""
    found = Definitions(sizes=frozenset(program.sizes))
    _enter(program.body, found)
    return found


def _enter(block: Block, found: Definitions) -> None:
    for stmt in block.stmts:
        for binder in stmt.binders:
            found.stmts[binder] = stmt
        if isinstance(stmt.op, MultiLoop):
            found.extents.update(zip(stmt.op.body.params, stmt.op.domain, strict=True))
        elif isinstance(stmt.op, ForLoop):
            found.extents[stmt.op.body.params[0]] = stmt.op.count
        for inner in blocks(stmt.op):
            _enter(inner, found)
    for inner in result_blocks(block):
        _enter(inner, found)


def loop_of(stmt: Stmt) -> MultiLoop:
    """The statement's loop, where it is known to be one."""
    assert isinstance(stmt.op, MultiLoop)
    return stmt.op


def bound_inside(block: Block) -> set[Var]:
    """Every variable that the block, or a block inside of it, binds."""
    found: set[Var] = set(block.params)
    for stmt in block.stmts:
        found.update(stmt.binders)
        for inner in blocks(stmt.op):
            found |= bound_inside(inner)
    for inner in result_blocks(block):
        found |= bound_inside(inner)
    return found
