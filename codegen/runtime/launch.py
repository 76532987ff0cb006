"""Launching a kernel: its chunks on all threads, then the combination in chunk order.

A `Launcher` is made once, when the program is compiled: it knows which host operands the kernel
needs and where each of them goes. A call has only the run-time values left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ...patterns.semantics import failed_check, out_of_bounds
from ...staging.errors import UserError
from ...staging.nodes import Const, Var
from ...transforms.kernel_ir import (
    RECORD,
    Buffer,
    Extent,
    Finish,
    Function,
    Kernel,
    Local,
    Output,
    Site,
    Space,
)
from . import threads
from .memory import allocate, copied

Array = np.ndarray


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


class Launcher:
    """A compiled kernel.

    operands : the host variables whose values a call takes, in order
    """

    operands: tuple[Var, ...]

    def __init__(self, kernel: Kernel, code: Code) -> None:
        self.kernel = kernel
        self.operands = operands(kernel)
        self._places = {var: k for k, var in enumerate(self.operands)}
        self._inputs = tuple((self._places[var], param) for var, param in kernel.inputs)
        self._extents = tuple(map(self._reader, kernel.extents))
        self._work = tuple(tuple(map(self._reader, nest)) for nest in kernel.work)
        self._shapes = {b: tuple(map(self._reader, b.shape)) for b in buffers(kernel)}
        self._functions = {
            function.name: Ready(function, f"{kernel.name}_{function.name}", code)
            for function in kernel.functions
        }

    def __call__(
        self, *values: Any, into: Mapping[Buffer, Array] = MappingProxyType({})
    ) -> tuple[Any, ...]:
        """The values of the loop's binders, from those of `operands`.

        into : arrays to use where others would be allocated
        Raises the error of the lowest fault; MemoryError where results do not fit.
        """
        extents = tuple(read(values) for read in self._extents)
        work = max(math.prod(read(values) for read in nest) for nest in self._work)
        length = self.kernel.order.resolved(work).chunk_length(extents[0])
        chunks = max(1, -(-extents[0] // length))
        shapes = {b: tuple(read(values) for read in s) for b, s in self._shapes.items()}
        launch = Launch(self.kernel, self._functions, extents, chunks, length, shapes)
        for place, param in self._inputs:
            launch.arguments[param] = as_input(values[place], param)
        for output in self.kernel.outputs:
            for buffer in output.state:
                launch.states[buffer] = new(buffer, (chunks, *shapes[buffer]))
            for buffer in output.results:
                if buffer.space is Space.OUTPUT:
                    given = into.get(buffer)
                    launch.arguments[buffer] = (
                        new(buffer, shapes[buffer]) if given is None else given
                    )
        return launch.run()

    def _reader(self, extent: Extent) -> Callable[[Sequence[Any]], int]:
        """An extent as a function of the operands' values; a tuple of operands is their product."""
        if isinstance(extent, tuple):
            factors = tuple(map(self._reader, extent))
            return lambda values: math.prod(read(values) for read in factors)
        if isinstance(extent, Var):
            place = self._places[extent]
            return lambda values: int(values[place])
        fixed = int(extent.value) if isinstance(extent, Const) else extent
        return lambda values: fixed


def operands(kernel: Kernel) -> tuple[Var, ...]:
    """The host variables that a kernel needs: what its functions read, and what sizes depend on."""
    shapes = [extent for buffer in buffers(kernel) for extent in buffer.shape]
    flat = [x for extent in shapes for x in (extent if isinstance(extent, tuple) else (extent,))]
    needed = [v for v, _ in kernel.inputs]
    sizes = [*kernel.extents, *(d for nest in kernel.work for d in nest), *flat]
    return tuple(dict.fromkeys((*needed, *(d for d in sizes if isinstance(d, Var)))))


def buffers(kernel: Kernel) -> tuple[Buffer, ...]:
    """What a launch allocates."""
    made = [b for output in kernel.outputs for b in (*output.state, *output.results)]
    return tuple(dict.fromkeys((*made, *kernel.private)))


def as_input(value: Any, param: Local | Buffer) -> Any:
    """The value of a host variable; a copy where the kernel takes it to be contiguous and it is
    not: an argument with strides that became the first state of a loop."""
    if isinstance(param, Buffer) and param.contiguous and not value.flags.c_contiguous:
        return copied(value, param.name)
    return value


def new(buffer: Buffer, shape: tuple[int, ...]) -> Array:
    """An array for a buffer."""
    return allocate(shape, buffer.dtype, buffer.name)


@dataclass(frozen=True, slots=True)
class Ready:
    """One function of a kernel, and where its arguments go.

    places : the positions of its parameters
    start, stop : those of the chunk's bounds, in `chunk`
    """

    function: Function
    name: str
    code: Code
    places: Mapping[Local | Buffer, int] = field(init=False)
    start: int | None = field(init=False)
    stop: int | None = field(init=False)

    def __post_init__(self) -> None:
        params = self.function.params
        names = {q.name: k for k, q in enumerate(params)}
        object.__setattr__(self, "places", {q: k for k, q in enumerate(params)})
        object.__setattr__(self, "start", names.get("start"))
        object.__setattr__(self, "stop", names.get("stop"))

    def bind(self, arguments: Mapping[Local | Buffer, Any]) -> Bound:
        """The function with its arguments; the chunk's bounds are still open."""
        return self.code.bind(self.name, [arguments.get(q, 0) for q in self.function.params])


@dataclass(slots=True)
class Launch:
    """One run of a kernel.

    extents : of the domain
    chunks, length : how the first index is cut
    states : by chunk
    arguments : what all chunks have in common
    """

    kernel: Kernel
    functions: Mapping[str, Ready]
    extents: tuple[int, ...]
    chunks: int
    length: int
    shapes: Mapping[Buffer, tuple[int, ...]]
    states: dict[Buffer, Array] = field(default_factory=dict[Buffer, Array])
    arguments: dict[Local | Buffer, Any] = field(default_factory=dict[Any, Any])
    faults: Array = field(init=False)

    def __post_init__(self) -> None:
        self.faults = np.zeros((self.chunks, RECORD), np.int64)

    def run(self) -> tuple[Any, ...]:
        """The values of the loop's binders."""
        pool = threads.pool()
        private = [self.private() for _ in range(min(pool.size, self.chunks))]
        pool.run(self.task(private), self.chunks)
        self.raise_fault()
        first: dict[Local | Buffer, Any] = {**self.arguments, **self.part(0), **private[0]}
        if self.chunks > 1 and "combine" in self.functions:
            self.combine(first)
        if "finish" in self.functions:
            self.functions["finish"].bind(first)()
        self.raise_fault()
        return tuple(v for output in self.kernel.outputs for v in self.results(output))

    def private(self) -> dict[Local | Buffer, Array]:
        """Scratch for one worker."""
        return {b: new(b, self.shapes[b]) for b in self.kernel.private}

    def part(self, chunk: int) -> dict[Local | Buffer, Array]:
        """What belongs to one chunk: its state and its fault record."""
        found: dict[Local | Buffer, Array] = {b: a[chunk] for b, a in self.states.items()}
        found[self.kernel.fault] = self.faults[chunk]
        return found

    def task(self, private: Sequence[Mapping[Local | Buffer, Array]]) -> threads.Task:
        """What a worker does for one chunk."""
        first: dict[Local | Buffer, Any] = {**self.arguments, **self.part(0)}
        chunk_ = self.functions["chunk"]
        init_ = self.functions.get("init")
        workers = [chunk_.bind({**first, **own}) for own in private]
        init = None if init_ is None else init_.bind(first)
        start, stop = chunk_.start, chunk_.stop
        assert start is not None
        assert stop is not None
        parts = {**self.states, self.kernel.fault: self.faults}
        own_chunk = [(k, parts[q]) for q, k in chunk_.places.items() if q in parts]
        own_init = [(k, parts[q]) for q, k in init_.places.items() if q in parts] if init_ else []

        def run(chunk: int, worker: int) -> None:
            if init is not None:
                init.again({k: array[chunk] for k, array in own_init})()
            changes: dict[int, Any] = {k: array[chunk] for k, array in own_chunk}
            changes[start] = chunk * self.length
            changes[stop] = min(self.extents[0], (chunk + 1) * self.length)
            workers[worker].again(changes)()

        return run

    def combine(self, first: Mapping[Any, Any]) -> None:
        """Folds the states of chunks 1, 2, ... into that of chunk 0."""
        combine = self.functions["combine"]
        others = {o: self.states[s] for output in self.kernel.outputs for o, s in output.others}
        bound = combine.bind({**first, **{o: states[1] for o, states in others.items()}})
        places = [(combine.places[o], s) for o, s in others.items() if o in combine.places]
        for chunk in range(1, self.chunks):
            bound.again({k: states[chunk] for k, states in places})()

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
            if buffer.space is Space.STATE:
                array = self.states[buffer][0]
                array = copied(array, buffer.name) if self.chunks > 1 else array  # not all states
            else:
                array = self.arguments[buffer]
            scalar = not hasattr(binder.type, "shape")
            values.append(array[0] if scalar else array)
        return values

    def compacted(self, output: Output) -> list[Any]:
        """The kept elements, without the gaps between the chunks' parts."""
        (buffer,), (counts,) = output.results, output.state
        full, kept = self.arguments[buffer], self.states[counts][:, 0]
        width = math.prod(self.extents[1:]) * self.length
        total = np.int64(kept.sum())
        out = new(buffer, (int(total), *full.shape[1:]))
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
