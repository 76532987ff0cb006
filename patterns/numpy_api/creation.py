"""np.zeros, np.arange and the other functions that make arrays; sizes may be staged integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.context import trace
from ...staging.errors import StagingTypeError
from ...staging.layouts import check_dtype
from ...staging.nodes import Cast, Const, Operand
from ...staging.numpy_functions import define_function
from ...staging.primitives import join
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, cast, constant, narrow, select
from ...staging.types import INDEX, Scalar
from .. import emit, sizes
from ..arrays import ArrayRep
from ..collections import Range
from ..conversions import as_array


def element_type(dtype: Any) -> Scalar:
    """A NumPy dtype, or what stands for one, as a scalar type."""
    found = np.dtype(dtype)
    check_dtype(found, "the array")
    return Scalar(found)


def filled(shape: object, value: object, dtype: Any) -> ArrayRep:
    """An array of one value."""
    same = narrow(sizes.scalar_of(value, "a fill value"), element_type(dtype))
    return as_array(emit.array(sizes.shape_of(shape), lambda *_: same))


@define_function(np.zeros, np.empty)
def zeros(shape: object, dtype: Any = float) -> ArrayRep:
    """Zeros (np.empty too: there is no memory to leave as it was)."""
    return filled(shape, 0, dtype)


@define_function(np.ones)
def ones(shape: object, dtype: Any = float) -> ArrayRep:
    """Ones."""
    return filled(shape, 1, dtype)


@define_function(np.full)
def full(shape: object, fill_value: object, dtype: Any = None) -> ArrayRep:
    """One value everywhere; the dtype is the value's by default."""
    value = sizes.scalar_of(fill_value, "a fill value")
    return filled(shape, value, value.dtype if dtype is None else dtype)


def _like(prototype: object, value: object, dtype: Any) -> Rep:
    rep = lift(prototype)
    to = emit.element_type(rep.type).dtype if dtype is None else dtype
    if isinstance(rep, ScalarRep):
        return narrow(sizes.scalar_of(value, "a fill value"), element_type(to))
    same = narrow(sizes.scalar_of(value, "a fill value"), element_type(to))
    return emit.array(as_array(rep).sizes, lambda *_: same)


@define_function(np.zeros_like, np.empty_like)
def zeros_like(a: object, dtype: Any = None) -> Rep:
    """Zeros of a's shape and dtype."""
    return _like(a, 0, dtype)


@define_function(np.ones_like)
def ones_like(a: object, dtype: Any = None) -> Rep:
    """Ones of a's shape and dtype."""
    return _like(a, 1, dtype)


@define_function(np.full_like)
def full_like(a: object, fill_value: object, dtype: Any = None) -> Rep:
    """One value in a's shape and dtype."""
    return _like(a, fill_value, dtype)


@define_function(np.asarray)
def asarray(a: object, dtype: Any = None) -> Rep:
    """The value as an array, itself if it is one of that dtype."""
    rep = lift(a)
    if isinstance(rep, ScalarRep):
        return rep if dtype is None else rep.astype(dtype)
    found = as_array(rep)
    return found if dtype is None or found.dtype == np.dtype(dtype) else found.astype(dtype)


@define_function(np.ascontiguousarray)
def ascontiguousarray(a: object, dtype: Any = None) -> Rep:
    """The value as an array whose elements lie behind one another, itself if they do."""
    found = asarray(a, dtype)
    return found if not isinstance(found, ArrayRep) or found.cell.dense else found.copy()


@define_function(np.array, np.copy)
def array(a: object, dtype: Any = None) -> Rep:
    """The value as an array of its own."""
    rep = lift(a)
    if isinstance(rep, ScalarRep):
        return rep if dtype is None else rep.astype(dtype)
    found = as_array(rep)
    return found.copy() if dtype is None else found.astype(dtype)


@define_function(np.eye)
def eye(N: object, M: object = None, k: object = 0, dtype: Any = float) -> ArrayRep:
    """Ones on the k-th diagonal of [N, M], zeros elsewhere."""
    to = element_type(dtype)
    one, zero = cast(constant(1), to), cast(constant(0), to)
    shape = sizes.shape_of((N, N if M is None else M))

    def element(i: ScalarRep, j: ScalarRep) -> ScalarRep:
        on = apply_ufunc(np.equal, (apply_ufunc(np.add, (i, k)), j))
        return select(sizes.scalar_of(on, "a condition"), one, zero)

    return as_array(emit.array(shape, element))


@define_function(np.identity)
def identity(n: object, dtype: Any = float) -> ArrayRep:
    """The identity matrix [n, n]."""
    return eye(n, dtype=dtype)


@define_function(np.arange)
def arange(*bounds: object, dtype: Any = None) -> ArrayRep:
    """start, start + step, ... below stop: of integers as Python's range, of floats as NumPy counts
    them.
    """
    numbers = [sizes.scalar_of(b, "a bound of np.arange") for b in bounds]
    if not 1 <= len(numbers) <= 3:
        raise StagingTypeError("np.arange takes stop, or start and stop, or start, stop and step")
    if all(n.dtype.kind in "iu" for n in numbers):
        found = Range.of(*(_known(n) for n in numbers)).map(_same)
        common = np.result_type(np.int64, *(n.dtype for n in numbers if not n.scalar.weak))
        to = common if dtype is None else np.dtype(dtype)
        return as_array(found if found.dtype == to else found.astype(to))
    start, stop, step = _three(numbers)
    return _float_range(start, stop, step, dtype)


def _same(value: Any) -> Any:
    return value


def _known(number: ScalarRep) -> object:
    """A constant as the Python integer it is."""
    operand = number.operand
    return int(operand.value.item()) if isinstance(operand, Const) else number


def _three(numbers: list[ScalarRep]) -> tuple[ScalarRep, ScalarRep, ScalarRep]:
    if len(numbers) == 1:
        return constant(0), numbers[0], constant(1)
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else constant(1)


def _float_range(start: ScalarRep, stop: ScalarRep, step: ScalarRep, dtype: Any) -> ArrayRep:
    """NumPy's: ceil((stop - start) / step) values start + i * ((start + step) - start)."""
    steps: Any = apply_ufunc(np.true_divide, (apply_ufunc(np.subtract, (stop, start)), step))
    count: Any = apply_ufunc(np.ceil, (steps,))
    length = sizes.greatest(_size_of(count), 0)
    delta = apply_ufunc(np.subtract, (apply_ufunc(np.add, (start, step)), start))
    common = join(join(start.scalar, stop.scalar), step.scalar).strong
    to = common if dtype is None else element_type(dtype)

    def element(i: ScalarRep) -> ScalarRep:
        value = apply_ufunc(np.add, (start, apply_ufunc(np.multiply, (i, delta))))
        return cast(sizes.scalar_of(value, "a value of np.arange"), to)

    return as_array(emit.array((length,), element))


def _size_of(count: ScalarRep) -> Operand:
    return trace().emit_size(Cast(count.operand, INDEX))
