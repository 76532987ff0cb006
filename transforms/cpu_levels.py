"""cpu_levels: which loops run in parallel, in which form, and in which order reductions combine.

    Before:  s: f64 = loop (i < n) { ... reduce sum (e) }
    After:   s: f64 = loop (i < n) mapped cpu_levels(strip=0, ...) { ... reduce sum order(...) (e) }

Requires: nothing; the outermost loops of the program's sequential part become parallel.
Does not: change any result but the rounding of float sums, whose order it sets as data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..patterns.generators import (
    Combining,
    Conflict,
    Generator,
    Mapping,
    MultiLoop,
    Reduce,
    Scan,
    Scatter,
)
from ..patterns.reducers import Order, Reducer
from ..staging.dataclass import dataclass
from ..staging.decisions import decide, decline
from ..staging.nodes import Block, Effects, Index, Operand, Program, Stmt, Var
from ..staging.records import record
from ..staging.replay import Replay, replay_program
from ..staging.traversal import effects, free_vars
from ..staging.types import Array, Scalar
from .lowering.forms import may_strip, may_strip_stmt, produces
from .lowering.lanes import independent, may_deal
from .lowering.tiles import may_tile
from .merge_loops import name_of

STRIP = 128
BLOCK = 128
LANES = 16
JAM = 4
CHUNK = 1 << 15  # innermost iterations that are worth a launch of their own
VECTOR = 8  # how many times as many, where registers hold accumulators in lanes or tiles
CHUNKS = 64
FOLD_CHUNKS = 16
WHOLE = 2**62


@record
@dataclass(frozen=True, slots=True)
class CpuLevels(Mapping):
    """The CPU's mapping of a parallel loop.

    strip : the number of lanes of the strip form, or 0 for another one
    jam : how many rows stand side by side in the row form
    tiles : whether sums of matrices are kept in registers, tile by tile, for a block of rows
    order : the chunks, and how float sums combine; with lanes, the loop runs over these
    """

    strip: int
    order: Order
    jam: int = 1
    tiles: bool = False


def cpu_levels(program: Program) -> Program:
    """Maps every outermost loop of the program's sequential part."""
    return replay_program(program, MapLoops)


class MapLoops(Replay):
    """Sets `mapping` and the reducers' orders on outermost loops."""

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        """An outermost loop is mapped; sequential statements are entered by the default copy."""
        if not isinstance(stmt.op, MultiLoop):
            return None
        mapping = choose(stmt, stmt.op)
        inner = Replay if mapping.strip or mapping.order.lanes else OrderInner
        copied = inner(self.builder, self.env).op(stmt.op)
        assert isinstance(copied, MultiLoop)
        generators = tuple(ordered(g, mapping.order) for g in copied.generators)
        body = Block(copied.body.params, copied.body.stmts, generators)
        return self.replace(stmt, MultiLoop(copied.domain, body, mapping))


class OrderInner(Replay):
    """Float sums of loops inside combine in blocks, so that rounding grows with the blocks."""

    def statement(self, stmt: Stmt) -> Sequence[Operand] | None:
        """A loop over one axis; everything else is copied."""
        if not isinstance(stmt.op, MultiLoop) or len(stmt.op.domain) > 1:
            return None
        copied = self.op(stmt.op)
        assert isinstance(copied, MultiLoop)
        generators = tuple(in_blocks(g) for g in copied.generators)
        body = Block(copied.body.params, copied.body.stmts, generators)
        return self.replace(stmt, MultiLoop(copied.domain, body))


def in_blocks(generator: Generator) -> Generator:
    """A scalar float sum in blocks; any other generator as it is."""
    if not isinstance(generator, Reduce) or generator.reducer.width > 1:
        return generator
    scalar = isinstance(generator.reducer.block.params[0].type, Scalar)
    if not scalar or not rounds(generator.reducer):
        return generator
    return replace(generator, reducer=replace(generator.reducer, order=Order(WHOLE, 1, BLOCK)))


def ordered(generator: Generator, order: Order) -> Generator:
    """The generator with the loop's order; blocks and lanes only where the grouping matters."""
    if not isinstance(generator, Combining):
        return generator
    block = order.block if rounding(generator) or order.lanes else 0
    found = replace(order, block=block)
    if order.lanes and not independent(generator.reducer):
        found = replace(order, block=0, lanes=0)
    return replace(generator, reducer=replace(generator.reducer, order=found))


def rounding(generator: Generator) -> bool:
    """Whether a float sum or product is among what a loop makes."""
    return isinstance(generator, Reduce) and rounds(generator.reducer)


def rounds(reducer: Reducer) -> bool:
    """Whether a float sum or product."""
    if reducer.identity is None or not reducer.associative:
        return False
    return any(
        (p.type.element if isinstance(p.type, Array) else p.type).dtype.kind in "fc"
        for p in reducer.block.params
    )


def choose(stmt: Stmt, op: MultiLoop) -> CpuLevels:
    """The mapping of one loop, with its decisions."""
    name = name_of(stmt)
    form, forms, reason = strip_or_rows(op)
    form = decide(f"cpu_levels.form.{name}", form, forms, reason, stmt.sources)
    jams, reason = side_by_side(op) if form == "rows" else ((1,), "lanes are side by side")
    jam = decide(f"cpu_levels.jam.{name}", jams[0], jams, reason, stmt.sources)
    tiles = form == "rows" and decide_tiles(stmt, op, name)
    width = STRIP if form == "strip" else 0
    order, reason = chunks(op, width or BLOCK)
    if form == "lanes":
        lanes = lanes_of(op)
        block = BLOCK * lanes if any(map(rounding, op.generators)) else 0
        order = replace(order, block=block, lanes=lanes)
    if (tiles or form == "lanes") and order.chunks > 1:
        order = replace(order, minimum=CHUNK * VECTOR)
    decide(f"cpu_levels.order.{name}", str(order), (str(order),), reason, stmt.sources)
    return CpuLevels(width, order, jam, tiles)


def decide_tiles(stmt: Stmt, op: MultiLoop, name: str) -> bool:
    """Whether the loop's sums of matrices run in tiles."""
    if not any(rounding(g) and may_tile(op, g) for g in op.generators):
        return False
    id = f"cpu_levels.tiles.{name}"
    if effects(op) & Effects.FAULT:
        decline(id, "the body may fault, in index order", stmt.sources)
        return False
    reason = "accumulators stay in registers for all rows of a block"
    return decide(id, True, (True, False), reason, stmt.sources)


def lanes_of(op: MultiLoop) -> int:
    """How many lanes: enough for additions not to wait for each other, while vector registers
    suffice for all accumulators."""
    components = sum(g.reducer.width for g in op.generators if isinstance(g, Reduce))
    return LANES if components <= 2 else LANES // 2


def chunks(op: MultiLoop, block: int) -> tuple[Order, str]:
    """How the loop is cut, and why."""
    for generator in op.generators:
        if generator.sequential and not stays_apart(op, generator):
            return Order(WHOLE, 1), f"{generator.sequential}: one chunk"
    if any(g.spreads for g in op.generators):
        return Order(CHUNK, FOLD_CHUNKS, block), "each chunk has accumulators for all places"
    if any(isinstance(g, Scan) for g in op.generators):
        reason = "each chunk is scanned alone, then what stands before it is added"
        return Order(CHUNK, CHUNKS, block), reason
    return Order(CHUNK, CHUNKS, block), "enough chunks for any number of threads"


def stays_apart(op: MultiLoop, generator: Generator) -> bool:
    """Whether values meet only where their first index is the same: the last one stays, then, in
    whatever chunk it is."""
    if not isinstance(generator, Scatter) or generator.conflict is not Conflict.LAST:
        return False
    return op.body.params[0] in generator.location


def side_by_side(op: MultiLoop) -> tuple[tuple[int, ...], str]:
    """How many rows may stand side by side, the best first, and why.

    It pays where array accumulators are then stored once for all of them, and where scalar
    reductions inside do not wait for each other. What faults keeps its order.
    """
    if len(op.domain) > 1:
        return (1,), "the loop has several axes"
    if effects(op) & Effects.FAULT:
        return (1,), "the body may fault, in index order"
    legal = (1, 2, 4, 8)
    if any(
        isinstance(g, Reduce) and g.cond is None and isinstance(g.value.operands[0].type, Array)
        for g in op.generators
    ):
        return (JAM, *legal), "array accumulators are stored once for several rows"
    inside = [s.op for s in op.body.stmts if isinstance(s.op, MultiLoop)]
    if any(isinstance(g, Reduce) for loop in inside for g in loop.generators):
        return (JAM, *legal), "the reductions of several rows do not wait for each other"
    return legal, "rows share no work"


def strip_or_rows(op: MultiLoop) -> tuple[str, tuple[str, ...], str]:
    """The form, the legal ones, and why.

    Strips pay when an element of the index's row is read again and again by a nested loop.
    """
    if len(op.domain) > 1:
        return "rows", ("rows",), "the loop has several axes"
    if may_deal(op):
        reason = "lanes of accumulators do not wait for each other"
        return "lanes", ("rows", "strip", "lanes"), reason
    if not all(may_strip_stmt(s.op) or at_end(s, op) for s in op.body.stmts):
        return "rows", ("rows",), "the body has statements that cannot run over lanes"
    for stmt in op.body.stmts:
        inner = stmt.op
        if isinstance(inner, MultiLoop) and may_strip(inner) and reused(inner, op.body.params[0]):
            reason = "a nested loop reads the same elements for each of its indices"
            return "strip", ("rows", "strip"), reason
    return "rows", ("rows", "strip"), "no nested loop reads an element more than once"


def at_end(stmt: Stmt, op: MultiLoop) -> bool:
    """Whether a generator produces the statement's array in place."""
    if not isinstance(stmt.op, MultiLoop) or not produces(stmt.op):
        return False
    readers = [s for s in op.body.stmts if s is not stmt and stmt.binders[0] in free_vars(s.op)]
    values = [g for g in op.generators if stmt.binders[0] in free_vars(g)]
    return not readers and len(values) == 1


def reused(op: MultiLoop, index: Var) -> bool:
    """Whether a read `a[index, ...]` stands in more loops than it has further indices."""
    return reads_again(op, index, 1)


def reads_again(op: MultiLoop, index: Var, depth: int) -> bool:
    depth += len(op.domain) - 1
    for stmt in op.body.stmts:
        if isinstance(stmt.op, Index) and stmt.op.indices[0] is index:
            if depth > len(stmt.op.indices) - 1:
                return True
        if isinstance(stmt.op, MultiLoop) and reads_again(stmt.op, index, depth + 1):
            return True
    return False
