"""A user's `reduce(f)`: f staged once, on two accumulated values, into a Reducer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ..staging import pytree
from ..staging.context import trace
from ..staging.errors import StagingTypeError
from ..staging.nodes import Apply, Block, Const, Operand, Var
from ..staging.primitives import join
from ..staging.pytree import Tree
from ..staging.reps import Rep, rep_of
from ..staging.scalars import ScalarRep, lift_scalar, narrow
from ..staging.types import Array, Type
from . import emit, reducers, sizes
from .conversions import converted, strong
from .semantics import EMPTY_REDUCTION
from .sizes import Size
from .vocabulary import Patterns, Selector


def reduce_by(
    source: Patterns, f: Selector, declared: dict[str, bool | None], identity: object
) -> Any:
    """All elements of `source` combined by the user's function."""
    structure: list[Tree] = []
    begin: list[Rep] = []

    def start(count: int) -> tuple[object, ...]:
        several = isinstance(identity, tuple)
        return cast("tuple[object, ...]", identity) if several else (identity,) * count

    def components(*indices: ScalarRep) -> tuple[Rep, ...]:
        leaves, made = emit.flatten(source.at(*indices))
        structure.append(made)
        values = [strong(leaf) for leaf in leaves]
        wide = stable(f, made, tuple(map(joined, (v.type for v in values), start(len(values)))))
        return tuple(converted(v, emit.element_type(t)) for v, t in zip(values, wide, strict=True))

    def make(types: tuple[Type, ...]) -> reducers.Reducer:
        reducer = reducers.proven(staged(f, structure[0], types), "reduce")
        if identity is None:
            reducer = reducer if counted else replace(reducer, identity=None)
            return reducers.declared(reducer, **declared, identity=None)
        first = own = _identity(start(len(types)), types)
        if reducer.associative and declared["associative"] is not False:
            # What is no identity counts once, at the end; it does no harm in a least or greatest.
            pairs = zip(first, reducers.neutral(reducer), strict=True)
            own = tuple(a if b is None else b for a, b in pairs)
            if any(a.value != b.value for a, b in zip(first, own, strict=True)):
                begin.extend(map(rep_of, first))
        return reducers.declared(reducer, **declared, identity=own)

    counted = all(map(_is_counted, source.domain))
    if identity is None and counted:
        _check_not_empty(source.domain)
    found = list(emit.reduce(source.domain, components, make))
    result = pytree.unflatten(structure[0], found)
    if not begin:
        return result
    leaves, _ = emit.flatten(f(pytree.unflatten(structure[0], begin), result))
    fitted = [fitting(leaf, total.type) for leaf, total in zip(leaves, found, strict=True)]
    return pytree.unflatten(structure[0], fitted)


def _is_counted(size: Size) -> bool:
    """Whether the size is known without a loop that filters: of an argument, or computed of such.

    Elsewhere a reduction without an identity finds out whether there was nothing to reduce, and
    fuses with the filter.
    """
    size = trace().canonical(size)
    for scope in trace().builder.scopes:
        for stmt in scope.stmts:
            if size in stmt.binders:
                return isinstance(stmt.op, Apply) and all(map(_is_counted, stmt.op.args))
    return True


def _check_not_empty(domain: tuple[Size, ...]) -> None:
    """ValueError when there is nothing to reduce, as NumPy and functools.reduce have it, although
    an identity that is proven would give a value.
    """
    message = EMPTY_REDUCTION.format(name="reduce")
    for size in domain:
        sizes.check_not_empty(size, message)


def staged(f: Selector, structure: Tree, types: tuple[Type, ...]) -> Block:
    """`f` as a block (a1.., b1..) -> c1.. whose results have the types of its parameters."""
    params = tuple(Var(t, side) for side in ("a", "b") for t in types)

    def run() -> list[Operand]:
        results = _applied(f, structure, params)
        return [fitting(r, t).operand for r, t in zip(results, types, strict=True)]

    return emit.block(params, run)


def _applied(f: Selector, structure: Tree, params: tuple[Var, ...]) -> list[Rep]:
    """The leaves of what f returns for two values held by the parameters."""
    width = len(params) // 2
    sides = (params[:width], params[width:])
    a, b = (pytree.unflatten(structure, [rep_of(v) for v in side]) for side in sides)
    leaves, made = emit.flatten(f(a, b))
    if made != structure:
        raise StagingTypeError("reduce(f): f must return what it takes: a value of the same form")
    return leaves


def fitting(value: Rep, type_: Type) -> Rep:
    if isinstance(value.type, Array) != isinstance(type_, Array):
        raise StagingTypeError(f"reduce(f): f of two {type_} returned {value.type}")
    if isinstance(value.type, Array) and isinstance(type_, Array):
        if value.type.rank != type_.rank:
            raise StagingTypeError(f"reduce(f): f of two {type_} returned {value.type}")
    return converted(value, emit.element_type(type_))


def stable(f: Selector, structure: Tree, types: tuple[Type, ...]) -> tuple[Type, ...]:
    """The element types widened until f of two of them gives no wider one (an f that turns ints to
    floats).
    """
    for _ in range(4):
        found = _result_types(f, structure, types)
        wider = tuple(_join(t, r) for t, r in zip(types, found, strict=True))
        if wider == types:
            return types
        types = wider
    raise StagingTypeError("reduce(f): the type of f's result grows with every application")


def _result_types(f: Selector, structure: Tree, types: tuple[Type, ...]) -> tuple[Type, ...]:
    """What f of two such values returns; what it emits on the way is dropped."""
    builder = trace().builder
    params = tuple(Var(t) for _ in range(2) for t in types)
    scope = builder.open(params)
    try:
        return tuple(strong(leaf).type for leaf in _applied(f, structure, params))
    finally:
        builder.abandon(scope)


def _join(a: Type, b: Type) -> Type:
    element = join(emit.element_type(a), emit.element_type(b))
    return Array(element, a.shape) if isinstance(a, Array) else element


def joined(type_: Type, identity: object) -> Type:
    """The type of values that are combined with this identity."""
    if identity is None:
        return type_
    return _join(type_, lift_scalar(identity).scalar)


def _identity(identity: tuple[object, ...], types: tuple[Type, ...]) -> tuple[Const, ...]:
    found: list[Const] = []
    for part, type_ in zip(identity, types, strict=True):
        operand = narrow(lift_scalar(part), emit.element_type(type_)).operand
        if not isinstance(operand, Const):
            raise StagingTypeError("reduce(identity=...) must be a Python number")
        found.append(operand)
    return tuple(found)
