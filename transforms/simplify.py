"""The cleaning between the other passes."""

from __future__ import annotations

from ..staging.nodes import Program
from .convert_branches import convert_branches
from .eliminate_dead_code import eliminate_dead_code
from .hoist_invariants import hoist_invariants
from .prove_bounds import prove_bounds
from .share_generators import share_generators


def simplify(program: Program) -> Program:
    """Algebra, sharing, proofs of bounds, branches to selections, invariants out, dead code away.

    Each step is a pass of its own, with its own Before and After; every replay also folds constants
    and shares equal statements.

    Requires: nothing.
    Does not: change which loops there are, other than by dropping or moving them.
    """
    program = prove_bounds(program)
    program = convert_branches(program)
    program = hoist_invariants(program)
    program = eliminate_dead_code(program)
    # A loop is seen to be a copy once nothing dead is in it.
    return share_generators(program)
