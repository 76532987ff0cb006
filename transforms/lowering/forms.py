"""What a block's lowering asks of its ops: how often a value is read, what may run over lanes."""

from __future__ import annotations

from collections import Counter

from ...patterns.generators import Collect, Combining, Generator, MultiLoop, Reduce
from ...staging import primitives as p
from ...staging.nodes import Apply, Block, Cast, Index, Op, Var
from ...staging.traversal import blocks, free_vars, operands
from ...staging.types import Array, Scalar


def direct_uses(block: Block) -> Counter[Var]:
    """How often each variable is read; a read inside a nested block counts twice (it may repeat).

    The `value` blocks of a body's generators count once: they run at the end of the same iteration.
    """
    uses: Counter[Var] = Counter()
    for stmt in block.stmts:
        uses.update(v for v in operands(stmt.op) if isinstance(v, Var))
        for inner in blocks(stmt.op):
            for var in free_vars(inner):
                uses[var] += 2
    for result in block.results:
        if isinstance(result, Var):
            uses[result] += 1
        elif isinstance(result, Generator):
            uses.update(v for v in operands(result) if isinstance(v, Var))
            uses.update(free_vars(result.value).keys())
            if isinstance(result, Combining):
                for var in free_vars(result.reducer.block):
                    uses[var] += 2
    return uses


def is_float_product(op: Apply | Cast | Index) -> bool:
    """What a float sum may fuse with its addition, whether the user gave it a name or not."""
    return (
        isinstance(op, Apply)
        and op.primitive in (p.MULTIPLY, p.SQUARE)
        and all(isinstance(a.type, Scalar) and a.type.dtype.kind == "f" for a in op.args)
    )


def produces(op: MultiLoop) -> bool:
    """Whether the loop is one unconditional Collect, which its reader can produce in place."""
    return (
        len(op.generators) == 1
        and isinstance(op.generators[0], Collect)
        and op.generators[0].cond is None
    )


def may_strip(op: MultiLoop) -> bool:
    """Whether a nested loop can run over lanes: scalar reductions of scalar work, and so inside."""
    for generator in op.generators:
        if not isinstance(generator, Reduce) or generator.cond is not None:
            return False
        if any(isinstance(v.type, Array) for v in generator.value.operands):
            return False
    return all(may_strip_stmt(s.op) for s in op.body.stmts)


def may_strip_stmt(op: Op) -> bool:
    """Whether a statement of a strip-form body needs no pinning."""
    if isinstance(op, MultiLoop):
        return may_strip(op)
    return isinstance(op, Apply | Cast | Index)
