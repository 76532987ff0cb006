"""A staged `if`: both branches are recorded, one after the other, then their variables merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .builder import Scope
from .context import Trace, trace
from .locations import Location
from .nodes import ORDERED, Block, If, Operand, Var
from .pytree import Tree, flatten, unflatten
from .reps import Rep, ScalarRep, lift
from .state import (
    MISSING,
    Mismatch,
    State,
    Undefined,
    common_type,
    converted,
    dims,
    is_dynamic,
    named,
    same_static,
    short,
)
from .traversal import block_effects
from .types import Scalar

Places = Mapping[str, Sequence[Location]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf that differs between the branches: both versions, and their common element type."""

    then: Rep
    orelse: Rep
    common: Scalar


@dataclass(frozen=True, slots=True)
class Merged:
    """A variable after the `if`: its structure, and for each leaf the value or the pair."""

    name: str
    tree: Tree
    leaves: tuple[object, ...]


class Branches:
    """The protocol: `begin`, run the first branch, `end` with its variables; again; `finish`."""

    def __init__(self, cond: ScalarRep) -> None:
        self.trace: Trace = trace()
        self.cond = cond.operand
        self.sides: list[tuple[Scope, State]] = []

    def begin(self) -> None:
        """Opens the next branch."""
        self.trace.regions += 1
        self.trace.builder.open()

    def end(self, state: State) -> None:
        """Ends the branch; `state` holds what its variables are now (MISSING where unassigned)."""
        self.trace.regions -= 1
        self.sides.append((self.trace.builder.suspend(), state))

    def finish(self, places: Places) -> dict[str, object]:
        """Emits the `If`; the variables after it. Those that cannot be made one are Undefined."""
        (_, first), (_, second) = self.sides
        merged: dict[str, object] = {}
        plans: list[Merged] = []
        for name, a in first.items():
            found = _merge(name, a, second[name], places.get(name, ()))
            if isinstance(found, Merged):
                plans.append(found)
            elif found is not MISSING:
                merged[name] = found
        pairs = [leaf for plan in plans for leaf in plan.leaves if isinstance(leaf, Pair)]
        results = iter(self._emit(pairs))
        for plan in plans:
            leaves = [
                named(next(results), plan.name) if isinstance(leaf, Pair) else leaf
                for leaf in plan.leaves
            ]
            merged[plan.name] = unflatten(plan.tree, leaves)
        return merged

    def _emit(self, pairs: Sequence[Pair]) -> list[Operand]:
        then = self._complete(0, [(p.then, p.common) for p in pairs])
        orelse = self._complete(1, [(p.orelse, p.common) for p in pairs])
        first, second, places = _with_sizes(then, orelse)
        blocks = tuple(
            Block((), tuple(scope.stmts), tuple(operands))
            for (scope, _), operands in zip(self.sides, (first, second), strict=True)
        )
        if not pairs and not any(block_effects(b) & ORDERED for b in blocks):
            return []
        binders = self.trace.emit(If(self.cond, *blocks))
        for a, b, binder in zip(first, second, binders, strict=True):
            self._same_size(a, b, binder)
        return [binders[k] for k in places]

    def _complete(self, side: int, leaves: Sequence[tuple[Rep, Scalar]]) -> list[Operand]:
        """Converts the branch's versions, inside the branch."""
        builder = self.trace.builder
        builder.resume(self.sides[side][0])
        operands = [converted(rep, to) for rep, to in leaves]
        self.trace.check_visible(*operands)
        builder.suspend()
        return operands

    def _same_size(self, a: Operand, b: Operand, binder: Operand) -> None:
        """Both branches' sizes were found equal: what the `If` returns is that size too."""
        size = self.trace.canonical(a)
        if isinstance(binder, Var) and isinstance(a, Var) and size == self.trace.canonical(b):
            self.trace.merged[binder] = size


def _with_sizes(
    then: Sequence[Operand], orelse: Sequence[Operand]
) -> tuple[list[Operand], list[Operand], list[int]]:
    """Both branches' results with the sizes that differ put before the arrays; where each operand
    is then.
    """
    first: list[Operand] = []
    second: list[Operand] = []
    places: list[int] = []
    known: set[tuple[Operand, Operand]] = set()
    for a, b in zip(then, orelse, strict=True):
        for size in zip(dims(a.type), dims(b.type), strict=True):
            if size[0] != size[1] and size not in known:
                known.add(size)
                first.append(size[0])
                second.append(size[1])
        places.append(len(first))
        first.append(a)
        second.append(b)
    return first, second, places


def _merge(name: str, a: object, b: object, where: Sequence[Location]) -> object:
    if a is MISSING and b is MISSING:
        return MISSING
    if a is MISSING or b is MISSING:
        return Undefined(name, "only one branch of a staged `if` gives it a value", where)
    if a is b:
        return a
    try:
        return _paired(name, a, b)
    except Mismatch as mismatch:
        why = f"after a staged `if` its value depends on the branch: {mismatch}"
        return Undefined(name, why, where)


def _paired(name: str, a: object, b: object) -> Merged:
    (first, tree), (second, other) = flatten(a), flatten(b)
    if tree != other:
        raise Mismatch("the two are put together differently")
    return Merged(name, tree, tuple(_pair(x, y) for x, y in zip(first, second, strict=True)))


def _pair(a: object, b: object) -> object:
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        raise Mismatch("it has none on one path")
    if a is b:
        return a
    if not (is_dynamic(a) and is_dynamic(b)):
        if same_static(a, b):
            return a
        raise Mismatch(f"{short(a)} on one path, {short(b)} on the other")
    x, y = lift(a), lift(b)
    if isinstance(x, ScalarRep) and isinstance(y, ScalarRep) and x.operand == y.operand:
        return a
    return Pair(x, y, common_type(x, y))
