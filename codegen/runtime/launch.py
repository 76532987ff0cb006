"""Launching a kernel.

A `Launcher` is made once, when the program is compiled: it knows which host operands the kernel
needs and where each of them goes. A call finds the plan for its sizes, makes new arrays for the
results, and hands both to what runs the kernel's functions (native_launch.py, plain_launch.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ...patterns.semantics import failed_check, out_of_bounds
from ...staging.errors import ParloomError
from ...staging.nodes import Const, Var
from ...transforms.kernel_ir import Buffer, Extent, Kernel, Site
from .memory import copied
from .plan import Array, Plan, Results, Sizes

# Plans are kept for so many sizes, each if it owns no more than so many bytes.
_KEPT = 8
_SMALL = 1 << 20

Key = tuple[Any, ...]
_NOTHING: Mapping[Buffer, Array] = MappingProxyType({})
Read = Callable[[Sequence[Any]], int]


class Runner(Protocol):
    """Runs launches of one plan."""

    def __call__(self, inputs: Sequence[Any], fresh: Sequence[Array]) -> bool:
        """One launch; whether a function recorded a fault.

        inputs : values for the kernel's inputs, in order; more are left alone
        fresh : arrays for the plan's `fresh`
        """
        ...


class Runnable(Protocol):
    """The compiled functions of one kernel."""

    @property
    def most_workers(self) -> int:
        """How many threads may work at a launch."""
        ...

    def runner(self, plan: Plan, values: Sequence[Any]) -> Runner:
        """What runs launches of the plan; `values` are an example of what it takes."""
        ...


class Code(Protocol):
    """The compiled functions of a program's kernels."""

    def of(self, kernel: Kernel) -> Runnable:
        """Those of one kernel."""
        ...


class Launcher:
    """A compiled kernel.

    operands : the host variables whose values a call takes: the kernel's inputs, then other sizes
    kept : plans by what they depend on, for the next calls
    """

    operands: tuple[Var, ...]

    def __init__(self, kernel: Kernel, code: Code) -> None:
        self.kernel = kernel
        self.operands = operands(kernel)
        self._runnable = code.of(kernel)
        self._places = {var: k for k, var in enumerate(self.operands)}
        params = [param for _, param in kernel.inputs]
        self._arrays = [k for k, q in enumerate(params) if isinstance(q, Buffer)]
        self._dense = [(k, params[k].name) for k in self._arrays if contiguous(params[k])]
        self._starts = [
            (output.results[0], self._places[output.start], output.taken)
            for output in kernel.outputs
            if output.start is not None
        ]
        self._extents = tuple(map(self._reader, kernel.extents))
        self._work = tuple(tuple(map(self._reader, nest)) for nest in kernel.work)
        self._shapes = {b: tuple(map(self._reader, b.shape)) for b in buffers(kernel)}
        needed = dict.fromkeys(sizes(kernel))
        self._numbers = [self._places[var] for var in needed]
        self.kept: dict[Key, tuple[Plan, Runner]] = {}

    def __call__(self, *values: Any, into: Mapping[Buffer, Array] = _NOTHING) -> Results:
        """The values of the loop's binders, from those of `operands`.

        into : arrays to use where others would be allocated
        Raises the error of the lowest fault; MemoryError where results do not fit.
        """
        for k, name in self._dense:
            if not values[k].flags.c_contiguous:
                values = (*values[:k], copied(values[k], name), *values[k + 1 :])
        key = (
            self._runnable.most_workers,
            *[values[k].shape for k in self._arrays],
            *[int(values[k]) for k in self._numbers],
        )
        found = self.kept.pop(key, None)
        plan, run = found or self._plan(key[0], values)
        if self._starts:
            into = self._begun(values, into)
        fresh = plan.new_arrays(into)
        if run(values, fresh):
            raise self._error(plan.faults)
        results = plan.results(fresh)
        if plan.bytes <= _SMALL:
            if len(self.kept) >= _KEPT:
                self.kept.clear()
            self.kept[key] = plan, run
        return results

    def _begun(self, values: Sequence[Any], into: Mapping[Buffer, Array]) -> Mapping[Buffer, Array]:
        """`into` with the arrays that results begin as: the host's own, or copies."""
        begun = dict(into)
        for buffer, place, taken in self._starts:
            if buffer in begun:
                np.copyto(begun[buffer], values[place])
            else:
                begun[buffer] = values[place] if taken else copied(values[place], buffer.name)
        return begun

    def _plan(self, workers: int, values: Sequence[Any]) -> tuple[Plan, Runner]:
        found = Sizes(
            tuple(read(values) for read in self._extents),
            max(math.prod(read(values) for read in nest) for nest in self._work),
            {b: tuple(read(values) for read in s) for b, s in self._shapes.items()},
        )
        plan = Plan(self.kernel, found, workers)
        return plan, self._runnable.runner(plan, values)

    def _reader(self, extent: Extent) -> Read:
        """An extent as a function of the operands' values; a tuple of operands is their product."""
        if isinstance(extent, tuple):
            factors = tuple(map(self._reader, extent))
            return lambda values: math.prod(read(values) for read in factors)
        if isinstance(extent, Var):
            place = self._places[extent]
            return lambda values: int(values[place])
        fixed = int(extent.value) if isinstance(extent, Const) else extent
        return lambda values: fixed

    def _error(self, faults: Array) -> ParloomError:
        """The error of the lowest (site, iteration) that a chunk recorded."""
        found: list[list[int]] = [record for record in faults.tolist() if record[0]]
        site, _, *details = min(found)
        return site_error(self.kernel.sites[site - 1], details)


def operands(kernel: Kernel) -> tuple[Var, ...]:
    """The host variables that a kernel needs: what its functions read, what sizes depend
    on, and what results begin as."""
    return tuple(
        dict.fromkeys(
            (
                *(var for var, _ in kernel.inputs),
                *sizes(kernel),
                *(output.start for output in kernel.outputs if output.start is not None),
            )
        )
    )


def sizes(kernel: Kernel) -> list[Var]:
    """The host variables that the cut and the shapes of a launch depend on."""
    shapes = [extent for buffer in buffers(kernel) for extent in buffer.shape]
    flat = [x for extent in shapes for x in (extent if isinstance(extent, tuple) else (extent,))]
    found = [*kernel.extents, *(d for nest in kernel.work for d in nest), *flat]
    return [d for d in found if isinstance(d, Var)]


def buffers(kernel: Kernel) -> tuple[Buffer, ...]:
    """What a launch allocates."""
    made = [b for output in kernel.outputs for b in (*output.state, *output.results)]
    return tuple(dict.fromkeys((*made, *kernel.private)))


def contiguous(param: object) -> bool:
    """Whether a parameter is taken to be a contiguous array. The value need not be: an argument
    with strides that became the first state of a loop."""
    return isinstance(param, Buffer) and param.contiguous


def site_error(site: Site, details: Sequence[int]) -> ParloomError:
    """The error that a fault site stands for, with the record's details."""
    if site.axis is not None:
        index, size = details[:2]
        return out_of_bounds(index, site.axis, size, site.sources)
    message = site.message.format(*details) if site.filled else site.message
    return failed_check(site.kind, message, site.sources)
