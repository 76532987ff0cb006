"""np.sum, np.mean, np.argmin and the other functions that are an array's methods too; products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.errors import Limitation
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep
from .. import products
from ..conversions import as_array, with_axes

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


@define_function(np.dot)
def dot(a: object, b: object) -> Rep:
    """The product of vectors and matrices; of a number and anything, `*`."""
    left, right = lift(a), lift(b)
    if isinstance(left, ScalarRep) or isinstance(right, ScalarRep):
        return apply_ufunc(np.multiply, (left, right))
    return lift(products.matmul(left, right))


@define_function(np.inner)
def inner(a: object, b: object) -> Any:
    """The sums of products over the last axes."""
    left, right = as_array(lift(a)), as_array(lift(b))
    return products.matmul(left, right.T)


@define_function(np.vdot)
def vdot(a: object, b: object) -> Any:
    """The sum of products of two vectors of real numbers."""
    left, right = as_array(lift(a)), as_array(lift(b))
    if left.dtype.kind == "c":
        raise Limitation("np.vdot of complex vectors")
    return products.matmul(left.ravel(), right.ravel())


@define_function(np.outer)
def outer(a: object, b: object) -> Any:
    """The products of every element of a with every one of b."""
    return products.outer(with_axes(a).ravel(), with_axes(b).ravel())
