"""Building MultiLoops while staging: the user's callable runs once, on the loop's indices.

Each function opens the loop's block, runs the callables, closes the block and emits one MultiLoop
in canonical form: what is computed for every index stands in the prelude, what a condition guards
in the generator's value block. An exception inside drops the opened blocks. An array that a
callable returns is materialised inside, as a nested Collect; its sizes must be visible outside of
the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..staging import pytree
from ..staging.arithmetic import apply_ufunc
from ..staging.context import trace
from ..staging.errors import Limitation, StagingTypeError
from ..staging.nodes import Block, Bounds, Const, Node, Operand, Var
from ..staging.pytree import Tree
from ..staging.reps import Rep, lift, rep_of
from ..staging.scalars import ScalarRep, constant
from ..staging.traversal import type_vars
from ..staging.types import BOOL, INDEX, Array, Scalar, Type
from . import sizes
from .generators import Collect, Fold, Generator, MultiLoop, Reduce, Scan, canonical
from .reducers import Reducer
from .sizes import Size

Indexed = Callable[..., Any]
MakeReducer = Callable[[tuple[Type, ...]], Reducer]


def block(params: Sequence[Var], run: Callable[[], Sequence[Operand | Node]]) -> Block:
    """A nested block with what `run` emits and returns; an exception drops it."""
    builder = trace().builder
    scope = builder.open(params)
    try:
        results = run()
    except BaseException:
        builder.abandon(scope)
        raise
    return builder.close(results)


def loop(
    domain: Sequence[Size],
    generate: Callable[[tuple[ScalarRep, ...]], Sequence[Generator]],
    names: Sequence[str] = (),
    index_names: Sequence[str] = (),
) -> tuple[Operand, ...]:
    """Emits the MultiLoop whose generators `generate(indices)` makes."""
    t = trace()
    extents = tuple(t.canonical(size) for size in domain)
    params = tuple(
        Var(INDEX, index_names[axis] if axis < len(index_names) else _letter(axis))
        for axis in range(len(extents))
    )
    indices = tuple(sizes.index(v, extent) for v, extent in zip(params, extents, strict=True))
    body = block(params, lambda: generate(indices))
    return t.emit(canonical(MultiLoop(extents, body)), *names)


def _letter(axis: int) -> str:
    depth = len(trace().builder.scopes) - 1 + axis
    return "ijklmnopqrstuvw"[depth % 15]


def collect(
    domain: Sequence[Size], f: Indexed, names: Sequence[str] = (), index_names: Sequence[str] = ()
) -> Any:
    """The array of `f(*indices)` over the domain; for a tuple or dict, one array for each of its
    leaves.
    """
    structure: list[Tree] = []

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        values, made = flatten(f(*indices))
        structure.append(made)
        return [Collect(None, _result(v)) for v in values]

    found = loop(domain, generate, names, index_names)
    return pytree.unflatten(structure[0], [rep_of(o) for o in found])


def array(domain: Sequence[Size], f: Indexed, names: Sequence[str] = ()) -> Rep:
    """`collect` of one array."""
    found = collect(domain, f, names)
    assert isinstance(found, Rep)
    return found


def collect_if(domain: Sequence[Size], cond: Indexed, f: Indexed, names: Sequence[str] = ()) -> Rep:
    """The compacted array of `f(*indices)` where `cond(*indices)` holds, in index order."""

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        holds = condition(cond(*indices))
        return [Collect(holds, block((), lambda: [_visible(lift(f(*indices)))]))]

    return rep_of(loop(domain, generate, names)[1])


def reduce(
    domain: Sequence[Size],
    f: Indexed,
    make: MakeReducer,
    cond: Indexed | None = None,
    names: Sequence[str] = (),
) -> tuple[Rep, ...]:
    """All of `f(*indices)` combined, where `cond(*indices)` holds; f returns a value or a tuple of
    components.
    """

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        holds = None if cond is None else condition(cond(*indices))
        if is_true(holds):
            holds, value = None, Block((), (), tuple(_components(f, indices)))
        else:
            value = block((), lambda: _components(f, indices))
        return [Reduce(holds, value, make(tuple(o.type for o in value.operands)))]

    return tuple(rep_of(o) for o in loop(domain, generate, names))


def scan(
    extent: Size, f: Indexed, make: MakeReducer, exclusive: bool = False, names: Sequence[str] = ()
) -> tuple[Rep, ...]:
    """The values `f(i)` up to each index combined; f returns a value or a tuple of components."""

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        value = block((), lambda: _components(f, indices))
        return [Scan(None, value, make(tuple(o.type for o in value.operands)), exclusive)]

    return tuple(rep_of(o) for o in loop((extent,), generate, names))


def fold(
    domain: Sequence[Size],
    location: Indexed,
    f: Indexed,
    make: MakeReducer,
    shape: Sequence[Size],
    cond: Indexed | None = None,
    names: Sequence[str] = (),
) -> Rep:
    """The array of `shape` into which each `f(*indices)` is reduced at `location(*indices)`, an
    integer or a tuple.
    """

    def values(indices: tuple[ScalarRep, ...]) -> list[Operand]:
        found = location(*indices)
        parts: tuple[object, ...] = cast(Any, found) if isinstance(found, tuple) else (found,)
        places = [index_value(part) for part in parts]
        return [*places, _visible(lift(f(*indices)))]

    def generate(indices: tuple[ScalarRep, ...]) -> Sequence[Generator]:
        holds = None if cond is None else condition(cond(*indices))
        if is_true(holds):
            holds, value = None, Block((), (), tuple(values(indices)))
        else:
            value = block((), lambda: values(indices))
        reducer = make((value.operands[-1].type,))
        return [Fold(holds, value, reducer, tuple(shape), Bounds.CHECKED)]

    return rep_of(loop(domain, generate, names)[0])


# What a callable returns.


def condition(value: object) -> Operand:
    """A truth value: a number counts as true unless it is 0."""
    rep = lift(value)
    if not isinstance(rep, ScalarRep):
        raise StagingTypeError(
            f"a condition must be one truth value, found {rep.type}",
            instead="(...).any() or (...).all()",
        )
    if rep.scalar == BOOL:
        return rep.operand
    return apply_ufunc(np.not_equal, (rep, constant(0))).operand


def index_value(value: object) -> Operand:
    """An integer as an index operand, i64."""
    from ..staging.scalars import cast as cast_scalar
    from ..staging.types import I64

    rep = lift(value)
    if not isinstance(rep, ScalarRep) or rep.dtype.kind not in "iu":
        raise StagingTypeError(f"an index must be an integer, found {rep.type}")
    return rep.operand if rep.dtype == I64.dtype else cast_scalar(rep, I64).operand


def is_true(cond: Operand | None) -> bool:
    """Whether the condition is absent or known to hold."""
    return cond is None or (isinstance(cond, Const) and bool(cond.value))


def _components(f: Indexed, indices: tuple[ScalarRep, ...]) -> list[Operand]:
    """What f returns for a reducer: a value, or a tuple of components."""
    value = f(*indices)
    parts: tuple[object, ...] = cast(Any, value) if isinstance(value, tuple) else (value,)
    return [_visible(lift(part)) for part in parts]


def _result(value: Rep) -> Block:
    return Block((), (), (_visible(value),))


def _visible(value: Rep) -> Operand:
    """The value's operand, after a check that it has not leaked, and that the innermost loop's
    surroundings know its sizes.
    """
    operand = value.operand
    trace().check_visible(operand)
    builder = trace().builder
    inside = [v for v in type_vars(operand.type) if builder.depth(v) >= _loop_depth()]
    if inside:
        raise Limitation(
            "a function applied to each element returns arrays whose lengths differ between "
            "elements",
            why="the result would be ragged; an array's sizes must be known outside of the "
            "function",
            instead="return a number (a sum, a count), or an array whose size does not "
            "depend on the element",
        )
    return operand


def _loop_depth() -> int:
    """Depth of the innermost block with loop indices (value blocks stand inside of it)."""
    scopes = trace().builder.scopes
    depth = len(scopes) - 1
    while depth > 0 and not scopes[depth].params:
        depth -= 1
    return depth


def flatten(value: object) -> tuple[list[Rep], Tree]:
    """The leaves of a record (nested tuples, dicts, ...) and its structure; a list is an array, a
    leaf.
    """
    leaves, tree = pytree.flatten(value, lambda v: isinstance(v, list))
    return [lift(leaf) for leaf in leaves], tree


def element_type(type_: Type) -> Scalar:
    """The scalar type of a number or of an array's elements."""
    return type_.element if isinstance(type_, Array) else type_
