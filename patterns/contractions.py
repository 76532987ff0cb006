"""Sums of products over named axes, as einsum has them: a Collect of a Reduce.

Every axis of a factor has a label. Axes of one label have one size (a static 1 is repeated); labels
that the result does not have are summed over.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.context import trace
from ..staging.dataclass import dataclass
from ..staging.errors import ShapeError
from ..staging.nodes import size_operand
from ..staging.reps import Rep
from ..staging.scalars import ScalarRep
from . import emit, sizes
from .conversions import as_array, binary
from .sizes import Size

Label = Hashable
Labels = tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Factor:
    """A number or an array, with a label for each of its axes."""

    value: Rep
    labels: Labels

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes of the axes."""
        return () if isinstance(self.value, ScalarRep) else as_array(self.value).sizes

    def at(self, indices: Mapping[Label, ScalarRep]) -> Rep:
        """The element; an axis of size 1 stands at its only index."""
        if isinstance(self.value, ScalarRep):
            return self.value
        zero = sizes.index(size_operand(0), size_operand(1))
        places = [
            zero if sizes.is_one(size) else indices[label]
            for label, size in zip(self.labels, self.sizes, strict=True)
        ]
        return as_array(self.value).element(*places)


def contract(factors: Sequence[Factor], out: Labels, what: str) -> Any:
    """The products of one or two factors, summed over the labels that are not in `out`; of more
    factors from left to right.
    """
    first, *rest = factors
    while len(rest) > 1:
        needed = {*out, *(label for factor in rest[1:] for label in factor.labels)}
        both = dict.fromkeys((*first.labels, *rest[0].labels))
        kept = tuple(label for label in both if label in needed)
        first = Factor(_contract([first, rest[0]], kept, what), kept)
        rest = rest[1:]
    return _contract([first, *rest], out, what)


def _contract(factors: Sequence[Factor], out: Labels, what: str) -> Any:
    extents = _extents(factors, what)
    summed = [label for label in extents if label not in out]
    missing = [label for label in out if label not in extents]
    if missing:
        raise ShapeError(f"{what}: the result has an axis {missing[0]} that no factor has")

    def entry(*outer: ScalarRep) -> Any:
        def term(*inner: ScalarRep) -> Rep:
            indices = dict(zip((*out, *summed), (*outer, *inner), strict=True))
            values = [factor.at(indices) for factor in factors]
            return values[0] if len(values) == 1 else apply_ufunc(np.multiply, tuple(values))

        if not summed:
            return term()
        return emit.reduce([extents[s] for s in summed], term, binary(p.ADD, "sum"))[0]

    return emit.collect([extents[label] for label in out], entry) if out else entry()


def _extents(factors: Sequence[Factor], what: str) -> dict[Label, Size]:
    """The size of each label."""
    found: dict[Label, Size] = {}
    for factor in factors:
        for label, size in zip(factor.labels, factor.sizes, strict=True):
            known = found.get(label)
            if known is None or sizes.is_one(known):
                found[label] = size
            elif not sizes.is_one(size):
                found[label] = trace().unify(known, size, what)
    return {label: trace().canonical(size) for label, size in found.items()}


__all__ = ["Factor", "Label", "Labels", "contract"]
