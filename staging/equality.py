"""Structural equality: nodes, blocks and programs up to the names of the variables bound inside.

A block's *shape* has its variables numbered: those that it binds, in order, and those from outside,
in first-use order. Two blocks are equal when their shapes are and the variables from outside are
the same. A block's shape is made once and remembered, so the key of a nest of loops costs what its
outermost statements cost.
"""

from __future__ import annotations

from typing import cast
from weakref import WeakKeyDictionary, WeakValueDictionary

from .dataclass import dataclass
from .nodes import Block, Const, Node, Program, Var
from .traversal import fields
from .types import Array, Type


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shape:
    """A block's structure; equal structures have one shape, which is compared by identity."""

    structure: tuple[object, ...]


_shapes: WeakKeyDictionary[Block, tuple[Shape, tuple[Var, ...]]] = WeakKeyDictionary()
_interned: WeakValueDictionary[tuple[object, ...], Shape] = WeakValueDictionary()


def key(value: object) -> object:
    """A hashable value, the same for two nodes or blocks that are equal up to renaming.

    Free variables count by identity. Locations and names are no part of it.

    >>> from .nodes import Apply, Stmt
    >>> from .primitives import NEGATIVE
    >>> from .types import F64
    >>> def negation(name: str) -> Block:
    ...     x, y = Var(F64, name), Var(F64)
    ...     return Block((x,), (Stmt((y,), Apply(NEGATIVE, (x,))),), (y,))
    >>> key(negation("a")) == key(negation("b"))
    True
    """
    kind = type(value)
    if kind is Var or kind is Const:
        return value
    if kind is tuple:
        return tuple([key(item) for item in cast(tuple[object, ...], value)])
    if kind is Block:
        return _shape(cast(Block, value))
    if isinstance(value, Node):
        return (kind, *[key(getattr(value, name)) for name in fields(type(value))])
    return value


def _shape(block: Block) -> tuple[Shape, tuple[Var, ...]]:
    """The block's shape and its variables from outside."""
    known = _shapes.get(block)
    if known is None:
        numbering = _Numbering()
        structure = numbering.block(block)
        shape = _interned.get(structure)
        if shape is None:
            shape = _interned[structure] = Shape(structure)
        known = _shapes[block] = shape, tuple(numbering.outside)
    return known


class _Numbering:
    """Writes a block's structure: bound variables count up from 0, outside ones down from -1."""

    def __init__(self) -> None:
        self.numbers: dict[Var, int] = {}
        self.outside: list[Var] = []
        self.bound = 0

    def bind(self, variables: tuple[Var, ...]) -> None:
        for var in variables:
            self.numbers[var] = self.bound
            self.bound += 1

    def block(self, block: Block) -> tuple[object, ...]:
        self.bind(block.params)
        params = tuple([self.type(p.type) for p in block.params])
        stmts: list[object] = []
        for stmt in block.stmts:
            stmts.append(self.write(stmt.op))
            self.bind(stmt.binders)
        return (params, tuple(stmts), self.write(block.results))

    def write(self, value: object) -> object:
        kind = type(value)
        if kind is Var:
            return (Var, self.number(cast(Var, value)))
        if kind is tuple:
            return tuple([self.write(item) for item in cast(tuple[object, ...], value)])
        if kind is Block:
            shape, outside = _shape(cast(Block, value))
            return (shape, *[self.number(var) for var in outside])
        if isinstance(value, Node):
            return (kind, *[self.write(getattr(value, name)) for name in fields(type(value))])
        return value

    def number(self, var: Var) -> int:
        found = self.numbers.get(var)
        if found is None:
            self.outside.append(var)
            found = self.numbers[var] = -len(self.outside)
        return found

    def type(self, type_: Type) -> object:
        return (type_.element, self.write(type_.shape)) if isinstance(type_, Array) else type_


def program_key(program: Program) -> object:
    """`key` for whole programs: the name, locations and variable names are no part of it."""
    known = _program_keys.get(program)
    if known is None:
        known = _program_keys[program] = _program_key(program)
    return known


_program_keys: WeakKeyDictionary[Program, object] = WeakKeyDictionary()


def _program_key(program: Program) -> object:
    whole = Block((*program.sizes, *program.params), program.body.stmts, program.body.results)
    checks = tuple((c.kept, c.dropped) for c in program.checks)
    facts = tuple(p.facts for p in program.params)
    return (len(program.sizes), facts, key(whole), checks)


def equal(a: Node | Block | Program, b: Node | Block | Program) -> bool:
    """Equality up to renaming of bound variables."""
    if isinstance(a, Program) and isinstance(b, Program):
        return program_key(a) == program_key(b)
    return key(a) == key(b)
