"""Python objects that change in a staged branch or loop: refused.

The code of a branch runs while staging, whether or not the program takes it, and that of a loop's
body a few times, however often the program runs it. What it assigns to variables is merged, or
carried; what it does to a list, a dict, a set, or an object's attributes that were there before
would stay as staging left them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import cast

from .errors import UserError
from .libraries import is_users_object
from .locations import caller
from .pytree import children
from .reps import Rep

_MOST = 10_000  # of more parts only the number is compared


class Mutations:
    """The variables of a frame as they are when a region begins.

    own : the names that the region assigns itself, which it takes care of
    """

    def __init__(self, variables: Mapping[str, object], own: Sequence[str], what: str) -> None:
        self.what = what
        self.own = frozenset(own)
        self.variables = {n: v for n, v in variables.items() if self._is_other(n)}
        self.parts: dict[int, tuple[str, object, tuple[object, ...]]] = {}
        for name, value in variables.items():
            self._remember(name, value)

    def _is_other(self, name: str) -> bool:
        return name not in self.own and not name.startswith("_parloom_")

    def _remember(self, name: str, value: object) -> None:
        pending = [value]
        while pending:
            held = pending.pop()
            if id(held) in self.parts or not _may_hold(held):
                continue
            inside = parts_of(held)
            self.parts[id(held)] = name, held, inside
            pending += inside[:_MOST]

    def check(self, variables: Mapping[str, object]) -> None:
        """UserError when an object, or a variable of others, is not as it was."""
        for name, value in self.variables.items():
            if name in variables and variables[name] is not value:
                raise self._changed(name, "assigned by a function that is called there")
        for name, held, before in self.parts.values():
            now = parts_of(held)
            same = len(now) == len(before)
            if not same or any(a is not b for a, b in zip(now[:_MOST], before, strict=False)):
                raise self._changed(name, f"a {type(held).__name__} that was made before it")

    def _changed(self, name: str, how: str) -> UserError:
        return UserError(
            f"{name} changes in a staged {self.what}: {how}",
            where=caller(),
            why="the code runs while staging, whether or how often the program gets there",
            instead="a new value for a variable: xs = [*xs, v], d = {**d, key: v}, "
            "dataclasses.replace(...), a result of the function; or an array, written by index",
        )


def parts_of(value: object) -> tuple[object, ...]:
    """What a container or an object holds, keys and names with it."""
    if isinstance(value, dict):
        table = cast(dict[object, object], value)
        return (*table.keys(), *table.values())
    if isinstance(value, list | set | tuple | frozenset):
        return tuple(cast("list[object]", value))
    own: dict[str, object] = getattr(value, "__dict__", {})
    found = children(value)
    fields: Sequence[object] = () if found is None or own else found[1]
    return (*own.keys(), *own.values(), *fields)


def _may_hold(value: object) -> bool:
    if isinstance(value, Rep | ModuleType | type | FunctionType | MethodType):
        return False
    if isinstance(value, list | dict | set | tuple):
        return True
    return is_users_object(value)
