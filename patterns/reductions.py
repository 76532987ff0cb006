"""What NumPy's reductions take beside the array: axes, a mask, a value to begin with, `out=`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.dataclass import dataclass
from ..staging.errors import Limitation, ShapeError, StagingTypeError
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep
from ..staging.types import Type
from . import emit, reducers
from .conversions import binary, converted, stored, with_axes
from .emit import MakeReducer
from .sizes import Size

Axis = int | Sequence[int] | None
NOT_GIVEN: Any = np._NoValue  # pyright: ignore[reportPrivateUsage]
"""What NumPy hands over for an argument that was not given."""

Value = Callable[[tuple[ScalarRep, ...], tuple[ScalarRep, ...]], Any]


@dataclass(frozen=True, slots=True)
class Options:
    """What NumPy's reductions take beside the axes.

    out : an array that the result is written to
    keepdims : whether reduced axes stay, with size 1
    initial : what is combined with each result
    where : a mask, broadcast to the array; the elements where it holds count
    """

    out: Any = None
    keepdims: bool = False
    initial: Any = None
    where: Any = None

    def condition(self, shape: Sequence[Size], axes: Sequence[int]) -> Value | None:
        """Whether the element at kept and reduced indices counts; None if all do."""
        if self.where is None or self.where is True:
            return None
        mask = with_axes(self.where).broadcast(shape, "a mask and what it selects from")
        return lambda kept, inner: mask.element(*merged(axes, kept, inner))

    def reducer(self, primitive: p.Primitive, name: str) -> MakeReducer:
        """The primitive's reducer. With an initial value, a reduction of nothing has one too."""
        make = binary(primitive, name)
        if primitive.identity is not None:
            return make
        if self.initial is None:
            if self.where is None:
                return make
            raise StagingTypeError(
                f"a reduction by {name} does not have an identity",
                why="where the mask selects nothing there would be no result",
                instead="initial=, the value to begin with",
            )

        def begun(types: tuple[Type, ...]) -> reducers.Reducer:
            found = make(types)
            least = reducers.lane_start(found)
            if least is None:
                raise Limitation(f"a reduction by {name} with initial=")
            return reducers.declared(found, identity=least)

        return begun

    def started(self, primitive: p.Primitive, found: Any) -> Any:
        """The result combined with the initial value."""
        if self.initial is None:
            return found
        to = emit.element_type(found.type)
        first = stored(lift(self.initial), to)
        function: Any = primitive.function
        return converted(apply_ufunc(function, (first, found)), to)

    def stored(self, found: Any, name: str) -> Any:
        """The result, written to `out` if there is one."""
        if self.out is None:
            return found
        from .writes import store_result

        return store_result(self.out, found, f"np.{name}")


def axes_of(axis: Axis, rank: int) -> tuple[int, ...]:
    """An axis, several or all, as numbers from 0."""
    if axis is None:
        return tuple(range(rank))
    given: Any = axis if isinstance(axis, tuple | list) else (axis,)
    found = tuple(axis_number(a, rank) for a in given)
    if len(set(found)) < len(found):
        raise StagingTypeError("duplicate value in 'axis'")
    return found


def axis_number(axis: Any, rank: int) -> int:
    """An axis, counted from the end when negative, as a number from 0."""
    if isinstance(axis, Rep) or not hasattr(axis, "__index__"):
        raise StagingTypeError(
            "an axis must be a Python integer",
            why="which axis is meant decides the program's types",
        )
    number = int(axis)
    if not -rank <= number < rank:
        raise ShapeError(f"axis {number} is out of bounds for an array with {rank} axes")
    return number % rank


def merged(
    axes: Sequence[int], kept: Sequence[ScalarRep], inner: Sequence[ScalarRep]
) -> tuple[ScalarRep, ...]:
    """The indices in the order of the array's axes."""
    outer, reduced = iter(kept), dict(zip(axes, inner, strict=True))
    rank = len(kept) + len(inner)
    return tuple(reduced[a] if a in reduced else next(outer) for a in range(rank))
