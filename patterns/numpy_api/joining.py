"""np.stack, np.concatenate and their kin: one Collect that picks its input by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.context import trace
from ...staging.errors import ShapeError
from ...staging.nodes import If, size_operand
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep, select
from ...staging.scalars import cast as cast_scalar
from ...staging.types import Scalar
from .. import emit, sizes
from ..arrays import ArrayRep
from ..conversions import as_array, with_axes
from ..elementwise import broadcast_shapes
from ..reductions import axis_number
from ..sizes import Size


def parts_of(values: object) -> list[Rep]:
    """The members of a sequence, lifted."""
    if isinstance(values, Rep):
        return [lift(v) for v in cast(Any, values)]
    found = [lift(v) for v in cast(Sequence[object], values)]
    if not found:
        raise ShapeError("need at least one array")
    return found


def common(parts: Sequence[Rep]) -> Scalar:
    """The common element type of all parts, each as NumPy stores it: Python's numbers do not
    yield in a list.
    """
    from ...staging.primitives import join

    found = emit.element_type(parts[0].type).strong
    for part in parts[1:]:
        found = join(found, emit.element_type(part.type).strong)
    return found


@define_function(np.stack)
def stack(arrays: object, axis: int = 0) -> Rep:
    """Arrays of one shape along a new axis; numbers make a vector."""
    parts = parts_of(arrays)
    if isinstance(parts[0], ScalarRep):
        return _stack_numbers(parts)
    members = [as_array(part) for part in parts]
    inner = members[0].sizes
    for member in members[1:]:
        sizes.unify_shapes(inner, member.sizes, "the shapes of stacked arrays")
    place = axis_number(axis, len(inner) + 1)
    return concatenate([m.seen(m.view.insert(place)) for m in members], place)


def _stack_numbers(parts: Sequence[Rep]) -> Rep:
    element = common(parts)
    numbers = [
        cast_scalar(sizes.scalar_of(part, "a member of the list"), element) for part in parts
    ]

    def pick(i: ScalarRep) -> ScalarRep:
        found = numbers[-1]
        for k in range(len(numbers) - 2, -1, -1):
            is_k = apply_ufunc(np.equal, (i, k))
            assert isinstance(is_k, ScalarRep)
            found = select(is_k, numbers[k], found)
        return found

    return emit.array((size_operand(len(numbers)),), pick)


@define_function(np.concatenate)
def concatenate(arrays: object, axis: int = 0) -> Rep:
    """Arrays one after the other along an axis; the other sizes must be equal."""
    parts = parts_of(arrays)
    if any(isinstance(part, ScalarRep) for part in parts):
        raise ShapeError(
            "np.concatenate of a number", why="it has no axis", instead="np.stack of the numbers"
        )
    members = [as_array(part) for part in parts]
    place = axis_number(axis, members[0].ndim)
    starts: list[Size] = [size_operand(0)]
    for member in members:
        if member.ndim != members[0].ndim:
            raise ShapeError("np.concatenate needs arrays of one rank")
        for other in range(member.ndim):
            if other != place:
                trace().unify(members[0].sizes[other], member.sizes[other], "the sizes beside")
        starts.append(sizes.add(starts[-1], member.sizes[place]))
    element = common(members)
    shape = (*members[0].sizes[:place], starts[-1], *members[0].sizes[place + 1 :])
    return emit.array(shape, lambda *i: _member(members, starts, place, element, i))


def _member(
    members: Sequence[ArrayRep],
    starts: Sequence[Size],
    axis: int,
    element: Scalar,
    indices: Sequence[ScalarRep],
) -> ScalarRep:
    """The element of the first member that reaches the index; the choice is a chain of branches."""
    member, rest = members[0], members[1:]
    offset = sizes.subtract(indices[axis].operand, starts[0])
    if not rest:
        place = ScalarRep(offset)
        found = member.element(*indices[:axis], place, *indices[axis + 1 :])
        return cast_scalar(found, element)
    here = apply_ufunc(np.less, (indices[axis], ScalarRep(starts[1])))
    assert isinstance(here, ScalarRep)
    then = emit.block((), lambda: [_member([member], starts, axis, element, indices).operand])
    orelse = emit.block((), lambda: [_member(rest, starts[1:], axis, element, indices).operand])
    return ScalarRep(trace().emit(If(here.operand, then, orelse))[0])


@define_function(np.vstack)
def vstack(tup: object) -> Rep:
    """Vectors as rows, matrices one below the other; a number is a vector of one."""
    members = [with_axes(part) for part in parts_of(tup)]
    return concatenate([m[None] if m.ndim == 1 else m for m in members], 0)


@define_function(np.hstack)
def hstack(tup: object) -> Rep:
    """Vectors end to end, matrices side by side; a number is a vector of one."""
    members = [with_axes(part) for part in parts_of(tup)]
    return concatenate(members, 0 if members[0].ndim == 1 else 1)


@define_function(np.column_stack)
def column_stack(tup: object) -> Rep:
    """Vectors as columns, matrices side by side; a number is a vector of one."""
    members = [with_axes(part) for part in parts_of(tup)]
    return concatenate([m[:, None] if m.ndim == 1 else m for m in members], 1)


@define_function(np.broadcast_to)
def broadcast_to(array: object, shape: object) -> ArrayRep:
    """The array stretched to a shape, as a view."""
    rep = lift(array)
    wanted = sizes.shape_of(shape)
    if isinstance(rep, ScalarRep):
        number = rep
        rep = emit.array((size_operand(1),), lambda *_: number)
    return as_array(rep).broadcast(wanted, "the sizes in np.broadcast_to")


@define_function(np.broadcast_arrays)
def broadcast_arrays(*args: object) -> tuple[ArrayRep, ...]:
    """All arrays stretched to their common shape, as views."""
    arrays = [as_array(lift(a)) for a in args]
    shape = broadcast_shapes([a.sizes for a in arrays], "the sizes in np.broadcast_arrays")
    return tuple(a.broadcast(shape) for a in arrays)
