"""Whether a value of the surroundings is as it was: tests by its kind.

Scalars are compared by type and bits, functions by their code, containers by their contents,
everything else by identity.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, cast

import numpy as np

from .errors import Limitation

_SCALARS = (bool, int, float, complex, str, bytes, type(None), np.generic, enum.Enum, range, slice)


def is_scalar(value: object) -> bool:
    """Whether it is a value that never changes inside."""
    return isinstance(value, _SCALARS)


def is_container(value: object) -> bool:
    """Whether it counts by its contents."""
    kind: Any = type(value)
    named = issubclass(kind, tuple) and hasattr(value, "_fields")
    return named or kind in (list, tuple, dict, set, frozenset)


def items_of(value: object) -> list[object]:
    """A container's contents; a dict's keys, then its values."""
    if isinstance(value, dict):
        table = cast(dict[object, object], value)
        return [*table.keys(), *table.values()]
    return list(cast("list[object]", value))


def same_as(value: object) -> Callable[[object], bool]:
    """The test whether another value stands for the same.

    >>> same = same_as((0.0, "a"))
    >>> same((0.0, "a")), same((-0.0, "a")), same((0, "a"))
    (True, False, False)
    """
    if is_scalar(value):
        return lambda now: now is value or _same_scalar(now, value)
    if isinstance(value, FunctionType):
        return _same_function(value)
    if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
        same = _same_function(value.__func__)
        owner = value.__self__
        return lambda now: (
            isinstance(now, MethodType) and now.__self__ is owner and same(now.__func__)
        )
    if is_container(value):
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
    kind, items = type(value), items_of(value)
    if len(items) > _LARGEST:
        raise Limitation(
            f"a captured {kind.__name__} of {len(items)} elements",
            why="its contents would be compared at each call",
            instead="a NumPy array, or an argument",
        )
    tests = [same_as(item) for item in items]

    def test(now: object) -> bool:
        if type(now) is not kind:
            return False
        found = items_of(now)
        return len(found) == len(tests) and all(t(x) for t, x in zip(tests, found, strict=True))

    return test
