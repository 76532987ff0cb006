"""Random buckets for the random programs."""

from __future__ import annotations

import random
from collections.abc import Callable

from parloom.patterns.generators import BucketCollect, BucketReduce
from parloom.patterns.syntax import standard
from parloom.staging.nodes import Block, Operand
from parloom.staging.types import BOOL, F32, F64, I64, Scalar

KEYS = (BOOL, I64, I64, F64, F32)


def random_bucket(
    rng: random.Random,
    scalar: Callable[[Scalar], Operand],
    cond: Operand | None,
    close: Callable[[tuple[Operand, ...]], Block],
) -> BucketCollect | BucketReduce:
    """Groups, or a reduction by key, of operands that `scalar` finds."""
    keys = tuple(scalar(rng.choice(KEYS)) for _ in range(rng.choice((1, 1, 2))))
    type_ = rng.choice((F64, I64))
    if rng.random() < 0.5:
        return BucketCollect(cond, close((*keys, scalar(type_))), len(keys))
    name = rng.choice(("sum", "prod", "max", "argmin"))
    types = (type_, I64) if name == "argmin" else (type_,)
    values = tuple(scalar(t) for t in types)
    return BucketReduce(cond, close((*keys, *values)), standard(name, types), len(keys))
