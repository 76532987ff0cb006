"""Public functions: staged in a trace, eager elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..staging.context import current
from ..staging.primitives import ERF, ERFC, Primitive
from ..staging.reps import lift
from ..staging.scalars import ScalarRep
from . import (
    collections,
    conversions,
    eager,
    eager_collections,
    eager_scatters,
    elementwise,
    emit,
    scatters,
    sizes,
)


def range(*bounds: Any) -> Any:
    """The integers of Python's range as a collection with the patterns.

    >>> range(4).map(lambda i: i * i)
    Array([0, 1, 4, 9])
    """
    staged = current() is not None
    return collections.Range.of(*bounds) if staged else eager_collections.Range(*bounds)


def collect(shape: Any, f: Callable[..., Any]) -> Any:
    """The array of `f(*indices)` over all indices of a shape, an integer or a sequence of them.

    >>> collect((2, 3), lambda i, j: i * 10 + j)
    Array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    if current() is None:
        return eager.collect(shape, f)
    return emit.collect(sizes.shape_of(shape), f, index_names=_parameter_names(f))


def asarray(value: Any) -> Any:
    """The value as an array with the patterns: an array (not copied), a list, a collection.

    >>> asarray([3.0, 1.0, 2.0]).argmin()
    np.int64(1)
    """
    if current() is None:
        return eager.asarray(value)
    rep = lift(value)
    return rep if isinstance(rep, ScalarRep) else conversions.as_array(rep)


def scatter(x: Any, indices: Any, values: Any, conflict: str = "last") -> Any:
    """A copy of x in which `x[indices]` are the values, as `x[indices] = values` would have it.

    conflict : what several values for one element mean: "last" or "first" of them stays; "unique":
        there are none, else CheckFailed (a ValueError) with the numbers of two such values

    >>> scatter([10, 20, 30], [2, 0, 2], [1, 2, 3])
    Array([ 2, 20,  3])
    """
    if current() is None:
        return eager_scatters.scatter(x, indices, values, conflict)
    return scatters.scatter(x, indices, values, conflict)


def erf(x: Any) -> Any:
    """The error function of a number, or of each element of an array.

    >>> erf([-1.0, 0.0, 1.0])
    Array([-0.84270079,  0.        ,  0.84270079])
    """
    return _apply(ERF, x)


def erfc(x: Any) -> Any:
    """1 - erf(x), exact also where erf(x) is near 1.

    >>> float(erfc(0.0)), 0 < float(erfc(10.0)) < 1e-44
    (1.0, True)
    """
    return _apply(ERFC, x)


def _apply(primitive: Primitive, x: Any) -> Any:
    if current() is None:
        return eager.apply_primitive(primitive, x)
    return elementwise.apply_primitive(primitive, x, f"pm.{primitive.name}")


def _parameter_names(f: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters, for the loop's indices."""
    code = getattr(f, "__code__", None)
    return () if code is None else tuple(code.co_varnames[: code.co_argcount])


__all__ = ["asarray", "collect", "erf", "erfc", "range"]
