"""Small changes of values on their way into a reduction, and the reducers of the usual ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..staging.arithmetic import apply_ufunc
from ..staging.errors import StagingTypeError
from ..staging.nodes import Operand, size_operand
from ..staging.primitives import Primitive
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep, cast, narrow
from ..staging.types import Scalar, Type
from . import emit, reducers, sizes
from .sizes import Size

if TYPE_CHECKING:
    from .arrays import ArrayRep


def binary(primitive: Primitive, name: str) -> Callable[[tuple[Type, ...]], reducers.Reducer]:
    """Makes the reducer of a primitive for whatever type the values have."""
    return lambda types: reducers.binary(primitive, types[0], name)


def arg_reducer(
    block: Callable[[Scalar], Any], name: str
) -> Callable[[tuple[Type, ...]], reducers.Reducer]:
    """Makes the reducer of argmin or argmax."""
    return lambda types: reducers.proven(block(emit.element_type(types[0])), name)


def converted(value: Rep, to: Scalar) -> Rep:
    """A number or an array with elements of type `to`."""
    if isinstance(value, ScalarRep):
        return cast(value, to)
    array = as_array(value)
    return array if array.scalar == to else array.astype(to.dtype)


def stored(value: Rep, to: Scalar) -> Rep:
    """What is stored in an array of type `to`: one of Python's integers must fit."""
    return narrow(value, to) if isinstance(value, ScalarRep) else converted(value, to)


def strong(value: Rep) -> Rep:
    """The value in the type that an array would store."""
    scalar = emit.element_type(value.type)
    return converted(value, scalar.strong) if scalar.weak else value


def widened(value: Rep) -> Rep:
    """The value in the type in which NumPy sums."""
    scalar = emit.element_type(value.type)
    wide = reducers.sum_type(scalar)
    return value if scalar == wide else converted(value, wide)


def as_float(value: object) -> Rep:
    """The value in the type in which NumPy takes means: integers as float64."""
    rep = lift(value)
    scalar = emit.element_type(rep.type)
    wide = scalar.strong if scalar.dtype.kind in "fc" else Scalar(np.dtype(np.float64))
    return rep if scalar == wide else converted(rep, wide)


def flat_index(domain: Sequence[Size], indices: Sequence[ScalarRep]) -> Operand:
    """The position of the indices in C order."""
    position = indices[0].operand
    for size, index in zip(domain[1:], indices[1:], strict=True):
        position = sizes.add(sizes.multiply(position, size), index.operand)
    return position


def lifted(value: object) -> Any:
    """The value as a Rep, for code that is written with operators and NumPy's functions."""
    return lift(value)


def apply(ufunc: np.ufunc, *inputs: object) -> Any:
    """A ufunc of values of which some may be staged."""
    return apply_ufunc(ufunc, inputs)


def as_array(value: Rep) -> ArrayRep:
    """A collection as an array (an array is itself)."""
    from .arrays import ArrayRep

    if isinstance(value, ScalarRep):
        raise StagingTypeError(f"expected an array, found a number ({value.type})")
    return value if isinstance(value, ArrayRep) else ArrayRep.of(value.operand)


def with_axes(value: object) -> ArrayRep:
    """A collection as an array, a number as an array of that one."""
    rep = lift(value)
    if isinstance(rep, ScalarRep):
        return as_array(emit.array((size_operand(1),), lambda *_: strong(rep)))
    return as_array(rep)
