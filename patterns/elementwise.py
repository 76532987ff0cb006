"""Elementwise operations on staged arrays: broadcast while staging, then one Collect over the
result's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..staging import arithmetic, reps, scalars
from ..staging.context import trace
from ..staging.narrowing import UNCHECKED, needs_check
from ..staging.primitives import BY_UFUNC, Primitive, ufunc_loop
from ..staging.reps import Rep
from ..staging.scalars import ScalarRep
from . import emit, sizes
from .arrays import ArrayRep
from .conversions import as_array
from .sizes import Size


def broadcast_shapes(shapes: Sequence[Sequence[Size]], what: str) -> tuple[Size, ...]:
    """The common shape: a static 1 gives way, all other sizes that meet are made one."""
    rank = max(len(shape) for shape in shapes)
    result: list[Size] = []
    for axis in range(rank):
        meeting = [s[axis - rank + len(s)] for s in shapes if axis >= rank - len(s)]
        longer = [size for size in meeting if not sizes.is_one(size)]
        common = longer[0] if longer else meeting[0]
        for size in longer[1:]:
            common = trace().unify(common, size, what)
        result.append(common)
    return tuple(map(trace().canonical, result))


def elementwise(f: Callable[..., ScalarRep], inputs: Sequence[Rep], what: str) -> Rep:
    """`f` of the elements, over the inputs' broadcast shape; numbers are the same everywhere."""
    arrays = {k: as_array(rep) for k, rep in enumerate(inputs) if not isinstance(rep, ScalarRep)}
    shape = broadcast_shapes([a.sizes for a in arrays.values()], f"the sizes in {what}")
    stretched = {k: a.broadcast(shape) for k, a in arrays.items()}

    def element(*indices: ScalarRep) -> ScalarRep:
        return f(
            *(stretched[k].element(*indices) if k in stretched else r for k, r in enumerate(inputs))
        )

    found = emit.collect(shape, element)
    assert isinstance(found, ArrayRep)
    return found


def apply(ufunc: np.ufunc, inputs: tuple[Rep, ...]) -> Rep:
    """A ufunc on inputs of which at least one has axes."""
    if ufunc is np.matmul:
        from .products import matmul

        return matmul(*inputs)  # type: ignore[no-any-return]
    inputs = _checked_once(ufunc, inputs)
    name = BY_UFUNC[ufunc].symbol if ufunc in BY_UFUNC else ""
    return elementwise(
        lambda *elements: scalars.scalar_ufunc(ufunc, elements),
        inputs,
        name or f"np.{ufunc.__name__}",
    )


def apply_primitive(primitive: Primitive, x: object, what: str) -> Rep:
    """A primitive of one argument that is no ufunc, on a number or an array."""

    def value(v: ScalarRep) -> ScalarRep:
        return scalars.apply_primitive(primitive, v)

    rep = reps.lift(x)
    if not isinstance(rep, ScalarRep):
        return elementwise(value, (rep,), what)
    found: Rep = reps.strong(value(rep))
    return found


def _checked_once(ufunc: np.ufunc, inputs: tuple[Rep, ...]) -> tuple[Rep, ...]:
    """The inputs; Python integers that the loop's type may not hold are checked before the loop,
    for empty arrays too.
    """
    if BY_UFUNC.get(ufunc) in UNCHECKED:
        return inputs
    try:
        loop, _ = ufunc_loop(ufunc, tuple(emit.element_type(rep.type) for rep in inputs))
    except TypeError:
        return inputs  # refused below, with the types' names
    return tuple(
        scalars.narrow(rep, to)
        if isinstance(rep, ScalarRep) and needs_check(rep.operand, to)
        else rep
        for rep, to in zip(inputs, loop, strict=True)
    )


arithmetic.register_ufuncs(apply, numbers=False)
