"""Random well-typed programs and arguments for them, from a seed.

    program = random_program(7)
    results = interpret(program, random_arguments(program, 7))

Programs hold every op of the core and every generator: multiloops of rank 1 and 2, nested up to
`depth`, with and without conditions, `if`, `for`, `while`, checks, all promotions. They come from
the builder, so constants are folded and equal statements shared as in a staged program. Unless
`faults`, no program raises for arguments whose sizes are at least 1. Float sums depend on their
order: compare them within a bound.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from parloom.patterns import generators as g
from parloom.patterns.generators import Collect, Fold, MultiLoop, Reduce, Scan
from parloom.patterns.reducers import Reducer
from parloom.patterns.syntax import standard
from parloom.staging import primitives as p
from parloom.staging.builder import Builder
from parloom.staging.locations import Location
from parloom.staging.nodes import (
    Apply,
    Block,
    Bounds,
    Cast,
    Check,
    Const,
    Contiguous,
    ErrorKind,
    ForLoop,
    If,
    Index,
    Op,
    Operand,
    Program,
    Update,
    Var,
    While,
    size_operand,
)
from parloom.staging.types import BOOL, F32, F64, I64, INDEX, WEAK_FLOAT, Array, Scalar, Type
from tests.program_arguments import random_values
from tests.program_buckets import random_bucket

I32, U8 = Scalar(np.dtype(np.int32)), Scalar(np.dtype(np.uint8))
STORED = (F64, F32, I64, I32, U8, BOOL)
SCALARS = (*STORED, INDEX, WEAK_FLOAT)
UNARY = (p.NEGATIVE, p.ABSOLUTE, p.SQUARE, p.SQRT, p.LOGICAL_NOT, p.INVERT, p.ISNAN, p.FLOOR)
BINARY = (
    *(p.ADD, p.SUBTRACT, p.MULTIPLY, p.DIVIDE, p.FLOOR_DIVIDE, p.REMAINDER),
    *(p.MINIMUM, p.MAXIMUM, p.LESS, p.GREATER_EQUAL, p.EQUAL, p.NOT_EQUAL),
    *(p.LOGICAL_AND, p.LOGICAL_OR, p.LOGICAL_XOR, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR),
)
HINTS = ("", "", "", "x", "y", "s", "acc", "label", "t1", "sum", "where", "nan", "f64", "λ", "2d")
Close = Callable[[tuple[Operand, ...]], Block]


def random_program(seed: int, *, depth: int = 3, faults: bool = False) -> Program:
    """A program; `depth` bounds the nesting of multiloops, `faults` allows any checked index."""
    return Writer(random.Random(seed), depth, faults).program(f"random_{seed}")


@dataclass
class _Scope:
    """What a block may use: its operands, and the indices with their extents."""

    operands: list[Operand]
    indices: list[tuple[Var, Operand]]


class Writer:
    def __init__(self, rng: random.Random, depth: int, faults: bool) -> None:
        self.rng = rng
        self.depth = depth
        self.faults = faults
        self.builder = Builder()
        self.scopes: list[_Scope] = []
        self.sizes: list[Var] = []
        self.line = 0

    # Choices.

    def hint(self) -> str:
        return self.rng.choice(HINTS)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def visible(self, of: Callable[[Operand], bool]) -> list[Operand]:
        return [x for scope in self.scopes for x in scope.operands if of(x)]

    def any_scalar(self) -> Operand:
        found = self.visible(lambda x: isinstance(x.type, Scalar))
        if not found or self.chance(0.15):
            return self.constant(self.rng.choice(SCALARS))
        return self.rng.choice(found[-8:] if self.chance(0.7) else found)

    def constant(self, type_: Scalar) -> Const:
        return Const(random_values(self.rng, type_, 1)[0], type_)

    def scalar(self, type_: Scalar) -> Operand:
        """A visible operand of the type, or one made from another of its kind, or a constant."""
        found = self.visible(lambda x: x.type == type_)
        if found and self.chance(0.8):
            return self.rng.choice(found)
        other = self.any_scalar()
        assert isinstance(other.type, Scalar)
        if np.can_cast(other.type.dtype, type_.dtype, "same_kind"):
            return self.emit(Cast(other, type_))[0]
        return self.constant(type_)

    # Statements.

    def emit(self, op: Op) -> tuple[Operand, ...]:
        self.line += 1
        names = [self.hint() for _ in op.signature()]
        results = self.builder.emit(op, names, (Location("random.py", self.line),))
        self.scopes[-1].operands.extend(results)
        return results

    @contextmanager
    def inside(
        self, params: Sequence[Var] = (), domain: Sequence[Operand] = ()
    ) -> Generator[None, None, None]:
        scalars: list[Operand] = list(params)
        self.scopes.append(_Scope(scalars, list(zip(params, domain, strict=False))))
        self.builder.open(params)
        yield
        self.scopes.pop()

    def statements(self, depth: int, count: int) -> None:
        simple = [self.apply] * 3 + [self.select, self.cast, self.read, self.read, self.update]
        for _ in range(count):
            if depth == 0 or self.chance(0.7):
                self.rng.choice(simple)()
            else:
                self.rng.choice((self.branch, self.counted, self.repeat, self.loop, self.loop))(
                    depth - 1
                )

    def apply(self) -> None:
        primitive = self.rng.choice(BINARY if self.chance(0.75) else UNARY)
        self.primitive(primitive, [self.any_scalar() for _ in range(primitive.arity)])

    def primitive(self, primitive: p.Primitive, args: Sequence[Operand]) -> Operand | None:
        try:
            loop = primitive.loop(tuple(a.type for a in args if isinstance(a.type, Scalar)))
        except TypeError:
            return None
        cast = [
            a if a.type == t else self.emit(Cast(a, t))[0] for a, t in zip(args, loop, strict=True)
        ]
        return self.emit(Apply(primitive, tuple(cast)))[0]

    def select(self) -> None:
        self.primitive(p.SELECT, [self.scalar(BOOL), self.any_scalar(), self.any_scalar()])

    def cast(self) -> None:
        self.scalar(self.rng.choice(SCALARS))

    def read(self) -> None:
        """One element of an array over whose dimensions indices run."""
        for array, indices, bounds in self.elements():
            self.emit(Index(array, indices, bounds))

    def update(self) -> None:
        """Such an element replaced."""
        for array, indices, bounds in self.elements():
            assert isinstance(array.type, Array)
            self.emit(Update(array, indices, self.scalar(array.type.element), bounds))

    def elements(self) -> list[tuple[Operand, tuple[Operand, ...], Bounds]]:
        """A visible array with indices into it, if there is one."""
        arrays = self.visible(lambda x: isinstance(x.type, Array))
        self.rng.shuffle(arrays)
        for array in arrays:
            assert isinstance(array.type, Array)
            found = [self.index_of(size_operand(d)) for d in array.type.shape]
            indices = tuple(i for i, _ in found if i is not None)
            sure = all(evident for _, evident in found) and self.chance(0.5)
            if len(indices) == len(found):
                return [(array, indices, Bounds.PROVEN if sure else Bounds.CHECKED)]
        return []

    def index_of(self, extent: Operand) -> tuple[Operand | None, bool]:
        """An index into a dimension, and whether its bounds are evident."""
        if self.faults and self.chance(0.1):
            return self.scalar(INDEX), False
        running = [i for scope in self.scopes for i, e in scope.indices if e == extent]
        if running and self.chance(0.7):
            return self.rng.choice(running), True
        if isinstance(extent, Const):
            return size_operand(self.rng.randrange(int(extent.value.item()))), True
        if extent in self.sizes or running:
            return self.primitive(p.REMAINDER, (self.scalar(I64), extent)), False
        return None, False

    def results(self, types: Sequence[Scalar]) -> list[Operand]:
        return list(map(self.scalar, types))

    def some_types(self) -> list[Scalar]:
        return [self.rng.choice(SCALARS) for _ in range(self.rng.randint(1, 3))]

    def branch(self, depth: int) -> None:
        types, blocks = self.some_types(), list[Block]()
        cond = self.scalar(BOOL)
        for _ in range(2):
            with self.inside():
                self.statements(depth, self.rng.randint(0, 3))
                blocks.append(self.builder.close(self.results(types)))
        self.emit(If(cond, *blocks))

    def counted(self, depth: int) -> None:
        types = self.some_types()
        init = tuple(self.results(types))
        count = size_operand(self.rng.randrange(4))
        index, params = Var(INDEX, self.hint()), [Var(t, self.hint()) for t in types]
        with self.inside((index, *params)):
            self.statements(depth, self.rng.randint(1, 4))
            body = self.builder.close(self.results(types))
        self.emit(ForLoop(count, init, body))

    def repeat(self, depth: int) -> None:
        """A while loop that a counter ends."""
        types = [INDEX, *self.some_types()]
        init = (size_operand(0), *self.results(types[1:]))
        with self.inside(tested := [Var(t, self.hint()) for t in types]):
            (go,) = self.builder.emit(Apply(p.LESS, (tested[0], size_operand(3))))
            other = self.scalar(BOOL)
            cond = self.builder.close(self.builder.emit(Apply(p.LOGICAL_AND, (go, other))))
        with self.inside(params := [Var(t, self.hint()) for t in types]):
            self.statements(depth, self.rng.randint(1, 3))
            (following,) = self.builder.emit(Apply(p.ADD, (params[0], size_operand(1))))
            body = self.builder.close((following, *self.results(types[1:])))
        self.emit(While(init, cond, body))

    # Multiloops.

    def extent(self) -> Operand:
        kept = self.visible(lambda x: isinstance(x, Var) and x.name == "kept")
        return self.rng.choice([*self.sizes, size_operand(self.rng.randint(1, 4)), *kept])

    def loop(self, depth: int) -> None:
        domain = tuple(self.extent() for _ in range(self.rng.choice((1, 1, 2))))
        indices = [Var(INDEX, self.rng.choice(("", "i", "row"))) for _ in domain]
        sure = all(isinstance(e, Const) or e in self.sizes for e in domain)
        with self.inside(indices, domain):
            self.statements(depth, self.rng.randint(1, 5))
            rank, count = len(domain), self.rng.randint(1, 3)
            generators = [self.generator(depth, sure, rank) for _ in range(count)]
            body = self.builder.close(generators)
        self.emit(MultiLoop(domain, body))

    def generator(self, depth: int, sure: bool, rank: int) -> g.Generator:
        """`sure`: the domain has at least one index; `rank`: how many axes."""
        if rank == 1 and self.chance(0.15):
            return self.scan()
        cond = self.scalar(BOOL) if self.chance(0.35) else None
        make = self.rng.choice((self.collect, self.reduce) * 2 + (self.fold, self.bucket))
        if cond is None:
            return make(None, lambda values: Block((), (), values), sure)
        with self.inside():
            self.statements(depth, self.rng.randint(0, 2))
            return make(cond, self.builder.close, self.faults and sure)

    def collect(self, cond: Operand | None, close: Close, sure: bool) -> Collect:
        outer = self.visible(lambda x: isinstance(x.type, Array) and self.is_outer(x.type))
        if outer and self.chance(0.15):
            return Collect(cond, close((self.rng.choice(outer),)))
        return Collect(cond, close((self.any_scalar(),)))

    def is_outer(self, type_: Array) -> bool:
        """Whether the sizes of an array value are visible outside of every loop."""
        return all(isinstance(d, int) or d in self.sizes for d in type_.shape)

    def reduce(self, cond: Operand | None, close: Close, sure: bool) -> Reduce:
        choices = ["sum", "prod", "all", "bitwise_xor", "last"]
        choices += ["min", "max", "argmin", "argmax"] if sure else []
        name = self.rng.choice(choices)
        if name == "last":
            values = tuple(self.results(self.some_types()))
            return Reduce(cond, close(values), last(tuple(v.type for v in values)))
        types = {
            "all": (BOOL,),
            "bitwise_xor": (self.rng.choice((I64, I32, U8, INDEX)),),
            "argmin": (self.rng.choice((F64, F32, I64)), I64),
            "argmax": (self.rng.choice((F64, I32, WEAK_FLOAT)), I64),
        }.get(name, (self.rng.choice((F64, F32, I64, INDEX)),))
        values = tuple(self.results(types))
        return Reduce(cond, close(values), standard(name, types))

    def scan(self) -> Scan:
        name = self.rng.choice(("sum", "prod", "max", "all", "bitwise_xor", "argmin", "last"))
        types = {
            "all": (BOOL,),
            "bitwise_xor": (I64,),
            "argmin": (F64, I64),
            "last": tuple(self.some_types()),
        }.get(name, (self.rng.choice((F64, F32, I64)),))
        values = tuple(self.results(types))
        found = tuple(v.type for v in values)
        reducer = last(found) if name == "last" else standard(name, found)
        exclusive = reducer.identity is not None and self.chance(0.4)
        return Scan(None, Block((), (), values), reducer, exclusive)

    def fold(self, cond: Operand | None, close: Close, sure: bool) -> Fold:
        shape = tuple(
            self.rng.choice([*self.sizes, size_operand(3)])
            for _ in range(self.rng.choice((1, 1, 2)))
        )
        found = [self.index_of(extent) for extent in shape]
        location = tuple(i for i, _ in found if i is not None)
        proven = all(evident for _, evident in found) and self.chance(0.5)
        type_ = self.rng.choice((F64, I64, U8))
        value = self.scalar(type_)
        reducer = standard(self.rng.choice(("sum", "prod")), (type_,))
        bounds = Bounds.PROVEN if proven else Bounds.CHECKED
        return Fold(cond, close((*location, value)), reducer, shape, bounds)

    def bucket(self, cond: Operand | None, close: Close, _: bool) -> g.Generator:
        return random_bucket(self.rng, self.scalar, cond, close)

    # The whole.

    def program(self, name: str) -> Program:
        self.sizes = [Var(INDEX, hint) for hint in self.rng.sample(("n", "m", "k"), 2)]
        shapes = [(self.sizes[0],), tuple(self.sizes), (self.rng.randint(1, 3), self.sizes[0])]
        facts = [frozenset({Contiguous()}), frozenset[Contiguous]()]
        params = [
            Var(Array(self.rng.choice(STORED), shape), self.hint(), self.rng.choice(facts))
            for shape in shapes
        ]
        params += [Var(self.rng.choice(STORED), self.hint()) for _ in range(2)]
        with self.inside((*self.sizes, *params)):
            self.statements(self.depth, self.rng.randint(2, 5))
            self.loop(self.depth - 1)
            self.statements(self.depth, self.rng.randint(0, 2))
            self.check()
            results = self.visible(lambda x: x not in params)
            self.rng.shuffle(results)
            body = self.builder.close(results[: self.rng.randint(1, 4)])
        block = Block((), body.stmts, body.results)
        return Program(name, tuple(self.sizes), tuple(params), block)

    def check(self) -> None:
        """A check that holds, unless faults are allowed."""
        cond = self.scalar(BOOL) if self.faults else self.sizes_sum_up()
        if self.chance(0.3):
            self.emit(Check(cond, self.rng.choice(list(ErrorKind)), 'no "good" # \\ value'))

    def sizes_sum_up(self) -> Operand:
        (total,) = self.emit(Apply(p.ADD, (self.sizes[0], self.sizes[1])))
        return self.emit(Apply(p.GREATER_EQUAL, (total, self.sizes[0])))[0]


def last(types: tuple[Type, ...]) -> Reducer:
    """The reducer that keeps the later value, without a standard name."""
    identity = tuple(
        Const(0, type_ if isinstance(type_, Scalar) else type_.element) for type_ in types
    )
    a, b = ([Var(t, name) for t in types] for name in "ab")
    return Reducer(Block((*a, *b), (), tuple(b)), "last", identity, associative=True)
