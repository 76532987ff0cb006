"""The syntax of nodes: one form a node class, from which the printer writes and the parser reads.

Most forms are templates over the declared fields: `form(If, "if {cond} {then} else {orelse}")`. How
a field is written follows from its annotation (its `Kind`); a word behind a colon chooses a style:
`{value:bare}`. A class registered without a template gets one derived from its fields, so that a
new node needs nothing but its keyword and its field names.

A form is found by its keyword, or, when it begins with an operand (`{array}[{indices}]`), by what
stands behind the operand. A field `cond: Operand | None` is a guard, `where c: ` in front.
"""

from __future__ import annotations

import dataclasses
import enum
import re
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from .dataclass import dataclass
from .errors import InternalError
from .nodes import Block, Node, Operand

if TYPE_CHECKING:
    from .parser import Parser
    from .printer import Printer

WORDS = frozenset({"program", "require", "return", "yield", "where", "as", "and", "or", "not"})
GUARD = Operand | None


def _always(value: object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Kind:
    """How the values of one field type are written and read; the text is the slot's style."""

    write: Callable[[Printer, Any, str], None]
    read: Callable[[Parser, str], object]
    present: Callable[[Any], bool] = _always


@dataclass(frozen=True, slots=True)
class Deferred:
    """What a kind reads when the value depends on the node's other fields (by name)."""

    resolve: Callable[[dict[str, Any]], object]


class Form(Protocol):
    """The syntax of one node class."""

    lead: str
    begins_with_operand: bool

    def write(self, printer: Printer, node: Any) -> None:
        """Writes the node."""
        ...

    def read(self, parser: Parser, given: Operand | None) -> Node:
        """Reads a node whose `lead` comes next; `given` is its first operand, or its guard."""
        ...


kinds: dict[object, Kind] = {}
forms: dict[type[Node], Form] = {}
by_keyword: dict[str, type[Node]] = {}
by_postfix: dict[str, type[Node]] = {}


def register(node_type: type[Node], new: Form) -> None:
    """Adds a form for a node class."""
    table = by_postfix if new.begins_with_operand else by_keyword
    if table.setdefault(new.lead, node_type) is not node_type:
        raise InternalError(f"two nodes are written with {new.lead!r}", where=())
    forms[node_type] = new


def form(node_type: type[Node], template: str = "") -> None:
    """Registers a template; without one it is derived from the fields."""
    register(node_type, Template(node_type, template or derived(node_type)))


def form_of(node: Node) -> Form:
    """The node's form; InternalError when its class has none."""
    found = forms.get(type(node))
    if found is None:
        raise InternalError(f"no syntax is registered for {type(node).__name__}", where=())
    return found


def kind_of(annotation: object) -> Kind:
    """The kind of a field annotation."""
    if annotation in kinds:
        return kinds[annotation]
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum_kind(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Node):
        return Kind(
            lambda printer, node, style: form_of(node).write(printer, node),
            lambda parser, style: parser.node(),
        )
    raise InternalError(f"fields of type {annotation} have no syntax", where=())


def _enum_kind(enumeration: type[enum.Enum]) -> Kind:
    words = {str(member.value): member for member in enumeration}
    return Kind(
        lambda printer, member, style: printer.text(str(member.value)),
        lambda parser, style: parser.one_of(words),
    )


def snake(name: str) -> str:
    """A class's name as a keyword.

    >>> snake("BucketReduce")
    'bucket_reduce'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def is_reserved(word: str) -> bool:
    """Whether the grammar owns the word, so that no variable is named so."""
    return word in WORDS or word in by_keyword


def derived(node_type: type[Node]) -> str:
    """A template made of the class's name and its fields, blocks last."""
    hints = typing.get_type_hints(node_type)
    names = [f.name for f in dataclasses.fields(node_type) if hints[f.name] != GUARD]
    parts = [snake(node_type.__name__)]
    for name in sorted(names, key=lambda name: hints[name] is Block):
        hint = hints[name]
        if hint is Block:
            parts.append(f"{{{name}:list}}")
        elif hint is bool or (isinstance(hint, type) and issubclass(hint, Node)):
            parts.append(f"{{{name}}}")
        elif typing.get_origin(hint) is tuple:
            parts.append(f"{name}=[{{{name}}}]")
        else:
            parts.append(f"{name}={{{name}}}")
    return " ".join(parts)


@dataclass(frozen=True, slots=True)
class Slot:
    """A field in a template."""

    field: str
    annotation: object
    style: str

    @property
    def kind(self) -> Kind:
        """How the field is written; looked up late, since kinds may be registered after forms."""
        return kind_of(self.annotation)


class Template:
    """A form of literal text and slots."""

    def __init__(self, node_type: type[Node], template: str) -> None:
        hints = typing.get_type_hints(node_type)
        self.node_type = node_type
        self.guard = next((name for name, hint in hints.items() if hint == GUARD), None)
        self.items: list[str | Slot] = []
        for text, field, style in re.findall(r"([^{]+)|\{(\w+):?(\w*)\}", template):
            word = style or (field if field and hints[field] is bool else "")
            self.items.append(text or Slot(field, hints[field], word))
        self.begins_with_operand = isinstance(self.items[0], Slot)
        self.lead = next(item for item in self.items if isinstance(item, str)).split()[0]

    def write(self, printer: Printer, node: Any) -> None:
        """Writes the literals and the fields in order."""
        guard = getattr(node, self.guard) if self.guard else None
        if guard is not None:
            printer.text("where ")
            printer.operand(guard)
            printer.text(": ")
        for item, after in zip(self.items, [*self.items[1:], ""], strict=True):
            if isinstance(item, Slot):
                item.kind.write(printer, getattr(node, item.field), item.style)
            elif isinstance(after, Slot) and not after.kind.present(getattr(node, after.field)):
                printer.text(item.rstrip(" "))
            else:
                printer.text(item)

    def read(self, parser: Parser, given: Operand | None) -> Node:
        """Reads what `write` wrote."""
        values: dict[str, Any] = {self.guard: given} if self.guard else {}
        for position, item in enumerate(self.items):
            if isinstance(item, str):
                parser.expect(item)
            elif position == 0:
                values[item.field] = given
            else:
                values[item.field] = item.kind.read(parser, item.style)
        for name, value in values.items():
            if isinstance(value, Deferred):
                values[name] = value.resolve(values)
        return self.node_type(**values)
