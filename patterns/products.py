"""Products of vectors and matrices as patterns: a Collect of Reduces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.context import trace
from ..staging.errors import Limitation, StagingTypeError
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep
from . import emit
from .conversions import as_array, binary


def matmul(left: object, right: object) -> Any:
    """`left @ right` of ranks 1 and 2: [n, k] @ [k, m] -> [n, m], [n, k] @ [k] -> [n], [k] @ [k] ->
    a number.
    """
    a, b = (_factor(side) for side in (left, right))
    if a.ndim > 2 or b.ndim > 2:
        raise Limitation(
            f"@ of {a.type} and {b.type}",
            why="matrix products are of ranks 1 and 2",
            instead="x.rows.map(lambda row: row @ y) for a stack of matrices",
        )
    inner = trace().unify(a.sizes[-1], b.sizes[0], "the inner sizes of a matrix product")

    def entry(*outer: ScalarRep) -> Rep:
        row = outer[: a.ndim - 1]
        column = outer[a.ndim - 1 :]

        def term(k: ScalarRep) -> Rep:
            return apply_ufunc(np.multiply, (a.element(*row, k), b.element(k, *column)))

        return emit.reduce((inner,), term, binary(p.ADD, "sum"))[0]

    domain = (*a.sizes[:-1], *b.sizes[1:])
    return emit.collect(domain, entry) if domain else entry()


def outer(left: object, right: object) -> Any:
    """The products of every element of `left` : [n] with every one of `right` : [m] -> [n, m]."""
    a, b = (_factor(side) for side in (left, right))
    if a.ndim != 1 or b.ndim != 1:
        raise StagingTypeError(
            f"an outer product of {a.type} and {b.type}", why="both must be vectors"
        )

    def entry(i: ScalarRep, j: ScalarRep) -> Rep:
        return apply_ufunc(np.multiply, (a.element(i), b.element(j)))

    return emit.collect((a.sizes[0], b.sizes[0]), entry)


def _factor(value: object) -> Any:
    rep = lift(value)
    if not hasattr(rep, "sizes") and not hasattr(rep, "domain"):
        raise StagingTypeError("a matrix product needs arrays", instead="* for a number")
    return as_array(rep)
