"""Which results of a program may be one array with an argument or with another result.

In a program's sequential part an array is a parameter, or new from a launch; branches, loops, and
updates in place only hand it on. So two variables hold the same memory only if they hold the same
array.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ..staging.dataclass import dataclass
from ..staging.nodes import Block, ForLoop, If, Op, Operand, Program, Update, Var, While
from ..staging.types import Array


@dataclass(frozen=True, slots=True)
class Shared:
    """What a result may be the same array as.

    certain : whether it always is
    others : the parameters and earlier results that are in question
    """

    certain: bool
    others: tuple[Var, ...]


def shared_results(program: Program, launched: Container[Op]) -> list[Shared]:
    """For each result of the program; `launched` are the loops that make new arrays."""
    flows = Flows(launched)
    flows.block(program.body)
    results = program.body.operands
    found: list[Shared] = []
    for k, result in enumerate(results):
        origins = flows.origins(result)
        before = [v for v in results[:k] if isinstance(v, Var)]
        certain = result in program.params or result in before
        earlier = [v for v in dict.fromkeys(before) if origins & flows.origins(v)]
        params = [q for q in program.params if q in origins]
        array = isinstance(result.type, Array)
        found.append(Shared(array and certain, (*params, *earlier)))
    return found


class Flows:
    """From where each array variable may have its array: a graph, as loops hand values round."""

    def __init__(self, launched: Container[Op]) -> None:
        self.launched = launched
        self.edges: dict[Var, list[Operand]] = {}

    def origins(self, operand: Operand) -> frozenset[Var]:
        """The parameters and launched binders whose array the operand may hold."""
        seen: set[Operand] = set()
        waiting: list[Operand] = [operand] if isinstance(operand.type, Array) else []
        while waiting:
            found = waiting.pop()
            if found not in seen:
                seen.add(found)
                if isinstance(found, Var):
                    waiting += self.edges.get(found, [])
        return frozenset(v for v in seen if isinstance(v, Var) and v not in self.edges)

    def block(self, block: Block) -> None:
        """Adds the statements of a block."""
        for stmt in block.stmts:
            op = stmt.op
            if op in self.launched:
                continue
            if isinstance(op, Update):
                self.join(stmt.binders, (op.array,))
            elif isinstance(op, If):
                self.join(stmt.binders, op.then.operands, op.orelse.operands)
                self.block(op.then)
                self.block(op.orelse)
            elif isinstance(op, While):
                self.join(op.body.params, op.init, op.body.operands)
                self.join(stmt.binders, op.body.params)
                self.block(op.body)
            elif isinstance(op, ForLoop):
                self.join(op.body.params[1:], op.init, op.body.operands)
                self.join(stmt.binders, op.body.params[1:])
                self.block(op.body)

    def join(self, targets: Iterable[Var], *sources: Iterable[Operand]) -> None:
        """Each target may hold what stands in its place among the sources."""
        for target, *found in zip(targets, *sources, strict=True):
            if isinstance(target.type, Array):
                self.edges[target] = list(found)
