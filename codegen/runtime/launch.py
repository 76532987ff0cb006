"""Launching a kernel: its chunks on all threads, then the combination in chunk order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...patterns.semantics import failed_check, out_of_bounds
from ...staging.errors import UserError
from ...staging.nodes import Operand
from ...transforms.kernel_ir import (
    RECORD,
    Buffer,
    Finish,
    Function,
    Kernel,
    Local,
    Output,
    Site,
    Space,
)
from . import threads

Array = np.ndarray
Host = Callable[[Operand], Any]


class Bound(Protocol):
    """A function of a kernel with its arguments; `again` is a copy with others in some places."""

    def __call__(self) -> None: ...

    def again(self, changes: Mapping[int, Any]) -> Bound: ...


class Code(Protocol):
    """The compiled functions of a program's kernels."""

    def bind(self, name: str, args: Sequence[Any]) -> Bound:
        """The function `name` (`kernel_function`) with arguments."""
        ...


@dataclass(slots=True)
class PlainBound:
    """A function of a kernel's text as plain Python."""

    function: Callable[..., None]
    args: list[Any]

    def __call__(self) -> None:
        with np.errstate(all="ignore"):
            self.function(*self.args)

    def again(self, changes: Mapping[int, Any]) -> PlainBound:
        args = list(self.args)
        for place, value in changes.items():
            args[place] = value
        return PlainBound(self.function, args)


@dataclass(slots=True)
class Launch:
    """One run of a kernel.

    host : the value of a host operand
    chunks, length : how the first index is cut
    """

    kernel: Kernel
    code: Code
    host: Host
    chunks: int
    length: int
    arrays: dict[Buffer, Array]
    faults: Array

    def run(self) -> list[Any]:
        """The values of the loop's binders."""
        pool = threads.pool()
        private = [self.private() for _ in range(min(pool.size, self.chunks))]
        pool.run(self.task(private), self.chunks)
        self.raise_fault()
        if self.kernel.combine.body:
            self.combine(private[0])
        self.call(self.kernel.finish, {**self.part(0), **private[0]})
        self.raise_fault()
        return [v for output in self.kernel.outputs for v in self.results(output)]

    # Arguments.

    def private(self) -> dict[Buffer, Array]:
        """Scratch for one worker."""
        return {b: allocate(self.shape(b), b) for b in self.kernel.private}

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        """A buffer's extents; a tuple of operands is their product."""
        return tuple(
            math.prod(self.extent(d) for d in dim) if isinstance(dim, tuple) else self.extent(dim)
            for dim in buffer.shape
        )

    def extent(self, dim: Operand | int) -> int:
        """One extent."""
        return dim if isinstance(dim, int) else int(self.host(dim))

    def part(self, chunk: int) -> dict[Buffer, Array]:
        """What belongs to one chunk: its state and its fault record."""
        found = {b: self.arrays[b][chunk] for b in self.kernel.state}
        found[self.kernel.fault] = self.faults[chunk]
        return found

    def argument(self, param: Local | Buffer, own: Mapping[Any, Any]) -> Any:
        """The value of one parameter."""
        if param in own:
            return own[param]
        if isinstance(param, Buffer) and param in self.arrays:
            return self.arrays[param]
        return own.get(param.name)

    def bind(self, function: Function, own: Mapping[Any, Any]) -> Bound:
        """A function with its arguments."""
        inputs = {param: self.input(var, param) for var, param in self.kernel.inputs}
        known = {**inputs, **own}
        args = [self.argument(q, known) for q in function.params]
        return self.code.bind(f"{self.kernel.name}_{function.name}", args)

    def input(self, var: Operand, param: Local | Buffer) -> Any:
        """The value of a host variable; a copy where the kernel takes it to be contiguous and it
        is not: an argument with strides that became the first state of a loop."""
        value = self.host(var)
        if isinstance(param, Buffer) and param.contiguous:
            return np.ascontiguousarray(value)
        return value

    def call(self, function: Function, own: Mapping[Any, Any]) -> None:
        """Runs a function that has something to do."""
        if function.body:
            self.bind(function, own)()

    # Running.

    def task(self, private: Sequence[Mapping[Buffer, Array]]) -> threads.Task:
        """What a worker does for one chunk."""
        kernel, extent = self.kernel, self.extent(self.kernel.extents[0])
        first = self.part(0)
        places = {q: k for k, q in enumerate(kernel.chunk.params)}
        names = {q.name: k for k, q in enumerate(kernel.chunk.params)}
        start, stop = names["start"], names["stop"]
        workers = [
            self.bind(kernel.chunk, {**first, **own, "start": 0, "stop": 0}) for own in private
        ]
        init = self.bind(kernel.init, first) if kernel.init.body else None
        init_places = {q: k for k, q in enumerate(kernel.init.params)}
        parts = {**{b: self.arrays[b] for b in kernel.state}, kernel.fault: self.faults}
        own_init = [(k, parts[q]) for q, k in init_places.items() if q in parts]
        own_chunk = [(k, parts[q]) for q, k in places.items() if q in parts]

        def run(chunk: int, worker: int) -> None:
            if init is not None:
                init.again({k: array[chunk] for k, array in own_init})()
            changes: dict[int, Any] = {k: array[chunk] for k, array in own_chunk}
            changes[start] = chunk * self.length
            changes[stop] = min(extent, (chunk + 1) * self.length)
            workers[worker].again(changes)()

        return run

    def combine(self, private: Mapping[Buffer, Array]) -> None:
        """Folds the states of chunks 1, 2, ... into that of chunk 0."""
        if self.chunks == 1:
            return
        combine = self.kernel.combine
        states = {o: self.arrays[s] for output in self.kernel.outputs for o, s in output.others}
        own: dict[Any, Any] = {**self.part(0), **private, **{o: s[1] for o, s in states.items()}}
        bound = self.bind(combine, own)
        others = {k: states[q] for k, q in enumerate(combine.params) if q in states}
        for chunk in range(1, self.chunks):
            bound.again({k: state[chunk] for k, state in others.items()})()

    def raise_fault(self) -> None:
        """Raises the lowest (site, iteration) that a chunk recorded."""
        found: list[list[int]] = [record for record in self.faults.tolist() if record[0]]
        if found:
            site, _, *details = min(found)
            raise site_error(self.kernel.sites[site - 1], details)

    def results(self, output: Output) -> list[Any]:
        """The binders' values of one generator."""
        if output.finish is Finish.COMPACTED:
            return self.compacted(output)
        values: list[Any] = []
        for binder, buffer in zip(output.binders, output.results, strict=True):
            array = self.arrays[buffer]
            if buffer.space is Space.STATE:
                array = array[0].copy() if self.chunks > 1 else array[0]  # not with all states
            scalar = not hasattr(binder.type, "shape")
            values.append(array[0] if scalar else array)
        return values

    def compacted(self, output: Output) -> list[Any]:
        """The kept elements, without the gaps between the chunks' parts."""
        (buffer,), (counts,) = output.results, output.state
        full, kept = self.arrays[buffer], self.arrays[counts][:, 0]
        width = math.prod(self.extent(d) for d in self.kernel.extents[1:]) * self.length
        total = np.int64(kept.sum())
        out = np.empty((int(total), *full.shape[1:]), full.dtype)
        at = 0
        for chunk, count in enumerate(kept):
            out[at : at + count] = full[chunk * width : chunk * width + count]
            at += int(count)
        return [total, out]


def site_error(site: Site, details: Sequence[int]) -> UserError:
    """The error that a fault site stands for, with the record's details."""
    if site.axis is not None:
        index, size = details
        return out_of_bounds(index, site.axis, size, site.sources)
    return failed_check(site.kind, site.message, site.sources)


def allocate(shape: tuple[int, ...], buffer: Buffer) -> Array:
    """An array for a buffer; MemoryError also where NumPy calls the shape itself too large."""
    try:
        return np.empty(shape, buffer.dtype)
    except (MemoryError, ValueError) as error:
        raise MemoryError(
            f"no memory for {buffer.name}: {buffer.dtype} of shape {shape}"
        ) from error


def launch(kernel: Kernel, code: Code, host: Callable[[Operand], Any]) -> list[Any]:
    """Runs a kernel; `host` gives the values of host operands.

    Raises the error of the lowest fault; MemoryError where results do not fit.
    """
    extent = int(host(kernel.extents[0]))
    work = max(math.prod(int(host(d)) for d in nest) for nest in kernel.work)
    length = kernel.order.resolved(work).chunk_length(extent)
    chunks = max(1, -(-extent // length))
    run = Launch(kernel, code, host, chunks, length, {}, np.zeros((chunks, RECORD), np.int64))
    for output in kernel.outputs:
        for buffer in output.state:
            run.arrays[buffer] = allocate((chunks, *run.shape(buffer)), buffer)
        for buffer in output.results:
            if buffer.space is Space.OUTPUT:
                run.arrays[buffer] = allocate(run.shape(buffer), buffer)
    return run.run()
