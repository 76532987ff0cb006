"""Updates in place: where they are stores, and that no value ever shows a store it should not."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from parloom.patterns.generators import Collect, MultiLoop
from parloom.staging import primitives as p
from parloom.staging.nodes import (
    Apply,
    Block,
    Bounds,
    ForLoop,
    If,
    Index,
    Operand,
    Program,
    Update,
    Var,
    While,
    size_operand,
)
from parloom.staging.parser import parse
from parloom.staging.passes import Pipeline
from parloom.staging.types import BOOL, F64, INDEX, Array, Type
from parloom.transforms.analyses.storage import find_reuse
from parloom.transforms.pipelines import CPU, LEVELS
from tests.codegen.kernels import interpret, mapped, run_llvm, run_plain, same_bits
from tests.program_arguments import random_arguments
from tests.programs import Writer

N = 4
VECTOR = Array(F64, (N,))


class Stores(Writer):
    """Programs that do little but update arrays: in branches and loops, read before and after."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed), 0, faults=False)

    def vectors(self) -> list[Operand]:
        return self.visible(lambda x: x.type == VECTOR)

    def vector(self) -> Operand:
        found = self.vectors()
        return self.rng.choice(found[-3:] if self.chance(0.8) else found)

    def place(self) -> Operand:
        return size_operand(self.rng.randrange(N))

    def steps(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 4)):
            simple = (self.store, self.store, self.load, self.fresh)
            if depth and self.chance(0.5):
                self.rng.choice((self.choose, self.count, self.whilst))(depth - 1)
            else:
                self.rng.choice(simple)()

    def store(self) -> None:
        self.emit(Update(self.vector(), (self.place(),), self.scalar(F64), Bounds.PROVEN))

    def load(self) -> None:
        self.emit(Index(self.vector(), (self.place(),), Bounds.PROVEN))

    def fresh(self) -> None:
        """A new array, computed from another one."""
        source, index = self.vector(), Var(INDEX)
        with self.inside((index,), (size_operand(N),)):
            (v,) = self.emit(Index(source, (index,), Bounds.PROVEN))
            (w,) = self.emit(Apply(p.ADD, (v, self.scalar(F64))))
            body = self.builder.close((Collect(None, Block((), (), (w,))),))
        self.emit(MultiLoop((size_operand(N),), body))

    def carried(self) -> list[Operand]:
        return [self.vector() if self.chance(0.7) else self.scalar(F64) for _ in range(3)]

    def results(self, types: Sequence[Type]) -> list[Operand]:
        return [self.vector() if t == VECTOR else self.scalar(F64) for t in types]

    def choose(self, depth: int) -> None:
        types, blocks = [x.type for x in self.carried()], list[Block]()
        cond = self.scalar(BOOL)
        for _ in range(2):
            with self.inside():
                self.steps(depth)
                blocks.append(self.builder.close(self.results(types)))
        self.emit(If(cond, *blocks))

    def count(self, depth: int) -> None:
        init = self.carried()
        index, params = Var(INDEX), [Var(x.type, self.hint()) for x in init]
        with self.inside((index, *params)):
            self.steps(depth)
            body = self.builder.close(self.results([x.type for x in init]))
        self.emit(ForLoop(size_operand(self.rng.randrange(4)), tuple(init), body))

    def whilst(self, depth: int) -> None:
        init = [size_operand(0), *self.carried()]
        types = [x.type for x in init]
        with self.inside(tested := [Var(t, self.hint()) for t in types]):
            (goes_on,) = self.builder.emit(Apply(p.LESS, (tested[0], size_operand(3))))
            cond = self.builder.close((goes_on,))
        with self.inside(params := [Var(t, self.hint()) for t in types]):
            self.steps(depth)
            (following,) = self.builder.emit(Apply(p.ADD, (params[0], size_operand(1))))
            body = self.builder.close((following, *self.results(types[1:])))
        self.emit(While(tuple(init), cond, body))

    def program(self, name: str) -> Program:
        params = [Var(VECTOR, "x"), Var(VECTOR, "y"), Var(F64, "s"), Var(BOOL, "c")]
        with self.inside(params):
            self.fresh()
            self.steps(3)
            self.steps(3)
            found = [*self.vectors()[2:], *self.visible(lambda x: x.type == F64)]
            self.rng.shuffle(found)
            body = self.builder.close(found[: self.rng.randint(1, 6)])
        return Program(name, (), tuple(params), Block((), body.stmts, body.results))


@pytest.mark.parametrize(("first", "pipeline"), [(0, (LEVELS,)), (20, (LEVELS,)), (40, CPU)])
def test_stores_are_seen_by_nobody_who_reads_the_old_array(first: int, pipeline: Pipeline) -> None:
    stores = 0
    for seed in range(first, first + 20):
        program = Stores(seed).program(f"stores_{seed}")
        arguments = random_arguments(program, seed)
        expected = interpret(program, arguments)
        compiled = mapped(program, pipeline)
        stores += len(find_reuse(compiled).updates)
        assert same_bits(expected, run_plain(compiled, arguments)), f"seed {seed}"
    assert stores > 10


def test_stores_of_compiled_code() -> None:
    for seed in range(300, 305):
        program = mapped(Stores(seed).program(f"stores_{seed}"), CPU)
        arguments = random_arguments(program, seed)
        expected = interpret(program, arguments)
        assert same_bits(expected, run_llvm(program, arguments)), f"seed {seed}"


def reuse_of(rest: str, init: str = "zeros", results: str = "out") -> tuple[int, int, int]:
    """How many updates are stores, how many states are moved and copied."""
    found = find_reuse(parse(LOOP.format(init=init, rest=rest, results=results)))
    return len(found.updates), len(found.moved), len(found.copied)


LOOP = """\
program f(n; x: f64[n], s: f64) {{
  zeros: f64[n] = loop (i < n) {{
    collect 0.0_f64
  }}
  out: f64[n] = for (i < n; a: f64[n] = {init}) {{
    v: f64 = x[i]
    b: f64[n] = a with [i] = v
{rest}
  }}
  return {results}
}}
"""


def test_a_loop_that_writes_its_own_array_stores() -> None:
    assert reuse_of("    yield b") == (1, 1, 0)


def test_an_array_that_is_read_later_is_copied_once() -> None:
    assert reuse_of("    yield b", results="out, zeros") == (1, 0, 1)
    assert reuse_of("    yield b", init="x") == (1, 0, 1)


def test_an_update_whose_operand_is_read_again_copies() -> None:
    rest = "    w: f64 = a[i]\n    c: f64[n] = b with [i] = w\n    yield c"
    assert reuse_of(rest) == (1, 1, 0)
    assert reuse_of("    yield a") == (0, 1, 0)
