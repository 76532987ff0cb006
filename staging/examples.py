"""Arguments made from types, for `f.compile`: what a call with such arguments would run is compiled
without having any.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .annotations import Spec
from .arguments import Binder
from .errors import StagingTypeError, UserError

SIZE = 2  # of an axis whose size is not given: one version serves all sizes but 1


def from_types(
    binder: Binder, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], bool, bool]:
    """A value for each parameter; whether one was made, and whether its size or its value was made
    up.

    What is given as a type (`pm.f64["n"]`, anything with `shape` and `dtype` that is no array), and
    every parameter without a value and without a default, gets one. UserError for a parameter of
    which nothing is known.
    """
    given = binder.signature.bind_partial(*args, **kwargs).arguments
    specs = binder.declared.specs
    values: dict[str, Any] = {}
    made = guessed = False
    for k, (name, parameter) in enumerate(binder.signature.parameters.items()):
        value = given.get(name, parameter.default)
        if value is inspect.Parameter.empty and parameter.kind in _MANY:
            continue
        if value is inspect.Parameter.empty:
            value = specs.get(k)
        if value is None and name not in given:
            if parameter.default is None:
                continue
            raise UserError(
                f"there is no type for the parameter {name}",
                why="nothing is passed for it, and it declares none",
                instead=f'f.compile({name}=pm.f64["n"]), or that as its annotation',
            )
        found = example(value, name)
        made = made or found is not value
        guessed = guessed or (isinstance(value, Spec) and not value.is_complete)
        values[name] = found
    bound = inspect.BoundArguments(binder.signature, cast(Any, values))
    return binder.bind(bound.args, bound.kwargs), made, guessed


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def example(value: Any, name: str) -> Any:
    """A value of the type; what is no type, as it is.

    >>> example(Spec("f64", np.dtype("f8"), ("n", 3)), "x").shape
    (2, 3)
    """
    if isinstance(value, Spec):
        if value.dims is None:
            number: Any = value.dtype.type(1).item()
            return number if value.dtype.itemsize == 8 else value.dtype.type(1)
        if ... in value.dims:
            raise StagingTypeError(
                f"the rank of {name} is not known: {value!r}",
                why="a version is compiled for one rank",
                instead='its axes one by one: pm.f64["n", 3]',
            )
        return np.empty([d if isinstance(d, int) else SIZE for d in value.dims], value.dtype)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(cast(object, value), np.ndarray | np.generic):
        return value
    if shape is None or dtype is None:
        return value
    return np.empty(tuple(map(int, shape)), np.dtype(dtype))
