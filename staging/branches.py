"""A staged `if`: both branches are recorded, one after the other, then their variables merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .builder import Scope
from .cells import Cell, Written, cell_of, is_outside, same_array, written_in
from .context import Trace, trace
from .dataclass import dataclass
from .locations import Location
from .nodes import ORDERED, Block, If, Operand, Var
from .pytree import Tree, flatten, unflatten
from .reps import Rep, lift
from .scalars import PythonBool, ScalarRep
from .state import (
    MISSING,
    Mismatch,
    State,
    Undefined,
    blank,
    common_type,
    converted,
    dims,
    element,
    is_dynamic,
    named,
    same_static,
    short,
)
from .traversal import block_effects
from .types import Array, Scalar
from .virtualize.returns import RESULT, RETURNED

Places = Mapping[str, Sequence[Location]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A leaf that differs between the branches: both versions, and their common element type.

    A version that nobody reads is None.
    """

    then: Rep | None
    orelse: Rep | None
    common: Scalar

    def of(self, rep: Rep | None) -> Operand:
        """A version, in the block that is open."""
        if rep is not None:
            return converted(rep, self.common)
        other = self.orelse if self.then is None else self.then
        assert other is not None
        type_ = other.type
        return blank(Array(self.common, type_.shape) if isinstance(type_, Array) else self.common)


@dataclass(frozen=True, slots=True)
class Merged:
    """A variable after the `if`: its structure, and for each leaf the value or the pair."""

    name: str
    tree: Tree
    leaves: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A branch that was recorded: its block, its variables at the end, the cells it wrote to."""

    scope: Scope
    state: State
    written: Written


class Branches:
    """The protocol: `begin`, run the first branch, `end` with its variables; again; `finish`."""

    def __init__(self, cond: ScalarRep) -> None:
        self.trace: Trace = trace()
        self.cond = cond.operand
        self.sides: list[Side] = []

    def begin(self) -> None:
        """Opens the next branch."""
        self.trace.regions += 1
        self.trace.builder.open(region="branch")

    def end(self, state: State) -> None:
        """Ends the branch; `state` holds what its variables are now (MISSING where unassigned)."""
        self.trace.regions -= 1
        builder = self.trace.builder
        written = written_in(builder.scopes[-1])
        scope = builder.suspend()
        builder.rewind(scope.mark)
        self.sides.append(Side(scope, state, written))

    def finish(self, places: Places) -> dict[str, object]:
        """Emits the `If`; the variables after it. Those that cannot be made one are Undefined."""
        first, second = self.sides
        if first.scope.raises or second.scope.raises:
            return self._one_raises(*self.sides)
        merged: dict[str, object] = {}
        plans: list[Merged] = []
        for name, a in first.state.items():
            b = second.state[name]
            # What only the other branch assigns is not read once this one has returned.
            unread = name == RESULT or any(
                side.state[name] is MISSING and side.state.get(RETURNED) is True
                for side in self.sides
            )
            found = _merge(name, a, b, places.get(name, ()), unread)
            if isinstance(found, Merged):
                plans.append(found)
            elif found is not MISSING:
                merged[name] = found
        pairs = [leaf for plan in plans for leaf in plan.leaves if isinstance(leaf, Pair)]
        results = iter(self._emit(pairs))
        for plan in plans:
            leaves = [
                _joined(leaf, next(results), plan.name) if isinstance(leaf, Pair) else leaf
                for leaf in plan.leaves
            ]
            merged[plan.name] = unflatten(plan.tree, leaves)
        return merged

    def _one_raises(self, first: Side, second: Side) -> dict[str, object]:
        """What stands behind is reached through the other branch alone, which joins it."""
        blocks = [
            Block((), tuple(side.scope.stmts) if side.scope.raises else (), ())
            for side in self.sides
        ]
        builder = self.trace.builder
        self.trace.emit(If(self.cond, *blocks))
        if first.scope.raises and second.scope.raises:
            builder.scopes[-1].raises = bool(builder.scopes[-1].region)
            return {}
        other = second if first.scope.raises else first
        builder.join(other.scope)
        for cell, (value, expired) in other.written.items():
            cell.put(value)
            if expired is not None:
                cell.expire(expired)
        return {n: v for n, v in other.state.items() if v is not MISSING}

    def _emit(self, pairs: Sequence[Pair]) -> list[Operand]:
        """Emits the `If`, and gives the cells that a branch wrote to their values after it."""
        cells = list(dict.fromkeys(cell for side in self.sides for cell in side.written))
        then = self._complete(0, [(p, p.then) for p in pairs], cells)
        orelse = self._complete(1, [(p, p.orelse) for p in pairs], cells)
        first, second, places = _with_sizes(then, orelse)
        blocks = tuple(
            Block((), tuple(side.scope.stmts), tuple(operands))
            for side, operands in zip(self.sides, (first, second), strict=True)
        )
        if not first and not any(block_effects(b) & ORDERED for b in blocks):
            return []
        binders = self.trace.emit(If(self.cond, *blocks))
        for a, b, binder in zip(first, second, binders, strict=True):
            self._same_size(a, b, binder)
        found = [binders[k] for k in places]
        for cell, after in zip(cells, found[len(pairs) :], strict=True):
            self._put(cell, after)
        return found[: len(pairs)]

    def _complete(
        self, side: int, leaves: Sequence[tuple[Pair, Rep | None]], cells: Sequence[Cell]
    ) -> list[Operand]:
        """Converts the branch's versions, inside the branch, and adds those of the cells."""
        builder, written = self.trace.builder, self.sides[side].written
        builder.resume(self.sides[side].scope)
        mark = len(builder.log)
        for cell, (value, expired) in written.items():
            cell.put(value)
            if expired is not None:
                cell.expire(expired)
        operands = [pair.of(rep) for pair, rep in leaves]
        operands += [cell.latest for cell in cells]
        self.trace.check_visible(*operands)
        builder.rewind(mark)
        builder.suspend()
        return operands

    def _put(self, cell: Cell, after: Operand) -> None:
        """What a cell holds after the branches; unknown if either of them left it so."""
        name = cell.name
        cell.put(after)
        cell.hint(name)
        for side in self.sides:
            expired = side.written.get(cell, (None, None))[1]
            if expired is not None:
                cell.expire(expired)

    def _same_size(self, a: Operand, b: Operand, binder: Operand) -> None:
        """Both branches' sizes were found equal: what the `If` returns is that size too."""
        size = self.trace.canonical(a)
        if isinstance(binder, Var) and isinstance(a, Var) and size == self.trace.canonical(b):
            self.trace.merged[binder] = size


def _joined(pair: Pair, operand: Operand, name: str) -> Rep:
    """The value after the branches; an array may be the one or the other."""
    versions = [rep for rep in (pair.then, pair.orelse) if rep is not None]
    found = named(operand, name, all(isinstance(rep, PythonBool) for rep in versions))
    cell = cell_of(found)
    for other in map(cell_of, versions):
        if cell is not None and other is not None and is_outside(other):
            cell.relate(other)
    return found


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


def _merge(name: str, a: object, b: object, where: Sequence[Location], unread: bool) -> object:
    if a is MISSING and b is MISSING:
        return MISSING
    if unread and (a is MISSING or b is MISSING):
        return _alone(name, a, b)
    if a is MISSING or b is MISSING:
        return Undefined(name, "only one branch of a staged `if` gives it a value", where)
    if a is b:
        return a
    try:
        return _paired(name, a, b)
    except Mismatch as mismatch:
        why = f"after a staged `if` its value depends on the branch: {mismatch}"
        return Undefined(name, why, where)


def _alone(name: str, a: object, b: object) -> object:
    """A variable that one branch leaves unassigned, and that is not read then."""
    leaves, tree = flatten(b if a is MISSING else a)

    def pair(leaf: object) -> object:
        if not is_dynamic(leaf):
            return leaf
        rep = lift(leaf)
        common = element(rep.type)
        return Pair(None, rep, common) if a is MISSING else Pair(rep, None, common)

    return Merged(name, tree, tuple(map(pair, leaves)))


def _paired(name: str, a: object, b: object) -> Merged:
    (first, tree), (second, other) = flatten(a), flatten(b)
    if tree != other:
        raise Mismatch("the two are put together differently")
    return Merged(name, tree, tuple(_pair(x, y) for x, y in zip(first, second, strict=True)))


def _pair(a: object, b: object) -> object:
    if isinstance(a, Undefined) or isinstance(b, Undefined):
        raise Mismatch("it has none on one path")
    if a is b or same_array(a, b):
        return a
    if not (is_dynamic(a) and is_dynamic(b)):
        if same_static(a, b):
            return a
        raise Mismatch(f"{short(a)} on one path, {short(b)} on the other")
    x, y = lift(a), lift(b)
    if isinstance(x, ScalarRep) and isinstance(y, ScalarRep) and x.operand == y.operand:
        return a
    return Pair(x, y, common_type(x, y))
