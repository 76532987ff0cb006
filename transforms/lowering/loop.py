"""lower: a mapped MultiLoop becomes a kernel of five functions.

    Before:  s: f64 = loop (i < n) [rows] { e: f64 = x[i]; reduce sum (e) in order(...) }
    After:   kernel s: init(s_state), chunk(start, stop, x, s_state), combine(s_state, other_s)

Requires: `cpu_levels` has mapped the loop; its body has no callbacks or prints.
Does not: choose anything; the form and the order come with the loop's mapping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...patterns.generators import Generator, MultiLoop, Reduce, binder_slices
from ...patterns.work import work_per_index
from ...staging import primitives as p
from ...staging.nodes import Index, Stmt, Var, size_operand
from ...staging.types import Array
from ..cpu_levels import CpuLevels
from ..kernel_ir import (
    RECORD,
    Buffer,
    Expr,
    For,
    Function,
    If,
    Kernel,
    Let,
    Local,
    LoopKind,
    Space,
    Statement,
    Store,
)
from ..kernel_walk import parameters, stays_in_scratch
from .block import BlockLowering
from .forms import may_strip
from .generators import make_part
from .jam import jam_block, own_index, round_down, shifted
from .lane_part import lane_part, lanes_loop
from .nested import conditionally
from .parts import Part
from .reduce import nest
from .scope import (
    INT,
    KernelScope,
    LaneExpr,
    Strip,
    Uniform,
    array_type,
    integer,
    prim,
)
from .tiles import may_tile, tile_part


def lower_loop(stmt: Stmt, scope: KernelScope, name: str) -> Kernel:
    """The kernel for one mapped loop."""
    op = stmt.op
    assert isinstance(op, MultiLoop)
    assert isinstance(op.mapping, CpuLevels)
    for taken in ("start", "stop", "block", "block_stop", "fault"):
        scope.names.fresh(taken)
    slices = binder_slices(op.generators, op.domain)
    parts = [
        part_of(scope, stmt, op, g, stmt.binders[s], op.mapping)
        for g, s in zip(op.generators, slices, strict=True)
    ]
    fault = Buffer("fault", INT, (RECORD,), Space.FAULT)
    chunk = chunk_function(scope, op, op.mapping, parts, fault)
    init = small_function(scope, "init", [h for q in parts for h in q.init], fault)
    combine = small_function(scope, "combine", [h for q in parts for h in q.combine], fault)
    finish = small_function(scope, "finish", [h for q in parts for h in q.finish], fault)
    adjust = adjust_function(scope, [h for q in parts for h in q.adjust], fault)
    return Kernel(
        name,
        op.domain,
        work_per_index(op),
        op.mapping.order,
        tuple(scope.inputs.items()),
        tuple(replace(q.output, others=tuple((o, s) for s, o in q.others.items())) for q in parts),
        tuple(scope.private),
        fault,
        tuple(scope.sites),
        init,
        chunk,
        combine,
        finish,
        adjust,
        stmt.sources,
    )


def part_of(
    scope: KernelScope,
    stmt: Stmt,
    op: MultiLoop,
    generator: Generator,
    binders: tuple[Var, ...],
    mapping: CpuLevels,
) -> Part:
    """A generator's part in the form of the loop's mapping."""
    if mapping.order.lanes and isinstance(generator, Reduce):
        return lane_part(scope, stmt, generator, binders, mapping.order.lanes)
    if mapping.tiles and isinstance(generator, Reduce) and may_tile(op, generator):
        return tile_part(scope, stmt, op, generator, binders[0])
    return make_part(scope, stmt, op, generator, binders)


def small_function(
    scope: KernelScope, name: str, hooks: Sequence[Callable[[BlockLowering], None]], fault: Buffer
) -> Function:
    """init, combine or finish: the parts' hooks one after the other."""
    out: list[Statement] = []
    for hook in hooks:
        hook(BlockLowering(scope, {}, out, integer(0)))
    return Function(name, parameters(out, (), fault), tuple(out))


def adjust_function(
    scope: KernelScope, hooks: Sequence[Callable[[BlockLowering, Local], None]], fault: Buffer
) -> Function:
    """The loop over a chunk in which results take what stands before it; not for the first one."""
    start, stop = scope.start, scope.stop
    index = Local(scope.names.fresh("i"), INT)
    body: list[Statement] = []
    b = BlockLowering(scope, {}, body, index)
    for hook in hooks:
        hook(b, index)
    loop = For(index, start, stop, body, LoopKind.CHUNK)
    out = [If(prim(p.LESS, integer(0), start), (loop,))] if body else []
    return Function("adjust", (start, stop, *parameters(out, (start, stop), fault)), tuple(out))


def chunk_function(
    scope: KernelScope, op: MultiLoop, mapping: CpuLevels, parts: Sequence[Part], fault: Buffer
) -> Function:
    """The loop over a chunk, cut into blocks or strips."""
    start, stop = scope.start, scope.stop
    out: list[Statement] = []
    b = BlockLowering(scope, {}, out, start)
    run_all(b, [h for q in parts for h in q.before])
    if mapping.strip:
        strip_loop(b, op, mapping.strip, parts, start, stop)
    elif mapping.order.block and any(q.open_block or q.close_block for q in parts):
        block_loop(b, op, mapping, parts, start, stop)
    else:
        block_rows(b, op, mapping, parts, (start, stop))
    run_all(b, [h for q in parts for h in q.after])
    return Function("chunk", (start, stop, *parameters(out, (start, stop), fault)), tuple(out))


def run_all(b: BlockLowering, hooks: Sequence[Callable[[BlockLowering], None]]) -> None:
    """Runs hooks in order."""
    for hook in hooks:
        hook(b)


def row_loop(
    b: BlockLowering,
    op: MultiLoop,
    parts: Sequence[Part],
    span: tuple[Expr, Expr],
    jam: int,
) -> None:
    """for i in range(*span): the other axes, the prelude, the generators; `jam` rows at a time."""
    start, stop = span
    if jam > 1:
        length = prim(p.SUBTRACT, stop, start)
        whole = prim(p.ADD, start, round_down(b, length, jam, "rows"))
        jammed_rows(b, op, parts, (start, whole), jam)
        start = whole
    first, *rest = op.body.params
    index = Local(b.scope.names.fresh(first.name, "i"), INT)
    body: list[Statement] = []
    b.out.append(For(index, start, stop, body, LoopKind.CHUNK))
    b.env[first] = Uniform(index)
    inner = BlockLowering(b.scope, b.env, body, index)
    inner_axes(inner, op, parts, (index,), rest)
    if not body:
        b.out.pop()


def jammed_rows(
    b: BlockLowering,
    op: MultiLoop,
    parts: Sequence[Part],
    span: tuple[Expr, Expr],
    jam: int,
) -> None:
    """Rows side by side: inner loops are shared, and array accumulators are stored once for all."""
    (param,) = op.body.params
    index = Local(b.scope.names.fresh(param.name, "i"), INT)
    body: list[Statement] = []
    b.out.append(For(index, *span, body, LoopKind.CHUNK, jam))
    inner = BlockLowering(b.scope, b.env, body, index)
    copies = [own_index(b.env, op, (shifted(index, k),)) for k in range(jam)]
    envs = [env for env, _ in copies]
    jam_block(inner, op.body, envs)
    for generator, part in zip(op.generators, parts, strict=True):
        if part.jam is not None:
            part.jam(inner, envs)
            continue
        for env, indices in copies:
            with inner.using(env):
                conditionally(inner, generator, partial(part.step, inner, indices))
    if not body:
        b.out.pop()


def inner_axes(
    b: BlockLowering,
    op: MultiLoop,
    parts: Sequence[Part],
    outer: tuple[Expr, ...],
    rest: Sequence[Var],
) -> None:
    """Serial loops over the domain's further axes, then the body."""
    indices = outer
    out = b.out
    for param, extent in zip(rest, op.domain[1:], strict=True):
        index = Local(b.scope.names.fresh(param.name, "j"), INT)
        body: list[Statement] = []
        out.append(For(index, integer(0), b.expr(extent), body))
        b.env[param] = Uniform(index)
        indices = (*indices, index)
        out = body
    with b.nested(out):
        b.block(op.body)
        step_parts(b, op, parts, indices)


def step_parts(
    b: BlockLowering, op: MultiLoop, parts: Sequence[Part], indices: tuple[Expr, ...]
) -> None:
    """One index of every generator, under its condition."""
    for generator, part in zip(op.generators, parts, strict=True):
        if part.keeps:
            part.step(b, indices)
        else:
            conditionally(b, generator, partial(part.step, b, indices))


def block_loop(
    b: BlockLowering,
    op: MultiLoop,
    mapping: CpuLevels,
    parts: Sequence[Part],
    start: Expr,
    stop: Expr,
) -> None:
    """Blocks of indices: float sums begin anew in each."""
    length = mapping.order.block
    base, end = b.scope.block
    body: list[Statement] = []
    b.out.append(For(base, start, stop, body, LoopKind.CHUNK, length))
    with b.nested(body):
        b.out.append(Let(end, prim(p.MINIMUM, prim(p.ADD, base, integer(length)), stop)))
        run_all(b, [h for q in parts for h in q.open_block])
        block_rows(b, op, mapping, parts, (base, end))


def block_rows(
    b: BlockLowering,
    op: MultiLoop,
    mapping: CpuLevels,
    parts: Sequence[Part],
    span: tuple[Expr, Expr],
) -> None:
    """The indices of a block, over lanes or row by row, and what follows each block."""
    if mapping.order.lanes:
        lanes_loop(b, op, parts, span)
    else:
        row_loop(b, op, parts, span, mapping.jam)
    run_all(b, [h for q in parts for h in q.close_block])


def strip_loop(
    b: BlockLowering,
    op: MultiLoop,
    width: int,
    parts: Sequence[Part],
    start: Expr,
    stop: Expr,
) -> None:
    """Strips of `width` indices: lane loops innermost, generators lane by lane at the end."""
    names = b.scope.names
    base, rows, lane = (Local(names.fresh(n), INT) for n in ("base", "rows", "lane"))
    first, *rest = op.body.params
    assert not rest, "strips cut loops over one axis"
    body: list[Statement] = []
    b.out.append(For(base, start, stop, body, LoopKind.CHUNK, width))
    strip = Strip(width, first, base, rows, lane)
    inner = BlockLowering(b.scope, b.env, body, base, strip)
    inner.out.append(Let(rows, prim(p.MINIMUM, integer(width), prim(p.SUBTRACT, stop, base))))
    inner.env[first] = LaneExpr(prim(p.ADD, base, lane))
    run_all(inner, [h for q in parts for h in q.open_block])
    load_tiles(inner, op, strip)
    tiled = len(body)
    inner.block(op.body)
    with inner.pin():
        step_parts(inner, op, parts, (inner.lane_index(),))
    inner.close_lanes()
    body[tiled:] = [full_width(s, strip) for s in body[tiled:]]
    run_all(inner, [h for q in parts for h in q.close_block])


def full_width(statement: Statement, strip: Strip) -> Statement:
    """Lane loops that touch scratch alone run over all lanes: a fixed number, without remainder.

    What the lanes beyond `rows` compute from old contents is never read.
    """
    if isinstance(statement, For) and statement.kind is LoopKind.LANES:
        return (
            replace(statement, stop=integer(strip.width))
            if stays_in_scratch(statement)
            else statement
        )
    if isinstance(statement, For):
        return replace(statement, body=[full_width(s, strip) for s in statement.body])
    return statement


def load_tiles(b: BlockLowering, op: MultiLoop, strip: Strip) -> None:
    """Transposed copies of the rows that nested loops read again: lanes become the last axis."""
    for array in reused_arrays(op, strip.index):
        b.tiles[array] = load_tile(b, array, strip)
    b.close_lanes()


def load_tile(b: BlockLowering, array: Var, strip: Strip) -> Buffer:
    """One array's tile; the loop over the row is inside, for its elements lie side by side."""
    type_ = array_type(array)
    shape = (*b.shape(Array(type_.element, type_.shape[1:])), strip.width)
    tile = b.scope.scratch(f"{array.name}_tile", type_.element.dtype, shape)
    with b.pin():
        row = b.lane_index()

        def copy_element(at: tuple[Expr, ...]) -> None:
            b.out.append(Store(tile, (*at, strip.lane), b.element(array, (row, *at))))

        nest(b, [b.expr(size_operand(d)) for d in type_.shape[1:]], copy_element)
    return tile


def reused_arrays(op: MultiLoop, index: Var) -> list[Var]:
    """Arrays read at the strip's index inside nested strip loops."""
    found: dict[Var, None] = {}

    def visit(loop: MultiLoop) -> None:
        for stmt in loop.body.stmts:
            inner = stmt.op
            if isinstance(inner, Index) and inner.indices[0] is index and len(inner.indices) > 1:
                assert isinstance(inner.array, Var)
                found.setdefault(inner.array)
            if isinstance(inner, MultiLoop):
                visit(inner)

    for stmt in op.body.stmts:
        if isinstance(stmt.op, MultiLoop) and may_strip(stmt.op):
            visit(stmt.op)
    return list(found)
