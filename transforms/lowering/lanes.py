"""Reductions over lanes: no accumulator waits for itself, and each step is one of vectors.

    for i in range(start, start + whole, 16):
        for lane in range(16):
            acc[lane] = acc[lane] + x[i + lane]                     acc: registers
    for lane in range(16):
        acc_lanes[lane] = acc[lane]
    for lane in range(rest):
        acc_lanes[lane] = acc_lanes[lane] + x[start + whole + lane]
    for lane in range(8):
        acc_lanes[lane] = acc_lanes[lane] + acc_lanes[lane + 8]     then 4, 2, 1

Which index goes to which lane, and how lanes combine, is the reducer's `Order`. An argmin over the
loop's own index keeps (value, index) in each lane, and lanes combine in the order of their indices:
its result is that of index order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...patterns.generators import Collect, Generator, MultiLoop, Reduce
from ...patterns.reducers import Reducer, arg_start, lane_start, scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Apply, Cast, Effects, Index, Op, Stmt, Var
from ...staging.traversal import effects
from ...staging.types import Scalar
from ..kernel_ir import (
    Buffer,
    Expr,
    For,
    Literal,
    Load,
    Local,
    LoopKind,
    Prim,
    Space,
    Statement,
    Store,
)
from .block import BlockLowering
from .jam import round_down
from .nested import own_index_start
from .reduce import Place, blend, combined, held_expr
from .scope import INT, KernelScope, Uniform, integer, prim, truth


def may_deal(op: MultiLoop) -> bool:
    """Whether a loop can run over lanes: scalar work, and reductions that may be regrouped."""
    if len(op.domain) > 1 or not any(isinstance(g, Reduce) for g in op.generators):
        return False
    return all(simple(s.op) for s in op.body.stmts) and all(
        may_deal_generator(op, g) for g in op.generators
    )


def simple(op: Op) -> bool:
    """Whether a statement is scalar work that cannot fault."""
    return isinstance(op, Apply | Cast | Index) and effects(op) is Effects.NONE


def own_reads(stmts: Sequence[Stmt], indices: Sequence[Var]) -> bool:
    """Whether reads are at indices of loops: inside, whatever a condition says."""
    return all(i in indices for s in stmts if isinstance(s.op, Index) for i in s.op.indices)


def may_deal_generator(op: MultiLoop, generator: Generator) -> bool:
    """Whether a generator can run over lanes: a Reduce with a start that changes no result, or an
    array of scalars."""
    if not isinstance(generator, Reduce | Collect):
        return False
    if not all(isinstance(v.type, Scalar) for v in generator.value.operands):
        return False
    if not all(simple(s.op) for s in generator.value.stmts):
        return False
    if isinstance(generator, Collect):
        return generator.cond is None
    if generator.cond is not None and not own_reads(generator.value.stmts, op.body.params):
        return False
    if independent(generator.reducer):
        return True
    return generator.cond is None and own_index_start(op, generator) is not None


def independent(reducer: Reducer) -> bool:
    """Whether every component combines by a primitive that commutes, from a neutral start."""
    return reducer.associative and reducer.commutative and lane_start(reducer) is not None


@dataclass(slots=True)
class Dealt:
    """A reduction whose indices are dealt to lanes.

    registers, memory : each component's accumulators, with an element for each lane: while whole
        rows of lanes run, and after
    start : what each component starts from; a last component more than the reducer has says
        whether there was a value
    """

    generator: Reduce
    lanes: int
    registers: tuple[Buffer, ...]
    memory: tuple[Buffer, ...]
    start: tuple[np.generic, ...]

    @property
    def seen(self) -> bool:
        """Whether a component says if there was a value."""
        return len(self.start) > self.generator.reducer.width

    def result(self, component: int) -> Expr:
        """A component, when the lanes have been combined."""
        return Load(self.memory[component], (integer(0),))

    def step(self, b: BlockLowering, at: Expr, buffers: Sequence[Buffer]) -> None:
        """Combines the value of the index in scope into lane `at`."""
        generator = self.generator
        reducer = generator.reducer
        b.block(generator.value)
        places = [Place(buffer, (at,)) for buffer in buffers]
        if not independent(reducer):
            values = [held_expr(b, b.expr(v), "") for v in generator.value.operands]
            blend(b, reducer, places, values, None)
            return
        values = [b.expr(v) for v in generator.value.operands]
        if self.seen:
            values.append(truth(True))
        for k, (place, value) in enumerate(zip(places, values, strict=True)):
            new = combined(primitive_of(reducer, k), place.read(), value)
            if generator.cond is not None:
                new = Prim(p.SELECT, (b.expr(generator.cond), new, place.read()), place.dtype)
            b.out.append(place.write(new))

    def halve(self, b: BlockLowering, lane: Expr, other: Expr) -> None:
        """Combines lane `other` into `lane`."""
        reducer = self.generator.reducer
        if independent(reducer):
            for k, buffer in enumerate(self.memory):
                here, there = Load(buffer, (lane,)), Load(buffer, (other,))
                new = combined(primitive_of(reducer, k), here, there)
                b.out.append(Store(buffer, (lane,), new))
            return
        held = [
            [held_expr(b, Load(buffer, (at,)), "") for buffer in self.memory]
            for at in (lane, other)
        ]
        in_order = held_expr(b, prim(p.LESS_EQUAL, held[0][-1], held[1][-1]), "")
        for k, (one, two) in enumerate(zip(*held, strict=True)):
            earlier = Prim(p.SELECT, (in_order, one, two), one.dtype)
            later = Prim(p.SELECT, (in_order, two, one), one.dtype)
            first, second = reducer.block.params[k], reducer.block.params[reducer.width + k]
            b.env[first] = Uniform(held_expr(b, earlier, ""))
            b.env[second] = Uniform(held_expr(b, later, ""))
        b.block(reducer.block)
        found = [held_expr(b, b.expr(r), "") for r in reducer.block.operands]
        for buffer, value in zip(self.memory, found, strict=True):
            b.out.append(Store(buffer, (lane,), value))


def primitive_of(reducer: Reducer, component: int) -> p.Primitive:
    """What combines a component; behind the last one stands whether there was a value."""
    if component == reducer.width:
        return p.LOGICAL_OR
    primitive = scalar_primitive(reducer, component)
    assert primitive is not None
    return primitive


def dealt(
    scope: KernelScope,
    generator: Reduce,
    names: Sequence[str],
    dtypes: Sequence[np.dtype[np.generic]],
    lanes: int,
) -> Dealt:
    """A reduction over `lanes` lanes, its components named and kept as said."""
    reducer = generator.reducer
    found = lane_start(reducer) or arg_start(reducer)
    assert found is not None
    start = [c.value.astype(dtype) for c, dtype in zip(found, dtypes, strict=True)]
    names = list(names)
    if generator.cond is not None and reducer.identity is None:
        start.append(np.bool_(False))
        names.append("seen")
    shape = (lanes,)
    registers = tuple(
        scope.scratch(f"{name}", value.dtype, shape, Space.REGISTERS)
        for name, value in zip(names, start, strict=True)
    )
    memory = tuple(
        scope.scratch(f"{name}_lanes", value.dtype, shape)
        for name, value in zip(names, start, strict=True)
    )
    return Dealt(generator, lanes, registers, memory, tuple(start))


def deal(
    b: BlockLowering,
    span: tuple[Expr, Expr],
    reductions: Sequence[Dealt],
    body: Callable[[BlockLowering, Expr, Callable[[Dealt], None]], None],
) -> None:
    """The loops over `span`; afterwards each reduction has its result.

    body : emits one index's work in a loop over lanes, given the index and what takes a
        reduction's step
    """
    lanes = reductions[0].lanes
    start, stop = span
    length = prim(p.SUBTRACT, stop, start)
    middle = held_expr(b, prim(p.ADD, start, round_down(b, length, lanes, "lanes")), "middle")

    def begin(inner: BlockLowering, lane: Expr) -> None:
        for d in reductions:
            for buffer, value in zip(d.registers, d.start, strict=True):
                inner.out.append(Store(buffer, (lane,), Literal(value)))

    def keep(inner: BlockLowering, lane: Expr) -> None:
        for d in reductions:
            for buffer, register in zip(d.memory, d.registers, strict=True):
                inner.out.append(Store(buffer, (lane,), Load(register, (lane,))))

    def at_once(inner: BlockLowering, lane: Expr) -> None:
        body(inner, prim(p.ADD, base, lane), lambda d: d.step(inner, lane, d.registers))

    def at_end(inner: BlockLowering, lane: Expr) -> None:
        body(inner, prim(p.ADD, middle, lane), lambda d: d.step(inner, lane, d.memory))

    lane_loop(b, integer(lanes), begin)
    base = Local(b.scope.names.fresh("base"), INT)
    whole: list[Statement] = []
    b.out.append(For(base, start, middle, whole, LoopKind.CHUNK, lanes))
    with b.nested(whole):
        lane_loop(b, integer(lanes), at_once)
    lane_loop(b, integer(lanes), keep)
    lane_loop(b, prim(p.SUBTRACT, stop, middle), at_end)
    half = lanes // 2
    while half:
        lane_loop(b, integer(half), partial(halve_all, reductions, half))
        half //= 2


def halve_all(reductions: Sequence[Dealt], half: int, b: BlockLowering, lane: Expr) -> None:
    """Combines lane `half` behind into a lane, for every reduction."""
    for d in reductions:
        d.halve(b, lane, prim(p.ADD, lane, integer(half)))


def lane_loop(b: BlockLowering, count: Expr, body: Callable[[BlockLowering, Expr], None]) -> None:
    """for lane in range(count)."""
    lane = Local(b.scope.names.fresh("lane"), INT)
    inside: list[Statement] = []
    b.out.append(For(lane, integer(0), count, inside, LoopKind.LANES))
    body(BlockLowering(b.scope, dict(b.env), inside, lane), lane)
