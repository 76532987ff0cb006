"""A staged loop: its body is recorded on parameters that stand for the variables it assigns.

The parameters start with the types that the variables have before the loop. When an iteration gives
one of them another element type, both become the common one and the body is recorded again; an axis
whose size changes becomes state itself; a variable whose kind of value changes is `Undefined` in
the loop, which is an error only if it is read.

An array that the body writes to, but that was made outside, is state too: its cell (cells.py) holds
a parameter inside, and the loop's result afterwards. A variable that is one and the same array in
every iteration (`total += row`) is no state of its own; one that gets another array is, and what it
held before may be written to in the loop under this name only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .builder import Scope
from .cells import Cell, cell_of, is_outside, same_array, written_in
from .context import Trace, trace
from .errors import InternalError, Limitation
from .locations import Location, caller
from .nodes import Block, Operand, Var, size_operand
from .primitives import join
from .pytree import flatten, unflatten
from .reps import Rep
from .scalars import PythonBool
from .slots import Carried, Slot, blank_like, carried_leaf, leaf_in, version_for
from .state import (
    MISSING,
    Mismatch,
    State,
    Undefined,
    dims,
    element,
    named,
    same_static,
    short,
    visible,
)
from .traversal import free_vars
from .virtualize.returns import RESULT

Places = Mapping[str, Sequence[Location]]


class Loop:
    """What a loop carries, over the attempts to record it.

    The protocol: `enter` opens a block on fresh parameters and gives the variables inside; `leave`
    closes it, or drops it and answers None when the plan has changed and everything must be
    recorded again; `results` gives the variables after the loop.
    """

    def __init__(self, state: State, places: Places) -> None:
        self.trace: Trace = trace()
        self.places = places
        self.carried: dict[str, Carried] = {}
        self.undefined: dict[str, Undefined] = {}
        self.attempts = 0
        self.cells: list[Cell] = []
        self.expired: dict[Cell, Location] = {}
        self.entered: list[Rep] = []
        self.versions: list[Rep] = []
        self.blocks: list[Block] = []
        for name, value in state.items():
            self._carry(name, value)

    def _carry(self, name: str, value: object) -> None:
        if value is MISSING or isinstance(value, Undefined):
            self._drop(name, "it gets its value inside a staged loop, which may run zero times")
            return
        leaves, tree = flatten(value)
        self.carried[name] = Carried(tree, tuple(carried_leaf(name, leaf) for leaf in leaves))

    def _drop(self, name: str, why: str) -> None:
        self.carried.pop(name, None)
        self.undefined[name] = Undefined(name, why, self.places.get(name, ()))

    @property
    def slots(self) -> list[Slot]:
        """The carried leaves in order."""
        leaves = (leaf for c in self.carried.values() for leaf in c.leaves)
        return [leaf for leaf in leaves if isinstance(leaf, Slot) and not leaf.same]

    @property
    def init(self) -> tuple[Operand, ...]:
        """The state before the loop, in the order of the parameters; emitted before the loop."""
        slots = tuple(operand for slot in self.slots for operand in slot.split(slot.init))
        return (*slots, *(cell.value for cell in self.cells))

    def enter(self, extra: Sequence[Var] = ()) -> tuple[Scope, dict[str, object]]:
        """Opens a block on `extra` and the state; the variables inside it."""
        self.attempts += 1
        if self.attempts > 32 + 8 * len(self.slots):
            raise InternalError("the types of a loop's variables do not settle")
        params = list(extra)
        values: list[Var] = []
        for slot in self.slots:
            sizes, value = slot.params()
            params += [*sizes, value]
            values.append(value)
        stored = [Var(cell.type, cell.name) for cell in self.cells]
        self.trace.regions += 1
        scope = self.trace.builder.open((*params, *stored), "loop")
        for cell, where in self.expired.items():
            cell.expire(where)
        for cell, param in zip(self.cells, stored, strict=True):
            cell.put(param)
        self.entered = [
            named(v, slot.name, slot.truth) for slot, v in zip(self.slots, values, strict=True)
        ]
        return scope, self._variables(self.entered)

    def _variables(self, reps: Sequence[Rep]) -> dict[str, object]:
        supply = iter(reps)
        found: dict[str, object] = dict(self.undefined)
        for name, carried in self.carried.items():
            leaves = [leaf_in(x, supply) for x in carried.leaves]
            found[name] = unflatten(carried.tree, leaves)
        return found

    def leave(self, scope: Scope, state: State) -> Block | None:
        """Closes the body on the variables' values after it, or drops it when the plan changed."""
        versions: list[Rep] = []
        slots = self.slots
        changed = self._written()
        for name, carried in list(self.carried.items()):
            try:
                found, differs = self._versions(carried, state[name])
            except Mismatch as mismatch:
                self._drop(name, f"in a staged loop its kind of value changes: {mismatch}")
                changed = True
                continue
            versions += found
            changed = changed or differs
        late = RESULT in self.undefined and state.get(RESULT, MISSING) is not MISSING
        if changed or late:
            self._again(scope, slots)
            if late:
                del self.undefined[RESULT]
                self._carry(RESULT, blank_like(state[RESULT]))
            return None
        results: list[Operand] = []
        for slot, entered, rep in zip(self.slots, self.entered, versions, strict=True):
            results += slot.split(rep)
            changed = self._writes_first(slot, entered, scope) or changed
        if changed:
            self._again(scope, slots)
            return None
        self._check_names(scope, versions)
        self.versions = versions
        block = self._close([*results, *(cell.value for cell in self.cells)])
        self._check_aliases()
        return block

    def _writes_first(self, slot: Slot, entered: Rep, scope: Scope) -> bool:
        """Whether the body turns out to write to what the variable begins with, which then nobody
        knows under another name."""
        inside, before = cell_of(entered), cell_of(slot.init)
        if slot.written or inside is None or before is None or inside.latest in scope.params:
            return False
        slot.written = True
        self.expired[before] = caller()
        return True

    def _again(self, scope: Scope, slots: Sequence[Slot]) -> None:
        """Drops the body. What was written to when a variable was still taken for the same array in
        every iteration (it is not in `slots`) may no longer be: it is found again if it is."""
        self.abandon(scope)
        self.blocks.clear()
        freed = [cell_of(slot.init) for slot in self.slots if slot not in slots]
        self.cells = [cell for cell in self.cells if cell not in freed]

    def _written(self) -> bool:
        """Whether the innermost block wrote to cells that are not yet state; now they are. One of
        which it is not known what it holds at the end is known nowhere in the loop."""
        known = len(self.cells), len(self.expired)
        for cell, (_, where) in written_in(self.trace.builder.scopes[-1]).items():
            if where is not None:
                self.expired.setdefault(cell, where)
            elif cell not in self.cells:
                self.cells.append(cell)
        self.cells = [cell for cell in self.cells if cell not in self.expired]
        return known != (len(self.cells), len(self.expired))

    def close(self, results: Sequence[Operand]) -> Block:
        """Closes the innermost block of the loop, its condition, on `results`."""
        params = self.trace.builder.scopes[-1].params
        for cell, (value, where) in written_in(self.trace.builder.scopes[-1]).items():
            if where is None and value not in params:
                raise Limitation(
                    f"the condition of a staged loop writes to {cell.name or 'an array'}",
                    why="the condition only says whether there is another iteration",
                    instead="the write at the end of the loop's body",
                )
        return self._close(results)

    def _close(self, results: Sequence[Operand]) -> Block:
        self.trace.check_visible(*results)
        self.trace.regions -= 1
        mark = self.trace.builder.scopes[-1].mark
        self.blocks.append(self.trace.builder.close(results))
        self.trace.builder.rewind(mark)
        return self.blocks[-1]

    def _check_aliases(self) -> None:
        """An array that the loop writes to is state under one name: no other may show it inside."""
        firsts = [cell_of(slot.init) for slot in self.slots]
        for slot, first, entered in zip(self.slots, firsts, self.entered, strict=True):
            if slot.written and first is not None:
                first.check_writable()
                if sum(cell is first for cell in firsts) > 1:
                    raise self._aliased(slot)
            if first in self.cells and self._uses(entered.storage):
                raise self._aliased(slot)

    def _uses(self, operand: Operand) -> bool:
        return any(operand in free_vars(Block((), b.stmts, b.results)) for b in self.blocks)

    def _check_names(self, scope: Scope, versions: Sequence[Rep]) -> None:
        """What the next iteration writes to must have no other name then."""
        cells = list(map(cell_of, versions))
        for slot, cell in zip(self.slots, cells, strict=True):
            if slot.written and cell is not None:
                if cell.scope is not scope or sum(c is cell for c in cells) > 1:
                    raise self._aliased(slot)

    def _aliased(self, slot: Slot) -> Limitation:
        name = visible(slot.name) or "an array"
        return Limitation(
            f"{name} is written to in a staged loop that has another name for it, too",
            where=self.places.get(slot.name) or None,
            why="what a loop changes is carried from iteration to iteration under one name",
            instead=f"one name, or {name} = {name}.copy() where it gets the array",
        )

    def abandon(self, scope: Scope) -> None:
        """Drops a block that was entered."""
        self.trace.regions -= 1
        self.trace.builder.abandon(scope)

    def _versions(self, carried: Carried, value: object) -> tuple[list[Rep], bool]:
        if value is MISSING:
            raise Mismatch("it is deleted")
        leaves, tree = flatten(value)
        if tree != carried.tree:
            raise Mismatch("it is put together differently after an iteration")
        versions: list[Rep] = []
        differs = False
        for old, new in zip(carried.leaves, leaves, strict=True):
            if isinstance(old, Slot) and old.same:
                old.same = same_array(old.init, new)
                differs |= not old.same
            elif isinstance(old, Slot):
                versions.append(version_for(old, new))
                differs |= self._widen(old, versions[-1])
            elif not same_static(old, new):
                raise Mismatch(f"it is {short(old)} before and {short(new)} after an iteration")
        return versions, differs

    def _widen(self, slot: Slot, rep: Rep) -> bool:
        """Makes the slot's type hold `rep` too; whether that changed it."""
        common = join(slot.common, element(rep.type))
        loose = {
            axis
            for axis, (a, b) in enumerate(zip(dims(slot.init.type), dims(rep.type), strict=True))
            if axis not in slot.loose and self._differ(a, b)
        }
        truth = slot.truth and isinstance(rep, PythonBool)
        changed = common != slot.common or bool(loose) or truth != slot.truth
        slot.common = common
        slot.loose |= loose
        slot.truth = truth
        return changed

    def _differ(self, a: Operand, b: Operand) -> bool:
        a, b = self.trace.canonical(a), self.trace.canonical(b)
        if a != b and size_operand(1) in (a, b):
            raise Mismatch("an axis has size 1 before and another size after an iteration")
        return a != b

    def results(self, binders: Sequence[Operand]) -> dict[str, object]:
        """The variables after the loop, from the statement's binders."""
        reps: list[Rep] = []
        position = 0
        for slot, version in zip(self.slots, self.versions, strict=True):
            position += len(slot.loose)
            reps.append(named(binders[position], slot.name, slot.truth))
            self._relate(slot, version, reps[-1])
            position += 1
        for cell, after in zip(self.cells, binders[position:], strict=True):
            name = cell.name
            cell.put(after)
            cell.hint(name)
        for cell, where in self.expired.items():
            cell.expire(where)
        return self._variables(reps)

    def _relate(self, slot: Slot, version: Rep, result: Rep) -> None:
        """After the loop an array may be what it was before, or what the body gave it; what it was
        before is not known if the loop wrote to it, for that depends on when it got another."""
        before, after, inside = cell_of(slot.init), cell_of(result), cell_of(version)
        if before is None or after is None or inside is None:
            return
        if slot.written:
            return
        after.relate(before)
        for other, entered in zip(self.slots, self.entered, strict=True):
            first = cell_of(other.init)
            if first is not None and cell_of(entered) is inside:
                after.relate(first)
        if is_outside(inside):
            after.relate(inside)
