"""Where the statements of a lowered block go: its list, or the lane loop that is open in it."""

from __future__ import annotations

from collections.abc import Generator as Steps
from collections.abc import Sequence
from contextlib import contextmanager

from ...staging import primitives as p
from ...staging.nodes import Stmt
from ..kernel_ir import Expr, For, Local, LoopKind, Note, Statement
from .scope import INT, KernelScope, LaneLoop, Strip, integer, prim


class Placement:
    """Appends statements to `out`.

    iteration : what a fault records
    strip : the lanes of the strip form, None for the row form
    lane : the lane loop that is open
    pinned : the lane loop that one works inside of, in row form
    """

    def __init__(
        self, scope: KernelScope, out: list[Statement], iteration: Expr, strip: Strip | None
    ) -> None:
        self.scope = scope
        self.out = out
        self.iteration = iteration
        self.strip = strip
        self.lane: LaneLoop | None = None
        self.pinned: LaneLoop | None = None

    def emit(self, statement: Statement) -> None:
        """Appends a uniform statement; it may pass an open lane loop, which cannot depend on it."""
        if self.lane is None:
            self.out.append(statement)
        else:
            self.out.insert(self.lane.position, statement)
            self.lane.position += 1

    def lanes(self) -> LaneLoop:
        """The open lane loop, opened if there is none."""
        assert self.strip is not None
        if self.lane is None:
            body: list[Statement] = []
            self.lane = LaneLoop(body, len(self.out))
            loop = For(self.strip.lane, integer(0), self.strip.rows, body, LoopKind.LANES)
            self.out.append(loop)
        return self.lane

    def close_lanes(self) -> None:
        """Ends the open lane loop; what comes now stands after it."""
        self.lane = None

    @contextmanager
    def nested(self, out: list[Statement]) -> Steps[None]:
        """Statements go to `out`, the body of a uniform loop or branch."""
        saved = self.out, self.lane
        self.out, self.lane = out, None
        yield
        self.out, self.lane = saved

    @contextmanager
    def pin(self) -> Steps[None]:
        """Row form inside the open lane loop (in row form: nothing changes)."""
        if self.strip is None or self.pinned is not None:
            yield
            return
        lane = self.lanes()
        saved = self.out, self.iteration
        self.out, self.lane, self.pinned = lane.body, None, lane
        self.iteration = prim(p.ADD, self.strip.base, self.strip.lane)
        yield
        self.out, self.iteration = saved
        self.lane, self.pinned = lane, None

    @property
    def stripping(self) -> bool:
        """Whether varying values go to lane loops here."""
        return self.strip is not None and self.pinned is None

    def note(self, stmt: Stmt) -> None:
        """Marks the user's line that the next statements come from."""
        if stmt.sources:
            target = self.lane.body if self.lane is not None else self.out
            target.append(Note(stmt.sources[0]))

    @contextmanager
    def nested_here(self) -> Steps[None]:
        """Statements of a uniform check go where uniform statements go."""
        before: list[Statement] = []
        with self.nested(before):
            yield
        for statement in before:
            self.emit(statement)

    @contextmanager
    def serial(self, extents: Sequence[Expr], names: Sequence[str]) -> Steps[tuple[Expr, ...]]:
        """Nested serial loops; statements go into the innermost."""
        out = self.out
        indices: list[Expr] = []
        for extent, name in zip(extents, names, strict=True):
            index = Local(self.scope.names.fresh(name), INT)
            body: list[Statement] = []
            out.append(For(index, integer(0), extent, body))
            indices.append(index)
            out = body
        with self.nested(out):
            yield tuple(indices)
