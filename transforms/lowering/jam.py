"""Loops that do the work of several iterations of an outer loop at once (unroll and jam).

A *copy* is one iteration of the outer loop: an environment of its own. The statements of all
copies stand side by side in shared inner loops, so that what they all read is loaded once, and an
accumulator that all of them add to is loaded and stored once. Each accumulator still combines in
index order, so no bit changes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...patterns.generators import MultiLoop
from ...staging import primitives as p
from ...staging.nodes import Block, Stmt
from ...staging.traversal import free_vars
from ..kernel_ir import Expr, For, Let, Local, Statement
from .block import BlockLowering
from .forms import direct_uses, produces
from .nested import begin_all, step_all
from .running import Running
from .scope import INT, Env, Uniform, integer, prim

Copy = tuple[Env, list[Running]]

UNROLL = 4  # iterations of an innermost loop in one lane loop
JAM = 2  # iterations of the loop around it


def jam_block(b: BlockLowering, block: Block, envs: Sequence[Env], remainder: bool = False) -> None:
    """A block's statements for all copies, statement by statement."""
    uses = direct_uses(block)
    for stmt in block.stmts:
        op = stmt.op
        if isinstance(op, MultiLoop) and shares_loop(b, op, envs, uses[stmt.binders[0]]):
            b.close_lanes()
            jam_loop(b, stmt, op, envs, b.stripping, remainder)
            b.close_lanes()
            continue
        for env in envs:
            with b.using(env):
                b.statement(stmt, uses)


def shares_loop(b: BlockLowering, op: MultiLoop, envs: Sequence[Env], uses: int) -> bool:
    """Whether the copies of a nested loop can be one loop."""
    with b.using(envs[0]):
        if b.stripping:
            return any(b.varies(v) for v in free_vars(op))
        if len(envs) == 1 or (produces(op) and uses == 1):
            return False
    return same_extents(b, op, envs)


def same_extents(b: BlockLowering, op: MultiLoop, envs: Sequence[Env]) -> bool:
    """Whether a loop has the same extents in every copy."""
    found: list[list[Expr]] = []
    for env in envs:
        with b.using(env):
            found.append([b.expr(extent) for extent in op.domain])
    return all(extents == found[0] for extents in found)


def jam_loop(
    b: BlockLowering,
    stmt: Stmt,
    op: MultiLoop,
    envs: Sequence[Env],
    varying: bool,
    remainder: bool = False,
) -> None:
    """A nested loop for all copies.

    Over lanes its own index is unrolled as well, unless this is what remains of an unrolled loop.
    """
    copies: list[Copy] = []
    for env in envs:
        with b.using(env):
            copies.append((env, begin_all(b, stmt, op, varying)))
    b.close_lanes()
    with b.using(envs[0]):
        extents = [b.expr(extent) for extent in op.domain]
    factor = unrolling(op, len(envs)) if varying and not remainder else 1
    block = max((run.block for _, running in copies for run in running), default=0)
    if block:
        nest_blocks(b, op, copies, extents, block)
    elif factor == 1:
        nest_copies(b, op, copies, (integer(0), extents[0]), extents[1:], 1, remainder)
    else:
        whole = round_down(b, extents[0], factor, op.body.params[0].name or "j")
        nest_copies(b, op, copies, (integer(0), whole), extents[1:], factor, False)
        nest_copies(b, op, copies, (whole, extents[0]), extents[1:], 1, True)
    for env, running in copies:
        with b.using(env):
            for run in running:
                run.after()


def nest_blocks(
    b: BlockLowering, op: MultiLoop, copies: Sequence[Copy], extents: Sequence[Expr], length: int
) -> None:
    """A loop in blocks of `length` indices, in each of which float sums begin anew."""
    base = Local(b.scope.names.fresh("block"), INT)
    body: list[Statement] = []
    b.out.append(For(base, integer(0), extents[0], body, step=length))
    with b.nested(body):
        end = Local(b.scope.names.fresh("block_stop"), INT)
        b.out.append(Let(end, prim(p.MINIMUM, prim(p.ADD, base, integer(length)), extents[0])))
        every = [run for _, running in copies for run in running if run.block]
        for run in every:
            run.open_block()
        nest_copies(b, op, copies, (base, end), extents[1:], 1, False)
        for run in every:
            run.close_block()


def unrolling(op: MultiLoop, copies: int) -> int:
    """How many iterations of a loop over lanes stand side by side."""
    if len(op.domain) > 1:
        return 1
    if not any(isinstance(s.op, MultiLoop) for s in op.body.stmts):
        return UNROLL
    return JAM if copies == 1 else 1


def round_down(b: BlockLowering, extent: Expr, factor: int, name: str) -> Expr:
    """The greatest multiple of `factor`, a power of two, up to `extent`, in a local."""
    local = Local(b.scope.names.fresh(f"{name}_whole"), INT)
    b.emit(Let(local, prim(p.BITWISE_AND, extent, integer(-factor))))
    return local


def nest_copies(
    b: BlockLowering,
    op: MultiLoop,
    copies: Sequence[Copy],
    span: tuple[Expr, Expr],
    inner_extents: Sequence[Expr],
    factor: int,
    remainder: bool,
) -> None:
    """The loops over the domain, the first index in `span`, `factor` iterations at a time."""
    first, *rest = op.body.params
    index = Local(b.scope.names.fresh(first.name, "j"), INT)
    body: list[Statement] = []
    b.out.append(For(index, *span, body, step=factor))
    with b.nested(body), b.serial(inner_extents, [q.name or "j" for q in rest]) as inner:
        made = [
            (*own_index(env, op, (shifted(index, offset), *inner)), running)
            for offset in range(factor)
            for env, running in copies
        ]
        jam_block(b, op.body, [env for env, _, _ in made], remainder)
        for env, indices, running in made:
            with b.using(env):
                step_all(b, op, running, indices)
        b.close_lanes()


def own_index(env: Env, op: MultiLoop, indices: tuple[Expr, ...]) -> tuple[Env, tuple[Expr, ...]]:
    """A copy of the environment with the loop's indices."""
    own = dict(env)
    for param, index in zip(op.body.params, indices, strict=True):
        own[param] = Uniform(index)
    return own, indices


def shifted(index: Local, offset: int) -> Expr:
    """index + offset."""
    return prim(p.ADD, index, integer(offset)) if offset else index
