"""How a launch of certain sizes is cut, and the memory that it needs.

A plan serves one launch after the other, as long as the sizes stay the same. What it owns, launches
reuse: the states of the chunks, the scratch of the workers. What a launch hands out is made anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np

from ...staging.dataclass import dataclass
from ...staging.nodes import Var
from ...staging.types import Array as ArrayType
from ...transforms.kernel_ir import RECORD, Buffer, Finish, Kernel, Output, Space
from .memory import allocate, copied

Array = np.ndarray
Shape = tuple[int, ...]
Results = tuple[Any, ...]

_LINE = 64  # bytes of a cache line


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a launch depends on beside its data.

    extents : of the domain
    work : innermost iterations of one first index
    shapes : of all buffers that a launch needs
    """

    extents: Shape
    work: int
    shapes: Mapping[Buffer, Shape]


@dataclass(slots=True)
class Plan:
    """A launch of certain sizes.

    workers : how many threads may work at it
    chunks, length : how the first index is cut
    parts : arrays with an element for each chunk
    scratch : arrays with an element for each worker
    scalars : the outputs that launches use again: of one element, or shared by the chunks
    faults : the chunks' fault records
    fresh : the buffers whose arrays are new for each launch: first outputs, then states
    bytes : the memory that it owns
    """

    kernel: Kernel
    sizes: Sizes
    workers: int
    chunks: int = field(init=False)
    length: int = field(init=False)
    parts: dict[Buffer, Array] = field(init=False)
    scratch: dict[Buffer, Array] = field(init=False)
    scalars: dict[Buffer, Array] = field(init=False)
    faults: Array = field(init=False)
    fresh: tuple[Buffer, ...] = field(init=False)
    bytes: int = field(init=False)
    _results: tuple[Callable[[Sequence[Array]], Results], ...] = field(init=False)

    def __post_init__(self) -> None:
        kernel, extent = self.kernel, self.sizes.extents[0]
        self.length = kernel.order.resolved(self.sizes.work).chunk_length(extent)
        self.chunks = max(1, -(-extent // self.length))
        self.workers = min(self.workers, self.chunks)
        results = array_results(kernel)
        self.fresh = tuple(b for b in results if b.space is Space.OUTPUT or self.chunks == 1)
        self.parts = self._spread(self.chunks, (b for b in kernel.state if b not in self.fresh))
        self.scratch = self._spread(self.workers, kernel.private)
        self.faults = np.zeros((self.chunks, RECORD), np.int64)
        self.scalars = {
            b: self._new(b)
            for output in kernel.outputs
            for b in output.results
            if b.space is Space.OUTPUT and b not in self.fresh
        }
        owned = (*self.parts.values(), *self.scratch.values(), self.faults)
        self.bytes = sum(array.strides[0] * len(array) for array in owned)
        self.bytes += sum(array.nbytes for array in self.scalars.values())
        self._results = tuple(map(self._reader, kernel.outputs))

    @property
    def adjusts(self) -> bool:
        """Whether results take in, afterwards, what stands before their chunk."""
        return self.chunks > 1 and bool(self.kernel.adjust.body)

    def new_arrays(self, given: Mapping[Buffer, Array]) -> list[Array]:
        """Arrays for `fresh`: the given ones, and new ones where none is given."""
        if not given:
            return [self._new(buffer) for buffer in self.fresh]
        return [given[b] if b in given else self._new(b) for b in self.fresh]

    def results(self, fresh: Sequence[Array]) -> Results:
        """The values of the loop's binders after a launch that wrote to `fresh`."""
        if len(self._results) == 1:
            return self._results[0](fresh)
        return tuple([value for read in self._results for value in read(fresh)])

    def _new(self, buffer: Buffer) -> Array:
        return allocate(self.sizes.shapes[buffer], buffer.dtype, buffer.name)

    def _spread(self, count: int, buffers: Iterable[Buffer]) -> dict[Buffer, Array]:
        return {b: spread(count, b, self.sizes.shapes[b]) for b in buffers}

    def _reader(self, output: Output) -> Callable[[Sequence[Array]], Results]:
        """What gives the results of one generator."""
        if output.finish is Finish.COMPACTED:
            (buffer,), (counts,) = output.results, output.state
            place, kept = self.fresh.index(buffer), self.parts[counts]
            width = math.prod(self.sizes.extents[1:]) * self.length
            return lambda fresh: compacted(buffer, fresh[place], kept[:, 0], width)
        if output.finish is Finish.COUNTED:
            return self._counted(output)
        reads = [self._read(buffer) for buffer in output.results]
        return lambda fresh: tuple([read(fresh) for read in reads])

    def _counted(self, output: Output) -> Callable[[Sequence[Array]], Results]:
        """What gives results of which `finish` has counted the lengths."""
        buffers = dict(zip(output.binders, output.results[-len(output.binders) :], strict=True))
        places = {v: self.fresh.index(b) for v, b in buffers.items() if b in self.fresh}
        counts = {v: self.scalars[b] for v, b in buffers.items() if v not in places}

        def read(binder: Var, fresh: Sequence[Array]) -> Any:
            if binder in counts:
                return counts[binder][0]
            assert isinstance(binder.type, ArrayType)
            length = counts[cast("Var", binder.type.shape[0])][0]
            return beginning(fresh[places[binder]], int(length), buffers[binder].name)

        return lambda fresh: tuple([read(binder, fresh) for binder in output.binders])

    def _read(self, buffer: Buffer) -> Callable[[Sequence[Array]], Any]:
        if buffer in self.fresh:
            place = self.fresh.index(buffer)
            return lambda fresh: fresh[place]
        if buffer in self.scalars:
            scalar = self.scalars[buffer]
            return lambda fresh: scalar[0]
        first = self.parts[buffer][0]
        if buffer in array_results(self.kernel):
            return lambda fresh: copied(first, buffer.name)
        return lambda fresh: first[0]


def array_results(kernel: Kernel) -> tuple[Buffer, ...]:
    """The buffers of results that are arrays: first outputs, then states."""
    found = [
        buffer
        for output in kernel.outputs
        for binder, buffer in zip(reversed(output.binders), reversed(output.results), strict=False)
        if isinstance(binder.type, ArrayType)
    ]
    return tuple(sorted(found, key=lambda buffer: buffer.space is Space.STATE))


def spread(count: int, buffer: Buffer, shape: Shape) -> Array:
    """`count` arrays that share no cache line, as one with a first axis."""
    if count == 1:
        return allocate((1, *shape), buffer.dtype, buffer.name)
    size, item = math.prod(shape), buffer.dtype.itemsize
    padded = (-(-size * item // _LINE) + 1) * _LINE // item
    whole = allocate((count, padded), buffer.dtype, buffer.name)
    return whole[:, :size].reshape(count, *shape)


def beginning(full: Array, length: int, name: str) -> Array:
    """The first elements, in memory of their own; the array itself if those are all."""
    return full if length == len(full) else copied(full[:length], name)


def compacted(buffer: Buffer, full: Array, kept: Array, width: int) -> Results:
    """The kept elements and their number, without the gaps between the chunks' parts."""
    total = int(kept.sum())
    out = allocate((total, *full.shape[1:]), buffer.dtype, buffer.name)
    at = 0
    for chunk, count in enumerate(kept.tolist()):
        out[at : at + count] = full[chunk * width : chunk * width + count]
        at += count
    return np.int64(total), out
