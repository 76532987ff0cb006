"""A loop and a loop directly in its body: what depends on which indices, what may leave."""

from __future__ import annotations

from collections.abc import Sequence

from ...patterns.generators import Generator, Reduce
from ...staging.nodes import ORDERED, Operand, Stmt, Var
from ...staging.traversal import effects
from .costs import stmts_cost
from .definitions import Definitions, bound_inside, loop_of
from .ranges import Ranges
from .speculation import speculatable

REPEATED = 8  # additions of the outer loop that the hoisted one may repeat for every value


class Nest:
    """An outer loop and a loop directly in its body: what depends on which of their indices."""

    def __init__(self, outer: Stmt, inner: Stmt, definitions: Definitions) -> None:
        self.outer, self.inner = loop_of(outer), loop_of(inner)
        self.definitions = definitions
        self.inside = bound_inside(self.outer.body)
        self.inside_inner = bound_inside(self.inner.body)
        self._known: dict[Var, frozenset[Var]] = {
            p: frozenset({p}) for p in (*self.outer.body.params, *self.inner.body.params)
        }

    def depends(self, operand: Operand) -> frozenset[Var]:
        """The indices of the two loops on which the operand depends."""
        if not isinstance(operand, Var) or operand not in self.inside:
            return frozenset()
        if operand not in self._known:
            stmt = self.definitions.stmt(operand)
            found: frozenset[Var] = frozenset()
            for need in () if stmt is None else self.definitions.needs(stmt):
                found |= self.depends(need)
            self._known[operand] = found
        return self._known[operand]

    def outer_positions(self, operand: Operand) -> tuple[int, ...]:
        """The positions of the outer indices on which the operand depends."""
        found = self.depends(operand)
        return tuple(k for k, p in enumerate(self.outer.body.params) if p in found)

    def work(self, operand: Operand) -> list[Stmt]:
        """The statements inside the outer loop that compute the operand."""
        found: dict[Stmt, None] = {}
        pending: list[Operand] = [operand]
        while pending:
            var = pending.pop()
            stmt = self.definitions.stmt(var)
            if var in self.inside and stmt is not None and stmt not in found:
                found[stmt] = None
                pending.extend(self.definitions.needs(stmt))
        return list(found)

    def why_not(self, generator: Generator) -> str | None:
        """The reason why the generator cannot leave the outer loop at all."""
        if not isinstance(generator, Reduce) or generator.reducer.width != 1:
            return "only reductions of one component are hoisted"
        if generator.reducer.identity is None:
            return "the reducer has no identity for the places that receive no value"
        if effects(self.outer) & ORDERED:
            return "the outer loop has effects that keep their order"
        if any(d in self.inside for d in self.inner.domain):
            return "the inner loop's extent is computed inside of the outer loop"
        return None

    def unsafe(self, operands: Sequence[Operand], ranges: Ranges) -> bool:
        """Whether the operands' work may not run when the outer loop runs zero times."""
        work = [s for o in operands for s in self.work(o)]
        return not all(speculatable(s.op, ranges) for s in work)

    def repeats(self, operand: Operand, hoisted: set[Stmt]) -> bool:
        """Whether the hoisted loop would repeat more than a little work of the outer loop."""
        own = [s for s in self.work(operand) if not self.inside_inner.issuperset(s.binders)]
        return stmts_cost(tuple(s for s in own if s not in hoisted)) > REPEATED
