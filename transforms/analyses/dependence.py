"""Which statements of a block must precede which, and the block's order after some are merged.

A statement needs those that bind what it uses. Statements with ordered effects keep their order,
and what follows a check stays behind it: reads proven inside may rest on it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from ...staging.errors import InternalError
from ...staging.nodes import ORDERED, Apply, Block, Cast, Effects, Stmt, Var
from ...staging.traversal import effects, free_vars, type_vars


class Dependence:
    """The statements of one block as a graph, nodes numbered by position.

    `groups[k]` is the set of positions that statement k has been merged with.
    """

    def __init__(self, block: Block) -> None:
        self.stmts = block.stmts
        self.position = {b: k for k, s in enumerate(self.stmts) for b in s.binders}
        self.needs = [self._needs(s) for s in self.stmts]
        self._add_order()
        self.groups = [frozenset({k}) for k in range(len(self.stmts))]

    def _needs(self, stmt: Stmt) -> set[int]:
        used: list[Var] = list(free_vars(stmt.op))
        for binder in stmt.binders:
            used.extend(v for v in type_vars(binder.type) if v not in stmt.binders)
        return {self.position[v] for v in used if v in self.position}

    def _add_order(self) -> None:
        last_ordered: int | None = None
        last_check: int | None = None
        for k, stmt in enumerate(self.stmts):
            found = effects(stmt.op)
            if found & ORDERED:
                if last_ordered is not None:
                    self.needs[k].add(last_ordered)
                last_ordered = k
            if last_check is not None and not isinstance(stmt.op, Apply | Cast):
                self.needs[k].add(last_check)
            if found & Effects.CHECK:
                last_check = k

    def can_merge(self, first: int, second: int, forwarded: Iterable[tuple[int, int]] = ()) -> bool:
        """Whether the groups of two statements may become one statement.

        `forwarded` lists the pairs (producer, consumer) whose direct dependence a merge dissolves.
        """
        dissolved = set(forwarded)
        together = self.groups[first] | self.groups[second]
        for k in together:
            for need in self.needs[k]:
                if need in together and (need, k) not in dissolved | self._inside(k):
                    return False
        outside = {n for k in together for n in self.needs[k]} - together
        return not self._reach(outside) & together

    def _inside(self, k: int) -> set[tuple[int, int]]:
        """The dependences inside the group of k: an earlier merge has dissolved them."""
        return {(need, k) for need in self.needs[k] if need in self.groups[k]}

    def _reach(self, start: set[int]) -> set[int]:
        """Everything that the statements need, directly or through others, with their groups."""
        seen: set[int] = set()
        pending = list(start)
        while pending:
            k = pending.pop()
            if k not in seen:
                seen |= self.groups[k]
                pending.extend(n for member in self.groups[k] for n in self.needs[member])
        return seen

    def merge(self, first: int, second: int) -> None:
        """Makes the groups of two statements one."""
        together = self.groups[first] | self.groups[second]
        for k in together:
            self.groups[k] = together

    def schedule(self) -> list[tuple[Stmt, ...]]:
        """The groups in an order in which every one stands behind what it needs.

        Of several that could come next, the one whose first statement came first.
        """
        groups = sorted({min(g): g for g in self.groups}.items())
        waiting = {lead: self._group_needs(g) for lead, g in groups}
        needed_by: dict[int, list[int]] = {lead: [] for lead in waiting}
        for lead, needs in waiting.items():
            for need in needs:
                needed_by[need].append(lead)
        ready = [lead for lead, needs in waiting.items() if not needs]
        order: list[tuple[Stmt, ...]] = []
        while ready:
            lead = heapq.heappop(ready)
            order.append(tuple(self.stmts[k] for k in sorted(self.groups[lead])))
            for other in needed_by[lead]:
                waiting[other].discard(lead)
                if not waiting[other]:
                    heapq.heappush(ready, other)
        if len(order) != len(groups):
            raise InternalError("merged statements need each other", where=())
        return order

    def _group_needs(self, group: frozenset[int]) -> set[int]:
        return {min(self.groups[n]) for k in group for n in self.needs[k]} - {min(group)}
