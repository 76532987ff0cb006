"""np.where, np.clip, and the functions that only look at an array in another way."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.calls import staged_callable
from ...staging.errors import Limitation, StagingTypeError
from ...staging.narrowing import limits, needs_check
from ...staging.numpy_functions import define_function
from ...staging.primitives import join
from ...staging.reps import lift
from ...staging.scalars import ScalarRep, select
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import as_array, converted, stored, strong, with_axes
from ..elementwise import elementwise
from ..keys import nonzero
from ..reductions import Options, axis_number
from .axes import moveaxis


@define_function(np.where)
def where(condition: object, x: object = None, y: object = None) -> Any:
    """x where the condition holds, y elsewhere; both are evaluated everywhere. The condition alone:
    the positions where it holds.
    """
    if x is None and y is None:
        return nonzero(as_array(lift(condition)))

    def choose(cond: ScalarRep, a: ScalarRep, b: ScalarRep) -> ScalarRep:
        return select(ScalarRep(emit.condition(cond)), a, b)

    parts = [lift(part) for part in (condition, x, y)]
    if all(isinstance(part, ScalarRep) for part in parts):
        return choose(*(sizes.scalar_of(part, "a value") for part in parts))
    return elementwise(choose, parts, "np.where")


@define_function(np.clip)
def clip(a: object, a_min: object = None, a_max: object = None) -> Any:
    """Elements moved into a_min..a_max."""
    low = lift(a) if a_min is None else apply_ufunc(np.maximum, (a, _limit(a, a_min, 0)))
    return low if a_max is None else apply_ufunc(np.minimum, (low, _limit(a, a_max, 1)))


def _limit(a: object, limit: object, side: int) -> object:
    """A limit of np.clip; a Python integer beyond the dtype, on the side where it limits nothing,
    is the dtype's own limit.
    """
    rep, to = lift(limit), emit.element_type(lift(a).type)
    if not isinstance(rep, ScalarRep) or not needs_check(rep.operand, to):
        return rep
    own = limits(to.dtype)[side]
    if not -(2**63) <= own < 2**63:
        return rep
    return apply_ufunc((np.maximum, np.minimum)[side], (rep, own))


@define_function(np.round, np.around)
def round_(a: object, decimals: int = 0, out: Any = None) -> Any:
    """Rounded to a number of decimals, the nearest even one in the middle, in the dtype it has."""
    value: Any = lift(a)
    kind = emit.element_type(value.type).dtype.kind
    if kind == "b":
        raise Limitation("np.round of bools", why="NumPy rounds them to float16")
    if kind in "iu" and decimals < 0:
        raise Limitation("np.round of integers to tens", instead="x // 10**d * 10**d")
    scale = 10.0 ** abs(decimals)
    if kind in "iu":
        found = value
    elif decimals == 0:
        found = np.rint(value)
    elif decimals > 0:
        found = np.rint(value * scale) / scale
    else:
        found = np.rint(value / scale) * scale
    return Options(out).stored(found, "round")


@define_function(np.select)
def select_(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the first choice whose condition holds."""
    if len(condlist) != len(choicelist):
        raise StagingTypeError("np.select takes as many conditions as choices")
    kinds = [emit.element_type(strong(lift(v)).type) for v in choicelist]
    to = functools.reduce(join, [*kinds, emit.element_type(lift(default).type)]).strong
    found: Any = converted(lift(default), to)
    for cond, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        found = where(cond, converted(lift(choice), to), found)
    return found


@define_function(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    """Functions of the elements where conditions hold, the last of several conditions that do."""
    value: Any = lift(x)
    conds: Any = condlist if isinstance(condlist, list | tuple) else [condlist]
    functions = list(funclist)
    otherwise: Any = 0
    if len(functions) == len(conds) + 1:
        otherwise = functions.pop()
    if len(functions) != len(conds):
        raise StagingTypeError("np.piecewise takes a function for each condition, and one more")

    def of(f: Any) -> Any:
        found = staged_callable(f)(value, *args, **options) if callable(f) else f
        return stored(lift(found), emit.element_type(value.type))

    found = of(otherwise)
    for cond, f in zip(conds, functions, strict=True):
        found = where(cond, of(f), found)
    return found


@define_function(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: object, *args: Any, **options: Any) -> Any:
    """A function of the vectors along an axis: what it returns takes the axis's place."""
    x = as_array(lift(arr))
    place = axis_number(axis, x.ndim)
    moved = moveaxis(x, place, -1)
    function = staged_callable(func1d)

    def vector(*i: ScalarRep) -> Any:
        found: Any = moved
        for index in i:
            found = found.fixed(0, index)
        return function(found, *args, **options)

    if x.ndim == 1:
        return vector()
    found: Any = emit.collect(moved.sizes[:-1], vector)
    extra = found.ndim - (x.ndim - 1)
    if extra == 0:
        return found
    return moveaxis(found, range_(x.ndim - 1, found.ndim), range_(place, place + extra))


def range_(start: int, stop: int) -> tuple[int, ...]:
    """start, ..., stop - 1"""
    return tuple(range(start, stop))


@define_function(np.ravel)
def ravel(a: object, order: str = "C") -> ArrayRep:
    """The elements in C order, as a vector."""
    return with_axes(a).ravel(order)


@define_function(np.reshape)
def reshape(a: object, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> ArrayRep:
    """The elements, in C order, in another shape of as many."""
    found = with_axes(a).reshape(shape, order=order)
    return found.copy() if copy else found


@define_function(np.shape)
def shape(a: object) -> Any:
    """The sizes, staged integers where they are not static."""
    rep: Any = lift(a)
    return rep.shape


@define_function(np.ndim)
def ndim(a: object) -> int:
    """The number of axes."""
    rep: Any = lift(a)
    return int(rep.ndim)


@define_function(np.size)
def size(a: object, axis: int | None = None) -> Any:
    """The number of elements, in all or along an axis."""
    rep: Any = lift(a)
    return rep.size if axis is None else rep.shape[axis]
