"""What a node's fields tell: operands, blocks, rebuilding, free variables, effects."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from operator import is_
from typing import TypeVar, cast
from weakref import WeakKeyDictionary

from .nodes import Block, Const, Effects, Node, Op, Operand, Stmt, Var
from .types import Array, Type

N = TypeVar("N", bound=Node)


_names: dict[type[Node], tuple[str, ...]] = {}


def fields(node_type: type[Node]) -> tuple[str, ...]:
    """The names of a node class's fields, in order."""
    found = _names.get(node_type)
    if found is None:
        found = _names[node_type] = tuple(f.name for f in dataclasses.fields(node_type))
    return found


def field_values(node: Node) -> tuple[tuple[str, object], ...]:
    """The declared fields in order, with their values."""
    return tuple((name, getattr(node, name)) for name in fields(type(node)))


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What the annotations of a node class's fields say about their values.

    dynamic : fields that may hold operands, blocks or nodes; the others are static data
    nested : of these, fields that may hold blocks or nodes
    static : for each field, in order, whether it is static data
    """

    dynamic: tuple[str, ...]
    nested: tuple[str, ...]
    static: tuple[bool, ...]


class _Plans(dict[type[Node], Plan]):
    """The plans by class; passes spend their time in traversal, so each is made once."""

    def __missing__(self, node_type: type[Node]) -> Plan:
        made = self[node_type] = _make_plan(node_type)
        return made


_PLANS = _Plans()


def _make_plan(node_type: type[Node]) -> Plan:
    nested = {"Block", "object", "Any", *(cls.__name__ for cls in _node_classes(Node))}
    operand = {"Operand", "Var", "Const"}
    words = {
        field.name: set(re.findall(r"\w+", str(field.type)))
        for field in dataclasses.fields(node_type)
    }
    dynamic = tuple(name for name, found in words.items() if (nested | operand) & found)
    inside = tuple(name for name, found in words.items() if nested & found)
    return Plan(dynamic, inside, tuple(name not in dynamic for name in words))


def _node_classes(base: type[Node]) -> Iterator[type[Node]]:
    yield base
    for cls in base.__subclasses__():
        yield from _node_classes(cls)


def _walk(node: Node, found: list[Operand | Block]) -> list[Operand | Block]:
    """Adds the operands and blocks of the fields, in order."""
    for name in _PLANS[type(node)].dynamic:
        _enter(getattr(node, name), found)
    return found


def _enter(value: object, found: list[Operand | Block]) -> None:
    kind = type(value)
    if kind is Var or kind is Const or kind is Block:
        found.append(cast("Operand | Block", value))
    elif kind is tuple:
        for item in cast(tuple[object, ...], value):
            _enter(item, found)
    elif isinstance(value, Node):
        _walk(value, found)


def operands(node: Node) -> tuple[Operand, ...]:
    """Operands outside the node's blocks, in field order."""
    return tuple([v for v in _walk(node, []) if not isinstance(v, Block)])


def blocks(node: Node) -> tuple[Block, ...]:
    """The node's own blocks, in field order (for a MultiLoop, its body; generators stand in the
    body's results).
    """
    names = _PLANS[type(node)].nested
    if not names:
        return ()
    found: list[Block] = []
    for name in names:
        _enter_blocks(getattr(node, name), found)
    return tuple(found)


def _enter_blocks(value: object, found: list[Block]) -> None:
    kind = type(value)
    if kind is Block:
        found.append(cast(Block, value))
    elif kind is tuple:
        for item in cast(tuple[object, ...], value):
            _enter_blocks(item, found)
    elif isinstance(value, Node):
        for name in _PLANS[type(value)].nested:
            _enter_blocks(getattr(value, name), found)


def result_blocks(block: Block) -> tuple[Block, ...]:
    """The blocks inside a body's results (its generators' blocks)."""
    return tuple(b for r in block.results if isinstance(r, Node) for b in blocks(r))


def map_fields(
    node: N, operand: Callable[[Operand], Operand], block: Callable[[Block], Block]
) -> N:
    """The node with every operand and block replaced; the node itself when all stay the same."""

    def go(value: object) -> object:
        kind = type(value)
        if kind is Var or kind is Const:
            return operand(cast(Operand, value))
        if kind is tuple:
            items = cast(tuple[object, ...], value)
            mapped = [go(item) for item in items]
            return value if all(map(is_, mapped, items)) else tuple(mapped)
        if kind is Block:
            return block(cast(Block, value))
        if isinstance(value, Node):
            return map_fields(value, operand, block)
        return value

    kind = type(node)
    old = [getattr(node, name) for name in fields(kind)]
    new = [v if fixed else go(v) for v, fixed in zip(old, _PLANS[kind].static, strict=True)]
    return node if all(map(is_, new, old)) else kind(*new)


def effects(op: Op) -> Effects:
    """The op's effects and those of everything inside it."""
    found = op.effects
    for inner in blocks(op):
        found |= block_effects(inner)
    return found


_effects: WeakKeyDictionary[Block, Effects] = WeakKeyDictionary()


def block_effects(block: Block) -> Effects:
    """The union over the block's statements and its generators; remembered, as blocks are data."""
    known = _effects.get(block)
    if known is not None:
        return known
    found = Effects.NONE
    for stmt in block.stmts:
        found |= effects(stmt.op)
    for inner in result_blocks(block):
        found |= block_effects(inner)
    _effects[block] = found
    return found


def type_vars(type: Type) -> tuple[Var, ...]:
    """The size variables that a type names."""
    return tuple(d for d in type.shape if isinstance(d, Var)) if isinstance(type, Array) else ()


def free_vars(node: Node | Block) -> dict[Var, None]:
    """Variables used inside but bound outside, in first-use order (types' sizes included)."""
    found: dict[Var, None] = {}
    _free(node, found)
    return found


def _free(value: object, found: dict[Var, None]) -> None:
    kind = type(value)
    if kind is Var:
        found.setdefault(cast(Var, value))
    elif kind is tuple:
        for item in cast(tuple[object, ...], value):
            _free(item, found)
    elif kind is Block:
        found.update(dict.fromkeys(_outside(cast(Block, value))))
    elif isinstance(value, Node):
        for name in _PLANS[type(value)].dynamic:
            _free(getattr(value, name), found)


_outsides: WeakKeyDictionary[Block, tuple[Var, ...]] = WeakKeyDictionary()


def _outside(block: Block) -> tuple[Var, ...]:
    """The free variables of a block; remembered, as blocks are data."""
    known = _outsides.get(block)
    if known is not None:
        return known
    found: dict[Var, None] = {}
    bound = set(block.params)
    for param in block.params:
        found.update(dict.fromkeys(type_vars(param.type)))
    for stmt in block.stmts:
        _free(stmt.op, found)
        bound.update(stmt.binders)
        for binder in stmt.binders:
            found.update(dict.fromkeys(type_vars(binder.type)))
    _free(block.results, found)
    _outsides[block] = result = tuple(v for v in found if v not in bound)
    return result


def walk_stmts(block: Block) -> Iterator[Stmt]:
    """Every statement inside, outer before inner, in order."""
    for stmt in block.stmts:
        yield stmt
        for inner in blocks(stmt.op):
            yield from walk_stmts(inner)
    for inner in result_blocks(block):
        yield from walk_stmts(inner)
