"""A replay that can also compute a single variable on demand, where it is asked for."""

from __future__ import annotations

from ...staging.builder import Builder
from ...staging.errors import InternalError
from ...staging.nodes import Block, Operand, Stmt, Var
from ...staging.replay import Replay
from ..trampoline import Steps, run
from .definitions import Definitions


class Demand(Replay):
    """Copies programs; `demand` copies just the statements that a variable needs.

    Invariant: `env` maps exactly the variables that the innermost open block sees, so that a
    variable without an entry is one whose statement was not replayed here. A nested block's entries
    go when it closes.
    """

    def __init__(self, builder: Builder, definitions: Definitions) -> None:
        super().__init__(builder)
        self.definitions = definitions

    def block(self, block: Block) -> Block:
        with self.env.scope():
            return super().block(block)

    def demand(self, operand: Operand) -> Operand:
        """The operand's value in the innermost open block, with whatever it needs."""
        found: Operand = run(self.demanding(operand))
        return found

    def demanding(self, operand: Operand) -> Steps:
        """The steps of `demand`: chains of definitions may be long."""
        if not isinstance(operand, Var) or operand in self.env:
            return self.operand(operand)
        stmt = self.definitions.stmt(operand)
        if stmt is None:
            raise InternalError(f"{operand!r} was asked for where it cannot be computed", where=())
        for need in self.definitions.needs(stmt):
            if need not in self.env:
                yield self.demanding(need)
        replaced = yield self.replacing(stmt)
        self.bind(stmt, self.copy(stmt) if replaced is None else replaced)
        return self.operand(operand)

    def replacing(self, stmt: Stmt) -> Steps:
        """The steps of `statement`; override both where a replacement demands something itself."""
        yield from ()
        return self.statement(stmt)
