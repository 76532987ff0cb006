"""A launch of native functions: one call of native code, which runs all chunks on all threads.

A `NativeKernel` says, once, where each thing that the kernel's functions take stands in the job's
row of values (job.py): first what every launch sets, so that it is packed in one go, then the rest.
A `NativeRunner` sets the rest, for one plan.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...transforms.kernel_ir import Buffer, Kernel, Local
from ..native import NativeFunction, address
from . import threads
from .job import Job, Patch, Patches, Slots, Step
from .plan import Array, Plan, Shape, array_results

# How a scalar is packed into its slots; all other integers, and truth values, are int64.
_FORMATS = {"f2": "e6x", "f4": "f4x", "f8": "d", "u8": "Q", "c8": "f4xf4x", "c16": "2d"}

SMALL = 20_000
"""Nanoseconds of work that stay on the calling thread. To wake a thread costs the caller 2 us, and
the thread some 5 us more before it works, so that two chunks of 12 us took 22.6 us on two threads,
and 19.1 on one; from twice that on, two threads were as fast or faster. (Zen 3, Linux, minimum of
300 launches, 2 ms apart.)
"""

_UNBOUNDED = 2**63 - 1
_LINE = 64  # bytes of a cache line


class NativeKernel:
    """A kernel whose functions are native, by their names in the text.

    places : of a parameter's slots in the row, in the order of the native ABI
    count : the length of the row
    packed : how the values are packed that a launch sets, by the number of its new arrays
    """

    def __init__(self, kernel: Kernel, functions: Mapping[str, NativeFunction]) -> None:
        self.kernel = kernel
        self.count = 0
        self.places: dict[Local | Buffer, list[int]] = {}
        strides: dict[Buffer, list[int]] = {}
        form = "="
        for _, param in kernel.inputs:
            if isinstance(param, Local):
                code = _FORMATS.get(param.dtype.str[1:], "q")
                self.places[param] = self._take(struct.calcsize(f"={code}") // 8)
                form += code
                continue
            self.places[param] = self._take(1)
            strides[param] = [] if param.contiguous else self._take(param.rank)
            form += "q" * (1 + len(strides[param]))
        self.packed = [struct.Struct(form)]
        for buffer in array_results(kernel):
            self.places[buffer] = self._take(1)
            form += "q"
            self.packed.append(struct.Struct(form))
        for param in (*(p for f in kernel.functions for p in f.params), kernel.fault):
            if param not in self.places:
                self.places[param] = self._take(1)
            places = self.places[param]
            if isinstance(param, Buffer) and len(places) == 1:
                places += self._take(param.rank)
                places += strides.get(param) or self._take(param.rank)
        self.steps: dict[str, Step] = {}
        self._keep: list[object] = [functions]
        for function in kernel.functions:
            table = _slots([k for param in function.params for k in self.places[param]])
            native = functions[f"{kernel.name}_{function.name}"]
            self.steps[function.name] = Step(native.address, len(table), ctypes.addressof(table))
            self._keep.append(table)

    @property
    def most_workers(self) -> int:
        """How many threads may work at a launch."""
        return threads.num_threads()

    def runner(self, plan: Plan, values: Sequence[Any]) -> NativeRunner:
        """What runs launches of the plan; `values` are an example of what it takes."""
        return NativeRunner(self, plan, values)

    def _take(self, slots: int) -> list[int]:
        self.count += slots
        return list(range(self.count - slots, self.count))


class NativeRunner:
    """Runs launches of one plan; the memory that it gives to native code lives as long as it does.

    values : the row of values
    """

    def __init__(self, owner: NativeKernel, plan: Plan, values: Sequence[Any]) -> None:
        self.owner = owner
        self.plan = plan
        self.values = _slots([0] * owner.count)
        self.inputs = [_packing(param) for _, param in owner.kernel.inputs]
        self.packed = owner.packed[len(plan.fresh)]
        self._keep: list[object] = []
        self._set(values)
        self.job = self._job(("init", "chunk", "combine", "finish"))
        self.adjust = self._job((), "adjust") if plan.adjusts else None
        self._settled = plan.workers == 1

    def __call__(self, inputs: Sequence[Any], fresh: Sequence[Array]) -> bool:
        """One launch; whether a function recorded a fault.

        Raises TypeError where an input is not of its type.
        """
        packed: list[Any] = []
        for (dtype, kind), value in zip(self.inputs, inputs, strict=False):
            if kind == "C":
                _check(value, dtype)
                packed.append(address(value))
            elif kind == "A":
                _check(value, dtype)
                packed += (address(value), *value.strides)
            elif kind == "c":
                packed += (value.real, value.imag)
            else:
                packed.append(bool(value) if kind == "b" else value)
        packed += map(address, fresh)
        self.packed.pack_into(self.values, 0, *packed)
        faulted = threads.run(self.job, self.plan.workers)
        if not self._settled:
            self._settle()
        if self.adjust is not None and not faulted:
            self.adjust.workers = self.job.workers
            return threads.run(self.adjust, self.plan.workers)
        return faulted

    def _settle(self) -> None:
        """Looks whether the work is small: shared work that was quickly done is tried alone.

        Results do not depend on who runs a chunk.
        """
        small = self.job.spent < SMALL
        if self.job.workers == 1:
            self._settled = True
            if not small:
                self.job.workers = self.plan.workers
        elif small:
            self.job.workers = 1
        else:
            self._settled = True

    def _set(self, values: Sequence[Any]) -> None:
        """The values that stay the same from launch to launch."""
        plan, kernel = self.plan, self.owner.kernel
        for (_, param), value in zip(kernel.inputs, values, strict=False):
            if isinstance(param, Buffer):
                self._array(param, 0, value.shape)
        for buffer in plan.fresh:
            self._array(buffer, 0, plan.sizes.shapes[buffer])
        for buffer, array in plan.scalars.items():
            self._array(buffer, address(array), array.shape)
        rows = {**plan.parts, **plan.scratch, kernel.fault: plan.faults}
        for output in kernel.outputs:
            rows.update({o: rows[s] for o, s in output.others if s in rows})
        for buffer, array in rows.items():
            self._array(buffer, address(array), array.shape[1:])
        _, stop = kernel.chunk.params[:2]
        (place,) = self.owner.places[stop]
        self.values[place] = plan.length

    def _array(self, buffer: Buffer, at: int, shape: Shape) -> None:
        """An array's slots; the strides are those of contiguous rows."""
        places = self.owner.places.get(buffer)
        if places is None:
            return
        strides: list[int] = []
        step = buffer.dtype.itemsize
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
        for place, slot in zip(places, (at, *shape, *strides), strict=True):
            self.values[place] = slot

    def _job(self, steps: Sequence[str], chunk: str = "chunk") -> Job:
        """A job of these functions; `chunk` is the one that runs for every chunk."""
        plan, owner, kernel = self.plan, self.owner, self.owner.kernel
        memory = ctypes.create_string_buffer(ctypes.sizeof(Job) + _LINE)
        job = Job.from_buffer(memory, -ctypes.addressof(memory) % _LINE)
        job.chunks, job.workers = plan.chunks, plan.workers
        job.count, job.values = owner.count, ctypes.addressof(self.values)
        job.table = max(step.count for step in owner.steps.values())
        job.fault = owner.places[kernel.fault][0]
        start, stop = (owner.places[q][0] for q in kernel.chunk.params[:2])
        bounds = [Patch(q, plan.length, plan.sizes.extents[0]) for q in (start, stop)]
        parts = {**plan.parts, kernel.fault: plan.faults}
        others = {o: plan.parts[s] for x in kernel.outputs for o, s in x.others if s in plan.parts}
        job.parts = self._patches([*bounds, *self._moves(parts)])
        job.others = self._patches(self._moves(others))
        job.scratch = self._patches(self._moves(plan.scratch))
        for name in steps:
            if name in owner.steps:
                setattr(job, name, owner.steps[name])
        job.chunk = owner.steps.get(chunk, Step())
        return job

    def _moves(self, arrays: Mapping[Buffer, Array]) -> Iterable[Patch]:
        """An address for each chunk or worker."""
        for buffer, array in arrays.items():
            if buffer in self.owner.places:
                yield Patch(self.owner.places[buffer][0], array.strides[0], _UNBOUNDED)

    def _patches(self, patches: Iterable[Patch]) -> Patches:
        found = list(patches)
        row = (Patch * len(found))(*found)
        self._keep.append(row)
        return Patches(len(found), ctypes.addressof(row))


def _slots(values: Sequence[int]) -> Slots:
    return (ctypes.c_int64 * len(values))(*values)


def _packing(param: Local | Buffer) -> tuple[np.dtype[Any], str]:
    """The dtype and how the value is packed: an array's layout, or a scalar's kind."""
    if isinstance(param, Buffer):
        return param.dtype, "C" if param.contiguous else "A"
    return param.dtype, param.dtype.kind


def _check(value: Any, dtype: np.dtype[Any]) -> None:
    if value.dtype != dtype:
        raise TypeError(f"a kernel takes an array of {dtype}, not of {value.dtype}")
