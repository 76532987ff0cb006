"""How a call may be written, for messages about calls that do not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def written(name: str, f: Callable[..., Any]) -> str:
    """A call with the parameters' names and defaults, without what only a type checker reads.

    >>> def total(x: float, *, axis: int | None = None) -> float: return x
    >>> written("x.total", total)
    'x.total(x, *, axis=None)'
    """
    signature = inspect.signature(f)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return f"{name}{signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"


def misfit(f: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Why a function does not take these arguments, "" if it does.

    >>> misfit(lambda x: x, (1,), {"y": 2})
    "got an unexpected keyword argument 'y'"
    """
    try:
        inspect.signature(f).bind(*args, **options)
    except TypeError as error:
        return str(error)
    return ""
