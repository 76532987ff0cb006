"""Calls of ufuncs with options, their methods `outer` and `reduce`, and the ufuncs that have
several results or work on whole arrays.
"""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc, compose_ufunc, define_ufunc_method
from ...staging.errors import Limitation, StagingTypeError
from ...staging.primitives import BY_UFUNC
from ...staging.reps import strong
from ...staging.scalars import ScalarRep
from ...staging.types import Scalar
from .. import emit
from ..conversions import apply, as_array, converted, lifted, with_axes
from ..reductions import Options
from ..writes import store_result
from .missing import extreme
from .scanning import WIDE, combination_type


@define_ufunc_method("__call__")
def call(
    ufunc: np.ufunc, *inputs: Any, out: Any = None, where: Any = True, dtype: Any = None
) -> Any:
    """`ufunc(*inputs, out=, where=, dtype=)`"""
    if ufunc.nout > 1 or ufunc.signature is not None:
        raise Limitation(f"np.{ufunc.__name__} with out=, where= or dtype=")
    found = strong(apply_ufunc(ufunc, _in_loop_of(ufunc, inputs, dtype)))
    target = out[0] if isinstance(out, tuple) else out
    if where is not True:
        if target is None:
            raise Limitation(
                f"np.{ufunc.__name__} with where= and no out=",
                why="the elements elsewhere would be whatever the memory held",
                instead="np.where(condition, result, other)",
            )
        found = np.where(where, found, target)
    return found if target is None else store_result(target, found, f"np.{ufunc.__name__}")


def _in_loop_of(ufunc: np.ufunc, inputs: tuple[Any, ...], dtype: Any) -> tuple[Any, ...]:
    """The inputs in the types of the loop whose result is of this dtype."""
    if dtype is None:
        return inputs
    given = [lifted(x) for x in inputs]
    types: list[Any] = [emit.element_type(rep.type).dtype for rep in given]
    signature = (*[None] * ufunc.nin, np.dtype(dtype))
    try:
        found = ufunc.resolve_dtypes((*types, None), signature=signature, casting="same_kind")
    except TypeError as error:
        raise StagingTypeError(f"np.{ufunc.__name__} with dtype={dtype}", why=str(error)) from error
    return tuple(
        converted(rep, Scalar(to)) for rep, to in zip(given, found[: ufunc.nin], strict=True)
    )


@define_ufunc_method("outer")
def outer(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """`ufunc` of every element of a with every one of b, [*a.shape, *b.shape]."""
    left, right = lifted(a), lifted(b)
    if isinstance(left, ScalarRep) or isinstance(right, ScalarRep):
        return strong(apply(ufunc, left, right))
    rows = as_array(left)
    for _ in range(as_array(right).ndim):
        rows = rows.seen(rows.view.insert(rows.ndim))
    return apply(ufunc, rows, right)


_METHODS: dict[np.ufunc, str] = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "all",
    np.logical_or: "any",
}


@define_ufunc_method("reduce")
def reduce(
    ufunc: np.ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """The elements along axes combined by the ufunc; in order if it does not associate."""
    x = with_axes(array)
    given = {"out": out, "keepdims": keepdims, "initial": initial, "where": where}
    if ufunc in _METHODS:
        kept = {k: v for k, v in given.items() if v is not None}
        if ufunc in WIDE:
            kept |= {"dtype": dtype} if dtype is not None else {}
        elif dtype is not None:
            x = x.astype(dtype)
        return getattr(x, _METHODS[ufunc])(axis, **kept)
    options = Options(out, keepdims, initial, where)
    if ufunc in (np.fmax, np.fmin):
        return extreme(ufunc, x, axis, options)
    primitive = BY_UFUNC.get(ufunc)
    begins = ufunc.identity is not None  # with a value of the ufunc's own, which may change others
    if primitive is None or primitive.arity != 2 or (begins and primitive.identity is None):
        raise Limitation(f"np.{ufunc.__name__}.reduce is not supported on staged values")
    to = combination_type(ufunc, "reduce", x.scalar, dtype).dtype
    if ufunc is np.fmod and to.kind in "iu":
        raise Limitation("np.fmod.reduce of integers")
    x = x.astype(to)
    return x.combined(primitive, ufunc.__name__, axis, strong, options)


@compose_ufunc(np.divmod)
def divmod_(a: Any, b: Any) -> tuple[Any, Any]:
    """The quotient rounded down, and the remainder."""
    return np.floor_divide(lifted(a), b), np.remainder(lifted(a), b)


@compose_ufunc(np.modf)
def modf(x: Any) -> tuple[Any, Any]:
    """The fraction and the whole part, both with the sign of x."""
    value = strong(lifted(x))
    whole = np.trunc(value.astype(np.result_type(value.dtype, np.float16)))
    rest = np.where(np.isinf(whole), 0, value - whole)
    return np.copysign(rest, whole).astype(whole.dtype), whole


@compose_ufunc(np.vecdot)
def vecdot(a: Any, b: Any) -> Any:
    """The sums of products over the last axis."""
    return (np.conjugate(lifted(a)) * b).sum(axis=-1)


@compose_ufunc(np.matvec)
def matvec(a: Any, b: Any) -> Any:
    """Matrices times vectors: [..., m, n], [..., n] -> [..., m]."""
    return (lifted(a) * as_array(lifted(b))[..., None, :]).sum(axis=-1)


@compose_ufunc(np.vecmat)
def vecmat(a: Any, b: Any) -> Any:
    """Vectors times matrices: [..., n], [..., n, m] -> [..., m]."""
    return (np.conjugate(as_array(lifted(a)))[..., :, None] * b).sum(axis=-2)
