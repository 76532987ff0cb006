"""Sums of matrices with one term a row: a tile of the sum stays in registers for a block of rows.

    for j in range(0, m, 4):
        for k in range(0, n - n % 8, 8):
            for i in range(block, block_stop):
                for lane in range(8):
                    tile[lane] = fma(x[i, j], x[i, k + lane], tile[lane])             registers
                    tile_1[lane] = fma(x[i, j + 1], x[i, k + lane], tile_1[lane])
                    ...

Each element is added up over the rows of a block in index order, as if it were alone. A tile begins
at the identity, so that the last ones of an axis may lie over those before them. What the terms
need of a row is computed once, and kept for the block's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Generator as Steps
from contextlib import contextmanager
from functools import partial

from ...patterns.generators import Generator, MultiLoop, Reduce
from ...patterns.reducers import scalar_primitive
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Stmt, Var, size_operand
from ...staging.traversal import free_vars
from ...staging.types import Array, Scalar
from ..kernel_ir import (
    Buffer,
    Expr,
    For,
    If,
    Let,
    Literal,
    Load,
    Local,
    Prim,
    Space,
    Statement,
    Store,
)
from .block import BlockLowering
from .forms import direct_uses, produces
from .lanes import lane_loop, own_reads, simple
from .parts import Part, combine_places, reduce_frame, state_place
from .reduce import Place, combined, held_expr, nest
from .scope import (
    INT,
    Env,
    KernelScope,
    Stored,
    Uniform,
    array_type,
    host_shape,
    integer,
    prim,
)

ROWS, LANES, FEW = 4, 8, 4


def may_tile(op: MultiLoop, generator: Generator) -> bool:
    """Whether a generator is a sum of matrices whose elements can be computed one by one."""
    if len(op.domain) > 1 or not isinstance(generator, Reduce) or generator.reducer.width > 1:
        return False
    if scalar_primitive(generator.reducer) is None or generator.reducer.identity is None:
        return False
    term = term_of(op, generator)
    if term is None or not all(simple(s.op) for s in work(term)):
        return False
    if not all(simple(s.op) or s.op is term for s in generator.value.stmts):
        return False
    indices = (*op.body.params, *term.body.params)
    reads = (*generator.value.stmts, *work(term))
    if generator.cond is not None and not own_reads(reads, indices):
        return False
    bound = {v for s in op.body.stmts for v in s.binders}
    sizes = [
        d for v in carried(op, generator, term) if isinstance(v.type, Array) for d in v.type.shape
    ]
    return not any(d in bound for d in (*term.domain, *sizes))


def term_of(op: MultiLoop, generator: Reduce) -> MultiLoop | None:
    """The loop that makes the matrix of one row, if nothing else reads it."""
    (result,) = generator.value.operands
    for block in (generator.value, op.body):
        for stmt in block.stmts:
            loop = stmt.op
            if result not in stmt.binders:
                continue
            if not isinstance(loop, MultiLoop) or len(loop.domain) != 2 or not produces(loop):
                return None
            scalar = isinstance(loop.generators[0].value.operands[0].type, Scalar)
            return loop if scalar and direct_uses(block)[stmt.binders[0]] == 1 else None
    return None


def work(term: MultiLoop) -> tuple[Stmt, ...]:
    """What computes one element."""
    return (*term.body.stmts, *term.generators[0].value.stmts)


def carried(op: MultiLoop, generator: Reduce, term: MultiLoop) -> list[Var]:
    """What the terms need of a row: the variables of the loop's prelude that they read."""
    bound = {v for s in op.body.stmts for v in s.binders if s.op is not term}
    read = {**free_vars(generator), **free_vars(term)}
    return [v for v in read if v in bound]


@dataclass(slots=True)
class Tiles:
    """A sum of matrices over the rows of a block.

    total : the sum of the block
    kept : for each variable that the terms need of a row, its values for the block's rows
    """

    op: MultiLoop
    generator: Reduce
    term: MultiLoop
    total: Buffer
    kept: dict[Var, Buffer]

    def keep(self, b: BlockLowering) -> None:
        """Keeps what the terms need of the row in scope."""
        base, _ = b.scope.block
        at = prim(p.SUBTRACT, b.expr(self.op.body.params[0]), base)
        for var, buffer in self.kept.items():
            if isinstance(var.type, Scalar):
                b.out.append(Store(buffer, (at,), b.expr(var)))
                continue
            extents = [b.expr(size_operand(d)) for d in array_type(var).shape]

            def keep_element(inner: tuple[Expr, ...], var: Var = var, to: Buffer = buffer) -> None:
                b.out.append(Store(to, (at, *inner), b.element(var, inner)))

            nest(b, extents, keep_element)

    def run(self, b: BlockLowering) -> None:
        """The tiles of all elements; narrower ones where an axis is shorter than a tile."""
        m, n = (b.expr(extent) for extent in self.term.domain)
        wide: list[Statement] = []
        few: list[Statement] = []
        single: list[Statement] = []
        with b.nested(wide), over(b, (integer(0), m), ROWS, m) as j:
            whole = held_expr(b, prim(p.BITWISE_AND, n, integer(-LANES)), "whole")
            with over(b, (integer(0), whole), LANES) as k:
                self.tile(b, (j, k), ROWS, LANES)
            with over(b, (whole, n), FEW, n) as k:
                self.tile(b, (j, k), ROWS, FEW)
        with b.nested(few), over(b, (integer(0), m), 1) as j, over(b, (integer(0), n), FEW, n) as k:
            self.tile(b, (j, k), 1, FEW)
        with b.nested(single), over(b, (integer(0), m), 1) as j, over(b, (integer(0), n), 1) as k:
            self.tile(b, (j, k), 1, 1)
        narrow = If(prim(p.LESS, n, integer(FEW)), single, few)
        large = prim(p.LESS_EQUAL, integer(max(ROWS, FEW)), prim(p.MINIMUM, m, n))
        b.out.append(If(large, wide, (narrow,)))

    def tile(self, b: BlockLowering, corner: tuple[Expr, Expr], rows: int, lanes: int) -> None:
        """Adds up one tile over the rows of the block."""
        identity = self.generator.reducer.identity
        assert identity is not None
        start = Literal(identity[0].value.astype(self.total.dtype))
        tile = [self.accumulator(b, lanes) for _ in range(rows)]
        base, stop = b.scope.block
        (param,) = self.op.body.params

        def begin(inner: BlockLowering, lane: Expr) -> None:
            for row in tile:
                if isinstance(row, Local):
                    inner.out.append(Let(row, start))
                else:
                    inner.out.append(Store(row, (lane,), start))

        def add(inner: BlockLowering, lane: Expr) -> None:
            for a, row in enumerate(tile):
                self.step(inner, element(corner, a, lane), place(row, lane))

        def keep(a: int, inner: BlockLowering, lane: Expr) -> None:
            value = place(tile[a], lane).read()
            inner.out.append(Store(self.total, element(corner, a, lane), value))

        over_lanes(b, lanes, begin)
        index = Local(b.scope.names.fresh(param.name, "i"), INT)
        body: list[Statement] = []
        b.out.append(For(index, base, stop, body))
        inner = BlockLowering(b.scope, dict(b.env), body, index)
        inner.env.update(
            {v: known(prim(p.SUBTRACT, index, base), v, k) for v, k in self.kept.items()}
        )
        inner.env[param] = Uniform(index)
        inner.block(self.generator.value)
        over_lanes(inner, lanes, add)
        for a in range(rows):  # rows of one buffer: LLVM cannot tell that they do not overlap
            over_lanes(b, lanes, partial(keep, a))

    def accumulator(self, b: BlockLowering, lanes: int) -> Buffer | Local:
        """One row of a tile."""
        if lanes == 1:
            return Local(b.scope.names.fresh("tile"), self.total.dtype)
        return b.scope.scratch("tile", self.total.dtype, (lanes,), Space.REGISTERS)

    def step(self, b: BlockLowering, at: tuple[Expr, Expr], target: Place) -> None:
        """Adds the term of the row in scope to one element."""
        reducer, cond = self.generator.reducer, self.generator.cond
        primitive = scalar_primitive(reducer)
        assert primitive is not None
        value = self.term.generators[0].value
        env = {**b.env, **{q: Uniform(x) for q, x in zip(self.term.body.params, at, strict=True)}}
        with b.using(env):
            b.block(self.term.body)
            b.block(value)
            new = combined(primitive, target.read(), b.expr(value.operands[0]))
            if cond is not None:
                new = Prim(p.SELECT, (b.expr(cond), new, target.read()), target.dtype)
            b.out.append(target.write(new))


def element(corner: tuple[Expr, Expr], row: int, lane: Expr) -> tuple[Expr, Expr]:
    """The indices of an element of a tile."""
    j, k = corner
    j = j if row == 0 else prim(p.ADD, j, integer(row))
    return j, k if lane == integer(0) else prim(p.ADD, k, lane)


def place(row: Buffer | Local, lane: Expr) -> Place:
    """An element of a tile's row."""
    return Place(row) if isinstance(row, Local) else Place(row, (lane,))


def known(at: Expr, var: Var, buffer: Buffer) -> Stored | Uniform:
    """What was kept of a row."""
    if isinstance(var.type, Scalar):
        return Uniform(Load(buffer, (at,)))
    return Stored(buffer, prefix=(at,))


def over_lanes(b: BlockLowering, lanes: int, body: Callable[[BlockLowering, Expr], None]) -> None:
    """for lane in range(lanes), without a loop for one."""
    if lanes == 1:
        body(b, integer(0))
    else:
        lane_loop(b, integer(lanes), body)


@contextmanager
def over(
    b: BlockLowering, span: tuple[Expr, Expr], width: int, extent: Expr | None = None
) -> Steps[Expr]:
    """A loop in steps of `width`, given the start of each; none reaches beyond `extent`."""
    index = Local(b.scope.names.fresh("tile_start"), INT)
    body: list[Statement] = []
    b.out.append(For(index, *span, body, step=width))
    with b.nested(body):
        if extent is None:
            yield index
        else:
            last = prim(p.SUBTRACT, extent, integer(width))
            yield held_expr(b, prim(p.MINIMUM, index, last), "corner")


def tile_part(
    scope: KernelScope, stmt: Stmt, op: MultiLoop, generator: Reduce, binder: Var
) -> Part:
    """The part of a sum of matrices in tiles: a row's step keeps what the tiles need of it."""
    reducer, term = generator.reducer, term_of(op, generator)
    assert reducer.order is not None
    assert term is not None
    part, (state,), _ = reduce_frame(scope, stmt, reducer, (binder,))
    total = scope.scratch(f"{state.name}_block", state.dtype, state.shape)
    rows = reducer.order.block
    kept = {v: kept_rows(scope, v, rows) for v in carried(op, generator, term)}
    tiles = Tiles(op, generator, term, total, kept)

    def keep_all(b: BlockLowering, envs: Sequence[Env]) -> None:
        for env in envs:
            with b.using(env):
                tiles.keep(b)

    def close_block(b: BlockLowering) -> None:
        tiles.run(b)
        combine_places(b, reducer, (state_place(state, binder),), (Place(total),), 0)

    part.keeps = True
    part.step = lambda b, indices: tiles.keep(b)
    part.jam = keep_all
    part.close_block.append(close_block)
    return part


def kept_rows(scope: KernelScope, var: Var, rows: int) -> Buffer:
    """Scratch for a variable's values of so many rows."""
    hint = f"{var.name or 'kept'}_rows"
    if isinstance(var.type, Scalar):
        return scope.scratch(hint, var.type.dtype, (rows,))
    return scope.scratch(hint, var.type.element.dtype, (rows, *host_shape(var.type.shape)))
