"""A launch of functions that are plain Python: chunk by chunk, on the calling thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...staging.dataclass import dataclass
from ...transforms.kernel_ir import Buffer, Function, Kernel, Local
from .plan import Array, Plan

Arguments = Mapping[Local | Buffer, Any]


@dataclass(frozen=True, slots=True)
class PlainKernel:
    """A kernel whose functions are plain Python, by their names in the text."""

    kernel: Kernel
    functions: Mapping[str, Callable[..., None]]
    most_workers: int = 1

    def runner(self, plan: Plan, values: Sequence[Any]) -> PlainRunner:
        """What runs launches of the plan; `values` are an example of what it takes."""
        return PlainRunner(self, plan)


@dataclass(frozen=True, slots=True)
class PlainRunner:
    """Runs launches of one plan."""

    owner: PlainKernel
    plan: Plan

    def __call__(self, inputs: Sequence[Any], fresh: Sequence[Array]) -> bool:
        """One launch; whether a function recorded a fault."""
        kernel, plan = self.owner.kernel, self.plan
        params = [param for _, param in kernel.inputs]
        common: dict[Local | Buffer, Any] = dict(zip(params, inputs, strict=False))
        common.update(zip(plan.fresh, fresh, strict=True))
        common.update((b, array) for b, array in plan.scalars.items())
        common.update((b, array[0]) for b, array in plan.scratch.items())
        with np.errstate(all="ignore"):
            for chunk in range(plan.chunks):
                self.chunk({**common, **self.part(chunk)}, chunk)
            first = {**common, **self.part(0)}
            if not plan.faults[:, 0].any():
                self.complete(first)
            if plan.adjusts and not plan.faults[0, 0]:
                for chunk in range(plan.chunks):
                    self.over(kernel.adjust, {**common, **self.part(chunk)}, chunk)
        return bool(plan.faults[:, 0].any())

    def part(self, chunk: int) -> dict[Local | Buffer, Array]:
        """What belongs to one chunk."""
        found: dict[Local | Buffer, Array] = {b: a[chunk] for b, a in self.plan.parts.items()}
        found[self.owner.kernel.fault] = self.plan.faults[chunk]
        return found

    def chunk(self, own: Arguments, chunk: int) -> None:
        """One chunk."""
        self.plan.faults[chunk] = 0
        self.call(self.owner.kernel.init, own)
        self.over(self.owner.kernel.chunk, own, chunk)

    def over(self, function: Function, own: Arguments, chunk: int) -> None:
        """A function of a chunk's indices."""
        plan = self.plan
        start, stop = self.owner.kernel.chunk.params[:2]
        end = min(plan.sizes.extents[0], (chunk + 1) * plan.length)
        self.call(function, {**own, start: chunk * plan.length, stop: end})

    def complete(self, first: Arguments) -> None:
        """Combines the chunks' states into that of chunk 0, and finishes."""
        kernel, plan = self.owner.kernel, self.plan
        pairs = [pair for output in kernel.outputs for pair in output.others]
        for chunk in range(1, plan.chunks):
            own = dict(first)
            own.update((other, plan.parts[state][chunk]) for other, state in pairs)
            self.call(kernel.combine, own)
            if plan.faults[0, 0]:
                return
        self.call(kernel.finish, first)

    def call(self, function: Function, arguments: Arguments) -> None:
        """Runs a function that has something to do."""
        if function.body:
            name = f"{self.owner.kernel.name}_{function.name}"
            self.owner.functions[name](*[arguments[q] for q in function.params])
