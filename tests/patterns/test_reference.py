"""The reference interpreter on programs built by hand, against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from parloom.patterns import machine, reducers
from parloom.patterns.generators import Collect, Fold, Generator, MultiLoop, Reduce
from parloom.patterns.reducers import Order
from parloom.patterns.reference import interpret
from parloom.staging import errors
from parloom.staging import primitives as p
from parloom.staging.builder import Builder
from parloom.staging.dataclass import dataclass
from parloom.staging.locations import Location
from parloom.staging.nodes import (
    Apply,
    Block,
    Bounds,
    Callback,
    Cast,
    Check,
    Const,
    ErrorKind,
    ForLoop,
    If,
    Index,
    Op,
    Operand,
    Program,
    PythonFunction,
    SizeCheck,
    Update,
    Var,
    While,
)
from parloom.staging.types import BOOL, F32, F64, I64, INDEX, Array, Scalar, Type
from tests.compare import assert_agree, bounded

HERE = (Location(__file__, 1),)
N, D = Var(INDEX, "n"), Var(INDEX, "d")
X = Var(Array(F64, (N,)), "x")
M = Var(Array(F64, (N, D)), "m")


class Staged(Builder):
    """A builder whose ops stand on line 1 of this file."""

    def one(self, op: Op) -> Operand:
        (result,) = self.emit(op, sources=HERE)
        return result

    def apply(self, primitive: p.Primitive, *args: Operand) -> Operand:
        return self.one(Apply(primitive, args))

    def block(self, params: Sequence[Var], body: Callable[[], Sequence[Operand]]) -> Block:
        self.open(params)
        return self.close(body())

    def loop(
        self, extent: Operand, generators: Callable[[Var], Sequence[Generator]]
    ) -> tuple[Operand, ...]:
        i = Var(INDEX, "i")
        self.open((i,))
        body = self.close(generators(i))
        return self.emit(MultiLoop((extent,), body), sources=HERE)


def program(
    params: Sequence[Var],
    body: Callable[[Staged], Sequence[Operand]],
    checks: tuple[SizeCheck, ...] = (),
) -> Program:
    """A program over params; its sizes are those that the params' types name."""
    sizes: dict[Var, None] = {}
    for param in params:
        if isinstance(param.type, Array):
            sizes.update(dict.fromkeys(d for d in param.type.shape if isinstance(d, Var)))
    builder = Staged()
    builder.open((*sizes, *params))
    closed = builder.close(body(builder))
    block = Block((), closed.stmts, closed.results)
    return Program("test", tuple(sizes), tuple(params), block, checks)


def value(*operands: Operand) -> Block:
    return Block((), (), operands)


def number(v: object, type_: Scalar = F64) -> Const:
    return Const(v, type_)


def index(v: int) -> Const:
    return Const(v, INDEX)


# Scalars.

OPERANDS: dict[str, list[Any]] = {
    "f": [0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan],
    "i": [0, 1, -1, 5, -7, 63, 64, 127, -128],
    "u": [0, 1, 5, 63, 64, 255],
    "b": [False, True],
}


DTYPES = tuple(Scalar(np.dtype(t)) for t in ("f8", "f4", "i8", "i1", "u1", "?"))


def loops() -> Iterator[tuple[p.Primitive, tuple[Scalar, ...]]]:
    """Every primitive with the types of its loops."""
    for primitive, scalar in product(p.ALL, DTYPES):
        types = (BOOL, scalar, scalar) if primitive is p.SELECT else (scalar,) * primitive.arity
        with suppress(TypeError):
            yield primitive, primitive.loop(types)


@pytest.mark.parametrize(("primitive", "loop"), list(loops()))
def test_apply_is_numpy_s_loop(primitive: p.Primitive, loop: tuple[Scalar, ...]) -> None:
    params = tuple(Var(t) for t in loop)
    staged = program(params, lambda b: [b.apply(primitive, *params)])
    for args in product(*(samples(t) for t in loop)):
        if primitive is p.POWER and args[1].dtype.kind == "i" and args[1] < 0:
            continue  # NumPy refuses it
        with np.errstate(all="ignore"):
            expected = primitive.function(*args)
        assert_agree(interpret(staged, args), [expected])


def samples(type_: Scalar) -> list[Any]:
    """Values of a type, the odd ones among them."""
    dtype: np.dtype[Any] = type_.dtype
    if dtype.kind not in "iu":
        return [dtype.type(v) for v in OPERANDS[dtype.kind]]
    limits: Any = np.iinfo(dtype)
    return [dtype.type(v) for v in OPERANDS[dtype.kind] if limits.min <= v <= limits.max]


def test_integer_faults_are_values() -> None:
    a, b = Var(I64, "a"), Var(I64, "b")
    ops = (p.FLOOR_DIVIDE, p.REMAINDER, p.LEFT_SHIFT, p.RIGHT_SHIFT, p.ADD)
    staged = program((a, b), lambda s: [s.apply(op, a, b) for op in ops])
    least = np.iinfo(np.int64).min
    assert [int(v) for v in interpret(staged, [7, 0])][:2] == [0, 0]
    assert [int(v) for v in interpret(staged, [least, -1])][:2] == [least, 0]
    assert [int(v) for v in interpret(staged, [-7, 64])][2:4] == [0, -1]
    assert int(interpret(staged, [least, -1])[4]) == np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("source", "value", "target"),
    [
        ("float64", 2.9, "int64"),
        ("float64", -2.9, "int8"),
        ("float64", np.nan, "bool"),
        ("float64", 1e300, "float32"),
        ("int64", 300, "int8"),
        ("int64", 2**53 + 1, "float64"),
        ("complex128", 1 + 2j, "float64"),
        ("complex128", 2j, "bool"),
        ("bool", True, "float32"),
    ],
)
def test_cast_is_astype(source: str, value: Any, target: str) -> None:
    x = Var(Scalar(np.dtype(source)), "x")
    staged = program((x,), lambda b: [b.one(Cast(x, Scalar(np.dtype(target))))])
    scalar = np.dtype(source).type(value)
    real = scalar.real if scalar.dtype.kind == "c" and target != "bool" else scalar
    with np.errstate(all="ignore"):
        assert_agree(interpret(staged, [scalar]), [real.astype(target)])


def test_out_of_range_floats_become_what_numpy_makes_of_them() -> None:
    x = Var(F64, "x")
    targets = [np.dtype(t) for t in ("int64", "int32", "int8", "uint8")]
    staged = program((x,), lambda b: [b.one(Cast(x, Scalar(t))) for t in targets])
    for v in (1e30, -1e30, np.nan, np.inf):
        with np.errstate(all="ignore"):
            expected = [np.float64(v).astype(t) for t in targets]
        assert_agree(interpret(staged, [v]), expected)


def test_a_weak_scalar_is_a_numpy_scalar_of_its_dtype() -> None:
    i = Var(INDEX, "i")
    (found,) = interpret(program((i,), lambda b: [b.apply(p.ADD, i, index(1))]), [41])
    assert_agree(found, np.int64(42))
    assert type(found) is np.int64


# Indexing, checks, callbacks.


def test_index_reads_one_element() -> None:
    staged = program((M,), lambda b: [b.one(Index(M, (index(1), index(2))))])
    m = np.arange(6.0).reshape(2, 3)[:, ::-1]
    assert_agree(interpret(staged, [m]), [np.float64(3.0)])


@pytest.mark.parametrize("i", [-1, 3])
def test_index_outside_raises_at_the_user_s_line(i: int) -> None:
    staged = program((X,), lambda b: [b.one(Index(X, (index(i),)))])
    with pytest.raises(IndexError) as caught:
        interpret(staged, [np.zeros(3)])
    assert isinstance(caught.value, errors.StagedIndexError)
    assert caught.value.what == f"index {i} is out of bounds for axis 0 with size 3"
    assert caught.value.where == HERE


def test_update_replaces_one_element_of_a_new_array() -> None:
    update = Update(M, (index(1), index(2)), number(9.0))
    staged = program((M,), lambda b: [b.one(update), M])
    m = np.arange(6.0).reshape(2, 3)
    changed = m.copy()
    changed[1, 2] = 9.0
    assert_agree(interpret(staged, [m]), [changed, m])


@pytest.mark.parametrize("i", [-1, 3])
def test_update_outside_raises_at_the_user_s_line(i: int) -> None:
    staged = program((X,), lambda b: [b.one(Update(X, (index(i),), number(9.0)))])
    with pytest.raises(IndexError, match=f"index {i} is out of bounds for axis 0 with size 3"):
        interpret(staged, [np.zeros(3)])


def test_a_wrong_proof_is_our_bug() -> None:
    staged = program((X,), lambda b: [b.one(Index(X, (index(3),), Bounds.PROVEN))])
    with pytest.raises(errors.InternalError, match="an index proven inside is 3"):
        interpret(staged, [np.zeros(3)])


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (ErrorKind.VALUE, ValueError),
        (ErrorKind.INDEX, IndexError),
        (ErrorKind.ASSERTION, AssertionError),
        (ErrorKind.OVERFLOW, OverflowError),
    ],
)
def test_check_raises_its_kind(kind: ErrorKind, error: type[Exception]) -> None:
    ok = Var(BOOL, "ok")

    def body(b: Staged) -> list[Operand]:
        b.emit(Check(ok, kind, "must hold"), sources=HERE)
        return [ok]

    staged = program((ok,), body)
    assert_agree(interpret(staged, [True]), [np.True_])
    with pytest.raises(error, match="must hold") as caught:
        interpret(staged, [False])
    assert isinstance(caught.value, errors.UserError)
    assert caught.value.where == HERE


def test_callback_gets_values_and_cannot_change_the_program_s() -> None:
    seen: list[object] = []

    def note(i: object, x: np.ndarray) -> None:
        seen.extend((i, x.tolist()))
        x[:] = 0.0

    def body(b: Staged) -> list[Operand]:
        b.emit(Callback(PythonFunction(note), (index(3), X)))
        return [X]

    x = np.array([1.0, 2.0])
    assert_agree(interpret(program((X,), body), [x]), [np.array([1.0, 2.0])])
    assert seen == [3, [1.0, 2.0]]
    assert type(seen[0]) is int
    assert x.tolist() == [1.0, 2.0]


# Control flow.


def test_if_runs_one_branch() -> None:
    def body(b: Staged) -> list[Operand]:
        empty = b.apply(p.EQUAL, N, index(0))
        read = b.block((), lambda: [b.one(Index(X, (index(0),)))])
        return [b.one(If(empty, Block((), (), (number(-1.0),)), read))]

    staged = program((X,), body)
    assert_agree(interpret(staged, [np.zeros(0)]), [np.float64(-1.0)])
    assert_agree(interpret(staged, [np.array([5.0])]), [np.float64(5.0)])


def test_while_carries_state_and_may_not_run() -> None:
    i, total = Var(INDEX, "i"), Var(F64, "total")
    i2, total2 = Var(INDEX, "i"), Var(F64, "total")

    def body(b: Staged) -> Sequence[Operand]:
        cond = b.block((i, total), lambda: [b.apply(p.LESS, total, number(100.0))])
        step = b.block(
            (i2, total2),
            lambda: [b.apply(p.ADD, i2, index(1)), b.apply(p.ADD, total2, total2)],
        )
        start = b.one(Index(X, (index(0),)))
        return b.emit(While((index(0), start), cond, step))

    staged = program((X,), body)
    assert_agree(interpret(staged, [np.array([1.0])]), [np.int64(7), np.float64(128.0)])
    assert_agree(interpret(staged, [np.array([500.0])]), [np.int64(0), np.float64(500.0)])


def test_for_loop_swaps_its_state() -> None:
    i, a, b_ = Var(INDEX, "i"), Var(F64, "a"), Var(F64, "b")

    def body(b: Staged) -> Sequence[Operand]:
        step = b.block((i, a, b_), lambda: [b_, a])
        return b.emit(ForLoop(N, (number(1.0), number(2.0)), step))

    staged = program((X,), body)
    assert_agree(interpret(staged, [np.zeros(3)]), [np.float64(2.0), np.float64(1.0)])
    assert_agree(interpret(staged, [np.zeros(0)]), [np.float64(1.0), np.float64(2.0)])


def test_state_may_change_its_size() -> None:
    """Each round keeps the positive elements less 1."""
    k, ys = Var(INDEX, "k"), Var(F64, "unused")
    i = Var(INDEX, "i")
    ys = Var(Array(F64, (k,)), "ys")

    def body(b: Staged) -> Sequence[Operand]:
        def positive(j: Var) -> Sequence[Generator]:
            less = b.apply(p.SUBTRACT, b.one(Index(ys, (j,))), number(1.0))
            return [Collect(b.apply(p.GREATER, less, number(0.0)), value(less))]

        step = b.block((i, k, ys), lambda: b.loop(k, positive))
        return b.emit(ForLoop(index(2), (N, X), step))

    found = interpret(program((X,), body), [np.array([1.0, 5.0, 2.5, 0.5])])
    assert_agree(found, [np.int64(2), np.array([3.0, 0.5])])


# Loops.


def sum_of(type_: Type = F64) -> reducers.Reducer:
    return reducers.binary(p.ADD, type_, "sum")


def reading(b: Staged, i: Var) -> Operand:
    return b.one(Index(X, (i,), Bounds.PROVEN))


def test_a_fused_loop_runs_its_prelude_once_an_index() -> None:
    ran: list[object] = []

    def generators(b: Staged, i: Var) -> Sequence[Generator]:
        b.emit(Callback(PythonFunction(ran.append), (i,)))
        square = b.apply(p.SQUARE, reading(b, i))
        big = b.apply(p.GREATER, square, number(2.0))
        return [
            Collect(None, value(square)),
            Collect(big, value(i)),
            Reduce(big, value(square), sum_of()),
        ]

    staged = program((X,), lambda b: b.loop(N, lambda i: generators(b, i)))
    x = np.array([1.0, 2.0, -3.0])
    expected = [x * x, np.int64(2), np.array([1, 2]), np.float64(13.0)]
    assert_agree(interpret(staged, [x]), expected)
    assert ran == [0, 1, 2]
    empty = [np.zeros(0), np.int64(0), np.zeros(0, np.int64), np.float64(0.0)]
    assert_agree(interpret(staged, [np.zeros(0)]), empty)


def test_the_value_runs_only_where_the_condition_holds() -> None:
    def generators(b: Staged, i: Var) -> Sequence[Generator]:
        inside = b.apply(p.LESS, i, N)
        read = b.block((), lambda: [b.one(Index(X, (i,)))])
        return [Reduce(inside, read, sum_of())]

    staged = program((X,), lambda b: b.loop(index(5), lambda i: generators(b, i)))
    assert_agree(interpret(staged, [np.array([1.0, 2.0])]), [np.float64(3.0)])


def matrix_program(order: Order | None = None) -> Program:
    """Row sums, column sums, the sum of all by nested loops, and the mean row."""

    def inner(b: Staged, i: Var) -> Operand:
        def read(j: Var) -> Sequence[Generator]:
            return [Reduce(None, value(b.one(Index(M, (i, j), Bounds.PROVEN))), sum_of())]

        return b.loop(D, read)[0]

    def row(b: Staged, i: Var) -> Operand:
        return b.loop(D, lambda j: [Collect(None, value(b.one(Index(M, (i, j), Bounds.PROVEN))))])[
            0
        ]

    def body(b: Staged) -> Sequence[Operand]:
        columns = replace(sum_of(Array(F64, (D,))), order=order)
        scalars = replace(sum_of(), order=order)

        def rows(i: Var) -> Sequence[Generator]:
            total, vector = inner(b, i), row(b, i)
            return [
                Collect(None, value(total)),
                Reduce(None, value(vector), columns),
                Reduce(None, value(total), scalars),
                Fold(None, value(index(0), vector), columns, (index(2),)),
            ]

        return b.loop(N, rows)

    return program((M,), body)


@pytest.mark.parametrize("order", [None, Order(2, 4), Order(4, 2, block=2)])
@pytest.mark.parametrize("shape", [(7, 3), (0, 3), (3, 0)])
def test_nested_loops_and_array_reducers(shape: tuple[int, int], order: Order | None) -> None:
    m = np.random.default_rng(1).normal(size=shape)
    rows, columns, total, folded = interpret(matrix_program(order), [m])
    assert_agree(rows, m.sum(axis=1), bounded(m, axis=1))
    assert_agree(columns, m.sum(axis=0), bounded(m, axis=0))
    assert_agree(total, m.sum(), bounded(m))
    assert_agree(folded, np.stack([columns, np.zeros(shape[1])]))


def test_the_order_changes_bits_and_is_followed() -> None:
    x = np.random.default_rng(2).normal(size=23)

    def body(b: Staged) -> Sequence[Operand]:
        reducer = replace(sum_of(), order=Order(minimum=4, chunks=3, block=3))
        return b.loop(N, lambda i: [Reduce(None, value(reading(b, i)), reducer)])

    expected = None
    for start in range(0, 23, 8):
        chunk = np.float64(0)
        for block in range(start, min(start + 8, 23), 3):
            total = np.float64(0)
            for v in x[block : min(block + 3, start + 8, 23)]:
                total = total + v
            chunk = chunk + total
        expected = chunk if expected is None else expected + chunk
    assert_agree(interpret(program((X,), body), [x]), [expected])


def test_argmin_has_two_components_and_no_identity() -> None:
    block = reducers.argmin_block(F64)
    reducer = reducers.proven(block, "argmin")

    def generators(b: Staged, i: Var) -> Sequence[Generator]:
        return [Reduce(None, value(reading(b, i), b.one(Cast(i, I64))), reducer)]

    staged = program((X,), lambda b: b.loop(N, lambda i: generators(b, i)))
    for x in ([3.0, 1.0, 2.0, 1.0], [3.0, np.nan, np.nan, 0.0], [np.inf, np.inf]):
        best = int(np.argmin(x))
        assert_agree(interpret(staged, [np.array(x)]), [np.float64(x[best]), np.int64(best)])
    with pytest.raises(ValueError, match="zero-size array to reduction operation argmin") as caught:
        interpret(staged, [np.zeros(0)])
    assert isinstance(caught.value, errors.CheckFailed)
    assert caught.value.where == HERE


def test_fold_counts_and_checks_its_locations() -> None:
    labels = Var(Array(I64, (N,)), "labels")
    counts = reducers.binary(p.ADD, I64, "sum")

    def generators(b: Staged, i: Var) -> Sequence[Generator]:
        label = b.one(Index(labels, (i,), Bounds.PROVEN))
        return [Fold(None, value(label, number(1, I64)), counts, (index(3),))]

    staged = program((labels,), lambda b: b.loop(N, lambda i: generators(b, i)))
    assert_agree(interpret(staged, [np.array([0, 2, 2])]), [np.array([1, 0, 2])])
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        interpret(staged, [np.array([0, 3])])


# Arguments and results.


def test_results_are_new_arrays() -> None:
    staged = program((X,), lambda b: [X, X])
    x = np.arange(3.0)
    first, second = interpret(staged, [x])
    assert not np.shares_memory(first, x)
    assert not np.shares_memory(first, second)


def test_entry_checks_name_the_line_where_sizes_meet() -> None:
    y = Var(Array(F64, (N,)), "y")
    checks = (SizeCheck(kept=(0, 0), dropped=(1, 0), source=HERE[0]),)
    staged = program((X, y), lambda b: [X], checks)
    interpret(staged, [np.zeros(2), np.zeros(2)])
    with pytest.raises(errors.ShapeError) as caught:
        interpret(staged, [np.zeros(2), np.zeros(3)])
    assert caught.value.what == (
        "sizes do not fit together: axis 0 of x has size 2, axis 0 of y has size 3"
    )
    assert caught.value.where == HERE


def test_entry_checks_against_a_fixed_size() -> None:
    checks = (SizeCheck(kept=4, dropped=(0, 0), source=HERE[0]),)
    staged = program((X,), lambda b: [X], checks)
    with pytest.raises(errors.ShapeError, match="size 4, axis 0 of x has size 3"):
        interpret(staged, [np.zeros(3)])


def test_static_dimensions_must_be_met() -> None:
    row = Var(Array(F64, (1, N)), "row")
    with pytest.raises(errors.ShapeError, match="axis 0 of row has size 2, not 1"):
        interpret(program((row,), lambda b: [row]), [np.zeros((2, 3))])


# Extension, and the interpreter as a checker of types.


@dataclass(frozen=True, slots=True)
class Wrong(Op):
    """Says f32, gives f64."""

    def signature(self) -> tuple[Type, ...]:
        return (F32,)


def test_a_value_that_belies_its_type_is_our_bug() -> None:
    machine.evaluates(Wrong)(lambda m, op, where: (np.float64(1),))
    with pytest.raises(errors.InternalError, match="of type f32 was given float64"):
        interpret(program((), lambda b: [b.one(Wrong())]), [])


@dataclass(frozen=True, slots=True)
class Unknown(Op):
    """Nobody says what it means."""

    def signature(self) -> tuple[Type, ...]:
        return (F32,)


def test_an_op_without_a_rule_is_our_bug() -> None:
    with pytest.raises(errors.InternalError, match="no rule for Unknown"):
        interpret(program((), lambda b: [b.one(Unknown())]), [])
