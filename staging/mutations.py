"""Python objects that change in a staged branch or loop: refused.

The code of a branch runs while staging, whether or not the program takes it, and that of a loop's
body a few times, however often the program runs it. What it assigns to variables is merged, or
carried; what it does to a list, a dict, a set, or an object's attributes that were there before
would stay as staging left them. So would what a function called there does to a variable of the
function around it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import (
    CellType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import cast

from .errors import UserError
from .libraries import is_users_function, is_users_object
from .locations import caller
from .pytree import children
from .reps import Rep

_MOST = 10_000  # of more parts only the number is compared
_BY_CALL = "assigned by a function that is called there"


class Mutations:
    """The variables of a frame as they are when a region begins.

    own : the names that the region assigns itself, which it takes care of
    """

    def __init__(self, variables: Mapping[str, object], own: Sequence[str], what: str) -> None:
        self.what = what
        self.own = {n: variables.get(n) for n in own}
        self.variables = {n: v for n, v in variables.items() if self._is_other(n)}
        self.parts: dict[int, tuple[str, object, tuple[object, ...]]] = {}
        for name, value in variables.items():
            self._remember(name, value)

    def _is_other(self, name: str) -> bool:
        return name not in self.own and not name.startswith("_parloom_")

    def _remember(self, name: str, value: object) -> None:
        pending = [(name, value)]
        while pending:
            name, held = pending.pop()
            if id(held) in self.parts or not _may_hold(held):
                continue
            inside = parts_of(held)
            self.parts[id(held)] = name, held, inside
            if isinstance(held, FunctionType):
                pending += zip(held.__code__.co_freevars, inside, strict=True)
            else:
                pending += [(name, part) for part in inside[:_MOST]]

    def check(self, variables: Mapping[str, object] = MappingProxyType({})) -> None:
        """UserError when an object, or a variable of others, is not as it was."""
        for name, value in self.variables.items():
            if name in variables and variables[name] is not value:
                raise self._changed(name, _BY_CALL)
        for name, held, before in self.parts.values():
            now = parts_of(held)
            same = len(now) == len(before)
            if isinstance(held, FunctionType):
                self._check_variables(held.__code__.co_freevars, before, now)
            elif not same or any(
                not _same(a, b) for a, b in zip(now[:_MOST], before, strict=False)
            ):
                raise self._changed(name, f"a {type(held).__name__} that was made before it")

    def _check_variables(
        self, names: Sequence[str], before: Sequence[object], now: Sequence[object]
    ) -> None:
        """Those that a function shares with the functions around it; not the region's own."""
        for name, a, b in zip(names, before, now, strict=True):
            if a is not b and not (name in self.own and self.own[name] is a):
                raise self._changed(name, _BY_CALL)

    def _changed(self, name: str, how: str) -> UserError:
        return UserError(
            f"{name} changes in a staged {self.what}: {how}",
            where=caller(),
            why="the code runs while staging, whether or how often the program gets there",
            instead="a new value for a variable: xs = [*xs, v], d = {**d, key: v}, "
            "dataclasses.replace(...), a result of the function; or an array, written by index",
        )


def watched(what: str, *functions: Callable[..., object] | None) -> Mutations:
    """What the functions can reach, as it is before staging runs them as parts of a `what`."""
    return Mutations({str(k): f for k, f in enumerate(functions)}, (), what)


def contents(cell: CellType) -> object:
    """What a variable of an enclosing function holds, None before it is assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def parts_of(value: object) -> tuple[object, ...]:
    """What a container or an object holds, keys and names with it; of a function, the variables
    that it has from outside; of an iterator, how far it is.
    """
    if isinstance(value, FunctionType):
        return tuple(map(contents, value.__closure__ or ()))
    if isinstance(value, MethodType):
        return value.__self__, cast(object, value.__func__)
    if isinstance(value, functools.partial):
        bound = cast("functools.partial[object]", value)
        return bound.func, *bound.args, *bound.keywords.values()
    if isinstance(value, dict):
        table = cast(dict[object, object], value)
        return (*table.keys(), *table.values())
    if isinstance(value, list | set | tuple | frozenset):
        return tuple(cast("list[object]", value))
    if isinstance(value, Iterator):
        return _position(cast(Iterator[object], value))
    own: dict[str, object] = getattr(value, "__dict__", {})
    found = children(value)
    fields: Sequence[object] = () if found is None or own else found[1]
    return (*own.keys(), *own.values(), *fields)


def _position(iterator: Iterator[object]) -> tuple[object, ...]:
    """How far an iterator of Python's is, and those that it takes its elements from."""
    if isinstance(iterator, GeneratorType):
        frame = iterator.gi_frame
        return () if frame is None else (frame.f_lasti, *frame.f_locals.values())
    if isinstance(iterator, enumerate | zip | map | filter):
        return cast("tuple[object, ...]", iterator.__reduce__()[1])
    return (operator.length_hint(iterator),)


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) is int and a == b)


def _may_hold(value: object) -> bool:
    if isinstance(value, Rep | ModuleType | type):
        return False
    if isinstance(value, FunctionType):
        return value.__closure__ is not None and is_users_function(value)
    if isinstance(value, list | dict | set | tuple | MethodType | functools.partial):
        return True
    builtin = type(value).__module__ == "builtins"
    return (builtin and isinstance(value, Iterator)) or is_users_object(value)
