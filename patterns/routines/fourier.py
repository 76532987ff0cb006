"""Discrete Fourier transforms, by NumPy (pocketfft), of one axis each."""

from __future__ import annotations

from typing import Any

import numpy

from ...staging.dataclass import dataclass
from ...staging.nodes import Operand
from ...staging.records import record
from ..library import Routine, Shape, replaced, shape_of, size_of

np: Any = numpy  # its stubs do not fit arguments of which little is known

FUNCTIONS: dict[str, Any] = {
    "fft": np.fft.fft,
    "ifft": np.fft.ifft,
    "rfft": np.fft.rfft,
    "irfft": np.fft.irfft,
    "hfft": np.fft.hfft,
    "ihfft": np.fft.ihfft,
}


@record
@dataclass(frozen=True, slots=True)
class Fourier(Routine):
    """A transform along an axis: of its first `points` elements, or more with zeros behind them.

    The arguments are the array, points, and the size of the result along the axis.
    """

    name: str
    axis: int
    norm: str
    instead = "the transform of the whole array, along an axis, outside of the function"

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        return (replaced(shape_of(args[0]), self.axis, size_of(args[2])),)

    def run(self, *args: Any) -> Any:
        x, points, _ = args
        return FUNCTIONS[self.name](x, int(points), self.axis, self.norm)
