"""Where launches get the memory of arrays from: large blocks are used again.

The system gives fresh memory page by page, when a page is touched first; for a large array that
takes several times as long as the loop that fills it. So a large array lives in a `Block`, which
goes back to the `Store` when nobody holds the array any more, and from there to the next array of
about its size.

Who holds it is decided by references, as for any array. The array's `.base` is an object with
the buffer protocol that owns nothing but a `Lease`; views, memoryviews, DLPack capsules and all
other exports refer to the array or to that object, and so keep the lease.

Blocks that nobody holds are the system's to take back where it needs memory (MADV_FREE), and
their sum has a limit; the longest unused go first.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import mmap
import os
import weakref
from collections import deque
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ...staging.dataclass import dataclass
from ..byte_counts import bytes_of, readable

SMALL = 1 << 17
"""Bytes of an array below which malloc does, for it gives back to the system what is larger."""

HUGE = 1 << 21
"""The size of a huge page; the system is asked for them, for they are first touched faster."""

STEPS = 8
"""Sizes of blocks between two powers of two: at most an eighth is unused."""


class Block:
    """Memory of the system's, of this process alone, aligned to a page.

    returned : when it went back to the store, by the store's clock
    """

    __slots__ = ("address", "mapping", "returned")

    def __init__(self, size: int) -> None:
        self.mapping = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.mapping))
        self.returned = 0


@dataclass(slots=True, eq=False)
class Shelf:
    """The blocks of one size that wait, the longest unused first.

    base : the type of the object below an array
    """

    size: int
    base: Any
    blocks: deque[Block] = field(default_factory=deque[Block])

    def fresh(self) -> Block:
        """A new block; OSError where the system has no memory."""
        block = Block(self.size)
        self.advise(block, "MADV_HUGEPAGE")
        return block

    def advise(self, block: Block, name: str) -> None:
        """Tells the system, where it knows that advice, how huge pages are used."""
        advice = getattr(mmap, name, None)
        if advice is not None and self.size >= HUGE:
            block.mapping.madvise(advice)


class Lease(weakref.ref[np.ndarray]):
    """An array's right to its block: a weak reference to an empty array that only the array's base
    holds.

    It refers to an ndarray since the cyclic collector does not know those: the end of one is never
    announced while a finalizer could still bring it back.
    """

    __slots__ = ("block", "shelf")

    block: Block
    shelf: Shelf


class Store:
    """Blocks that are held, and blocks that wait for the next array.

    limit : bytes that may wait
    hits, misses : arrays that got a block that waited, and that needed a fresh one

    It has no lock, for a lease may end anywhere, inside of its own methods, too: each step is a
    single operation of a deque or of a dict, and leaves it whole.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self._leases: dict[int, Lease] = {}
        self._shelves: dict[int, Shelf] = {}
        self._clock = itertools.count(1)

    @property
    def held(self) -> int:
        """Bytes of blocks that arrays hold."""
        return sum(lease.shelf.size for lease in tuple(self._leases.values()))

    @property
    def waiting(self) -> int:
        """Bytes of blocks that wait."""
        total = 0
        for shelf in tuple(self._shelves.values()):
            total += shelf.size * len(shelf.blocks)
        return total

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> np.ndarray:
        """A new array, of `size` bytes, in a block; OSError where the system has no memory."""
        shelf = self._shelf(rounded(size))
        block = self._take(shelf)
        token = np.empty(0)
        lease = Lease(token, self._end)
        lease.block, lease.shelf = block, shelf
        self._leases[id(lease)] = lease
        base = shelf.base.from_address(block.address)
        base.lease = token, block
        return np.ndarray(shape, dtype, base)

    def clear(self) -> None:
        """Gives all blocks that wait back to the system."""
        for shelf in tuple(self._shelves.values()):
            shelf.blocks.clear()

    def trim(self) -> None:
        """Gives back what waits above the limit, the longest unused first."""
        while self.waiting > self.limit:
            filled = [shelf.blocks for shelf in tuple(self._shelves.values()) if shelf.blocks]
            try:
                min(filled, key=lambda blocks: blocks[0].returned).popleft()
            except (IndexError, ValueError):  # another thread was faster
                continue

    def _shelf(self, size: int) -> Shelf:
        found = self._shelves.get(size)
        return found or self._shelves.setdefault(size, Shelf(size, ctypes.c_ubyte * size))

    def _take(self, shelf: Shelf) -> Block:
        try:
            block = shelf.blocks.pop()
        except IndexError:
            self.misses += 1
        else:
            self.hits += 1
            return block
        try:
            return shelf.fresh()
        except OSError:
            self.clear()
            return shelf.fresh()

    def _end(self, lease: Any) -> None:
        del self._leases[id(lease)]
        block, shelf = lease.block, lease.shelf
        if shelf.size > self.limit:
            return
        shelf.advise(block, "MADV_FREE")
        block.returned = next(self._clock)
        shelf.blocks.append(block)
        self.trim()


@lru_cache(maxsize=1024)
def rounded(size: int) -> int:
    """The size of the block for an array: the next of its shelves' sizes, whole pages.

    >>> rounded(1 << 20), rounded((1 << 20) + 1), rounded(80_000_000)
    (1048576, 1179648, 83886080)
    """
    step = max(mmap.PAGESIZE, (1 << (size - 1).bit_length()) // 2 // STEPS)
    return -(-size // step) * step


# The process's store.


def default_limit() -> int:
    """PARLOOM_MEMORY, else an eighth of the memory that this process may use."""
    setting = os.environ.get("PARLOOM_MEMORY", "")
    return bytes_of(setting, "PARLOOM_MEMORY") if setting else available() // 8


def available() -> int:
    """The machine's memory, or its part that the control group allows."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError, ValueError):  # no control group, or no limit
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found)


_store: Store | None = None


def store() -> Store:
    """The process's store."""
    global _store
    if _store is None:
        _store = Store(default_limit())
    return _store


def _after_fork() -> None:
    """What waits is the parent's; a child that wrote to it would copy it."""
    if _store is not None:
        _store.clear()


os.register_at_fork(after_in_child=_after_fork)


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> np.ndarray:
    """A new array with undefined contents.

    Raises MemoryError, with `name` for the user, also where NumPy calls the shape itself too large.
    """
    size = math.prod(shape) * dtype.itemsize
    try:
        if size < SMALL:
            return np.empty(shape, dtype)
        memory = store()
        return memory.array(shape, dtype, size) if size <= memory.limit else np.empty(shape, dtype)
    except (MemoryError, ValueError, OSError) as error:
        raise MemoryError(f"no memory for {name}: {dtype} of shape {shape}") from error


def copied(array: np.ndarray, name: str) -> np.ndarray:
    """A new array with the same elements, C-contiguous."""
    found = allocate(array.shape, array.dtype, name)
    found[...] = array
    return found


@dataclass(frozen=True, slots=True)
class Memory:
    """What the memory of results was when one asked.

    held : bytes in arrays of 128 KiB and more that somebody holds: results, and temporaries of
        calls that run
    waiting : bytes kept for the next ones
    limit : the most bytes that are kept
    hits, misses : arrays that got a block that was there, and that needed fresh memory
    """

    held: int
    waiting: int
    limit: int
    hits: int
    misses: int

    def __str__(self) -> str:
        """The report as a sentence."""
        held, waiting, limit = map(readable, (self.held, self.waiting, self.limit))
        return (
            f"{held} in results, {waiting} of at most {limit} kept for the next ones; "
            f"{self.hits} of {self.hits + self.misses} large arrays got memory that was there"
        )

    def clear(self) -> None:
        """Gives back to the system what is kept now."""
        store().clear()


def memory(limit: int | str | None = None) -> Memory:
    """The report; `limit` sets from now on how many bytes are kept."""
    found = store()
    if limit is not None:
        found.limit = bytes_of(limit, "memory")
        found.trim()
    return Memory(found.held, found.waiting, found.limit, found.hits, found.misses)
