"""A hash table in Kernel IR: keys and their numbers, in the order in which they are first met.

The table is open-addressed, with linear probing, and at most half full. It lives in buffers that
are made before the kernel runs, in a part of them that begins at `origin`: entry e stands at
`origin + e` of `hashes` and of `keys`; `slots` has four places for each, of which the first
`capacity` are in use, 0 for an empty one, otherwise an entry's number plus 1. A table of no more
entries than its part has places grows to at most four times as many slots: it begins with four,
and doubles.

A key is a tuple of numbers. Floats are compared as numbers, all NaN being one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ..kernel_ir import (
    Assign,
    Bits,
    Buffer,
    Convert,
    Expr,
    If,
    Let,
    Literal,
    Load,
    Local,
    Prim,
    Statement,
    Store,
    While,
)
from .block import BlockLowering
from .scope import INT, TRUTH, integer, prim, truth

SLOTS = 4
"""Slots for each entry that a table may have, and the least number of slots."""

_UNSIGNED = np.dtype(np.uint64)
_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 / golden ratio, odd: Knuth, TAOCP 3, 6.4
_NAN = 0x7FF8000000000000


@dataclass(frozen=True, slots=True)
class Table:
    """A table's buffers, where its part begins, how many entries it has, and slots in use."""

    slots: Buffer
    hashes: Buffer
    keys: tuple[Buffer, ...]
    origin: Expr
    count: Local
    capacity: Local

    def begin(self, b: BlockLowering) -> None:
        """An empty table."""
        b.out.extend((Let(self.count, integer(0)), Let(self.capacity, integer(0))))

    def entry(self, b: BlockLowering, key: Sequence[Expr], hashed: Expr) -> tuple[Local, Local]:
        """The number of the key, which is entered if it is new, and whether it is."""
        self._grow(b)
        place, held = self._find(b, key, hashed)
        new, entry = _local(b, "new", TRUTH), _local(b, "entry", INT)
        b.out.append(Let(new, prim(p.EQUAL, held, integer(0))))
        found = prim(p.SUBTRACT, held, integer(1))
        b.out.append(Let(entry, Prim(p.SELECT, (new, self.count, found), INT)))
        at = self.at(entry)
        enter: list[Statement] = [Store(self.hashes, (at,), hashed)]
        enter += [Store(k, (at,), x) for k, x in zip(self.keys, key, strict=True)]
        enter.append(Assign(self.count, prim(p.ADD, self.count, integer(1))))
        enter.append(Store(self.slots, (self._slot(place),), self.count))
        b.out.append(If(new, enter))
        return entry, new

    def at(self, entry: Expr) -> Expr:
        """Where an entry's key, and what belongs to it, stands."""
        return prim(p.ADD, self.origin, entry)

    def _slot(self, place: Expr) -> Expr:
        return prim(p.ADD, prim(p.MULTIPLY, self.origin, integer(SLOTS)), place)

    def _first(self, hashed: Expr) -> Expr:
        """The slot at which a search begins."""
        mask = Convert(prim(p.SUBTRACT, self.capacity, integer(1)), _UNSIGNED)
        return Convert(prim(p.BITWISE_AND, hashed, mask), INT)

    def _next(self, place: Expr) -> Expr:
        mask = prim(p.SUBTRACT, self.capacity, integer(1))
        return prim(p.BITWISE_AND, prim(p.ADD, place, integer(1)), mask)

    def _find(self, b: BlockLowering, key: Sequence[Expr], hashed: Expr) -> tuple[Local, Local]:
        """The slot where the key stands or could stand, and what it holds."""
        place, held = _local(b, "place", INT), _local(b, "held", INT)
        searching = _local(b, "searching", TRUTH)
        load = Load(self.slots, (self._slot(place),))
        b.out.append(Let(place, self._first(hashed)))
        b.out.append(Let(held, load))
        b.out.append(Let(searching, prim(p.NOT_EQUAL, held, integer(0))))
        at = self.at(prim(p.SUBTRACT, held, integer(1)))
        there = [Load(k, (at,)) for k in self.keys]
        onwards: list[Statement] = [
            Assign(place, self._next(place)),
            Assign(held, load),
            Assign(searching, prim(p.NOT_EQUAL, held, integer(0))),
        ]
        step = If(same_key(there, key), (Assign(searching, truth(False)),), onwards)
        b.out.append(While((), searching, (step,)))
        return place, held

    def _grow(self, b: BlockLowering) -> None:
        """Twice as many slots where another entry would fill more than half of them."""
        after = prim(p.MULTIPLY, prim(p.ADD, self.count, integer(1)), integer(2))
        grown: list[Statement] = []
        with b.nested(grown):
            double = prim(p.MULTIPLY, self.capacity, integer(2))
            b.out.append(Assign(self.capacity, prim(p.MAXIMUM, double, integer(SLOTS))))
            with b.serial((self.capacity,), ("slot",)) as (slot,):
                b.out.append(Store(self.slots, (self._slot(slot),), integer(0)))
            with b.serial((self.count,), ("entered",)) as (entered,):
                self._enter_again(b, entered)
        b.out.append(If(prim(p.LESS, self.capacity, after), grown))

    def _enter_again(self, b: BlockLowering, entry: Expr) -> None:
        place, taken = _local(b, "place", INT), _local(b, "taken", TRUTH)
        full = prim(p.NOT_EQUAL, Load(self.slots, (self._slot(place),)), integer(0))
        b.out.append(Let(place, self._first(Load(self.hashes, (self.at(entry),)))))
        b.out.append(Let(taken, full))
        onwards = (Assign(place, self._next(place)), Assign(taken, full))
        b.out.append(While((), taken, onwards))
        b.out.append(Store(self.slots, (self._slot(place),), prim(p.ADD, entry, integer(1))))


def hash_of(b: BlockLowering, key: Sequence[Expr]) -> Local:
    """A hash of the key: equal for equal keys."""
    golden = Literal(np.uint64(_GOLDEN))
    total = _local(b, "hash", _UNSIGNED)
    for k, part in enumerate(key):
        bits = _bits(part)
        mixed = bits if k == 0 else prim(p.BITWISE_XOR, total, bits)
        statement = Let if k == 0 else Assign
        b.out.append(statement(total, prim(p.MULTIPLY, mixed, golden)))
        high = prim(p.RIGHT_SHIFT, total, Literal(np.uint64(32)))
        b.out.append(Assign(total, prim(p.BITWISE_XOR, total, high)))
    return total


def same_key(a: Sequence[Expr], b: Sequence[Expr]) -> Expr:
    """Whether two keys are equal."""
    tests = [_same(x, y) for x, y in zip(a, b, strict=True)]
    found = tests[0]
    for test in tests[1:]:
        found = prim(p.LOGICAL_AND, found, test)
    return found


def _same(a: Expr, b: Expr) -> Expr:
    equal = prim(p.EQUAL, a, b)
    if a.dtype.kind != "f":
        return equal
    both = prim(p.LOGICAL_AND, prim(p.ISNAN, a), prim(p.ISNAN, b))
    return prim(p.LOGICAL_OR, equal, both)


def _bits(part: Expr) -> Expr:
    """The part of a key as 64 bits; 0.0 + -0.0 is 0.0, and all NaN have the bits of one."""
    if part.dtype.kind != "f":
        return Convert(part, _UNSIGNED) if part.dtype != _UNSIGNED else part
    wide = part if part.dtype == np.float64 else Convert(part, np.dtype(np.float64))
    bits = Bits(prim(p.ADD, wide, Literal(np.float64(0.0))))
    return Prim(p.SELECT, (prim(p.ISNAN, part), Literal(np.uint64(_NAN)), bits), _UNSIGNED)


def _local(b: BlockLowering, name: str, dtype: np.dtype[np.generic]) -> Local:
    return Local(b.scope.names.fresh(name), dtype)
