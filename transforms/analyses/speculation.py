"""Work that may run where the program did not run it: hoisted out of a loop, or before a condition.

Such work has no effect and cannot fault. An index that the staging code vouched for was vouched for
where it stood, so here every read must be proven inside anew (ranges.py).
"""

from __future__ import annotations

from ...staging.nodes import Effects, ForLoop, Index, Op, Update, While
from ...staging.traversal import blocks, effects, walk_stmts
from .ranges import Ranges


def speculatable(op: Op, ranges: Ranges) -> bool:
    """Whether the op, with everything inside, may run where the program does not run it."""
    if effects(op) is not Effects.NONE:
        return False
    inner = [s.op for b in blocks(op) for s in walk_stmts(b)]
    return all(_alone(o, ranges) for o in (op, *inner))


def _alone(op: Op, ranges: Ranges) -> bool:
    if isinstance(op, While | ForLoop):
        return False  # a loop's bound on time was the program's condition
    if isinstance(op, Update):
        return False  # it may be a store where it stands, and a copy elsewhere
    return not isinstance(op, Index) or ranges.index_inside(op)
