"""What lowering keeps in mind: where each value of the pattern IR lives, what a kernel needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from ...staging.dataclass import dataclass
from ...staging.errors import Limitation
from ...staging.locations import Location
from ...staging.nodes import Apply, Cast, ErrorKind, Index, Operand, Stmt, Var
from ...staging.primitives import Primitive
from ...staging.types import Array, Exists, Scalar
from ..analyses.storage import NOTHING, Reuse
from ..kernel_ir import Buffer, Expr, Extent, Literal, Local, Prim, Site, Space, Statement
from .names import KernelNames

INT = np.dtype(np.int64)
TRUTH = np.dtype(np.bool_)
Sink = Callable[[tuple[Expr, ...], Expr], None]


def integer(value: int) -> Literal:
    """An index constant."""
    return Literal(np.int64(value))


def truth(value: bool) -> Literal:
    """A truth constant."""
    return Literal(np.bool_(value))


def prim(primitive: Primitive, *args: Expr) -> Prim:
    """A primitive with the result dtype that its arguments give."""
    result = primitive.result(tuple(Scalar(a.dtype) for a in args))
    return Prim(primitive, args, result.dtype)


@dataclass(slots=True, eq=False)
class LaneLoop:
    """An open `for lane in range(rows)` and where its `For` stands in the enclosing list."""

    body: list[Statement]
    position: int


@dataclass(slots=True)
class Uniform:
    """A scalar with one value at the point of use: any expression that is valid there."""

    expr: Expr


@dataclass(slots=True)
class Varying:
    """A scalar with a value for each lane: a local of one lane loop, or spilled, or both."""

    local: Local | None
    lane: LaneLoop | None
    spill: Buffer | None = None


@dataclass(slots=True)
class LaneExpr:
    """A varying expression that is valid in every lane loop (the parallel index itself)."""

    expr: Expr


@dataclass(slots=True)
class Deferred:
    """A scalar op that its one reader computes in place.

    depth : of the expression
    """

    op: Apply | Cast | Index
    depth: int = 1


@dataclass(slots=True)
class Stored:
    """An array in a buffer, from `prefix` on; with `lanes` its last axis is the lane."""

    buffer: Buffer
    lanes: bool = False
    prefix: tuple[Expr, ...] = ()


@dataclass(slots=True)
class Produced:
    """An array that its reader produces element by element: an unconditional Collect."""

    stmt: Stmt


Value = Uniform | Varying | LaneExpr | Deferred | Stored | Produced
Env = dict[Var, Value]


@dataclass(frozen=True, slots=True)
class Strip:
    """The strip form of a parallel loop: `rows` <= `width` lanes from index `base` on."""

    width: int
    index: Var
    base: Local
    rows: Local
    lane: Local


@dataclass(slots=True)
class KernelScope:
    """What the five functions of one kernel share: names, inputs, scratch, fault sites.

    strided : the host arrays that may have any strides
    reuse : what may happen in place
    start, stop : the chunk's first index and the one behind its last
    block : those of a block of the chunk
    """

    strided: frozenset[Var] = frozenset()
    reuse: Reuse = NOTHING
    start: Local = field(default_factory=lambda: Local("start", INT))
    stop: Local = field(default_factory=lambda: Local("stop", INT))
    block: tuple[Local, Local] = field(
        default_factory=lambda: (Local("block", INT), Local("block_stop", INT))
    )
    names: KernelNames = field(default_factory=KernelNames)
    inputs: dict[Var, Local | Buffer] = field(default_factory=dict[Var, Local | Buffer])
    private: list[Buffer] = field(default_factory=list[Buffer])
    sites: list[Site] = field(default_factory=list[Site])

    def input(self, var: Var) -> Local | Buffer:
        """The parameter for a host variable, made on first use."""
        known = self.inputs.get(var)
        if known is None:
            name = self.names.fresh(var.name)
            if isinstance(var.type, Scalar):
                known = Local(name, var.type.dtype)
            else:
                shape = host_shape(var.type.shape)
                dtype, contiguous = var.type.element.dtype, var not in self.strided
                known = Buffer(name, dtype, shape, Space.INPUT, contiguous)
            self.inputs[var] = known
        return known

    def scratch(
        self,
        hint: str,
        dtype: np.dtype[np.generic],
        shape: tuple[Extent, ...],
        space: Space = Space.PRIVATE,
    ) -> Buffer:
        """A private buffer."""
        buffer = Buffer(self.names.fresh(hint), dtype, shape, space)
        self.private.append(buffer)
        return buffer

    def site(
        self,
        kind: ErrorKind,
        message: str,
        sources: tuple[Location, ...],
        axis: int | None = None,
        filled: bool = False,
    ) -> int:
        """The number of a fault site."""
        self.sites.append(Site(kind, message, sources, axis, filled))
        return len(self.sites) - 1


def host_shape(shape: Sequence[int | Var | Exists]) -> tuple[Operand | int, ...]:
    """A type's shape as a buffer's."""
    assert not any(isinstance(d, Exists) for d in shape)
    return tuple(d for d in shape if isinstance(d, int | Var))


def array_type(operand: Operand) -> Array:
    """The operand's type, which is an array's."""
    if not isinstance(operand.type, Array):
        raise Limitation(f"expected an array, found {operand.type}")
    return operand.type
