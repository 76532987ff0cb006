"""np.nansum and its kin: reductions that pass over NaN."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging import primitives as p
from ...staging.context import trace
from ...staging.nodes import Check, ErrorKind
from ...staging.numpy_functions import define_function
from ..conversions import strong, with_axes
from ..reductions import NOT_GIVEN, Options


def _both(a: Any, where: Any) -> Any:
    """What counts: the numbers, where the user's mask holds too."""
    numbers = np.logical_not(np.isnan(a))
    return numbers if where is None or where is True else numbers & where


def _given(**options: Any) -> dict[str, Any]:
    return {k: v for k, v in options.items() if v is not None and v is not NOT_GIVEN}


def _masked(name: str) -> Callable[..., Any]:
    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        x = with_axes(a)
        options = _given(dtype=dtype, out=out, keepdims=keepdims, initial=initial)
        return getattr(x, name)(axis, where=_both(x, where), **options)

    return call


define_function(np.nansum)(_masked("sum"))
define_function(np.nanprod)(_masked("prod"))


@define_function(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = None,
) -> Any:
    """The mean of the numbers; NaN where there are none."""
    x = with_axes(a)
    return x.mean(axis, where=_both(x, where), **_given(dtype=dtype, out=out, keepdims=keepdims))


def _spread(name: str) -> Callable[..., Any]:
    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = None,
    ) -> Any:
        x = with_axes(a)
        options = _given(dtype=dtype, keepdims=keepdims)
        mask = _both(x, where)
        found: Any = getattr(x, name)(axis, ddof=ddof, where=mask, **options)
        enough = np.sum(mask, axis, keepdims=bool(options.get("keepdims"))) > ddof
        found = np.where(enough, found, np.array(np.nan, found.dtype)[()])
        return Options(out).stored(found, f"nan{name}")

    return call


define_function(np.nanvar)(_spread("var"))
define_function(np.nanstd)(_spread("std"))


def extreme(ufunc: np.ufunc, x: Any, axis: Any, options: Options) -> Any:
    """The greatest or least number along axes; NaN where there are only NaNs."""
    greatest = ufunc is np.fmax
    primitive = p.MAXIMUM if greatest else p.MINIMUM
    filled, numbers = x, None
    if x.dtype.kind == "f":
        worst = x.dtype.type(-np.inf if greatest else np.inf)
        numbers = np.logical_not(np.isnan(x))
        filled = np.where(numbers, x, worst)
    inner = Options(None, options.keepdims, options.initial, options.where)
    found = filled.combined(primitive, "max" if greatest else "min", axis, strong, inner)
    if numbers is not None and options.initial is None:
        some = numbers.any(axis, keepdims=options.keepdims)
        found = np.where(some, found, x.dtype.type(np.nan))
    return options.stored(found, ufunc.__name__)


def _extreme(ufunc: np.ufunc) -> Callable[..., Any]:
    def call(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        given = _given(keepdims=keepdims, initial=initial, where=where)
        return extreme(ufunc, with_axes(a), axis, Options(out, **given))

    return call


define_function(np.nanmax)(_extreme(np.fmax))
define_function(np.nanmin)(_extreme(np.fmin))


def _place(name: str) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        x: Any = with_axes(a)
        if x.dtype.kind == "f":
            missing = np.isnan(x)
            fine = np.logical_not(np.any(missing.all(axis)))
            trace().emit(Check(fine.operand, ErrorKind.VALUE, "All-NaN slice encountered"))
            worst = np.inf if name == "argmin" else -np.inf
            x = np.where(missing, x.dtype.type(worst), x)
        return getattr(x, name)(axis, **_given(out=out, keepdims=keepdims))

    return call


define_function(np.nanargmin)(_place("argmin"))
define_function(np.nanargmax)(_place("argmax"))
