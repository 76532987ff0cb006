"""A loop of maps as a loop over its first indices whose elements are rows.

ys = loop (i < n, t < d) { collect f(i, t) }
  is
ys = loop (i < n) { row = loop (t < d) { collect f(i, t) }; collect row }
"""

from __future__ import annotations

from ..patterns.generators import Collect, MultiLoop
from ..staging.builder import make_binders
from ..staging.nodes import Block, Stmt
from .analyses.definitions import loop_of


def peelable(loop: MultiLoop) -> bool:
    """Whether all results are arrays over the whole domain: each value goes to its own place."""
    return all(isinstance(g, Collect) and g.cond is None for g in loop.generators)


def peel(stmt: Stmt, rank: int) -> MultiLoop:
    """The same loop over the first `rank` indices of its domain; itself where those are all."""
    loop = loop_of(stmt)
    if rank == len(loop.domain):
        return loop
    assert peelable(loop)
    params = loop.body.params
    rest = MultiLoop(
        loop.domain[rank:], Block(params[rank:], loop.body.stmts, loop.body.results), loop.mapping
    )
    rows = make_binders(rest.signature(), [b.name for b in stmt.binders])
    inner = Stmt(rows, rest, stmt.sources)
    generators = tuple(Collect(None, Block((), (), (row,))) for row in rows)
    return MultiLoop(loop.domain[:rank], Block(params[:rank], (inner,), generators))
