"""Statements of a loop body as Kernel IR.

`BlockLowering` walks a block once and appends statements. In *row* form the parallel loop runs
index by index and every scalar is a local. In *strip* form it runs `width` indices at a time:
a scalar that depends on the index is *varying* and lives in a lane loop, `for lane in range(rows)`;
a nested loop with the same extents for every index stands outside of the lane loops, so that the
innermost loop runs over lanes. A varying value that another lane loop reads is spilled to a buffer
with one element a lane. What cannot be split so is *pinned*: lowered in row form inside one lane
loop (`may_strip` says what can).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator as Steps
from collections.abc import Sequence
from contextlib import contextmanager

from ...patterns.generators import MultiLoop
from ...patterns.semantics import OUT_OF_BOUNDS
from ...staging import primitives as p
from ...staging.errors import InternalError, Limitation
from ...staging.nodes import (
    Apply,
    Block,
    Bounds,
    Cast,
    Check,
    Const,
    ErrorKind,
    ForLoop,
    Index,
    Op,
    Operand,
    Stmt,
    Update,
    Var,
    While,
    size_operand,
)
from ...staging.nodes import If as Branch
from ...staging.traversal import free_vars, operands
from ...staging.types import Array, Scalar
from ..kernel_ir import (
    Buffer,
    Convert,
    Expr,
    Fault,
    If,
    Let,
    Literal,
    Load,
    Local,
    Prim,
    Statement,
    Store,
)
from .forms import direct_uses, is_float_product, may_strip, produces
from .placement import Placement
from .scope import (
    INT,
    Deferred,
    Env,
    KernelScope,
    LaneExpr,
    Produced,
    Sink,
    Stored,
    Strip,
    Uniform,
    Value,
    Varying,
    array_type,
    host_shape,
    integer,
    prim,
)

DEEPEST = 16  # an expression that nests deeper is cut: it is hard to read, and to walk


class BlockLowering(Placement):
    """Lowers blocks into `out`; `env` says where each variable lives."""

    def __init__(
        self,
        scope: KernelScope,
        env: Env,
        out: list[Statement],
        iteration: Expr,
        strip: Strip | None = None,
    ) -> None:
        super().__init__(scope, out, iteration, strip)
        self.env = env
        self.tiles: dict[Var, Buffer] = {}

    # Values.

    def value(self, var: Var) -> Value:
        """Where the variable lives; a host variable becomes an input."""
        known = self.env.get(var)
        if known is None:
            param = self.scope.input(var)
            known = Stored(param) if isinstance(param, Buffer) else Uniform(param)
            self.env[var] = known
        return known

    def varies(self, operand: Operand) -> bool:
        """Whether the operand has a value for each lane."""
        if not isinstance(operand, Var) or self.strip is None:
            return False
        value = self.value(operand)
        if isinstance(value, Deferred):
            return any(self.varies(a) for a in operands(value.op))
        if isinstance(value, Produced):
            return any(self.varies(v) for v in free_vars(value.stmt.op))
        if isinstance(value, Stored):
            return value.lanes
        return isinstance(value, Varying | LaneExpr)

    def expr(self, operand: Operand | int) -> Expr:
        """The operand as an expression at this point."""
        if isinstance(operand, int):
            return integer(operand)
        if isinstance(operand, Const):
            return Literal(operand.value)
        value = self.value(operand)
        if isinstance(value, Uniform | LaneExpr):
            return value.expr
        if isinstance(value, Deferred):
            return self.op_expr(value.op)
        if isinstance(value, Varying):
            return self.varying_expr(operand, value)
        raise InternalError(f"the array {operand!r} was read as a scalar while lowering")

    def varying_expr(self, var: Var, value: Varying) -> Expr:
        """A varying scalar in the current lane loop: its local, or its spilled copy."""
        assert self.strip is not None
        here = self.pinned or self.lane
        if value.lane is not None and value.lane is here:
            assert value.local is not None
            return value.local
        if value.spill is None:
            assert value.lane is not None
            assert value.local is not None
            dtype = value.local.dtype
            value.spill = self.scope.scratch(f"{var.name or 'v'}_lanes", dtype, (self.strip.width,))
            value.lane.body.append(Store(value.spill, (self.strip.lane,), value.local))
        return Load(value.spill, (self.strip.lane,))

    def op_expr(self, op: Apply | Cast | Index) -> Expr:
        """A scalar op as an expression."""
        if isinstance(op, Apply):
            (result,) = op.signature()
            assert isinstance(result, Scalar)
            return Prim(op.primitive, tuple(map(self.expr, op.args)), result.dtype)
        if isinstance(op, Cast):
            arg = self.expr(op.arg)
            return arg if arg.dtype == op.to.dtype else Convert(arg, op.to.dtype)
        return self.element(op.array, tuple(map(self.expr, op.indices)))

    def element(self, array: Operand, indices: tuple[Expr, ...]) -> Expr:
        """One element of an array that lives in a buffer."""
        assert isinstance(array, Var)
        value = self.value(array)
        if isinstance(value, Produced):
            value = self.materialise(value.stmt)
        assert isinstance(value, Stored)
        if self.strip is not None and array in self.tiles and self.pinned is None:
            first, *rest = indices
            if first == self.lane_index():
                return Load(self.tiles[array], (*rest, self.strip.lane))
        if value.lanes:
            assert self.strip is not None
            return Load(value.buffer, (*value.prefix, *indices, self.strip.lane))
        return Load(value.buffer, (*value.prefix, *indices))

    def lane_index(self) -> Expr:
        """The parallel loop's index in a lane loop."""
        assert self.strip is not None
        return self.expr(self.strip.index)

    def bind_scalar(self, var: Var, expr: Expr, varying: bool) -> None:
        """A new scalar with this value."""
        local = Local(self.scope.names.fresh(var.name), expr.dtype)
        if varying and self.stripping:
            lane = self.lanes()
            lane.body.append(Let(local, expr))
            self.env[var] = Varying(local, lane)
        else:
            self.emit(Let(local, expr))
            self.env[var] = Uniform(local)

    # Statements.

    def block(self, block: Block) -> None:
        """All statements of a block."""
        uses = direct_uses(block)
        for stmt in block.stmts:
            self.statement(stmt, uses)

    def statement(self, stmt: Stmt, uses: Counter[Var]) -> None:
        """One statement."""
        op = stmt.op
        if isinstance(op, Apply | Cast | Index):
            self.scalar(stmt, op, uses)
        elif isinstance(op, MultiLoop):
            self.loop(stmt, op, uses)
        elif isinstance(op, Branch | While | ForLoop | Check | Update):
            with self.pin():
                self.control(stmt, op)
        else:
            raise Limitation(
                f"{type(op).__name__.lower()} cannot run inside a compiled parallel loop",
                where=stmt.sources,
                instead="move it outside of the loop",
            )

    def scalar(self, stmt: Stmt, op: Apply | Cast | Index, uses: Counter[Var]) -> None:
        """A scalar op: deferred to its only reader, or a local."""
        (binder,) = stmt.binders
        faults = isinstance(op, Index) and op.bounds is Bounds.CHECKED
        later = uses[binder] == 1 and not faults and not self.changes(op)
        if later and (not binder.name or is_float_product(op)):
            depth = 1 + max(map(self.depth, operands(op)), default=0)
            if depth <= DEEPEST:
                self.env[binder] = Deferred(op, depth)
                return
        varying = any(self.varies(a) for a in operands(op))
        if varying and self.stripping:
            self.lanes()
        self.note(stmt)
        if faults:
            assert isinstance(op, Index)
            with self.pin() if varying else self.nested_here():
                self.check_bounds(stmt, op)
        if varying and self.stripping:
            self.lanes()
        self.bind_scalar(binder, self.op_expr(op), varying)

    def changes(self, op: Op) -> bool:
        """Whether the op reads storage that a store may change: it is computed where it stands."""
        changing = self.scope.reuse.changing
        return bool(changing) and not changing.isdisjoint(free_vars(op))

    def depth(self, operand: Operand) -> int:
        """How deep the operand's expression is."""
        value = self.env.get(operand) if isinstance(operand, Var) else None
        return value.depth if isinstance(value, Deferred) else 0

    def check_bounds(self, stmt: Stmt, op: Index | Update) -> None:
        """Faults for an index outside its axis."""
        for axis, dim in enumerate(array_type(op.array).shape):
            self.check_index(self.expr(op.indices[axis]), axis, self.expr(size_operand(dim)), stmt)

    def check_index(self, at: Expr, axis: int, size: Expr, stmt: Stmt) -> None:
        """Faults for one index outside its axis."""
        outside = prim(p.LOGICAL_OR, prim(p.LESS, at, integer(0)), prim(p.LESS_EQUAL, size, at))
        site = self.scope.site(ErrorKind.INDEX, OUT_OF_BOUNDS, stmt.sources, axis)
        details = tuple(x if x.dtype == INT else Convert(x, INT) for x in (at, size))
        self.out.append(If(outside, (Fault(site, self.iteration, details),)))

    def fault_if(self, cond: Expr, stmt: Stmt, kind: ErrorKind, message: str) -> None:
        """A fault when `cond` holds."""
        site = self.scope.site(kind, message, stmt.sources)
        self.out.append(If(cond, (Fault(site, self.iteration),)))

    def control(self, stmt: Stmt, op: Op) -> None:
        """Branches, sequential loops, checks and updates, in row form."""
        from .control import lower_control

        self.note(stmt)
        lower_control(self, stmt, op)

    # Nested loops.

    def loop(self, stmt: Stmt, op: MultiLoop, uses: Counter[Var]) -> None:
        """A nested MultiLoop: produced by its reader, split over lanes, or pinned."""
        if produces(op) and uses[stmt.binders[0]] == 1 and not self.changes(op):
            self.env[stmt.binders[0]] = Produced(stmt)
            return
        varying = self.stripping and any(self.varies(v) for v in free_vars(op))
        if varying and not may_strip(op):
            raise InternalError("a loop that cannot run over lanes was mapped to strips")
        from .nested import lower_nested

        self.close_lanes()
        self.note(stmt)
        lower_nested(self, stmt, op, varying)
        self.close_lanes()

    def materialise(self, stmt: Stmt) -> Stored:
        """Computes a produced array into a scratch buffer."""
        (binder,) = stmt.binders
        type_ = array_type(binder)
        buffer = self.scope.scratch(binder.name or "array", type_.element.dtype, self.shape(type_))
        self.env[binder] = Stored(buffer)
        self.hand_over_produced([self.env], stmt, self.storing(buffer), ())
        return Stored(buffer)

    def storing(self, buffer: Buffer) -> Sink:
        """A sink that stores."""
        return lambda indices, value: self.out.append(Store(buffer, indices, value))

    def shape(self, type_: Array) -> tuple[Operand | int, ...]:
        """A scratch buffer's shape: sizes that are known when the kernel is launched."""
        for dim in type_.shape:
            if isinstance(dim, Var) and not isinstance(self.value(dim), Uniform):
                raise Limitation(
                    "an array inside a parallel loop has a size that the loop computes"
                )
            if isinstance(dim, Var) and dim not in self.scope.inputs:
                raise Limitation(
                    "an array inside a parallel loop has a size that the loop computes"
                )
        return host_shape(type_.shape)

    def deliver(
        self, block: Block, result: object, sink: Sink, indices: tuple[Expr, ...] = ()
    ) -> None:
        """Lowers a value block's statements and hands every scalar of `result` to `sink`."""
        self.block(block)
        assert isinstance(result, Var | Const)
        self.hand_over([self.env], result, sink, indices)

    def hand_over(
        self,
        envs: Sequence[Env],
        result: Operand,
        sink: Sink,
        indices: tuple[Expr, ...] = (),
    ) -> None:
        """Hands every scalar of `result` to `sink`, in row form.

        With several environments the loops over an array's elements stand once, and each element
        is handed over for all of them, one after the other.
        """
        if isinstance(result, Const) or isinstance(result.type, Scalar):
            for env in envs:
                with self.using(env):
                    sink(indices, self.expr(result))
            return
        value = self.value_in(envs[0], result)
        if isinstance(value, Produced):
            self.hand_over_produced(envs, value.stmt, sink, indices)
            return
        extents = [self.expr(size_operand(d)) for d in array_type(result).shape]
        with self.serial(extents, ["e"] * len(extents)) as inner:
            for env in envs:
                with self.using(env):
                    sink((*indices, *inner), self.element(result, inner))

    def hand_over_produced(
        self,
        envs: Sequence[Env],
        stmt: Stmt,
        sink: Sink,
        indices: tuple[Expr, ...],
    ) -> None:
        """Runs a Collect, element by element."""
        from .jam import jam_block

        op = stmt.op
        assert isinstance(op, MultiLoop)
        names = [q.name or "i" for q in op.body.params]
        with self.using(envs[0]):
            extents = [self.expr(d) for d in op.domain]
        with self.serial(extents, names) as inner:
            for env in envs:
                env.update({q: Uniform(i) for q, i in zip(op.body.params, inner, strict=True)})
            jam_block(self, op.body, envs)
            (result,) = op.generators[0].value.operands
            self.hand_over(envs, result, sink, (*indices, *inner))

    @contextmanager
    def using(self, env: Env) -> Steps[None]:
        """Variables are looked up in `env`."""
        saved = self.env
        self.env = env
        yield
        self.env = saved

    def value_in(self, env: Env, operand: Operand) -> Value:
        """Where a variable lives in another environment."""
        assert isinstance(operand, Var)
        with self.using(env):
            return self.value(operand)
