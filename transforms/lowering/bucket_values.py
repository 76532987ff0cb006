"""What stands beside the keys of a bucket: accumulators, or the values themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...patterns.reducers import Reducer, scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Block, Operand
from ...staging.primitives import Primitive
from ...staging.types import Array
from ..kernel_ir import Assign, Buffer, Expr, If, Let, Load, Local, Prim, Statement, Store
from .block import BlockLowering
from .bucket_tables import Shared, Tables
from .reduce import (
    Place,
    accumulate,
    combine_general,
    combined,
    converted,
    copy_all,
    held_expr,
    nest,
)
from .scope import INT, Sink, Stored, Uniform, integer, prim

_NOTHING = Block((), (), ())


@dataclass(frozen=True, slots=True)
class Accumulators:
    """A key's partial results: float32 sums are kept in float64.

    primitives : what combines each component, where all are combined by one
    running : where a component accumulates; `values` are the results
    """

    reducer: Reducer
    primitives: tuple[Primitive, ...]
    running: tuple[Buffer, ...]
    values: tuple[Buffer, ...]

    @staticmethod
    def of(shared: Shared, reducer: Reducer, values: Sequence[Buffer]) -> Accumulators:
        """With buffers for the sums that are wider than their results."""
        found = [scalar_primitive(reducer, k) for k in range(reducer.width)]
        primitives = tuple(f for f in found if f is not None)
        if len(primitives) < reducer.width:
            return Accumulators(reducer, (), tuple(values), tuple(values))
        running = [
            shared.buffer(f"{value.name}_sum", np.dtype(np.float64), value.shape[1:])
            if primitive is p.ADD and value.dtype == np.float32
            else value
            for primitive, value in zip(primitives, values, strict=True)
        ]
        return Accumulators(reducer, primitives, tuple(running), tuple(values))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The buffers that are no results."""
        return tuple(b for b in self.running if b not in self.values)

    def add(
        self, b: BlockLowering, tables: Tables, at: Expr, new: Expr, values: Sequence[Operand]
    ) -> None:
        """A value of the key at this place; a new key begins with it."""
        places = [Place(buffer, (at,)) for buffer in self.running]
        if not self.primitives:
            accumulate(b, self.reducer, places, _NOTHING, values, new)
            return
        for primitive, place, value in zip(self.primitives, places, values, strict=True):
            b.deliver(_NOTHING, value, _adding(b, primitive, place, new))

    def move(self, b: BlockLowering, at: Expr, to: Expr, new: Expr) -> None:
        """Combines the results of an entry into those of the one at `to`."""
        places = [Place(buffer, (to,)) for buffer in self.running]
        sources = [Place(buffer, (at,)) for buffer in self.running]
        for primitive, place, source in zip(self.primitives, places, sources, strict=False):
            deliver(b, source, _adding(b, primitive, place, new))
        if not self.primitives:
            self._move_general(b, places, sources, new)

    def _move_general(
        self, b: BlockLowering, places: Sequence[Place], sources: Sequence[Place], new: Expr
    ) -> None:
        held: list[Stored | Uniform] = []
        for source, param in zip(sources, self.reducer.block.params, strict=False):
            assert isinstance(source.target, Buffer)
            array = isinstance(param.type, Array)
            held.append(
                Stored(source.target, prefix=source.prefix) if array else Uniform(source.read())
            )
        begins: list[Statement] = []
        combines: list[Statement] = []
        with b.nested(begins):
            copy_all(b, places, held, self.reducer)
        with b.nested(combines):
            combine_general(b, self.reducer, places, held)
        b.out.append(If(new, begins, combines))

    def finish(self, b: BlockLowering, tables: Tables) -> tuple[Expr, ...]:
        """The results, from wider sums."""
        count = tables.table.count
        for running, value in zip(self.running, self.values, strict=True):
            if running is value:
                continue
            with b.serial((count,), ("entry",)) as (entry,):
                deliver(b, Place(running, (entry,)), _storing(b, Place(value, (entry,))))
        return ()


def _adding(b: BlockLowering, primitive: Primitive, place: Place, new: Expr) -> Sink:
    """A sink that combines each scalar into its element; a new entry begins with it."""

    def add(indices: tuple[Expr, ...], value: Expr) -> None:
        held = held_expr(b, converted(value, place.dtype), "value")
        total = combined(primitive, place.read(indices), held)
        b.out.append(place.write(Prim(p.SELECT, (new, held, total), place.dtype), indices))

    return add


def deliver(b: BlockLowering, source: Place, sink: Sink) -> None:
    """Hands every scalar of an element of a buffer to `sink`."""
    assert isinstance(source.target, Buffer)
    extents = [b.expr(d) for d in source.target.shape[1:] if not isinstance(d, tuple)]
    nest(b, extents, lambda at: sink(at, source.read(at)))


@dataclass(frozen=True, slots=True)
class Held:
    """All values, on their way to where those of a key stand together.

    met, groups : the values as the chunks have met them, and where their keys stood then
    moved : for an entry, the one that it has become
    starts, sizes, values : the results
    """

    met: tuple[Buffer, ...]
    groups: Buffer
    moved: Buffer
    starts: Buffer
    sizes: Buffer
    values: tuple[Buffer, ...]

    @staticmethod
    def of(shared: Shared, values: Sequence[Buffer], starts: Buffer, sizes: Buffer) -> Held:
        """With buffers for any number of values."""
        met = [shared.buffer(f"{v.name}_met", v.dtype, v.shape[1:]) for v in values]
        groups, moved = (shared.buffer(name, INT) for name in ("groups", "moved"))
        return Held(tuple(met), groups, moved, starts, sizes, tuple(values))

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Those that are no results."""
        return (*self.met, self.groups, self.moved)

    def add(
        self, b: BlockLowering, tables: Tables, at: Expr, new: Expr, values: Sequence[Operand]
    ) -> None:
        """A value of the key at this place."""
        place = held_expr(b, prim(p.ADD, tables.first, tables.met), "value_place")
        b.out.append(Store(self.groups, (place,), at))
        b.out.append(Store(self.moved, (at,), at))
        before = Prim(p.SELECT, (new, integer(0), Load(self.sizes, (at,))), INT)
        b.out.append(Store(self.sizes, (at,), prim(p.ADD, before, integer(1))))
        for buffer, value in zip(self.met, values, strict=True):
            b.deliver(_NOTHING, value, _storing(b, Place(buffer, (place,))))

    def move(self, b: BlockLowering, at: Expr, to: Expr, new: Expr) -> None:
        """The values of an entry belong to the one at `to`."""
        before = Prim(p.SELECT, (new, integer(0), Load(self.sizes, (to,))), INT)
        b.out.append(Store(self.sizes, (to,), prim(p.ADD, before, Load(self.sizes, (at,)))))
        b.out.append(Store(self.moved, (at,), to))

    def finish(self, b: BlockLowering, tables: Tables) -> tuple[Expr, ...]:
        """Puts every value where those of its key stand; the number of all values."""
        next_place = tables.table.slots  # no longer in use as such
        total = Local(b.scope.names.fresh("total"), INT)
        b.out.append(Let(total, integer(0)))
        with b.serial((tables.table.count,), ("group",)) as (group,):
            b.out.append(Store(self.starts, (group,), total))
            b.out.append(Store(next_place, (group,), total))
            b.out.append(Assign(total, prim(p.ADD, total, Load(self.sizes, (group,)))))
        with tables.each_chunk(b) as part, b.serial((tables.run(part, 2),), ("j",)) as (j,):
            at = held_expr(b, prim(p.ADD, part, j), "at")
            group = held_expr(b, Load(self.moved, (Load(self.groups, (at,)),)), "group")
            to = held_expr(b, Load(next_place, (group,)), "to")
            b.out.append(Store(next_place, (group,), prim(p.ADD, to, integer(1))))
            for target, source in zip(self.values, self.met, strict=True):
                deliver(b, Place(source, (at,)), _storing(b, Place(target, (to,))))
        return (total,)


def _storing(b: BlockLowering, place: Place) -> Sink:
    """A sink that stores, in the buffer's dtype."""
    return lambda at, value: b.out.append(place.write(converted(value, place.dtype), at))
