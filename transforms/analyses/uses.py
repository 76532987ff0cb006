"""Every use of every variable, with the blocks around it."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import field

from ...patterns.generators import Combining, Generator, MultiLoop
from ...staging.dataclass import dataclass
from ...staging.nodes import Block, Const, ForLoop, If, Index, Node, Program, Stmt, Var, While
from ...staging.traversal import blocks, operands, type_vars


class Around(enum.Enum):
    """What a block means for the work in it."""

    LOOP = "a loop's body"
    CONDITION = "a branch, or a generator's value under its condition"
    REPEAT = "a sequential loop's block, or a reducer"


@dataclass(frozen=True, slots=True)
class Frame:
    """One block around a use: the statement that it belongs to, and a loop's indices."""

    stmt: Stmt
    kind: Around
    indices: tuple[Var, ...] = ()


@dataclass(frozen=True, slots=True)
class Use:
    """A variable used; `read` is the read `variable[indices]` when it is one, and as an `index` of
    which read it is used when it is that."""

    frames: tuple[Frame, ...]
    read: Index | None = None
    index: Index | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """The uses of every variable of a program in order, the blocks around every statement."""

    found: dict[Var, list[Use]] = field(default_factory=dict[Var, list[Use]])
    around: dict[Stmt, tuple[Frame, ...]] = field(default_factory=dict[Stmt, tuple[Frame, ...]])

    def of(self, var: Var) -> list[Use]:
        """The uses of a variable; a size is also used by the types that name it."""
        return self.found.get(var, [])

    def within(self, var: Var, stmt: Stmt) -> list[Use]:
        """The uses in blocks of `stmt`."""
        return [u for u in self.of(var) if any(f.stmt is stmt for f in u.frames)]


def find_uses(program: Program) -> Uses:
    """The uses of every variable, the program's results among them."""
    uses = Uses()
    _enter(program.body, (), uses)
    return uses


def _enter(block: Block, frames: tuple[Frame, ...], uses: Uses) -> None:
    for param in block.params:
        _types(param, frames, uses)
    for stmt in block.stmts:
        uses.around[stmt] = frames
        for binder in stmt.binders:
            _types(binder, frames, uses)
        if isinstance(stmt.op, Index):
            _record(stmt.op.array, Use(frames, read=stmt.op), uses)
            for index in stmt.op.indices:
                _record(index, Use(frames, index=stmt.op), uses)
            continue
        for operand in operands(stmt.op):
            _record(operand, Use(frames), uses)
        for inner, frame in _blocks(stmt):
            _enter(inner, (*frames, frame), uses)
    for result in block.results:
        if isinstance(result, Var | Const):
            _record(result, Use(frames), uses)
        else:
            _generator(result, frames, uses)


def _blocks(stmt: Stmt) -> Iterator[tuple[Block, Frame]]:
    match stmt.op:
        case MultiLoop() as loop:
            yield loop.body, Frame(stmt, Around.LOOP, loop.body.params)
        case If():
            for inner in blocks(stmt.op):
                yield inner, Frame(stmt, Around.CONDITION)
        case While() | ForLoop():
            for inner in blocks(stmt.op):
                yield inner, Frame(stmt, Around.REPEAT)
        case _:
            for inner in blocks(stmt.op):
                yield inner, Frame(stmt, Around.REPEAT)


def _generator(node: Node, frames: tuple[Frame, ...], uses: Uses) -> None:
    assert isinstance(node, Generator)
    for operand in operands(node):
        _record(operand, Use(frames), uses)
    stmt = frames[-1].stmt
    if node.cond is None:
        _enter(node.value, frames, uses)
    else:
        _enter(node.value, (*frames, Frame(stmt, Around.CONDITION)), uses)
    if isinstance(node, Combining):
        _enter(node.reducer.block, (*frames, Frame(stmt, Around.REPEAT)), uses)


def _record(operand: object, use: Use, uses: Uses) -> None:
    if isinstance(operand, Var):
        uses.found.setdefault(operand, []).append(use)


def _types(var: Var, frames: tuple[Frame, ...], uses: Uses) -> None:
    for size in type_vars(var.type):
        uses.found.setdefault(size, []).append(Use(frames))
