"""An eager call: the user's own function, unrewritten, on arrays with the pattern vocabulary.

What makes an argument such an array comes from patterns/, which registers here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .arguments import Binder
from .eager_mode import eager_call, in_eager_call
from .inout import Marked
from .outputs import deliver
from .pytree import flatten

Convert = Callable[[Any], Any]


def call_eagerly(
    function: Callable[..., Any],
    binder: Binder,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    out: object,
) -> Any:
    """The result, written to the arrays of `out` if there are any."""
    if in_eager_call():  # inside another function's eager call: part of it
        result: Any = function(*args, **kwargs)
        return result if out is None else deliver(out, result)
    bound = binder.bind(args, kwargs)
    marked = Marked.of(binder, bound) if binder.inout else None
    if marked is not None:
        marked.check_apart("out", flatten(out)[0])
    values = [_value(binder, k, value) for k, value in enumerate(bound)]
    with eager_call():
        result = _unwrap(binder.call(function, values))
    if marked is not None:
        result = marked.without(result)
    return result if out is None else deliver(out, result)


def _value(binder: Binder, k: int, value: Any) -> Any:
    """What the function gets for parameter k: an array that it may not write to is a copy."""
    if k in binder.static:
        return value
    return _view(value) if k in binder.inout else _wrap(value)


def _same(value: Any) -> Any:
    return value


_wrap: Convert = _same
_view: Convert = _same
_unwrap: Convert = _same


def register_eager(wrap: Convert, view: Convert, unwrap: Convert) -> None:
    """Says how an argument becomes an eager value, one that is written to as well, and a result
    what the user sees.
    """
    global _wrap, _view, _unwrap
    _wrap, _view, _unwrap = wrap, view, unwrap
