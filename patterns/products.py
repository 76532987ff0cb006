"""Products of vectors, matrices and stacks of them."""

from __future__ import annotations

from typing import Any

from ..staging.context import trace
from ..staging.errors import StagingTypeError
from ..staging.reps import lift
from ..staging.scalars import ScalarRep
from .contractions import Factor, Labels, contract
from .conversions import as_array

WHAT = "the inner sizes of a matrix product"


def matmul(left: object, right: object) -> Any:
    """`left @ right` of [..., n, k] and [..., k, m] -> [..., n, m]; a vector is a row on the left,
    a column on the right, and loses that axis in the result.
    """
    a, b = factor(left), factor(right)
    trace().unify(a.sizes[-1], b.sizes[-2 if b.ndim > 1 else 0], WHAT)
    rows, columns = (("row",) if a.ndim > 1 else ()), (("column",) if b.ndim > 1 else ())
    first = (*stack_labels(a.ndim - 2), *rows, "inner")
    second = (*stack_labels(b.ndim - 2), "inner", *columns)
    stack = stack_labels(max(a.ndim, b.ndim) - 2)
    return contract([Factor(a, first), Factor(b, second)], (*stack, *rows, *columns), WHAT)


def stack_labels(count: int) -> Labels:
    """The labels of axes that broadcast: counted from the last one."""
    return tuple(range(-max(count, 0), 0))


def tensordot(a: object, b: object, left: tuple[int, ...], right: tuple[int, ...]) -> Any:
    """The sums of products over the axes `left` of a and `right` of b, pair by pair; the axes that
    are left over stand in order, a's first.
    """
    x, y = factor(a), factor(b)
    for k, j in zip(left, right, strict=True):
        trace().unify(x.sizes[k], y.sizes[j], "the sizes of the summed axes")
    first: Labels = tuple(("inner", left.index(k)) if k in left else k for k in range(x.ndim))
    second: Labels = tuple(
        ("inner", right.index(k)) if k in right else x.ndim + k for k in range(y.ndim)
    )
    out = tuple(label for label in (*first, *second) if isinstance(label, int))
    return contract([Factor(x, first), Factor(y, second)], out, "the sizes in a product")


def outer(left: object, right: object) -> Any:
    """The products of every element of `left` : [n] with every one of `right` : [m] -> [n, m]."""
    a, b = factor(left), factor(right)
    if a.ndim != 1 or b.ndim != 1:
        raise StagingTypeError(
            f"an outer product of {a.type} and {b.type}", why="both must be vectors"
        )
    return tensordot(a, b, (), ())


def factor(value: object) -> Any:
    """An array, as a factor of a product."""
    rep = lift(value)
    if isinstance(rep, ScalarRep):
        raise StagingTypeError("a matrix product needs arrays", instead="* for a number")
    return as_array(rep)
