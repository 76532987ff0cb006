"""np.sum, np.mean, np.argmin and the other functions that are an array's methods too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.numpy_functions import define_function
from ..arrays import ArrayRep
from ..conversions import apply, with_axes
from ..reductions import NOT_GIVEN, Options

_METHODS: dict[str, tuple[Callable[..., Any], ...]] = {
    "sum": (np.sum,),
    "prod": (np.prod,),
    "mean": (np.mean,),
    "min": (np.min, np.amin),
    "max": (np.max, np.amax),
    "argmin": (np.argmin,),
    "argmax": (np.argmax,),
    "any": (np.any,),
    "all": (np.all,),
    "var": (np.var,),
    "std": (np.std,),
    "count_nonzero": (np.count_nonzero,),
}
"""The method's name -> the functions, which take its arguments after the array."""


def _reduction(name: str) -> Callable[..., Any]:
    def call(a: object, *args: object, **options: object) -> Any:
        given = {k: v for k, v in options.items() if v is not NOT_GIVEN}
        return getattr(with_axes(a), name)(*args, **given)

    method = getattr(ArrayRep, name)
    call.__doc__ = f"x.{name}(...)"
    call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return call


for _name, _functions in _METHODS.items():
    define_function(*_functions)(_reduction(_name))


@define_function(np.ptp)
def ptp(a: object, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """The greatest element less the least one."""
    x = with_axes(a)
    found = apply(np.subtract, *(f(axis, keepdims=keepdims) for f in (x.max, x.min)))
    return Options(out).stored(found, "ptp")
