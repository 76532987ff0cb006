"""Python's builtins on staged values: what rewritten code calls in their place."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from . import math_calls as math_calls  # registers what it defines
from . import primitives as p
from .arithmetic import Arithmetic, apply_ufunc
from .calls import F, callee, replace, staged_callable
from .context import trace
from .control import decide
from .errors import Limitation, StagingTypeError
from .guards import check_written, load_attribute
from .iteration import (
    StagedEnumerate,
    StagedRange,
    StagedReversed,
    StagedSequence,
    StagedZip,
    as_iterable,
    is_staged_iterable,
)
from .logic import conjunction, disjunction
from .nodes import Callback, PythonFunction
from .reps import Rep
from .scalars import PythonBool, ScalarRep, apply_primitive, lift_scalar, select
from .scalars import cast as convert
from .state import is_staged, truth
from .types import WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Array, Scalar
from .unsupported import INSTEAD

# Conversions: Python's numbers are weak.


def _conversion(python: type, to: Scalar) -> None:
    def converted(*args: object, **options: object) -> object:
        if len(args) == 1 and isinstance(args[0], Rep):
            return convert(lift_scalar(args[0]), to)
        return python(*args, **options)

    replace(python)(converted)


_conversion(int, WEAK_INT)
_conversion(float, WEAK_FLOAT)
_conversion(complex, WEAK_COMPLEX)


def _dtype_conversion(dtype: type[np.generic]) -> None:
    """`np.float32(x)`: the staged number or array in that dtype."""

    @replace(dtype)
    def converted(*args: Any) -> object:
        staged: Any = args[0] if len(args) == 1 and isinstance(args[0], Rep) else None
        return dtype(*args) if staged is None else staged.astype(dtype)


for _code in "?bhilqBHILQefdFD":
    _dtype_conversion(np.dtype(_code).type)


@replace(bool)
def _bool(*args: object) -> object:
    if args and isinstance(args[0], Rep):
        return PythonBool(truth(args[0]).operand)
    return bool(*args)


def _kind(value: Rep) -> type:
    """The type that a value has when the function is not staged."""
    if isinstance(value.type, Array):
        return np.ndarray
    if isinstance(value, PythonBool):
        return bool
    if value.type.weak:
        return {"i": int, "f": float, "c": complex}[value.type.dtype.kind]
    return value.type.dtype.type


@replace(isinstance)
def _isinstance(value: object, kinds: Any) -> bool:
    if isinstance(value, Arithmetic):
        return issubclass(_kind(value), kinds)
    return isinstance(value, kinds)


@replace(type)
def _type(*args: Any, **options: Any) -> object:
    staged = len(args) == 1 and isinstance(args[0], Arithmetic)
    return _kind(args[0]) if staged else type(*args, **options)


@replace(round)
def _round(x: Any, ndigits: Any = None) -> object:
    if not isinstance(x, Rep):
        return round(x) if ndigits is None else round(x, ndigits)
    if isinstance(ndigits, Rep):
        raise Limitation("round() to a staged number of digits")
    rep = lift_scalar(x)
    if rep.dtype.kind == "b":
        rep = convert(rep, WEAK_INT)
    whole = rep.dtype.kind in "iu"
    if ndigits is None:
        rounded = rep if whole else cast(ScalarRep, apply_ufunc(np.rint, (rep,)))
        return convert(rounded, WEAK_INT)
    if whole and ndigits >= 0:
        return rep
    scale = 10.0 ** abs(ndigits)
    value: Any = rep
    scaled: Any = apply_ufunc(np.rint, (value * scale if ndigits >= 0 else value / scale,))
    found: Any = scaled / scale if ndigits >= 0 else scaled * scale
    return convert(found, rep.scalar) if whole else found


@replace(divmod)
def _divmod(a: Any, b: Any) -> object:
    return (a // b, a % b) if is_staged((a, b)) else divmod(a, b)


# Iteration.


@replace(len)
def _len(value: Any) -> object:
    if isinstance(value, StagedSequence):
        return apply_ufunc(np.maximum, (value.staged_length(), 0))
    if is_staged_iterable(value):
        return value.staged_length()
    if isinstance(value, Rep):
        raise StagingTypeError(f"len() of {value.type}", why="a number has no length")
    return len(value)


@replace(range)
def _range(*bounds: Any) -> object:
    return StagedRange(*bounds) if any(isinstance(b, Rep) for b in bounds) else range(*bounds)


@replace(zip)
def _zip(*parts: Any, strict: bool = False) -> object:
    if any(map(is_staged_iterable, parts)):
        return StagedZip(*parts, strict=strict)
    return zip(*parts, strict=strict)


@replace(enumerate)
def _enumerate(iterable: Any, start: Any = 0) -> object:
    if is_staged_iterable(iterable) or isinstance(start, Rep):
        return StagedEnumerate(as_iterable(iterable), start)
    return enumerate(iterable, start)


@replace(reversed)
def _reversed(iterable: Any) -> object:
    if is_staged_iterable(iterable):
        return StagedReversed(as_iterable(iterable))
    return reversed(iterable)


@replace(list)
def _list(*args: Any) -> object:
    if args and isinstance(args[0], StagedSequence):
        return args[0].collected()
    return list[object](*args)


@replace(sorted)
def _sorted(iterable: Any, **options: Any) -> object:
    if is_staged_iterable(iterable) or is_staged(iterable):
        raise Limitation(
            "sorted() of staged values",
            why="it makes a Python list, in an order that is known only when the program runs",
            instead=INSTEAD["sort"],
        )
    return sorted(iterable, **options)


def _with_staged_function(original: Callable[..., Any]) -> None:
    @replace(original)
    def call(f: object, *args: Any, **options: Any) -> object:
        return original(staged_callable(f), *args, **options)


for _original in (map, filter):
    _with_staged_function(_original)


@replace(functools.reduce)
def _reduce(f: object, values: Any, *initial: Any) -> object:
    if isinstance(values, StagedSequence | Rep) and not isinstance(values, ScalarRep):
        raise Limitation(
            "functools.reduce over a staged collection",
            why="its length is known only when the compiled program runs",
            instead="x.reduce(f), in any order, or a for loop",
        )
    return functools.reduce(staged_callable(f), values, *initial)


@replace(getattr)
def _getattr(owner: object, name: str, *default: object) -> object:
    return getattr(owner, name, *default) if default else load_attribute(owner, name)


@replace(setattr)
def _setattr(owner: object, name: str, value: object) -> None:
    check_written(owner, f"the attribute {name}")
    setattr(owner, name, value)


@replace(delattr)
def _delattr(owner: object, name: str) -> None:
    check_written(owner, f"the attribute {name}")
    delattr(owner, name)


# Reductions.


def _over_range(reduction: F) -> F:
    """The reduction, which also takes a staged range and its like; of integers it is one."""

    @functools.wraps(reduction)
    def call(*args: Any, **options: Any) -> object:
        if len(args) == 0 or not isinstance(args[0], StagedSequence):
            return reduction(*args, **options)
        found = reduction(args[0].collected(), *args[1:], **options)
        weak = isinstance(args[0], StagedRange) and isinstance(found, ScalarRep)
        return convert(found, WEAK_INT) if weak and found.dtype.kind == "i" else found

    return cast(F, call)


def _method(value: Rep, name: str, **options: object) -> object:
    """The staged collection's own reduction."""
    return getattr(value, name)(**options)


def _axes(value: object) -> int:
    return cast(int, getattr(value, "ndim", 1))


@replace(sum)
@_over_range
def _sum(values: Any, start: Any = 0) -> object:
    if not isinstance(values, Rep):
        return sum(values, start)
    options: dict[str, Any] = {"axis": 0} if _axes(values) > 1 else {}
    dtype = getattr(values, "dtype", None)
    if dtype is not None and dtype.kind in "iu":
        options["dtype"] = dtype  # element after element: nothing widens
    found: Any = _method(values, "sum", **options)
    return found if isinstance(start, int) and start == 0 else start + found


def _extreme(original: Any, primitive: p.Primitive) -> None:
    is_less = primitive is p.MINIMUM

    def pair(a: Any, b: Any) -> object:
        if not (isinstance(a, Rep) or isinstance(b, Rep)):
            return original(a, b)
        x, y = lift_scalar(a), lift_scalar(b)
        if x.dtype.kind in "iub" and y.dtype.kind in "iub":
            found = apply_primitive(primitive, x, y)
            pythons = all(isinstance(v, bool | PythonBool) for v in (a, b))
            return PythonBool(found.operand) if pythons else found
        # Python's rule, which a NaN in front wins.
        better = apply_primitive(p.LESS if is_less else p.GREATER, y, x)
        return select(better, y, x)

    @replace(original)
    @_over_range
    def extreme(*args: Any, **options: Any) -> object:
        values = args[0] if len(args) == 1 else args
        if isinstance(values, Rep):
            if options or _axes(values) > 1:
                what = ", ".join(options) or "a matrix"
                raise Limitation(
                    f"{original.__name__}() with {what} on staged values",
                    instead=f"x.{original.__name__}(), x.{original.__name__}_by(f)",
                )
            if getattr(values, "dtype", np.dtype(int)).kind == "f":
                return cast(Any, values).reduce(pair)  # in order: a NaN counts by its place
            return _method(values, original.__name__)
        values = list(values)
        if not is_staged(values):
            return original(values, **options)
        if options:
            raise Limitation(f"{original.__name__}() with {', '.join(options)} on staged values")
        return functools.reduce(pair, values)


_extreme(min, p.MINIMUM)
_extreme(max, p.MAXIMUM)


def _quantifier(original: Callable[[Iterable[object]], bool], chain: Callable[..., object]) -> None:
    stops = original is any

    @replace(original)
    @_over_range
    def quantifier(values: Any) -> object:
        if isinstance(values, Rep):
            return _method(values, original.__name__)
        found: object = not stops
        for value in values:
            known = decide(value)
            if known is stops:
                return stops
            if isinstance(known, ScalarRep):
                found = known if isinstance(found, bool) else chain(found, lambda k=known: k)
        return found


_quantifier(any, disjunction)
_quantifier(all, conjunction)


# Output.


@replace(print)
def _print(*args: object, **options: Any) -> None:
    """Prints at each run of the program, where Python would."""
    staged = [a for a in args if isinstance(a, Rep)]
    constants = [None if isinstance(a, Rep) else a for a in args]
    holes = [k for k, a in enumerate(args) if isinstance(a, Rep)]

    def run(*values: object) -> None:
        shown: list[object] = list(constants)
        for k, value in zip(holes, values, strict=True):
            shown[k] = value
        builtins.print(*shown, **options)  # noqa: T201 - the user's own print

    trace().emit(Callback(PythonFunction(run), tuple(rep.operand for rep in staged)))


__all__ = ["callee"]
