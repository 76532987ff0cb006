"""When multiloops, generators and reducers are well formed (see staging/checker.py)."""

from __future__ import annotations

from collections.abc import Sequence

from ..staging.checker import Checker, checks, types_of
from ..staging.nodes import Operand
from ..staging.types import INDEX, Array, Scalar, Type
from .generators import (
    BucketCollect,
    BucketReduce,
    Collect,
    Fold,
    Generator,
    MultiLoop,
    Reduce,
    Scan,
    Scatter,
)
from .reducers import Reducer
from .semantics import KEY_KINDS


@checks(MultiLoop)
def _multi_loop(checker: Checker, op: MultiLoop) -> None:
    """One index a dimension, generators as results, all in canonical form."""
    checker.require(len(op.domain) >= 1, "a loop without a domain")
    checker.same(types_of(op.domain), [INDEX] * len(op.domain), "the domain")
    checker.same(types_of(op.body.params), types_of(op.domain), "the indices")
    results = op.body.results
    checker.require(len(results) >= 1, "a loop without generators")
    checker.require(all(isinstance(r, Generator) for r in results), "a result is no generator")
    for generator in op.generators:
        _domain(checker, op, generator)
        canonical = generator.cond is not None or not generator.value.stmts
        checker.require(canonical, "an unconditional generator has statements of its own")


def _domain(checker: Checker, op: MultiLoop, generator: Generator) -> None:
    if isinstance(generator, Scan):
        checker.require(len(op.domain) == 1, "a scan over several axes")


def _generator(checker: Checker, generator: Generator) -> None:
    allowed = generator.conditional or generator.cond is None
    checker.require(allowed, f"a {type(generator).__name__.lower()} with a condition")
    if generator.cond is not None:
        checker.boolean(generator.cond, "a generator's condition")
    checker.require(not generator.value.params, "a value block has parameters")


@checks(Collect)
def _collect(checker: Checker, generator: Collect) -> None:
    _generator(checker, generator)
    checker.require(len(generator.value.operands) == 1, "a collect takes one value")


@checks(Reduce)
def _reduce(checker: Checker, generator: Reduce) -> None:
    _generator(checker, generator)
    _reducer(checker, generator.reducer)
    components = _components(generator.reducer)
    checker.same(types_of(generator.value.operands), components, "the reduced values")


@checks(Scan)
def _scan(checker: Checker, generator: Scan) -> None:
    _generator(checker, generator)
    _reducer(checker, generator.reducer)
    known = generator.reducer.identity is not None
    checker.require(known or not generator.exclusive, "an exclusive scan without an identity")
    components = _components(generator.reducer)
    checker.same(types_of(generator.value.operands), components, "the scanned values")


@checks(Fold)
def _fold(checker: Checker, generator: Fold) -> None:
    _generator(checker, generator)
    _reducer(checker, generator.reducer)
    checker.require(generator.reducer.width == 1, "a fold's reducer has one component")
    begins = generator.init is not None or generator.reducer.identity is not None
    checker.require(begins, "a fold without an identity and without init")
    checker.same(types_of(generator.shape), [INDEX] * len(generator.shape), "the shape")
    if generator.init is not None:
        checker.same(
            [generator.init.type], generator.results((), 0), "the array that a fold begins as"
        )
    checker.require(
        len(generator.value.operands) == len(generator.shape) + 1,
        "a fold takes one location a dimension and one value",
    )
    _locations(checker, generator)
    value = generator.value.operands[-1:]
    checker.same(types_of(value), _components(generator.reducer), "the folded value")


@checks(BucketCollect)
def _bucket_collect(checker: Checker, generator: BucketCollect) -> None:
    _generator(checker, generator)
    _keys(checker, generator.value.operands, generator.keys)


@checks(BucketReduce)
def _bucket_reduce(checker: Checker, generator: BucketReduce) -> None:
    _generator(checker, generator)
    _reducer(checker, generator.reducer)
    _keys(checker, generator.value.operands, generator.keys)
    values = generator.value.operands[generator.keys :]
    checker.same(types_of(values), _components(generator.reducer), "the reduced values")


def _keys(checker: Checker, values: Sequence[Operand], keys: int) -> None:
    checker.require(0 < keys < len(values), "a bucket takes a key and a value")
    for part in values[:keys]:
        scalar = isinstance(part.type, Scalar) and part.type.dtype.kind in KEY_KINDS
        checker.require(scalar, f"key {part} is no integer, truth value or float")


@checks(Scatter)
def _scatter(checker: Checker, generator: Scatter) -> None:
    _generator(checker, generator)
    init = generator.init.type
    checker.require(isinstance(init, Array), "a scatter into a number")
    assert isinstance(init, Array)
    _locations(checker, generator)
    rank = len(generator.location)
    checker.require(1 <= rank <= init.rank, "a scatter takes a location and a value")
    inner = init.shape[rank:]
    expected = Array(init.element, inner) if inner else init.element
    checker.same(types_of(generator.value.operands[-1:]), [expected], "the scattered value")


def _locations(checker: Checker, generator: Generator) -> None:
    for location, _ in generator.places:
        checker.index(location, f"location {location}")


def _components(reducer: Reducer) -> tuple[Type, ...]:
    return types_of(reducer.block.params[: reducer.width])


def _reducer(checker: Checker, reducer: Reducer) -> None:
    """(a1..ak, b1..bk) -> (c1..ck) of the same types; the identity is of their elements."""
    block, components = reducer.block, _components(reducer)
    checker.require(reducer.width >= 1, "a reducer without components")
    checker.same(types_of(block.params), components * 2, "the reducer's parameters")
    checker.same(types_of(block.operands), components, "the reducer's results")
    if reducer.identity is not None:
        elements = [_element(component) for component in components]
        checker.same(types_of(reducer.identity), elements, "the reducer's identity")


def _element(type_: Type) -> Scalar:
    return type_.element if isinstance(type_, Array) else type_
