"""Walking Kernel IR: what a function reads and writes, derived from the nodes' fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from ..staging.primitives import Primitive
from .kernel_ir import (
    Buffer,
    Fault,
    For,
    Let,
    Load,
    Local,
    Note,
    Space,
    Statement,
    Store,
)


def leaves(node: object) -> list[Local | Buffer | Fault]:
    """Locals and buffers in field order, and the faults."""
    found: list[Local | Buffer | Fault] = []
    _leaves(node, found)
    return found


def _leaves(node: object, found: list[Local | Buffer | Fault]) -> None:
    kind: type = type(node)
    if kind is Local or kind is Buffer:
        found.append(cast("Local | Buffer", node))
        return
    if kind is Fault:
        found.append(cast(Fault, node))
    for part in _parts(node, kind):
        _leaves(part, found)


def bound(node: object) -> list[Local]:
    """Locals that a statement list sets up itself."""
    found: list[Local] = []
    _bound(node, found)
    return found


def _bound(node: object, found: list[Local]) -> None:
    kind: type = type(node)
    if kind is Local or kind is Buffer:
        return
    if kind is Let:
        found.append(cast(Let, node).local)
    elif kind is For:
        found.append(cast(For, node).index)
    for part in _parts(node, kind):
        _bound(part, found)


def _parts(node: object, kind: type) -> Sequence[object]:
    """What stands in a node's fields, or in a list."""
    if kind is tuple or kind is list:
        return cast("Sequence[object]", node)
    return [getattr(node, name) for name in _fields(kind)]


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The names of a class's fields; none of one that is no Kernel IR."""
    if kind is Primitive or not dataclasses.is_dataclass(kind):
        return ()
    return tuple(field.name for field in dataclasses.fields(cast(Any, kind)))


def stays_in_scratch(loop: For) -> bool:
    """Whether a loop can run for an index too many: all it reads at its index and all it writes is
    scratch, and nothing in it branches or faults."""
    for statement in loop.body:
        if isinstance(statement, Store):
            if statement.buffer.space is not Space.PRIVATE:
                return False
        elif not isinstance(statement, Let | Note):
            return False
    loads = [leaf for leaf in nodes(list(loop.body)) if isinstance(leaf, Load)]
    computed = {id(local) for local in bound(list(loop.body))}
    if any(id(leaf) in computed for x in loads for leaf in leaves(x.indices)):
        return False  # where it reads would depend on old contents
    outside = [x for x in loads if x.buffer.space is not Space.PRIVATE]
    return not any(loop.index in leaves(x.indices) for x in outside)


def nodes(node: object) -> list[object]:
    """Every Kernel IR node inside, buffers and locals excepted."""
    found: list[object] = []
    _nodes(node, found)
    return found


def _nodes(node: object, found: list[object]) -> None:
    kind: type = type(node)
    if kind is Local or kind is Buffer:
        return
    if _fields(kind):
        found.append(node)
    for part in _parts(node, kind):
        _nodes(part, found)


def parameters(
    body: Sequence[Statement], given: tuple[Local, ...], fault: Buffer
) -> tuple[Local | Buffer, ...]:
    """The free locals and the buffers of a body, in first-use order; `fault` last, if it faults."""
    inside = {id(local) for local in (*bound(list(body)), *given)}
    found: dict[int, Local | Buffer] = {}
    faults = False
    for leaf in leaves(list(body)):
        if isinstance(leaf, Fault):
            faults = True
        elif id(leaf) not in inside:
            found.setdefault(id(leaf), leaf)
    return (*found.values(), fault) if faults else tuple(found.values())
