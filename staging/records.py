"""Records: plain data in programs (facts of binders, mappings, orders) as text.

    record  ::=  name ["(" field "=" static {"," ...} ")"]
    static  ::=  integer | float | string | "True" | "False" | "None"
              |  "(" [static {"," ...}] ")" | record | name "." member

A record is a frozen dataclass, its name the class's in snake case: `@record` makes it known, and so
does it for the enums in fields. Fields at their default values are left out.

>>> from .nodes import Contiguous
>>> text_of(Contiguous())
'contiguous'
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import InternalError
from .literals import read as read_literal
from .syntax import snake

if TYPE_CHECKING:
    from .cursor import Cursor

C = TypeVar("C")
R = TypeVar("R")

_classes: dict[str, type] = {}


def record(cls: type[C]) -> type[C]:
    """Registers a frozen dataclass or an enum."""
    if _classes.setdefault(snake(cls.__name__), cls) is not cls:
        raise InternalError(f"two records are named {snake(cls.__name__)}", where=())
    return cls


def is_record(name: str, base: type) -> bool:
    """Whether the name is that of a record of class `base`."""
    return name in _classes and issubclass(_classes[name], base)


def text_of(value: object) -> str:
    """A record, or any value that may stand in one, as text."""
    name = snake(type(value).__name__)
    if isinstance(value, enum.Enum):
        return f"{name}.{value.name}"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(text_of, cast(tuple[object, ...], value)))})"
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if _classes.get(name) is not type(value):
        raise InternalError(f"{type(value).__name__} is no registered record", where=())
    parts = [
        f"{field.name}={text_of(getattr(value, field.name))}"
        for field in dataclasses.fields(cast(Any, value))
        if getattr(value, field.name) != field.default
    ]
    return f"{name}({', '.join(parts)})" if parts else name


def read(parser: Cursor, base: type[R]) -> R:
    """The record of class `base` that comes next."""
    start = parser.token
    value = _static(parser)
    if not isinstance(value, base):
        raise parser.error(f"expected a {snake(base.__name__)}", start)
    return value


_WORDS: Mapping[str, object] = {"True": True, "False": False, "None": None}


def _static(parser: Cursor) -> object:
    if parser.token.text in _WORDS:
        return parser.one_of(_WORDS)
    if parser.token.kind == "string":
        return parser.string()
    if parser.accept("("):
        items: list[object] = []
        while not parser.at(")") and (not items or parser.accept(",")):
            items.append(_static(parser))
        parser.expect(")")
        return tuple(items)
    if parser.token.kind == "literal" or parser.at("-"):
        negative = parser.accept("-")
        return read_literal(parser.literal(), negative).value.item()
    return _named(parser)


def _named(parser: Cursor) -> object:
    start = parser.token
    cls = parser.one_of(_classes)
    if issubclass(cls, enum.Enum):
        parser.expect(".")
        return parser.one_of(cls.__members__)
    fields: dict[str, object] = {}
    if parser.accept("("):
        while not parser.at(")") and (not fields or parser.accept(",")):
            name = parser.word()
            parser.expect("=")
            fields[name] = _static(parser)
        parser.expect(")")
    try:
        return cls(**fields)
    except TypeError as error:
        raise parser.error(str(error), start) from None
