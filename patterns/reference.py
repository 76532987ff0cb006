"""The reference interpreter: what a program means, one scalar at a time. The oracle of every test.

It runs any stage of the pattern IR: the staged program, the fused one, and what lies between. One
function an op, found by the op's class; a new op is one more function with `@evaluates`, a new
generator one with `@generates`. Every value is checked against the type of its binder, so a pass
that writes a wrong type or size is caught here.

Values are NumPy scalars and arrays of exactly the IR's dtypes; a weak scalar is a NumPy scalar of
its dtype. `Cast` is NumPy's astype: a float that the integer type cannot hold gives what NumPy
gives on this processor (on x86-64 the least i64, or the least i32 cut to the narrower width); a
complex number loses its imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..staging.nodes import (
    Apply,
    Block,
    Callback,
    Cast,
    Check,
    Const,
    ForLoop,
    If,
    Operand,
    Program,
    Update,
    Var,
    While,
)
from ..staging.nodes import Index as Read
from ..staging.types import Array, Scalar, Type
from . import scatter_semantics, semantics
from .generators import (
    BucketCollect,
    BucketReduce,
    Collect,
    Combining,
    Fold,
    Generator,
    MultiLoop,
    Reduce,
    Scan,
    Scatter,
)
from .machine import At, Machine, Places, Value, Values, bind_arguments, evaluates, generates
from .semantics import Element, Extents, Index
from .work import evaluated_work


def interpret(program: Program, arguments: Sequence[Any]) -> list[Value]:
    """The program's results for arguments in the order of its parameters (the captured ones last).

    Results are new arrays and NumPy scalars, of the dtypes that the types say.

    Raises ShapeError where sizes do not fit, and StagedIndexError, CheckFailed, AssertionFailed and
    OutOfBounds as the program does.
    """
    machine = Machine()
    machine.values.update(bind_arguments(program, arguments))
    results = machine.run(program.body)
    return [r.copy() if isinstance(r, np.ndarray) else r for r in results]


@evaluates(Apply)
def _apply(machine: Machine, op: Apply, where: Places) -> Values:
    return (op.primitive.evaluate(*[cast(np.generic, machine.value(a)) for a in op.args]),)


@evaluates(Cast)
def _cast(machine: Machine, op: Cast, where: Places) -> Values:
    value = machine.value(op.arg)
    if value.dtype.kind == "c" and op.to.dtype.kind not in "cb":
        value = cast(np.complexfloating[Any, Any], value).real
    with np.errstate(all="ignore"):
        return (value.astype(op.to.dtype),)


@evaluates(Read)
def _read(machine: Machine, op: Read, where: Places) -> Values:
    array = cast(np.ndarray, machine.value(op.array))
    index = tuple([machine.integer(i) for i in op.indices])
    semantics.check_inside(index, array.shape, op.bounds, where)
    return (array[index],)


@evaluates(Update)
def _update(machine: Machine, op: Update, where: Places) -> Values:
    array = cast(np.ndarray, machine.value(op.array)).copy()
    index = tuple([machine.integer(i) for i in op.indices])
    semantics.check_inside(index, array.shape, op.bounds, where)
    array[index] = machine.value(op.value)
    return (array,)


@evaluates(If)
def _if(machine: Machine, op: If, where: Places) -> Values:
    return machine.run(op.then if machine.value(op.cond) else op.orelse)


@evaluates(While)
def _while(machine: Machine, op: While, where: Places) -> Values:
    state = machine.first_state(op)
    while machine.run(op.cond, state)[0]:
        state = machine.run(op.body, state)
    return state


@evaluates(ForLoop)
def _for_loop(machine: Machine, op: ForLoop, where: Places) -> Values:
    state = machine.first_state(op)
    for i in range(machine.integer(op.count)):
        state = machine.run(op.body, (np.int64(i), *state))
    return state


@evaluates(Check)
def _check(machine: Machine, op: Check, where: Places) -> Values:
    if not machine.value(op.cond):
        raise semantics.failed_check(op.kind, op.message, where)
    return ()


@evaluates(Callback)
def _callback(machine: Machine, op: Callback, where: Places) -> Values:
    """Weak scalars become Python's; arrays are copied, for the function may write to them."""
    args: list[Any] = []
    for operand in op.args:
        value = machine.value(operand)
        weak = isinstance(operand.type, Scalar) and operand.type.weak
        args.append(value.item() if weak else value.copy())
    op.function(*args)
    return ()


@evaluates(MultiLoop)
def _multi_loop(machine: Machine, op: MultiLoop, where: Places) -> Values:
    extents = tuple(machine.integer(d) for d in op.domain)
    prelude = Prelude(machine, op.body, shared=len(op.generators) > 1)
    found: list[Value] = []
    for generator in op.generators:
        ordered = with_order(generator, op, machine)
        found.extend(machine.generate(ordered, extents, prelude.at, where))
    return tuple(found)


def with_order(generator: Generator, op: MultiLoop, machine: Machine) -> Generator:
    """The generator, its reducer's order resolved for the loop's extents."""
    if not isinstance(generator, Combining) or generator.reducer.order is None:
        return generator
    order = generator.reducer.order.resolved(evaluated_work(op, machine.integer))
    return replace(generator, reducer=replace(generator.reducer, order=order))


class Prelude:
    """Runs a loop body's statements once an index, though several generators visit it."""

    def __init__(self, machine: Machine, body: Block, shared: bool) -> None:
        self.machine = machine
        self.body = body
        self.shared = shared
        self.bound = (*body.params, *(b for s in body.stmts for b in s.binders))
        self.current: Index | None = None
        self.known: dict[Index, dict[Var, Value]] = {}

    def at(self, index: Index) -> None:
        """Sets the body's variables to those of the index."""
        if index == self.current:
            return
        self.current = index
        values = self.machine.values
        if index in self.known:
            values.update(self.known[index])
            return
        self.machine.bind(self.body.params, [np.int64(i) for i in index], ())
        self.machine.execute(self.body.stmts)
        if self.shared:
            self.known[index] = {v: values[v] for v in self.bound}


def _condition(machine: Machine, generator: Generator, at: At) -> semantics.Condition:
    cond = generator.cond
    if cond is None:
        return None

    def holds(index: Index) -> bool:
        at(index)
        return bool(machine.value(cond))

    return holds


def _values(machine: Machine, generator: Generator, at: At) -> Callable[[Index], Values]:
    def run(index: Index) -> Values:
        at(index)
        return machine.run(generator.value)

    return run


@generates(Collect)
def _collect(
    machine: Machine, generator: Collect, extents: Extents, at: At, where: Places
) -> Values:
    (stored,) = generator.value.operands
    scalar = _element(stored.type)
    values = _values(machine, generator, at)
    result = semantics.collect(
        extents,
        lambda index: values(index)[0],
        cond=_condition(machine, generator, at),
        element=Element(scalar.dtype, machine.shape(stored.type)),
    )
    return (result,) if generator.cond is None else (np.int64(len(result)), result)


@generates(Reduce)
def _reduce(machine: Machine, generator: Reduce, extents: Extents, at: At, where: Places) -> Values:
    reducer = generator.reducer
    return semantics.reduce(
        extents,
        _values(machine, generator, at),
        lambda a, b: machine.run(reducer.block, (*a, *b)),
        cond=_condition(machine, generator, at),
        identity=_identity(machine, generator),
        order=reducer.order,
        name=reducer.name,
        where=where,
    )


@generates(Scan)
def _scan(machine: Machine, generator: Scan, extents: Extents, at: At, where: Places) -> Values:
    (extent,) = extents
    found = [
        np.empty((extent, *machine.shape(v.type)), _element(v.type).dtype)
        for v in generator.value.operands
    ]
    steps = semantics.scan(
        extent,
        _values(machine, generator, at),
        lambda a, b: machine.run(generator.reducer.block, (*a, *b)),
        identity=_identity(machine, generator),
        exclusive=generator.exclusive,
        order=generator.reducer.order,
    )
    for i, values in enumerate(steps):
        for array, value in zip(found, values, strict=True):
            array[i] = value
    return tuple(found)


@generates(Fold)
def _fold(machine: Machine, generator: Fold, extents: Extents, at: At, where: Places) -> Values:
    reducer = generator.reducer
    shape = tuple(machine.integer(d) for d in generator.shape)
    value_type = generator.value.operands[-1].type

    def initial() -> np.ndarray:
        assert reducer.identity is not None, "a Fold begins with an identity or an array"
        (identity,) = reducer.identity
        return np.full((*shape, *machine.shape(value_type)), identity.value)

    result = semantics.fold(
        extents,
        _updates(machine, generator, at),
        lambda a, b: machine.run(reducer.block, (a, b))[0],
        initial,
        rank=len(shape),
        cond=_condition(machine, generator, at),
        order=reducer.order,
        bounds=generator.bounds,
        where=where,
        begin=None if generator.init is None else machine.array(generator.init),
    )
    return (result,)


@generates(Scatter)
def _scatter(
    machine: Machine, generator: Scatter, extents: Extents, at: At, where: Places
) -> Values:
    result = scatter_semantics.scatter(
        extents,
        _updates(machine, generator, at),
        machine.array(generator.init),
        rank=len(generator.location),
        cond=_condition(machine, generator, at),
        conflict=generator.conflict,
        bounds=generator.bounds,
        where=where,
    )
    return (result,)


def _updates(
    machine: Machine, generator: Generator, at: At
) -> Callable[[Index], tuple[Index, Value]]:
    """The location and the value at an index."""
    values = _values(machine, generator, at)

    def update(index: Index) -> tuple[Index, Value]:
        *location, value = values(index)
        return tuple(int(cast(Any, place)) for place in location), value

    return update


def _identity(machine: Machine, generator: Combining) -> Values | None:
    """The values that the generator's reducer begins with, None without an identity."""
    identity = generator.reducer.identity
    if identity is None:
        return None
    types = (v.type for v in generator.value.operands)
    return tuple(_filled(machine, c, t) for c, t in zip(identity, types, strict=True))


def _element(type_: Type) -> Scalar:
    return type_.element if isinstance(type_, Array) else type_


@generates(BucketCollect)
def _bucket_collect(
    machine: Machine, generator: BucketCollect, extents: Extents, at: At, where: Places
) -> Values:
    groups = semantics.bucket_collect(
        extents, _keyed(machine, generator, at), cond=_condition(machine, generator, at)
    )
    sizes = np.array([len(items) for _, items in groups], np.int64)
    total = np.int64(sizes.sum())
    items = [item for _, group in groups for item in group]
    return (
        np.int64(len(groups)),
        total,
        *_columns(machine, generator.value.operands[: generator.keys], [key for key, _ in groups]),
        np.cumsum(sizes) - sizes,
        sizes,
        *_columns(machine, generator.value.operands[generator.keys :], items),
    )


@generates(BucketReduce)
def _bucket_reduce(
    machine: Machine, generator: BucketReduce, extents: Extents, at: At, where: Places
) -> Values:
    reducer = generator.reducer
    groups = semantics.bucket_reduce(
        extents,
        _keyed(machine, generator, at),
        lambda a, b: machine.run(reducer.block, (*a, *b)),
        cond=_condition(machine, generator, at),
        order=reducer.order,
    )
    rows = [(*key, *total) for key, total in groups]
    return (np.int64(len(groups)), *_columns(machine, generator.value.operands, rows))


def _keyed(
    machine: Machine, generator: BucketCollect | BucketReduce, at: At
) -> Callable[[Index], tuple[Values, Values]]:
    """The key and the values of an index."""
    values = _values(machine, generator, at)

    def found(index: Index) -> tuple[Values, Values]:
        both = values(index)
        return both[: generator.keys], both[generator.keys :]

    return found


def _columns(
    machine: Machine, operands: Sequence[Operand], rows: Sequence[Values]
) -> tuple[Value, ...]:
    """An array for each operand, of its values in the rows."""
    columns: list[Value] = []
    for k, operand in enumerate(operands):
        scalar = operand.type.element if isinstance(operand.type, Array) else operand.type
        column = np.empty((len(rows), *machine.shape(operand.type)), scalar.dtype)
        for place, row in enumerate(rows):
            column[place] = row[k]
        columns.append(column)
    return tuple(columns)


def _filled(machine: Machine, constant: Const, type_: Type) -> Value:
    """The identity of a component: the constant, or an array full of it."""
    return (
        np.full(machine.shape(type_), constant.value)
        if isinstance(type_, Array)
        else constant.value
    )
