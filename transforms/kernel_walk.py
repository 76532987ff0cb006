"""Walking Kernel IR: what a function reads and writes, derived from the nodes' fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import cast

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


def leaves(node: object) -> Iterator[Local | Buffer | Fault]:
    """Locals and buffers in field order, and the faults."""
    if isinstance(node, Local | Buffer):
        yield node
    elif isinstance(node, tuple | list):
        for item in cast("Sequence[object]", node):
            yield from leaves(item)
    elif dataclasses.is_dataclass(node) and not isinstance(node, type):
        if isinstance(node, Fault):
            yield node
        for field in dataclasses.fields(node):
            yield from leaves(getattr(node, field.name))


def bound(node: object) -> Iterator[Local]:
    """Locals that a statement list sets up itself."""
    if isinstance(node, Let):
        yield node.local
    if isinstance(node, For):
        yield node.index
    if isinstance(node, tuple | list):
        for item in cast("Sequence[object]", node):
            yield from bound(item)
    elif dataclasses.is_dataclass(node) and not isinstance(node, type | Local | Buffer):
        for field in dataclasses.fields(node):
            yield from bound(getattr(node, field.name))


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


def nodes(node: object) -> Iterator[object]:
    """Every Kernel IR node inside, buffers and locals excepted."""
    if isinstance(node, tuple | list):
        for item in cast("Sequence[object]", node):
            yield from nodes(item)
    elif dataclasses.is_dataclass(node) and not isinstance(node, type | Local | Buffer | Primitive):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))


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
