"""Sorting and order statistics, by NumPy. NaN comes last, as there; ties keep their order."""

from __future__ import annotations

from typing import Any

import numpy

from ...staging.dataclass import dataclass
from ...staging.nodes import Operand
from ...staging.records import record
from ..library import Routine, Shape, replaced, shape_of

np: Any = numpy  # its stubs do not fit arguments of which little is known

_ALONG = "np.{0}(x, axis=1), which does all rows at once, outside of the function"


@record
@dataclass(frozen=True, slots=True)
class Sort(Routine):
    """The array sorted along an axis."""

    axis: int
    instead = _ALONG.format("sort")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.sort(args[0], axis=self.axis, kind="stable")


@record
@dataclass(frozen=True, slots=True)
class Argsort(Routine):
    """The positions that sort the array along an axis; equal elements in their order."""

    axis: int
    instead = _ALONG.format("argsort")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.argsort(args[0], axis=self.axis, kind="stable")


@record
@dataclass(frozen=True, slots=True)
class Lexsort(Routine):
    """The positions that sort by several keys, the last one first."""

    axis: int
    instead = "np.lexsort outside of the function, along an axis"

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (shape_of(args[0]),)

    def run(self, *args: Any) -> Any:
        return np.lexsort(args, axis=self.axis)


@record
@dataclass(frozen=True, slots=True)
class Quantile(Routine):
    """The quantiles q, a number or a vector, along an axis, by one of NumPy's methods."""

    axis: int
    method: str
    instead = _ALONG.format("quantile")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return ((*shape_of(args[1]), *replaced(shape_of(args[0]), self.axis)),)

    def run(self, *args: Any) -> Any:
        x, q = args
        return np.quantile(x, q, axis=self.axis, method=self.method)


@record
@dataclass(frozen=True, slots=True)
class Percentile(Quantile):
    """`Quantile` of q / 100, rounded as np.percentile does."""

    instead = _ALONG.format("percentile")

    def run(self, *args: Any) -> Any:
        x, q = args
        return np.percentile(x, q, axis=self.axis, method=self.method)


@record
@dataclass(frozen=True, slots=True)
class Median(Routine):
    """The median along an axis."""

    axis: int
    instead = _ALONG.format("median")

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (replaced(shape_of(args[0]), self.axis),)

    def run(self, *args: Any) -> Any:
        return np.median(args[0], axis=self.axis)
