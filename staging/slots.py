"""What a loop carries, leaf by leaf: the slots of the user's variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from .cells import cell_of
from .context import trace
from .dataclass import dataclass
from .nodes import Operand, Var, operand_dim
from .pytree import Tree, flatten, unflatten
from .reps import Rep, lift, rep_of
from .scalars import PythonBool
from .state import (
    Mismatch,
    Undefined,
    blank,
    converted,
    describe,
    dims,
    element,
    is_dynamic,
    rank,
    short,
    visible,
)
from .types import INDEX, Array, Scalar


@dataclass(slots=True, eq=False)
class Slot:
    """A leaf that the loop carries.

    common : the element type that every version fits in
    loose : the axes whose size is state
    same : whether the variable is the same array in every iteration, as far as is known
    written : whether the body writes to the array that it begins with
    truth : whether it is a Python bool in every iteration, as far as is known
    """

    name: str
    init: Rep
    common: Scalar
    loose: set[int] = field(default_factory=set[int])
    same: bool = False
    written: bool = False
    truth: bool = False

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


def leaf_in(leaf: object, supply: Iterator[Rep]) -> object:
    """What a leaf is inside of the loop, or after it: the next of `supply` if it is state."""
    if not isinstance(leaf, Slot):
        return leaf
    return leaf.init if leaf.same else next(supply)


def blank_like(value: object) -> object:
    """A value of the same form, for a variable that nobody reads before it is set."""
    leaves, tree = flatten(value)
    blanks = [rep_of(blank(lift(leaf).type)) if is_dynamic(leaf) else leaf for leaf in leaves]
    return unflatten(tree, blanks)


def carried_leaf(name: str, leaf: object) -> object:
    """The slot for a leaf before the loop; one that is no value of the program is its own."""
    if not is_dynamic(leaf):
        return leaf
    rep = lift(leaf)
    is_array = isinstance(leaf, Rep) and cell_of(rep) is not None
    same, truth = is_array and bool(visible(name)), isinstance(rep, PythonBool)
    return Slot(name, rep, element(rep.type), same=same, truth=truth)


def version_for(slot: Slot, leaf: object) -> Rep:
    """What a leaf is after an iteration; Mismatch where it is of another kind."""
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
