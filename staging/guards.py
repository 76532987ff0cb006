"""What a compiled function took from its surroundings, and whether that still holds at a later
call.

Scalars are guarded by value, functions by their code, containers by their contents, everything else
by identity. Arrays become hidden arguments: only their layout is guarded, their elements are read
again at each call.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass, field
from types import CellType, FunctionType, MethodType
from typing import Any, Protocol, cast

import numpy as np

from .context import Trace, current
from .errors import Limitation, UserError
from .layouts import layout_of, normalised
from .libraries import all_codes, is_users_function, is_users_object
from .locations import Location, caller
from .reps import Arithmetic, Rep, rep_of
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


@dataclass(frozen=True, slots=True)
class Guard:
    """`test(what is there now)` must be true for the compiled function to be right.

    where : the line that read it
    """

    source: Source
    test: Callable[[Any], bool]
    where: Location

    def holds(self) -> bool:
        """Whether the place still has an equivalent value."""
        try:
            return self.test(self.source.read())
        except (KeyError, ValueError, AttributeError):  # the variable is gone
            return False


@dataclass(slots=True)
class RecordingTrace(Trace):
    """A trace that remembers what it read from outside.

    outside : objects that existed before the trace and were reached from captured variables or
        static arguments, as far as their contents or attributes are guarded
    reached : these and the others, so that nothing is written to them
    """

    guards: dict[tuple[int, str], Guard] = field(default_factory=dict[tuple[int, str], Guard])
    outside: dict[int, object] = field(default_factory=dict[int, object])
    reached: dict[int, object] = field(default_factory=dict[int, object])
    readers: dict[int, Source] = field(default_factory=dict[int, Source])

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
        t.guards[source.key] = Guard(source, _test(value), caller())
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


def _check_leak(value: Rep) -> None:
    """UserError, at the line that reads it, for a number or an array of another trace or of a block
    that is closed.
    """
    t = current()
    if t is not None and isinstance(value, Arithmetic) and not isinstance(value, Undefined):
        t.check_visible(value.storage)


def _is_fresh(owner: object, name: str, value: object) -> bool:
    """A property that makes a new object at each reading has no identity to guard."""
    if isinstance(value, np.ndarray | MethodType) or _is_scalar(value) or _is_container(value):
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
        t.guards.setdefault(source.key, Guard(source, _test(value), caller()))
        if is_users_function(value):
            guard_unrewritten(value)


def _reach(t: RecordingTrace, value: object) -> None:
    if id(value) in t.reached or _is_scalar(value):
        return
    t.reached[id(value)] = value
    if _is_container(value):
        t.outside[id(value)] = value
        for item in _items(value):
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
    return isinstance(value, np.ndarray) and layout_of(cast("np.ndarray", value)) == layout


# Tests by kind of value.

_MUTABLE = (MutableSequence, MutableMapping, MutableSet, np.ndarray)
_SCALARS = (bool, int, float, complex, str, bytes, type(None), np.generic, enum.Enum, range, slice)


def _is_scalar(value: object) -> bool:
    return isinstance(value, _SCALARS)


def _is_container(value: object) -> bool:
    kind: Any = type(value)
    named = issubclass(kind, tuple) and hasattr(value, "_fields")
    return named or kind in (list, tuple, dict, set, frozenset)


def _items(value: object) -> list[object]:
    if isinstance(value, dict):
        table = cast(dict[object, object], value)
        return [*table.keys(), *table.values()]
    return list(cast("list[object]", value))


def _test(value: object) -> Callable[[object], bool]:
    if _is_scalar(value):
        return lambda now: now is value or _same_scalar(now, value)
    if isinstance(value, FunctionType):
        return _same_function(value)
    if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
        same = _same_function(value.__func__)
        owner = value.__self__
        return lambda now: (
            isinstance(now, MethodType) and now.__self__ is owner and same(now.__func__)
        )
    if _is_container(value):
        return _same_contents(value)
    return lambda now: now is value


def _same_scalar(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float | complex | np.generic):
        # The texts tell 0.0 from -0.0, and no NaN from another.
        return repr(cast(object, a)) == repr(b)
    return a == b


def _same_function(f: FunctionType) -> Callable[[object], bool]:
    code, defaults, keywords, closure = f.__code__, f.__defaults__, f.__kwdefaults__, f.__closure__

    def test(now: object) -> bool:
        return (
            isinstance(now, FunctionType)
            and now.__code__ is code
            and now.__defaults__ is defaults
            and now.__kwdefaults__ is keywords
            and now.__closure__ is closure
        )

    return test


_LARGEST = 10_000


def _same_contents(value: object) -> Callable[[object], bool]:
    kind, items = type(value), _items(value)
    if len(items) > _LARGEST:
        raise Limitation(
            f"a captured {kind.__name__} of {len(items)} elements",
            why="its contents would be compared at each call",
            instead="a NumPy array, or an argument",
        )
    tests = [_test(item) for item in items]

    def test(now: object) -> bool:
        if type(now) is not kind:
            return False
        found = _items(now)
        return len(found) == len(tests) and all(t(x) for t, x in zip(tests, found, strict=True))

    return test
