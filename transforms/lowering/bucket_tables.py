"""The hash tables of a parallel loop: one for each chunk, in its own part of shared buffers.

`finish` enters the chunks' keys, in chunk order, into one table, which begins as the first chunk's:
so keys stand in the order in which they are first met, whoever ran the chunks. Entries move forward
only, so that all of it happens in the chunks' own buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Generator as Steps
from contextlib import contextmanager

import numpy as np

from ...patterns.generators import BucketCollect, BucketReduce, MultiLoop
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Const, Operand, Var
from ...staging.types import INDEX
from ..kernel_ir import (
    Assign,
    Buffer,
    Expr,
    Extent,
    If,
    Let,
    Load,
    Local,
    Space,
    Statement,
    Store,
    While,
)
from .block import BlockLowering
from .reduce import held_expr
from .scope import INT, KernelScope, array_type, host_shape, integer, prim
from .table import SLOTS, Table, hash_of

_RUN = 4
"""What a chunk leaves where its part begins: its keys, slots and values, the part's length."""

Adding = Callable[[BlockLowering, "Tables", Expr, Expr, Sequence[Operand]], None]
"""One value of a chunk: where its key stands, whether it is new, the value's operands."""
Moving = Callable[[BlockLowering, Expr, Expr, Expr], None]
"""One entry of a chunk: from where, to where, and whether nothing stood there."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Makes buffers with an element, or more, for each index of a domain.

    Those of a parallel loop (`OUTPUT`) are shared by its chunks, each of which has its part.
    """

    scope: KernelScope
    domain: tuple[Operand, ...]
    space: Space = Space.OUTPUT

    def buffer(
        self,
        name: str,
        dtype: np.dtype[np.generic],
        inner: tuple[Extent, ...] = (),
        each: int = 1,
    ) -> Buffer:
        """A buffer with `each` elements of shape `inner` for each index of the domain."""
        whole = (*self.domain, Const(each, INDEX)) if each > 1 else self.domain
        if self.space is Space.PRIVATE:
            return self.scope.scratch(name, dtype, (whole, *inner))
        return Buffer(self.scope.names.fresh(name), dtype, (whole, *inner), self.space)

    def result(self, binder: Var) -> Buffer:
        """The buffer of a binder."""
        type_ = array_type(binder)
        name = binder.name or "bucket"
        return self.buffer(name, type_.element.dtype, host_shape(type_.shape[1:]))


@dataclass(frozen=True, slots=True)
class Tables:
    """The chunks' tables, and the one that they become."""

    op: MultiLoop
    generator: BucketCollect | BucketReduce
    table: Table
    runs: Buffer
    first: Local
    met: Local

    @staticmethod
    def of(
        shared: Shared,
        op: MultiLoop,
        generator: BucketCollect | BucketReduce,
        keys: tuple[Buffer, ...],
    ) -> Tables:
        """With buffers for any number of keys."""
        names = shared.scope.names
        first, met, count, capacity = (
            Local(names.fresh(name), INT) for name in ("first", "met", "keys_met", "capacity")
        )
        slots = shared.buffer("slots", INT, each=SLOTS)
        hashes = shared.buffer("hashes", np.dtype(np.uint64))
        table = Table(slots, hashes, keys, first, count, capacity)
        return Tables(op, generator, table, shared.buffer("runs", INT, each=_RUN), first, met)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Those that are no results."""
        return (self.table.slots, self.table.hashes, self.runs)

    # In a chunk.

    def begin(self, b: BlockLowering, start: Expr) -> None:
        """An empty table at the chunk's part."""
        b.out.append(Let(self.first, self._position(b, start)))
        b.out.append(Let(self.met, integer(0)))
        self.table.begin(b)

    def step(self, b: BlockLowering, add: Adding) -> None:
        """One index's key and values."""
        generator = self.generator
        b.block(generator.value)
        operands = generator.value.operands
        key = [held_expr(b, b.expr(part), "key") for part in operands[: generator.keys]]
        entry, new = self.table.entry(b, key, hash_of(b, key))
        add(b, self, self.table.at(entry), new, operands[generator.keys :])
        b.out.append(Assign(self.met, prim(p.ADD, self.met, integer(1))))

    def leave(self, b: BlockLowering, start: Expr, stop: Expr) -> None:
        """Leaves what `finish` asks for, if the chunk has any index."""
        length = prim(p.SUBTRACT, self._position(b, stop), self.first)
        left: tuple[Expr, ...] = (self.table.count, self.table.capacity, self.met, length)
        stores = [Store(self.runs, (_run(self.first, k),), x) for k, x in enumerate(left)]
        b.out.append(If(prim(p.LESS, start, stop), stores))

    def _position(self, b: BlockLowering, first_index: Expr) -> Expr:
        """The first index's place among all indices."""
        for extent in self.op.domain[1:]:
            first_index = prim(p.MULTIPLY, first_index, b.expr(extent))
        return first_index

    # In the end.

    def merge(self, b: BlockLowering, move: Moving) -> None:
        """All chunks' keys in one table; `move(b, at, place, new)` for each of a chunk's entries,
        from where it stands to where its key stands now."""
        table = self.table
        b.out.append(Let(self.first, integer(0)))
        table.begin(b)
        with self.each_chunk(b) as at:
            kept = self.run(at, 0)
            again: list[Statement] = []
            with b.nested(again), b.serial((kept,), ("j",)) as (j,):
                self._enter(b, held_expr(b, prim(p.ADD, at, j), "at"), move)
            whole = (
                Assign(table.count, kept),
                Assign(table.capacity, self.run(at, 1)),
            )
            b.out.append(If(prim(p.EQUAL, at, integer(0)), whole, again))

    def _enter(self, b: BlockLowering, at: Expr, move: Moving) -> None:
        key = [held_expr(b, Load(k, (at,)), "key") for k in self.table.keys]
        hashed = held_expr(b, Load(self.table.hashes, (at,)), "hash")
        entry, new = self.table.entry(b, key, hashed)
        move(b, at, self.table.at(entry), new)

    @contextmanager
    def each_chunk(self, b: BlockLowering) -> Steps[Local]:
        """A loop over the chunks; the local is where a chunk's part begins."""
        at = Local(b.scope.names.fresh("part"), INT)
        whole = self._position(b, b.expr(self.op.domain[0]))
        body: list[Statement] = []
        b.out.append(Let(at, integer(0)))
        b.out.append(While((), prim(p.LESS, at, whole), body))
        with b.nested(body):
            yield at
            b.out.append(Assign(at, prim(p.ADD, at, self.run(at, 3))))

    def run(self, at: Expr, k: int) -> Expr:
        """What the chunk whose part begins there has left."""
        return Load(self.runs, (_run(at, k),))


def _run(at: Expr, k: int) -> Expr:
    return prim(p.ADD, prim(p.MULTIPLY, at, integer(_RUN)), integer(k))
