"""Cells: what holds an array's current value while staging, so that a write is seen by every view.

A write puts a new value into the cell. In a staged branch or loop the cell gets its old value back
when the block ends, and what it held at the end becomes a result of the branch, or state of the
loop: the builder's log says which cells a block wrote to.

After a branch or a loop a variable may hold either of two arrays, and a reshaped slice is a view or
a copy, as sizes have it: the two cells are `related`. A write to one of them cannot tell whether it
changes the other, which may then not be read any more.
"""

from __future__ import annotations

from .builder import Scope
from .context import leaked, trace
from .errors import Limitation
from .locations import Location, caller
from .nodes import Operand, Var, size_operand
from .reps import Rep
from .types import Array


class Cell:
    """An array's current value, and the block in which the array was made.

    given : it is an argument or an array of the surroundings that may not be written to
    dense : its elements surely lie behind one another in C order; False for what the user gave
        with other strides, to be written to
    expired : the place of a write after which nobody knows what the cell holds
    related : other cells that may be this one when the program runs
    """

    __slots__ = ("_scope", "_value", "dense", "expired", "given", "related")

    def __init__(self, value: Operand, given: bool = False) -> None:
        assert isinstance(value.type, Array)
        self._value: Operand = value
        self.given = given
        self.dense = True
        self.expired: Location | None = None
        self.related: set[Cell] = set()
        self._scope: Scope = trace().builder.scopes[-1]

    @property
    def scope(self) -> Scope:
        """The block in which the array was made."""
        while self._scope.joined is not None:
            self._scope = self._scope.joined
        return self._scope

    @property
    def value(self) -> Operand:
        """The array as it is now; Limitation when that is not known."""
        if self.expired is not None:
            raise Limitation(
                "an array is read that may have been written to under another name",
                where=(caller(), self.expired),
                why="two names may stand for one array, or for two: after a staged branch or "
                "loop, or where a reshape is a view for some sizes only",
                instead=".copy() before the write",
            )
        return self._value

    @property
    def latest(self) -> Operand:
        """The last value that was known."""
        return self._value

    @property
    def type(self) -> Array:
        """The array type of the value."""
        assert isinstance(self._value.type, Array)
        return self._value.type

    @property
    def shape(self) -> tuple[Operand, ...]:
        """The sizes of the value."""
        return tuple(size_operand(d) for d in self.type.shape)

    @property
    def name(self) -> str:
        """The user's name of the array."""
        return self._value.name if isinstance(self._value, Var) else ""

    def hint(self, name: str) -> None:
        """Tells the user's name of the array; the first one stays."""
        if isinstance(self._value, Var) and not self._value.name:
            self._value.name = name

    # Writes.

    def write(self, value: Operand) -> None:
        """The user's write, if the program may write to the array here."""
        self.check_writable()
        self.check_reachable()
        self.value  # noqa: B018 - what is not known cannot be changed in part
        self.put(value)
        for other in self.related:
            other.expire(caller())

    def check_writable(self) -> None:
        """Limitation for an array that the function was given, or that may be such a one."""
        if self.given or any(other.given for other in self.related):
            raise Limitation(
                "a write to an argument or to an array of the surroundings",
                why="a staged function modifies only what it is told to",
                instead="b = a.copy(), then write to b and return it; or, for the parameter a, "
                'pm.jit(inout="a"): the call then writes to the caller\'s array',
            )

    def check_reachable(self) -> None:
        """Limitation where a pattern's function would write to an array from outside."""
        for scope in reversed(trace().builder.scopes):
            if scope is self.scope:
                return
            if not scope.region:
                raise Limitation(
                    "a write to an array that was made outside of this function",
                    why="a pattern's function runs for many elements, in any order",
                    instead="where every element is written: a = x.map(f) or "
                    "a = pm.collect(shape, f); else a for loop, or a copy made here: a = a.copy()",
                )
        raise leaked(self._value)

    def put(self, value: Operand) -> None:
        """Gives the cell a value that it surely has from here on."""
        self._log()
        self._value, self.expired = value, None

    def expire(self, where: Location) -> None:
        """Says that nobody knows any more what the cell holds."""
        self._log()
        self.expired = where

    def _log(self) -> None:
        trace().builder.log.append((self, self._value, self.expired))

    def restore(self, value: Operand, expired: Location | None) -> None:
        """Takes back what happened since."""
        self._value, self.expired = value, expired

    def relate(self, other: Cell) -> None:
        """Says that this cell and the other, with all that the other may be, may be one."""
        for one in (other, *other.related):
            if one is not self:
                self.related.add(one)
                one.related.add(self)


def cell_of(rep: Rep) -> Cell | None:
    """The cell of an array, None for a number."""
    return rep.place[0] if rep.place is not None else None


def same_array(a: object, b: object) -> bool:
    """Whether the two are one array, seen through equal views."""
    if not (isinstance(a, Rep) and isinstance(b, Rep)) or a.place is None or b.place is None:
        return False
    return a.place[0] is b.place[0] and a.place[1] == b.place[1]


Written = dict[Cell, tuple[Operand, Location | None]]


def written_in(scope: Scope) -> Written:
    """What the cells of enclosing blocks hold that the innermost block wrote to."""
    builder = trace().builder
    around = builder.scopes[:-1]
    return {
        cell: (cell.latest, cell.expired)
        for cell, _, _ in builder.log[scope.mark :]
        if isinstance(cell, Cell) and any(cell.scope is s for s in around)
    }


def is_outside(cell: Cell) -> bool:
    """Whether the cell belongs to a block that is open."""
    return any(cell.scope is s for s in trace().builder.scopes)
