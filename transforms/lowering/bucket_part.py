"""BucketReduce and BucketCollect of a parallel loop: their part in the functions of its kernel."""

from __future__ import annotations

from ...patterns.generators import MultiLoop
from ...staging.nodes import Var
from ..kernel_ir import Buffer, Finish, Output, Space, Store
from .block import BlockLowering
from .bucket_tables import Shared
from .buckets import Bucket, Lowered
from .parts import ONE, Part
from .scope import INT, KernelScope, integer


def bucket_part(
    scope: KernelScope, op: MultiLoop, generator: Bucket, binders: tuple[Var, ...]
) -> Part:
    """The part of a parallel loop: tables for the chunks, which `finish` merges."""
    lowered = Lowered.of(Shared(scope, op.domain), op, generator, binders)
    tables, held = lowered.tables, lowered.held
    counts = [
        Buffer(scope.names.fresh(v.name or "count"), INT, ONE, Space.OUTPUT) for v in lowered.counts
    ]

    def finish(b: BlockLowering) -> None:
        tables.merge(b, held.move)
        for buffer, value in zip(counts, lowered.finish(b), strict=True):
            b.out.append(Store(buffer, (integer(0),), value))

    results = (*tables.buffers, *held.buffers, *counts, *lowered.arrays)
    return Part(
        Output(Finish.COUNTED, binders, results),
        lambda b, indices: lowered.step(b),
        before=[lambda b: tables.begin(b, scope.start)],
        after=[lambda b: tables.leave(b, scope.start, scope.stop)],
        finish=[finish],
    )
