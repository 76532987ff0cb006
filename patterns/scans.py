"""Scans: `xs.scan(f)`, and NumPy's accumulations along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..staging import pytree
from ..staging.arithmetic import apply_ufunc
from ..staging.context import trace
from ..staging.errors import StagingTypeError
from ..staging.nodes import If, Operand
from ..staging.pytree import LEAF, Tree
from ..staging.reps import Rep, rep_of
from ..staging.scalars import ScalarRep
from ..staging.types import Array, Scalar, Type
from . import emit, reducers, sizes
from .arrays import ArrayRep
from .conversions import as_array, converted, strong
from .lambdas import fitting, joined, stable, staged
from .sizes import Size
from .vocabulary import Patterns, Selector


def scan_by(
    source: Patterns, f: Selector, init: object, exclusive: bool, declared: dict[str, bool | None]
) -> Any:
    """The elements of `source` up to each one combined by the user's function, after `init`."""
    extent = _extent(source)
    structure: list[Tree] = []
    first = None if init is None else emit.flatten(init)

    def components(i: ScalarRep) -> tuple[Rep, ...]:
        leaves, made = emit.flatten(source.at(i))
        structure.append(made)
        values = [strong(leaf) for leaf in leaves]
        starts: list[Rep] | list[None] = [None] * len(values)
        if first is not None:
            starts = first[0]
            if first[1] != made:
                raise StagingTypeError("scan(f, init): init must have the form of an element")
        types = tuple(_starting(v.type, s) for v, s in zip(values, starts, strict=True))
        types = stable(f, made, types)
        wide = [converted(v, emit.element_type(t)) for v, t in zip(values, types, strict=True)]
        if first is None:
            return tuple(wide)
        return _after(f, made, first[0], wide, types, i)

    def make(types: tuple[Type, ...]) -> reducers.Reducer:
        reducer = reducers.proven(staged(f, structure[0], types), "scan")
        if exclusive and init is None and reducer.identity is None:
            raise StagingTypeError(
                "an exclusive scan by a function whose identity is not known",
                why="its first result is what stands before all elements",
                instead="scan(f, init, exclusive=True)",
            )
        return reducers.declared(reducer, **declared, identity=reducer.identity)

    found = list(emit.scan(extent, components, make, exclusive and first is None))
    if exclusive and first is not None:
        found = [_shifted(as_array(a), s) for a, s in zip(found, first[0], strict=True)]
    return pytree.unflatten(structure[0], found)


def _extent(source: Patterns) -> Size:
    extent, *more = source.domain
    if more:
        raise StagingTypeError(
            "a scan over several axes",
            why="elements are combined in the order of one axis",
            instead="x.rows.scan(f) for the rows, x.ravel().scan(f) for the elements in C order",
        )
    return extent


def _starting(type_: Type, start: Rep | None) -> Type:
    """The type of values that are combined after `start`."""
    if isinstance(start, ScalarRep):
        return joined(type_, start)
    if start is None or not isinstance(type_, Array):
        return type_
    element = joined(type_.element, rep_of_element(start))
    assert isinstance(element, Scalar)
    return Array(element, type_.shape)


def rep_of_element(array: Rep) -> object:
    """A number of the array's dtype: it promotes as the array does."""
    return emit.element_type(array.type).dtype.type(0)


def _after(
    f: Selector,
    structure: Tree,
    init: list[Rep],
    values: list[Rep],
    types: tuple[Type, ...],
    i: ScalarRep,
) -> tuple[Rep, ...]:
    """`f(init, values)` at index 0, the values elsewhere."""

    def begun() -> list[Operand]:
        start = [fitting(s, t) for s, t in zip(init, types, strict=True)]
        found = f(pytree.unflatten(structure, start), pytree.unflatten(structure, values))
        leaves, _ = emit.flatten(found)
        return [fitting(leaf, t).operand for leaf, t in zip(leaves, types, strict=True)]

    then = emit.block((), begun)
    orelse = emit.block((), lambda: [v.operand for v in values])
    return tuple(rep_of(o) for o in trace().emit(If(_is_first(i), then, orelse)))


def _shifted(results: ArrayRep, init: Rep) -> ArrayRep:
    """`init`, then all results but the last."""
    start = converted(strong(init), results.scalar)

    def element(i: ScalarRep, *rest: ScalarRep) -> ScalarRep:
        then = emit.block((), lambda: [_element(start, rest).operand])
        previous = ScalarRep(sizes.subtract(i.operand, 1))
        orelse = emit.block((), lambda: [results.element(previous, *rest).operand])
        return ScalarRep(trace().emit(If(_is_first(i), then, orelse))[0])

    return as_array(emit.array(results.sizes, element))


def _element(value: Rep, indices: tuple[ScalarRep, ...]) -> ScalarRep:
    return value if isinstance(value, ScalarRep) else as_array(value).element(*indices)


def _is_first(i: ScalarRep) -> Operand:
    return emit.condition(apply_ufunc(np.equal, (i, 0)))


def accumulated(
    x: ArrayRep, axis: int, f: Selector, change: Callable[[ScalarRep], Rep], name: str
) -> ArrayRep:
    """The elements along an axis combined by f, up to each one; `change` makes each ready."""
    before, size, after = x.sizes[:axis], x.sizes[axis], x.sizes[axis + 1 :]

    def along(outer: tuple[ScalarRep, ...]) -> Rep:
        def value(i: ScalarRep) -> Rep:
            if not after:
                return change(x.element(*outer, i))
            return emit.array(after, lambda *inner: change(x.element(*outer, i, *inner)))

        def make(types: tuple[Type, ...]) -> reducers.Reducer:
            return reducers.proven(staged(f, LEAF, types), name)

        return emit.scan(size, value, make)[0]

    return as_array(emit.array(before, lambda *outer: along(outer)) if before else along(()))
