"""Scalar primitives and conversions on every dtype: NumPy's values, the same bits everywhere.

For each dtype one program holds every primitive and every conversion, as one loop with a generator
for each, over all pairs of the dtype's special values. It runs as plain Python, through Numba, and
from LLVM IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from parloom.codegen.target import COMPLEX
from parloom.codegen.vector_math import TRANSCENDENTAL
from parloom.patterns.generators import Collect, MultiLoop
from parloom.patterns.reference import interpret
from parloom.staging import primitives as p
from parloom.staging.builder import Builder
from parloom.staging.nodes import (
    Apply,
    Block,
    Bounds,
    Cast,
    Const,
    Index,
    Operand,
    Program,
    Var,
)
from parloom.staging.types import INDEX, Array, Scalar
from tests.codegen.kernels import mapped, run_llvm, run_numba, run_plain, same_bits
from tests.compare import EXACT, Bounded, Exact, Tier, Ulps, assert_agree

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
REALS = ("bool", *INTEGERS, *FLOATS)
# Numba takes long; the other integers take the ways of these.
BY_NUMBA = ("bool", "int8", "int64", "uint16", "uint64", *FLOATS, "complex64")
BOUNDED = {q for q in p.ALL if q.name in TRANSCENDENTAL and q is not p.POWER}
Body = Callable[[Builder, Var, Sequence[Var]], Sequence[Operand]]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


# Values.


def special(name: str) -> np.ndarray:
    """The values of a dtype where something may go wrong."""
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info, width = np.iinfo(name), dtype.itemsize * 8
        found = {0, 1, 2, 3, 7, 100, width - 1, width, width + 1}
        found |= {info.min, info.min + 1, info.max, info.max - 1, info.max // 2 + 1}
        found |= {-1, -2, -3, -7} if dtype.kind == "i" else set()
        return np.array(sorted(found), dtype)
    if dtype.kind == "f":
        limits: Any = np.finfo(name)
        positive = [0.0, limits.smallest_subnormal, limits.tiny, limits.max, np.inf, 1e-3, 0.1]
        positive += [0.5, 1.0, 1.5, 2.0, 2.5, 3.7, 7.0, 10.0, 100.0, 88.8, 709.75, 710.5, 1e10]
        return np.array([*positive, *(-v for v in positive), np.nan], dtype)
    parts = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 2e10]
    return np.array([complex(a, b) for a in parts for b in parts], dtype)


def pairs(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of special values."""
    values = special(name)
    left, right = np.meshgrid(values, values, indexing="ij")
    return left.ravel().copy(), right.ravel().copy()


# Programs.


def loop_over(body: Body, *types: Scalar, scalars: Sequence[Scalar] = ()) -> Program:
    """A loop over arrays of the types, which collects what the body returns."""
    n = Var(INDEX, "n")
    arrays = [Var(Array(t, (n,)), f"x{k}") for k, t in enumerate(types)]
    params = (*arrays, *(Var(t, f"s{k}") for k, t in enumerate(scalars)))
    builder, i = Builder(), Var(INDEX, "i")
    builder.open((n, *params))
    builder.open((i,))
    read = [builder.emit(Index(x, (i,), Bounds.PROVEN))[0] for x in arrays]
    given = [v for v in read if isinstance(v, Var)]
    outs = body(builder, i, (*given, *params[len(arrays) :]))
    inner = builder.close([Collect(None, Block((), (), (out,))) for out in outs])
    block = builder.close(builder.emit(MultiLoop((n,), inner)))
    return Program("f", (n,), params, Block((), block.stmts, block.results))


def apply(builder: Builder, primitive: p.Primitive, *args: Operand) -> Operand | None:
    """The primitive on converted operands; None where kernels have no such loop."""
    types = tuple(a.type for a in args if isinstance(a.type, Scalar))
    try:
        loop = primitive.loop(types)
    except TypeError:
        return None
    if any(t.dtype == np.float16 for t in loop):
        return None
    if any(t.dtype.kind == "c" for t in loop) and primitive not in COMPLEX:
        return None
    cast = [builder.emit(Cast(a, t))[0] for a, t in zip(args, loop, strict=True)]
    return builder.emit(Apply(primitive, tuple(cast)))[0]


def convert(builder: Builder, x: Operand, name: str) -> Operand:
    """The operand in another dtype."""
    return builder.emit(Cast(x, Scalar(np.dtype(name))))[0]


@cache
def everything(name: str) -> tuple[Program, tuple[p.Primitive | str, ...]]:
    """All primitives and conversions of a dtype; what each result is."""
    made: list[p.Primitive | str] = []

    def body(builder: Builder, i: Var, given: Sequence[Var]) -> list[Operand]:
        x, y = given
        outs: list[Operand] = []
        for primitive in p.ALL:
            args = (convert(builder, x, "bool"), x, y) if primitive is p.SELECT else (x, y)
            found = apply(builder, primitive, *args[: primitive.arity])
            if found is not None:
                outs.append(found)
                made.append(primitive)
        targets = COMPLEXES if name in COMPLEXES else REALS
        for target in (t for t in (*targets, *REALS) if t != name and t not in made):
            outs.append(convert(builder, x, target))
            made.append(target)
        return outs

    type_ = Scalar(np.dtype(name))
    return mapped(loop_over(body, type_, type_)), tuple(made)


# What NumPy says.


def wanted(what: p.Primitive | str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """NumPy's result."""
    if isinstance(what, str):
        return as_numpy_scalars(x, what)
    if what is p.SELECT:
        return np.where(x != 0, x, y)
    args = (x, y)[: what.arity]
    loop = what.loop(tuple(Scalar(a.dtype) for a in args))
    found = what.function(*(a.astype(t.dtype) for a, t in zip(args, loop, strict=True)))
    return np.asarray(found)


def as_numpy_scalars(x: np.ndarray, target: str) -> np.ndarray:
    """Element by element: out of range NumPy's loop over an array may do otherwise."""
    values: Any = x
    if x.dtype.kind == "c" and target not in (*COMPLEXES, "bool"):
        values = values.real
    return np.array([v.astype(target) for v in values])


def tier(what: p.Primitive | str, dtype: np.dtype[Any], expected: np.ndarray) -> Tier:
    """How near to NumPy a result must be."""
    if isinstance(what, str):
        return EXACT
    if what in BOUNDED or (what is p.POWER and dtype.kind == "f"):
        return Ulps(4)
    if what in (p.MINIMUM, p.MAXIMUM):
        return Exact(zero_sign=False)
    if dtype.kind == "c" and what in (p.MULTIPLY, p.DIVIDE, p.SQUARE, p.ABSOLUTE):
        return Bounded(np.abs(expected), 2)  # NumPy's own loops fuse, or not
    return EXACT


def defined(what: p.Primitive | str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Where NumPy has one value: not for integers to negative powers, and (-inf)**0.5 depends on
    whether the exponent is an array; products of complex infinities depend on the processor."""
    if what is p.POWER and x.dtype.kind in "iu":
        return np.asarray(y >= 0)
    if what is p.POWER and x.dtype.kind == "f":
        return np.asarray((y != 0.5) | (x > 0))
    if x.dtype.kind == "c" and what in (p.MULTIPLY, p.DIVIDE, p.SQUARE):
        return np.asarray(np.isfinite(x) & np.isfinite(y) & (y != 0))
    return np.ones(len(x), bool)


@pytest.mark.parametrize("name", [*REALS, *COMPLEXES])
def test_plain_python_has_the_values_of_numpy(name: str) -> None:
    program, made = everything(name)
    x, y = pairs(name)
    for what, found in zip(made, run_plain(program, [x, y]), strict=True):
        kept = defined(what, x, y)
        expected = wanted(what, x[kept], y[kept])
        try:
            assert_agree(found[kept], expected, tier(what, x.dtype, expected))
        except AssertionError as error:
            raise AssertionError(f"{what} of {name}: {error}") from None


def differences(found: Sequence[Any], plain: Sequence[Any], made: Sequence[Any]) -> Iterator[str]:
    """What does not have the bits of plain Python."""
    for what, a, b in zip(made, found, plain, strict=True):
        if not same_bits([a], [b]):
            yield str(what)


@pytest.mark.parametrize("name", REALS)
def test_llvm_has_the_bits_of_plain_python(name: str) -> None:
    program, made = everything(name)
    arguments = list(pairs(name))
    found, plain = run_llvm(program, arguments), run_plain(program, arguments)
    assert list(differences(found, plain, made)) == []


@pytest.mark.parametrize("name", BY_NUMBA)
def test_numba_has_the_bits_of_plain_python(name: str) -> None:
    program, made = everything(name)
    arguments = list(pairs(name))
    found, plain = run_numba(program, arguments), run_plain(program, arguments)
    assert list(differences(found, plain, made)) == []


def agrees_everywhere(program: Program, arguments: Sequence[Any]) -> None:
    """The interpreter's bits, in every printing."""
    program = mapped(program)
    expected = interpret(program, arguments)
    for run in (run_plain, run_llvm, run_numba):
        assert same_bits(run(program, arguments), expected), run.__name__


def some(*found: Operand | None) -> list[Operand]:
    """Those that there are."""
    return [f for f in found if f is not None]


def test_signed_against_unsigned_compares_numbers() -> None:
    signed, unsigned = (a.ravel() for a in np.meshgrid(special("int64"), special("uint64")))
    comparisons = (p.EQUAL, p.NOT_EQUAL, p.LESS, p.LESS_EQUAL, p.GREATER, p.GREATER_EQUAL)

    def body(builder: Builder, i: Var, given: Sequence[Var]) -> list[Operand]:
        a, b = given
        orders = ((a, b), (b, a), (i, b), (b, i))
        return some(*(apply(builder, q, *args) for q in comparisons for args in orders))

    types = Scalar(np.dtype(np.int64)), Scalar(np.dtype(np.uint64))
    agrees_everywhere(loop_over(body, *types), [signed.copy(), unsigned.copy()])


def test_indices_wrap_and_are_divided() -> None:
    """A loop's index is a number of the program like any other, not Python's."""
    big, three = Const(2**62 + 1, INDEX), Const(3, INDEX)

    def body(builder: Builder, i: Var, given: Sequence[Var]) -> list[Operand]:
        k = apply(builder, p.SUBTRACT, i, three)
        square = apply(builder, p.MULTIPLY, i, i)
        assert k is not None
        assert square is not None
        binary = [
            (p.MULTIPLY, i, big), (p.ADD, square, Const(2**63 - 1, INDEX)), (p.FLOOR_DIVIDE, i, k),
            (p.REMAINDER, i, k), (p.DIVIDE, i, k), (p.LEFT_SHIFT, i, Const(62, INDEX)),
            (p.LEFT_SHIFT, k, i), (p.RIGHT_SHIFT, k, i), (p.POWER, i, Const(40, INDEX)),
            (p.POWER, k, i), (p.MINIMUM, k, i), (p.LOGICAL_AND, k, i), (p.BITWISE_XOR, k, i),
        ]  # fmt: skip
        unary = (p.ABSOLUTE, p.SIGN, p.SQRT, p.NEGATIVE, p.INVERT, p.LOGICAL_NOT)
        found = some(*(apply(builder, *case) for case in binary))
        found += some(*(apply(builder, q, k) for q in unary))
        return found + [convert(builder, k, name) for name in REALS]

    agrees_everywhere(loop_over(body, Scalar(np.dtype(np.int64))), [np.zeros(70, np.int64)])


@pytest.mark.parametrize("name", ["bool", "int8", "int64", "uint64", "float32"])
def test_constants_and_scalar_parameters(name: str) -> None:
    """Some special values as constants on both sides, and two of them as parameters."""
    values, type_ = special(name), Scalar(np.dtype(name))
    binary = [q for q in p.ALL if q.arity == 2 and q not in (p.POWER, *BOUNDED)]
    first, last = values[0], values[-1]

    def body(builder: Builder, i: Var, given: Sequence[Var]) -> list[Operand]:
        x, *parameters = given
        others = [*parameters, *(Const(v, type_) for v in values[::5])]
        sides = [(x, other) for other in others] + [(other, x) for other in others]
        return some(*(apply(builder, q, *args) for q in binary for args in sides))

    program = mapped(loop_over(body, type_, scalars=(type_, type_)))
    expected = interpret(program, [values, first, last])
    for run in (run_plain, run_llvm):
        assert same_bits(run(program, [values, first, last]), expected), run.__name__


@pytest.mark.parametrize("name", FLOATS)
def test_functions_are_those_of_the_c_library(name: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.normal(size=300) * 10 ** rng.integers(-3, 3, 300).astype(float)).astype(name)
    functions = [q for q in p.ALL if q in BOUNDED or q is p.POWER]

    def body(builder: Builder, i: Var, given: Sequence[Var]) -> list[Operand]:
        a, b = given
        two = Const(2, Scalar(np.dtype(name)))
        found = some(*(apply(builder, q, *(a, b)[: q.arity]) for q in functions))
        return [*found, *some(apply(builder, p.POWER, two, a), apply(builder, p.POWER, a, two))]

    type_ = Scalar(np.dtype(name))
    program, arguments = mapped(loop_over(body, type_, type_)), [x, x[::-1].copy()]
    plain = run_plain(program, arguments)
    assert same_bits(run_llvm(program, arguments), plain)
    assert same_bits(run_numba(program, arguments), plain)
    for found, expected in zip(plain, interpret(program, arguments), strict=True):
        assert_agree(found, expected, Ulps(4))


def test_integers_to_negative_powers() -> None:
    """NumPy raises; here 1 and -1 have their powers, all others give 0."""
    base = np.array([-2, -1, -1, 0, 1, 3], np.int16)
    exponent = np.array([-1, -1, -2, -3, -5, -2], np.int16)
    program = mapped(
        loop_over(lambda b, i, given: some(apply(b, p.POWER, *given)), *[Scalar(base.dtype)] * 2)
    )
    for run in (run_plain, run_llvm, run_numba):
        assert run(program, [base, exponent])[0].tolist() == [0, -1, 1, 0, 1, 0]


def test_whole_numbers_are_rounded_to_floats_once() -> None:
    """By way of float64, 2**53 + 2**29 + 1 would become another float32."""
    x = np.array([2**53 + 2**29 + 1, 2**24 + 1, -(2**53 + 2**29 + 1), 2**63 - 1], np.int64)
    program = loop_over(
        lambda b, i, given: [convert(b, given[0], name) for name in FLOATS], Scalar(x.dtype)
    )
    agrees_everywhere(program, [x])
    unsigned = np.array([2**63 + 2**39 + 1, 2**64 - 1, 2**63 + 2**10 + 1], np.uint64)
    program = loop_over(
        lambda b, i, given: [convert(b, given[0], name) for name in FLOATS], Scalar(unsigned.dtype)
    )
    agrees_everywhere(program, [unsigned])


def test_floats_outside_of_an_integer_s_range() -> None:
    """As NumPy's scalars on this kind of processor: the least integer; cut to a narrower type."""
    edges = [2147483647.5, 2147483648.0, -2147483648.5, -2147483649.0, 4294967295.5, 2.0**63]
    edges += [2.0**63 - 1024, 2.0**64, -(2.0**63), -(2.0**63) - 4096, 255.9, 256.0, -129.0, 1e19]
    for name in FLOATS:
        program = loop_over(
            lambda b, i, given: [convert(b, given[0], target) for target in INTEGERS],
            Scalar(np.dtype(name)),
        )
        agrees_everywhere(program, [np.array([*edges, np.nan, np.inf, -np.inf], name)])
