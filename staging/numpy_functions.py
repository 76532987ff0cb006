"""NumPy's functions that are no ufuncs: the registry of what they mean on staged values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np

from .errors import Limitation
from .reps import strong
from .signatures import misfit, written
from .unsupported import instead_of

_functions: dict[object, Callable[..., object]] = {}

F = TypeVar("F", bound=Callable[..., object])


def define_function(*functions: Callable[..., object]) -> Callable[[F], F]:
    """Registers what NumPy functions (`np.where`, `np.zeros`, ...) mean on staged values."""

    def register(definition: F) -> F:
        for function in functions:
            _functions[function] = _with_checked_arguments(function, definition)
        return definition

    return register


def _with_checked_arguments(
    function: Callable[..., object], definition: Callable[..., object]
) -> Callable[..., object]:
    """The definition, which refuses arguments that it does not take in the function's name."""

    @functools.wraps(definition)
    def call(*args: object, **options: object) -> object:
        error = misfit(definition, args, options)
        if error:
            name = full_name(function)
            raise Limitation(
                f"{name} with these arguments is not supported on staged values: {error}",
                instead=written(name, definition),
            )
        found = definition(*args, **options)
        return found if function is np.size else strong(found)

    return call


def staged_function(function: object) -> Callable[..., object] | None:
    """The staged meaning of a NumPy function that is no ufunc, None without one."""
    return _functions.get(function) if isinstance(function, Hashable) else None


def numpy_function(function: Callable[..., object]) -> Callable[..., object]:
    """The staged meaning of a NumPy function; Limitation naming the nearest ones without one."""
    found = staged_function(function)
    if found is not None:
        return found
    known = [full_name(f) for f in _functions]
    raise Limitation(
        f"{full_name(function)} is not supported on staged values",
        instead=instead_of(getattr(function, "__name__", ""), known),
    )


def full_name(function: object) -> str:
    """A NumPy function's name as users write it.

    >>> full_name(np.linalg.norm), full_name(np.sum)
    ('np.linalg.norm', 'np.sum')
    """
    module = str(getattr(function, "__module__", "numpy"))
    return f"np{module.removeprefix('numpy')}.{getattr(function, '__name__', repr(function))}"
