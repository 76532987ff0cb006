"""A pass is a staged interpreter: it replays a block, with some statements re-expressed.

`Replay` copies; a pass subclasses it and overrides `statement` for the ops that it changes.
Everything else, the nested blocks, the types with their sizes, names, locations and facts, follows
from the declared fields.

What a replay leaves as it is stays the same object: variables, statements, blocks, and the program
itself when nothing changes. So what is known of a block (its effects, its structure) stays known,
and a pass that finds nothing to do costs little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from .bindings import Bindings
from .builder import Builder
from .nodes import Block, Node, Op, Operand, Program, Stmt, Var, operand_dim
from .traversal import map_fields, type_vars
from .types import Array, Type


class Replay:
    """Copies blocks into `builder`, mapping variables through `env`.

    Override `statement` (return the operands for the binders, or `None` for the default copy).
    """

    def __init__(self, builder: Builder, env: Bindings | None = None) -> None:
        self.builder = builder
        self.env = Bindings() if env is None else env

    # What a pass overrides.

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        """The operands that replace the statement's binders; None copies it."""
        return None

    # The interpreter.

    def operand(self, operand: Operand) -> Operand:
        """The operand in the new program."""
        return self.env.get(operand, operand) if isinstance(operand, Var) else operand

    def type(self, type_: Type) -> Type:
        """The type with its sizes mapped."""
        if not isinstance(type_, Array):
            return type_
        if all(self.env.get(d, d) is d for d in type_.shape if isinstance(d, Var)):
            return type_
        shape = tuple(
            operand_dim(self.operand(d)) if isinstance(d, Var) else d for d in type_.shape
        )
        return Array(type_.element, shape)

    def op(self, op: Op) -> Op:
        """The op with operands mapped and nested blocks replayed."""
        return map_fields(op, self.operand, self.block)

    def node(self, node: Node) -> Node:
        """A node in a body's results (a generator), with operands mapped and blocks replayed."""
        return map_fields(node, self.operand, self.block)

    def fresh(self, params: Sequence[Var]) -> tuple[Var, ...]:
        """Parameters for a new block, entered into `env` one by one (later types may name earlier
        ones); new ones where the old ones are bound already, or change.
        """
        made: list[Var] = []
        for param in params:
            type_ = self.type(param.type)
            same = type_ is param.type and not self.builder.binds((param,))
            var = param if same else Var(type_, param.name, param.facts)
            self.env[param] = var
            made.append(var)
        return tuple(made)

    def block(self, block: Block) -> Block:
        """A nested block, replayed with fresh parameters."""
        self.builder.open(self.fresh(block.params))
        self.run(block)
        return as_before(self.builder.close(self.results(block)), block)

    def run(self, block: Block) -> None:
        """Replays the statements into the innermost open block."""
        for stmt in block.stmts:
            replaced = self.statement(stmt)
            if replaced is None:
                replaced = self.copy(stmt)
            self.bind(stmt, replaced)

    def results(self, block: Block) -> tuple[Operand | Node, ...]:
        """The block's results in the new program; call it while the new block is open."""
        return tuple(
            self.node(r) if isinstance(r, Node) else self.operand(r) for r in block.results
        )

    def copy(self, stmt: Stmt) -> tuple[Operand, ...]:
        """Emits the statement as it is, mapped."""
        return self.replace(stmt, self.op(stmt.op))

    def replace(self, stmt: Stmt, op: Op, depth: int | None = None) -> tuple[Operand, ...]:
        """Emits `op` under the names, facts and lines of the statement, whose values it computes.

        depth : an outer block to place it in
        """
        names = [b.name for b in stmt.binders]
        facts = [b.facts for b in stmt.binders]
        origin = stmt if op is stmt.op and self._keeps_types(stmt) else None
        return self.builder.emit(op, names, stmt.sources, facts, depth, origin)

    def _keeps_types(self, stmt: Stmt) -> bool:
        """Whether the sizes that the binders' types name stay, or are bound with them."""
        return all(
            size in stmt.binders or self.env.get(size, size) is size
            for binder in stmt.binders
            for size in type_vars(binder.type)
        )

    def bind(self, stmt: Stmt, operands: Sequence[Operand]) -> None:
        """Lets the statement's binders stand for `operands` from here on."""
        for binder, operand in zip(stmt.binders, operands, strict=True):
            self.env[binder] = operand

    def inline(self, block: Block, args: Sequence[Operand]) -> tuple[Operand, ...]:
        """Splices an ordinary block into the innermost open one, parameters bound to `args`."""
        for param, arg in zip(block.params, args, strict=True):
            self.env[param] = arg
        self.run(block)
        return tuple(self.operand(r) for r in block.operands)


def as_before(made: Block, old: Block) -> Block:
    """The old block, where the new one is the same in every part."""
    parts = ((made.params, old.params), (made.stmts, old.stmts), (made.results, old.results))
    same = all(len(a) == len(b) and all(map(is_, a, b)) for a, b in parts)
    return old if same else made


def replay_program(program: Program, make: Callable[[Builder], Replay] = Replay) -> Program:
    """The program with `make(builder)` run over its body."""
    builder = Builder()
    replay = make(builder)
    sizes = replay.fresh(program.sizes)
    params = replay.fresh(program.params)
    builder.open((*sizes, *params))
    replay.run(program.body)
    whole = builder.close(replay.results(program.body))
    body = as_before(Block((), whole.stmts, whole.results), program.body)
    if body is program.body and all(map(is_, (*sizes, *params), (*program.sizes, *program.params))):
        return program
    return Program(program.name, sizes, params, body, program.checks)
