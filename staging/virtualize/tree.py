"""Syntax trees: their parts, copies, locations, and a transformer.

What Python's `ast` offers asks every node for every field. Rewriting passes over a function several
times, so the fields that can hold code are looked up once for each class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast

N = TypeVar("N", bound=ast.AST)

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)

# Names, operators and contexts: fields without code.
_WITHOUT_CODE = frozenset(
    ("arg", "asname", "attr", "ctx", "id", "kind", "level", "module", "n", "name", "names", "op")
    + ("ops", "rest", "type_comment")
)
_parts: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}


def parts(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold code, in order."""
    found = _parts.get(kind)
    if found is None:
        found = _parts[kind] = tuple(f for f in kind._fields if f not in _WITHOUT_CODE)
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes in a node's fields, in order, but for operators and contexts."""
    found: list[ast.AST] = []
    for name in parts(type(node)):
        value: object = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [v for v in cast("list[object]", value) if isinstance(v, ast.AST)]
    return found


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes and all inside of the same function, comprehension targets excepted."""
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.comprehension):
            pending += [*node.ifs[::-1], node.iter]
        elif not isinstance(node, SCOPES):
            pending += children(node)[::-1]


def own_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The statements and all inside of the same function: no expression is looked at."""
    pending = list(nodes)[::-1]
    while pending:
        node = pending.pop()
        yield node
        pending += inner_statements(node)[::-1]


def inner_statements(node: ast.AST) -> list[ast.AST]:
    """The statements, handlers and cases that stand in a statement of the same function."""
    if isinstance(node, SCOPES):
        return []
    found: list[ast.AST] = []
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        found += getattr(node, name, ())
    return found


def copied(node: N) -> N:
    """The tree again; rewriting changes its nodes."""
    if not node._fields:
        return node  # an operator, a context
    made = type(node).__new__(type(node))
    vars(made).update({name: _copied_value(value) for name, value in vars(node).items()})
    return made


def _copied_value(value: object) -> object:
    if isinstance(value, ast.AST):
        return copied(value)
    if isinstance(value, list):
        return [_copied_value(v) for v in cast("list[object]", value)]
    return value


def located(node: N, at: ast.AST) -> N:
    """The new node, and the new nodes inside it, at the location of `at`."""
    where = vars(at)
    place = {name: where[name] for name in at._attributes if name in where}
    vars(node).update(place)
    _locate_children(node, place)
    return node


def _locate_children(node: ast.AST, place: dict[str, Any]) -> None:
    """A child that has a location is complete, and so is all inside of it."""
    for child in children(node):
        if not child._attributes:
            _locate_children(child, place)
        elif "lineno" not in vars(child):
            vars(child).update(place)
            _locate_children(child, place)


class Transformer:
    """Visits nodes by methods `visit_<class>`, which give what takes a node's place: a node, or
    for a statement a list of statements."""

    def visit(self, node: ast.AST) -> Any:
        """What takes the node's place."""
        method = getattr(self, f"visit_{type(node).__name__}", None)
        return self.generic_visit(node) if method is None else method(node)

    def generic_visit(self, node: N) -> N:
        """The node, with its parts visited."""
        for name in parts(type(node)):
            value: object = getattr(node, name, None)
            if isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                setattr(node, name, self._visit_list(cast("list[object]", value)))
        return node

    def _visit_list(self, values: list[object]) -> list[object]:
        made: list[object] = []
        for value in values:
            found: object = self.visit(value) if isinstance(value, ast.AST) else value
            made += cast("list[object]", found) if isinstance(found, list) else [found]
        return made
