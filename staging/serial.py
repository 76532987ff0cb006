"""Programs as bytes, for caches: everything that a program says, names and lines included.

    bytes   ::=  JSON of {"classes": names, "variables": [type, name, facts], "program": value}
    value   ::=  null | true | false | integer | string
              |  [tag, ...]      the tags are below

The text of printer.py is for people, and leaves out what they need not see; here nothing is left
out, so that what is read back compiles to the same kernels. What cannot outlive the process (a
user's function) cannot be written.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np

from .nodes import Const, Program, PythonFunction, Var
from .primitives import BY_NAME, Primitive

_TUPLE, _VAR, _CONST, _DATA, _ENUM, _PRIMITIVE, _DTYPE, _SET = range(8)
_PLAIN = frozenset({type(None), bool, int, str})
_PACKAGE = __name__.partition(".")[0]


class Unserialisable(TypeError):
    """The program holds something that cannot be written."""


def dumps(program: Program) -> bytes:
    """The program as bytes; equal bytes for programs that are equal in names and lines, too.

    Raises Unserialisable for a program that calls a Python function.

    >>> from .parser import parse
    >>> program = parse("program f(x: f64) {\\n  y: f64 = x + 1.0_f64\\n  return y\\n}")
    >>> again = loads(dumps(program))
    >>> dumps(again) == dumps(program), again.params[0].name
    (True, 'x')
    """
    writer = _Writer()
    value = writer.value(program)
    whole = {"classes": list(writer.classes), "variables": writer.variables, "program": value}
    return json.dumps(whole, separators=(",", ":")).encode()


def loads(data: bytes) -> Program:
    """The program that `dumps` wrote; ValueError for other bytes."""
    try:
        whole = json.loads(data)
        reader = _Reader([_class(name) for name in whole["classes"]])
        for entry in whole["variables"]:
            type_, name, facts = map(reader.value, entry)
            reader.variables.append(Var(type_, name, facts))
        program = reader.value(whole["program"])
    except (KeyError, IndexError, TypeError, AttributeError, ImportError) as error:
        raise ValueError(f"not a program: {error}") from error
    if not isinstance(program, Program):
        raise ValueError("not a program")
    return program


class _Writer:
    def __init__(self) -> None:
        self.classes: dict[str, int] = {}
        self.variables: list[list[object]] = []
        self._numbers: dict[Var, int] = {}
        # What was written, by identity: statements share their lines, types and constants.
        self._known: dict[int, tuple[object, object]] = {}

    def value(self, value: object) -> object:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is Var:
            return [_VAR, self.variable(cast(Var, value))]
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = value, self._made(value, kind)
        return known[1]

    def _made(self, value: object, kind: type[Any]) -> object:
        if kind is tuple:
            return [_TUPLE, *[self.value(v) for v in cast("tuple[object, ...]", value)]]
        if isinstance(value, Const):
            return [_CONST, self.value(value.type), value.value.tobytes().hex()]
        if isinstance(value, Primitive):
            return [_PRIMITIVE, value.name]
        if isinstance(value, enum.Enum):
            return [_ENUM, self.class_number(kind), value.name]
        if isinstance(value, np.dtype):
            return [_DTYPE, cast("np.dtype[np.generic]", value).str]
        if isinstance(value, frozenset):
            items = [self.value(v) for v in cast("frozenset[object]", value)]
            return [_SET, *sorted(items, key=repr)]
        if dataclasses.is_dataclass(kind) and kind is not PythonFunction:
            fields = [self.value(getattr(value, name)) for name in _fields(kind)]
            return [_DATA, self.class_number(kind), *fields]
        raise Unserialisable(f"a {kind.__name__} cannot be written")

    def variable(self, var: Var) -> int:
        """The variable's number; the sizes that its type names come before it."""
        if var not in self._numbers:
            entry = [self.value(v) for v in (var.type, var.name, var.facts)]
            self._numbers[var] = len(self.variables)
            self.variables.append(entry)
        return self._numbers[var]

    def class_number(self, kind: type) -> int:
        name = f"{kind.__module__}:{kind.__qualname__}"
        return self.classes.setdefault(name, len(self.classes))


class _Reader:
    def __init__(self, classes: list[Any]) -> None:
        self.classes = classes
        self.variables: list[Var] = []
        self._read: tuple[Callable[[list[Any]], Any], ...] = (
            lambda parts: tuple(self._values(parts[1:])),
            lambda parts: self.variables[int(parts[1])],
            self._const,
            self._data,
            self._member,
            lambda parts: BY_NAME[parts[1]],
            self._dtype,
            lambda parts: frozenset(self._values(parts[1:])),
        )

    def value(self, value: Any) -> Any:
        return self._nested(value) if isinstance(value, list) else value

    def _nested(self, parts: Any) -> Any:
        return self._read[int(parts[0])](parts)

    def _values(self, parts: list[Any]) -> list[Any]:
        return [self.value(v) for v in parts]

    def _dtype(self, parts: list[Any]) -> object:
        return np.dtype(str(parts[1]))

    def _data(self, parts: list[Any]) -> object:
        made: object = self.classes[int(parts[1])](*self._values(parts[2:]))
        return made

    def _member(self, parts: list[Any]) -> object:
        members: Any = self.classes[int(parts[1])]
        return members[parts[2]]

    def _const(self, parts: list[Any]) -> Const:
        type_ = self.value(parts[1])
        return Const(np.frombuffer(bytes.fromhex(parts[2]), type_.dtype)[0], type_)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(kind) if f.init)


def _class(name: str) -> type:
    """A class of ours, by its module and name."""
    module, _, qualname = name.partition(":")
    if module.partition(".")[0] != _PACKAGE:
        raise ValueError(f"not a class of {_PACKAGE}: {name}")
    found = getattr(importlib.import_module(module), qualname)
    if not (dataclasses.is_dataclass(found) or issubclass(found, enum.Enum)):
        raise ValueError(f"not data: {name}")
    return cast(type, found)
