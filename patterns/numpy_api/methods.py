"""Methods of arrays that are NumPy's functions of the array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...staging.numpy_functions import numpy_function
from ..arrays import ArrayRep


def _method(function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    """The method; `swapped` where the array is the function's second argument."""

    def call(self: ArrayRep, *args: object, **options: object) -> Any:
        first = (args[0], self, *args[1:]) if swapped else (self, *args)
        return numpy_function(function)(*first, **options)

    call.__doc__ = f"np.{function.__name__} of the array"
    return call


FUNCTIONS: Mapping[Callable[..., Any], bool] = {
    np.take: False,
    np.nonzero: False,
    np.choose: False,
    np.argsort: False,
    np.argpartition: False,
    np.searchsorted: False,
    np.trace: False,
    np.compress: True,
    np.repeat: False,
    np.round: False,
    np.squeeze: False,
    np.swapaxes: False,
    np.diagonal: False,
    np.trace: False,
}
"""The functions, and whether they take the array as their second argument."""

for _function, _swapped in FUNCTIONS.items():
    setattr(ArrayRep, _function.__name__, _method(_function, _swapped))
