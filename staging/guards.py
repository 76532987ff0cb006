"""What a compiled function took from its surroundings, and whether that still holds at a later
call.

Scalars are guarded by value, functions by their code, containers by their contents, everything else
by identity. Arrays become hidden arguments: only their layout is guarded, their elements are read
again at each call.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, MutableSequence, MutableSet, Sequence
from dataclasses import field
from types import CellType, FunctionType, MethodType
from typing import Any, Protocol, cast

import numpy as np

from .arithmetic import Arithmetic
from .assumptions import Assumed
from .context import Trace, current
from .dataclass import dataclass
from .errors import Limitation, UserError
from .layouts import is_ready, layout_of, normalised
from .libraries import all_codes, is_users_function, is_users_object
from .locations import Location, caller
from .nodes import Operand
from .reps import Rep, rep_of
from .sameness import is_container, is_scalar, items_of, same_as
from .state import Undefined


class Source(Protocol):
    """A place in the user's program from which a value was read."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    def read(self) -> object:
        """The value that is there now."""
        ...

    @property
    def key(self) -> tuple[int, str]:
        """Equal for the same place."""
        ...


@dataclass(frozen=True, slots=True)
class Global:
    """A module's variable."""

    variables: dict[str, Any]
    name: str

    def read(self) -> object:
        return self.variables[self.name]

    @property
    def key(self) -> tuple[int, str]:
        return id(self.variables), self.name


@dataclass(frozen=True, slots=True)
class Cell:
    """A variable of an enclosing function."""

    cell: CellType
    name: str

    def read(self) -> object:
        return self.cell.cell_contents

    @property
    def key(self) -> tuple[int, str]:
        return id(self.cell), ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an object that was itself captured."""

    owner: object
    name: str

    def read(self) -> object:
        return getattr(self.owner, self.name)

    @property
    def key(self) -> tuple[int, str]:
        return id(self.owner), self.name


class _Nothing:
    """The value that no place has."""


NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class Guard:
    """`test(what is there now)` must be true for the compiled function to be right.

    where : the line that read it
    same : a value that passes the test whenever it is there; NOTHING where it may change inside
    """

    source: Source
    test: Callable[[Any], bool]
    where: Location
    same: object = NOTHING

    def holds(self) -> bool:
        """Whether the place still has an equivalent value."""
        try:
            return self.test(self.source.read())
        except _GONE:
            return False


_GONE = (KeyError, ValueError, AttributeError)  # what a place raises whose variable is gone


def all_hold(guards: Sequence[Guard]) -> Callable[[], bool]:
    """The function that says whether all of them hold: one pass, and for most values `is`."""
    checks = tuple((g.source.read, g.same, g.test) for g in guards)

    def holds() -> bool:
        try:
            for read, same, test in checks:
                now = read()
                if now is not same and not test(now):
                    return False
        except _GONE:
            return False
        return True

    return holds


@dataclass(slots=True)
class RecordingTrace(Trace):
    """A trace that remembers what it read from outside.

    outside : objects that existed before the trace and were reached from captured variables or
        static arguments, as far as their contents or attributes are guarded
    assumed, declared : what may be relied on; the sizes that parameters name
    reached : these and the others, so that nothing is written to them
    """

    guards: dict[tuple[int, str], Guard] = field(default_factory=dict[tuple[int, str], Guard])
    outside: dict[int, object] = field(default_factory=dict[int, object])
    reached: dict[int, object] = field(default_factory=dict[int, object])
    readers: dict[int, Source] = field(default_factory=dict[int, Source])
    assumed: Assumed = field(default_factory=Assumed)
    declared: dict[str, Operand] = field(default_factory=dict[str, Operand])

    def check_unchanged(self) -> None:
        """UserError when staging itself changed something that it had read."""
        for guard in self.guards.values():
            if not guard.holds():
                raise changes(guard.source.name, guard.where)

    def check_not_reached(self, owner: object, name: str) -> None:
        """UserError when `name`, a place in `owner` that is about to be written, is outside."""
        if id(owner) in self.reached:
            raise changes(name, caller())

    def name_of(self, value: object) -> str:
        """What the user calls an object that was captured."""
        found = (g.source.name for g in self.guards.values() if g.source.read() is value)
        return next(found, f"an object ({type(value).__name__}) made outside")


def changes(name: str, where: Location) -> UserError:
    """The error for a change of the surroundings."""
    return UserError(
        f"{name} changes while the function is staged",
        where=where,
        why="staging runs the function once; what it does to its surroundings then would not "
        "happen again at each call",
        instead="pass it as an argument and return the new value",
    )


def check_written(owner: object, name: str) -> None:
    """UserError when `owner` existed before the trace in progress: it would change once."""
    t = current()
    if isinstance(t, RecordingTrace):
        t.check_not_reached(owner, name)


_NAMES = """
add append appendleft clear difference_update discard extend extendleft fill insert
intersection_update partition pop popitem popleft put remove resize reverse rotate setdefault sort
subtract symmetric_difference_update update __delitem__ __iadd__ __ior__ __setitem__
"""
_CHANGING = frozenset(_NAMES.split())
_MUTABLE = (MutableSequence, MutableMapping, MutableSet, np.ndarray)


def check_method(f: object) -> None:
    """UserError when `f` changes a list, a dict, a set, an array or the like that existed before
    the trace in progress.
    """
    t, owner = current(), getattr(f, "__self__", None)
    if not isinstance(t, RecordingTrace) or not isinstance(owner, _MUTABLE):
        return
    if id(cast(object, owner)) in t.reached and getattr(f, "__name__", "") in _CHANGING:
        raise changes(t.name_of(cast(object, owner)), caller())


def load(source: Source, value: object) -> object:
    """The value of a captured variable, as the trace in progress should see it."""
    t = current()
    if isinstance(value, Rep):
        _check_leak(value)
        return value
    if not isinstance(t, RecordingTrace):
        return value
    if isinstance(value, np.ndarray):
        return _capture(t, source, cast("np.ndarray", value))
    if source.key not in t.guards:
        t.guards[source.key] = _guard(source, value)
    _reach(t, value)
    return value


def load_attribute(owner: object, name: str) -> object:
    """`owner.name`, guarded if `owner` came from outside of the trace."""
    value: object = getattr(owner, name)
    t = current()
    if isinstance(value, Rep):
        _check_leak(value)
    if not isinstance(t, RecordingTrace) or id(owner) not in t.outside or isinstance(value, Rep):
        return value
    if _is_fresh(owner, name, value):
        return value
    return load(Attribute(owner, name), value)


def users_getter(owner: object, name: str) -> FunctionType | None:
    """The function of a property of the user's, of an object that was made while staging."""
    t = current()
    if not isinstance(t, RecordingTrace) or id(owner) in t.outside:
        return None
    for cls in type(owner).__mro__:
        if name in cls.__dict__:
            found: object = cls.__dict__[name]
            getter = found.fget if isinstance(found, property) else None
            return getter if is_users_function(getter) else None
    return None


def _check_leak(value: Rep) -> None:
    """UserError, at the line that reads it, for a number or an array of another trace or of a block
    that is closed.
    """
    t = current()
    if t is not None and isinstance(value, Arithmetic) and not isinstance(value, Undefined):
        t.check_visible(value.storage)


def _is_fresh(owner: object, name: str, value: object) -> bool:
    """A property that makes a new object at each reading has no identity to guard."""
    if isinstance(value, np.ndarray | MethodType) or is_scalar(value) or is_container(value):
        return False
    return getattr(owner, name) is not value


def reach(value: object) -> None:
    """Says that `value` existed before the trace (a static argument), so that its attributes are
    guarded.
    """
    t = current()
    if isinstance(t, RecordingTrace):
        _reach(t, value)


def guard_unrewritten(f: FunctionType) -> None:
    """Guards what a function refers to whose source cannot be had: its loads call no hooks."""
    t = current()
    if not isinstance(t, RecordingTrace) or id(f) in t.outside:
        return
    t.outside[id(f)] = f
    names = {name for code in all_codes(f.__code__) for name in code.co_names}
    sources: list[Source] = [Global(f.__globals__, n) for n in names if n in f.__globals__]
    cells = zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)
    sources += [Cell(cell, name) for name, cell in cells]
    for source in sources:
        value = source.read()
        t.guards.setdefault(source.key, _guard(source, value))
        if is_users_function(value):
            guard_unrewritten(value)


def _reach(t: RecordingTrace, value: object) -> None:
    if id(value) in t.reached or is_scalar(value):
        return
    t.reached[id(value)] = value
    if is_container(value):
        t.outside[id(value)] = value
        for item in items_of(value):
            _reach(t, item)
    elif is_users_object(value):
        t.outside[id(value)] = value


def _capture(t: RecordingTrace, source: Source, array: np.ndarray) -> object:
    layout = layout_of(normalised(array, source.name))
    if source.key not in t.guards:
        t.guards[source.key] = Guard(source, lambda now: _has_layout(now, layout), caller())
    first = t.readers.setdefault(id(array), source)
    if first.key != source.key:  # one array under two names: one argument while that is so
        t.guards[(source.key[0], source.key[1] + " alias")] = Guard(
            source, lambda now: now is first.read(), caller()
        )
    t.outside[id(array)] = array  # keeps it alive: captured arrays are known by their id
    param = t.capture(
        normalised(array, source.name),
        source.name,
        lambda: normalised(cast("np.ndarray", source.read()), source.name),
    )
    return rep_of(param)


def _has_layout(value: object, layout: object) -> bool:
    """Whether the array, as kernels take it, has the layout."""
    if not isinstance(value, np.ndarray):
        return False
    array = cast("np.ndarray", value)
    try:
        return layout_of(array if is_ready(array) else normalised(array, "it")) == layout
    except Limitation:  # of another dtype now, which is refused when it is staged again
        return False


def _guard(source: Source, value: object) -> Guard:
    """The guard of a place that has the value now."""
    inside = isinstance(value, FunctionType | MethodType) or is_container(value)
    return Guard(source, same_as(value), caller(), NOTHING if inside else value)
