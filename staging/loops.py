"""A staged loop: its body is recorded on parameters that stand for the variables it assigns.

The parameters start with the types that the variables have before the loop. When an iteration gives
one of them another element type, both become the common one and the body is recorded again; an axis
whose size changes becomes state itself; a variable whose kind of value changes is `Undefined` in
the loop, which is an error only if it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from .builder import Scope
from .context import Trace, trace
from .errors import InternalError, Limitation
from .locations import Location
from .nodes import Block, Operand, Var, operand_dim, size_operand
from .primitives import join
from .pytree import Tree, flatten, unflatten
from .reps import Rep, lift, rep_of
from .state import (
    MISSING,
    Mismatch,
    State,
    Undefined,
    converted,
    describe,
    dims,
    element,
    is_dynamic,
    named,
    rank,
    same_static,
    short,
    visible,
)
from .traversal import free_vars
from .types import INDEX, Array, Scalar

Places = Mapping[str, Sequence[Location]]


@dataclass(slots=True)
class Slot:
    """A leaf that the loop carries.

    common : the element type that every version fits in
    loose : the axes whose size is state
    written : whether the body writes to the array itself, rather than to the variable
    """

    name: str
    init: Rep
    common: Scalar
    loose: set[int] = field(default_factory=set[int])
    written: bool = False

    def params(self) -> tuple[list[Var], Var]:
        """Fresh parameters: the loose sizes, then the value."""
        sizes: list[Var] = []
        shape: list[int | Var] = []
        for axis, size in enumerate(dims(self.init.type)):
            if axis in self.loose:
                sizes.append(Var(INDEX, f"{visible(self.name)}_{axis}"))
                shape.append(sizes[-1])
            else:
                shape.append(operand_dim(size))
        type_ = Array(self.common, tuple(shape)) if shape else self.common
        return sizes, Var(type_, visible(self.name))

    def split(self, rep: Rep) -> list[Operand]:
        """A version as operands in the order of `params`."""
        operand = converted(rep, self.common)
        sizes = dims(operand.type)
        return [trace().canonical(sizes[axis]) for axis in sorted(self.loose)] + [operand]


@dataclass(frozen=True, slots=True)
class Carried:
    """A variable that the loop carries: each leaf a slot or a static value."""

    tree: Tree
    leaves: tuple[object, ...]


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
        self.entered: list[Rep] = []
        self.blocks: list[Block] = []
        for name, value in state.items():
            self._carry(name, value)

    def _carry(self, name: str, value: object) -> None:
        if value is MISSING or isinstance(value, Undefined):
            self._drop(name, "it gets its value inside a staged loop, which may run zero times")
            return
        leaves, tree = flatten(value)
        self.carried[name] = Carried(tree, tuple(_slot(name, leaf) for leaf in leaves))

    def _drop(self, name: str, why: str) -> None:
        self.carried.pop(name, None)
        self.undefined[name] = Undefined(name, why, self.places.get(name, ()))

    @property
    def slots(self) -> list[Slot]:
        """The carried leaves in order."""
        leaves = (leaf for c in self.carried.values() for leaf in c.leaves)
        return [leaf for leaf in leaves if isinstance(leaf, Slot)]

    @property
    def init(self) -> tuple[Operand, ...]:
        """The state before the loop, in the order of the parameters; emitted before the loop."""
        return tuple(operand for slot in self.slots for operand in slot.split(slot.init))

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
        self.trace.regions += 1
        scope = self.trace.builder.open(params)
        self.entered = [rep_of(v) for v in values]
        return scope, self._variables(self.entered)

    def _variables(self, reps: Sequence[Rep]) -> dict[str, object]:
        supply = iter(reps)
        found: dict[str, object] = dict(self.undefined)
        for name, carried in self.carried.items():
            leaves = [next(supply) if isinstance(x, Slot) else x for x in carried.leaves]
            found[name] = unflatten(carried.tree, leaves)
        return found

    def leave(self, scope: Scope, state: State) -> Block | None:
        """Closes the body on the variables' values after it, or drops it when the plan changed."""
        versions: list[Rep] = []
        changed = False
        for name, carried in list(self.carried.items()):
            try:
                found, differs = self._versions(carried, state[name])
            except Mismatch as mismatch:
                self._drop(name, f"in a staged loop its kind of value changes: {mismatch}")
                changed = True
                continue
            versions += found
            changed = changed or differs
        if changed:
            self.abandon(scope)
            return None
        results: list[Operand] = []
        for slot, entered, rep in zip(self.slots, self.entered, versions, strict=True):
            results += slot.split(rep)
            slot.written = (
                rep is entered and results[-1] not in self.trace.builder.scopes[-1].params
            )
        block = self.close(results)
        self._check_aliases()
        return block

    def close(self, results: Sequence[Operand]) -> Block:
        """Closes the innermost block of the loop on `results`."""
        self.trace.check_visible(*results)
        self.trace.regions -= 1
        self.blocks.append(self.trace.builder.close(results))
        return self.blocks[-1]

    def _check_aliases(self) -> None:
        """An array that the loop writes to is state under one name: no other may show it inside."""
        for slot in self.slots:
            stored = slot.init.storage
            others = [s for s in self.slots if s is not slot and s.init.storage is stored]
            if slot.written and (others or any(stored in free_vars(b) for b in self.blocks)):
                raise Limitation(
                    f"{slot.name} is written to in a staged loop that reads it by another name too",
                    where=self.places.get(slot.name) or None,
                    why="what a loop changes is carried from iteration to iteration under one name",
                    instead=f"{slot.name} = {slot.name} + ... for {slot.name} += ..., or one name",
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
            if isinstance(old, Slot):
                versions.append(_version(old, new))
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
        changed = common != slot.common or bool(loose)
        slot.common = common
        slot.loose |= loose
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
        for slot in self.slots:
            position += len(slot.loose)
            reps.append(named(binders[position], slot.name))
            if slot.written:  # seen under every name of the array, as in NumPy
                cast(Any, slot.init)[...] = reps[-1]
                reps[-1] = slot.init
            position += 1
        return self._variables(reps)


def _slot(name: str, leaf: object) -> object:
    if not is_dynamic(leaf):
        return leaf
    rep = lift(leaf)
    return Slot(name, rep, element(rep.type))


def _version(slot: Slot, leaf: object) -> Rep:
    if isinstance(leaf, Undefined):
        raise Mismatch("it has no value on one path through the loop")
    if not is_dynamic(leaf):
        raise Mismatch(f"it is {describe(slot.init.type)} before, {short(leaf)} after an iteration")
    rep = lift(leaf)
    if rank(rep.type) != rank(slot.init.type):
        raise Mismatch(
            f"it is {describe(slot.init.type)} before, {describe(rep.type)} after an iteration"
        )
    return rep
