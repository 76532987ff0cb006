"""BucketReduce and BucketCollect: their steps, and a loop with one inside of a parallel loop."""

from __future__ import annotations

from ...patterns.generators import BucketCollect, BucketReduce, MultiLoop
from ...staging.dataclass import dataclass
from ...staging.nodes import Var, operand_dim
from ...staging.types import I64, Array, Scalar
from ..kernel_ir import Buffer, Expr, Space
from .block import BlockLowering
from .bucket_tables import Shared, Tables
from .bucket_values import Accumulators, Held
from .running import Running
from .scope import Stored, Uniform, integer

Bucket = BucketReduce | BucketCollect


@dataclass(frozen=True, slots=True)
class Lowered:
    """A bucket's buffers.

    counts : the lengths among its binders, with what they are called
    """

    tables: Tables
    held: Accumulators | Held
    counts: tuple[Var, ...]
    arrays: tuple[Buffer, ...]

    @staticmethod
    def of(shared: Shared, op: MultiLoop, generator: Bucket, binders: tuple[Var, ...]) -> Lowered:
        """With buffers for any number of keys."""
        counts = tuple(v for v in binders if isinstance(v.type, Scalar))
        arrays = tuple(shared.result(v) for v in binders[len(counts) :])
        keys, others = arrays[: generator.keys], arrays[generator.keys :]
        tables = Tables.of(shared, op, generator, keys)
        if isinstance(generator, BucketReduce):
            accumulators = Accumulators.of(shared, generator.reducer, others)
            return Lowered(tables, accumulators, counts, arrays)
        starts, sizes, *values = others
        return Lowered(tables, Held.of(shared, values, starts, sizes), counts, arrays)

    def step(self, b: BlockLowering) -> None:
        """One index."""
        self.tables.step(b, self.held.add)

    def finish(self, b: BlockLowering) -> tuple[Expr, ...]:
        """The results of the table; the lengths."""
        return (self.tables.table.count, *self.held.finish(b, self.tables))[: len(self.counts)]


def begin_bucket(
    b: BlockLowering, op: MultiLoop, generator: Bucket, binders: tuple[Var, ...]
) -> Running:
    """A loop inside: one table, in scratch for the whole domain."""
    b.shape(Array(I64, tuple(map(operand_dim, op.domain))))  # refuses what nobody could allocate
    shared = Shared(b.scope, op.domain, Space.PRIVATE)
    lowered = Lowered.of(shared, op, generator, binders)
    lowered.tables.begin(b, integer(0))

    def after() -> None:
        lowered.tables.leave(b, integer(0), b.expr(op.domain[0]))
        for binder, value in zip(lowered.counts, lowered.finish(b), strict=True):
            b.env[binder] = Uniform(value)
        for binder, buffer in zip(binders[len(lowered.counts) :], lowered.arrays, strict=True):
            b.env[binder] = Stored(buffer)

    return Running(lambda indices: lowered.step(b), after)
