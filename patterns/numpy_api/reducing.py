"""np.sum, np.mean, np.argmin and the other functions that are an array's methods too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.errors import Limitation
from ...staging.numpy_functions import define_function
from ..conversions import with_axes

_PARAMETERS: dict[str, tuple[tuple[Callable[..., Any], ...], str]] = {
    "sum": ((np.sum,), "axis dtype out keepdims initial where"),
    "prod": ((np.prod,), "axis dtype out keepdims initial where"),
    "mean": ((np.mean,), "axis dtype out keepdims"),
    "min": ((np.min, np.amin), "axis out keepdims initial where"),
    "max": ((np.max, np.amax), "axis out keepdims initial where"),
    "argmin": ((np.argmin,), "axis out keepdims"),
    "argmax": ((np.argmax,), "axis out keepdims"),
    "any": ((np.any,), "axis out keepdims where"),
    "all": ((np.all,), "axis out keepdims where"),
    "var": ((np.var,), "axis dtype out ddof keepdims"),
    "std": ((np.std,), "axis dtype out ddof keepdims"),
    "count_nonzero": ((np.count_nonzero,), "axis keepdims"),
}
"""The method's name -> the functions, and what they take after the array, in order."""


def _reduction(name: str, parameters: tuple[str, ...]) -> Callable[..., Any]:
    def call(a: object, *args: object, **options: object) -> Any:
        given = {**dict(zip(parameters, args, strict=False)), **options}
        kept = {k: v for k, v in given.items() if v is not None}
        method = getattr(with_axes(a), name)
        taken: dict[str, Any] = method.__func__.__kwdefaults__ or {}
        refused = [k for k in kept if k not in taken and k not in ("axis", "dtype")]
        if refused or ("dtype" in kept and name in ("var", "std")):
            raise Limitation(f"np.{name} with {', '.join(refused or ['dtype'])}=")
        return method(**kept)

    call.__doc__ = f"x.{name}(...)"
    return call


for _name, (_functions, _order) in _PARAMETERS.items():
    define_function(*_functions)(_reduction(_name, tuple(_order.split())))
