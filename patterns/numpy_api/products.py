"""np.dot, np.einsum and the other products of arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...staging.arithmetic import apply_ufunc
from ...staging.errors import Limitation, ShapeError, StagingTypeError
from ...staging.numpy_functions import define_function
from ...staging.reps import Rep, lift
from ...staging.scalars import ScalarRep
from .. import products
from ..contractions import Factor, Labels, contract
from ..conversions import as_array, strong, with_axes
from ..reductions import axis_number


def _scaled(left: Rep, right: Rep) -> Any:
    """The product with a number, None where neither is one."""
    if isinstance(left, ScalarRep) or isinstance(right, ScalarRep):
        return apply_ufunc(np.multiply, (left, right))
    return None


@define_function(np.dot)
def dot(a: object, b: object) -> Any:
    """The sums of products over a's last axis and b's last but one (a vector's only one); of a
    number and anything, `*`.
    """
    left, right = lift(a), lift(b)
    scaled = _scaled(left, right)
    if scaled is not None:
        return scaled
    x, y = as_array(left), as_array(right)
    if x.ndim <= 2 and y.ndim <= 2:
        return products.matmul(x, y)
    return products.tensordot(x, y, (x.ndim - 1,), (max(y.ndim - 2, 0),))


@define_function(np.inner)
def inner(a: object, b: object) -> Any:
    """The sums of products over the last axes; of a number and anything, `*`."""
    left, right = lift(a), lift(b)
    scaled = _scaled(left, right)
    if scaled is not None:
        return scaled
    x, y = as_array(left), as_array(right)
    return products.tensordot(x, y, (x.ndim - 1,), (y.ndim - 1,))


@define_function(np.vdot)
def vdot(a: object, b: object) -> Any:
    """The sum of products of the elements of two arrays of real numbers."""
    left, right = with_axes(a), with_axes(b)
    if left.dtype.kind == "c":
        raise Limitation("np.vdot of complex vectors")
    return products.matmul(left.ravel(), right.ravel())


@define_function(np.outer, np.linalg.outer)
def outer(a: object, b: object) -> Any:
    """The products of every element of a with every one of b."""
    return products.outer(with_axes(a).ravel(), with_axes(b).ravel())


@define_function(np.linalg.matmul)
def matmul(x1: object, x2: object, /) -> Any:
    """`x1 @ x2`"""
    return products.matmul(x1, x2)


@define_function(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[object]) -> Any:
    """The product of several matrices, from left to right."""
    return reduce(products.matmul, arrays)


@define_function(np.tensordot, np.linalg.tensordot)
def tensordot(a: object, b: object, axes: Any = 2) -> Any:
    """The sums of products over the last `axes` axes of a and the first of b, or over pairs."""
    x, y = as_array(lift(a)), as_array(lift(b))
    if isinstance(axes, int):
        left, right = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        left, right = ([k] if isinstance(k, int) else list(k) for k in axes)
    if len(left) != len(right):
        raise ShapeError("np.tensordot sums over as many axes of a as of b")
    return products.tensordot(
        x,
        y,
        tuple(axis_number(k, x.ndim) for k in left),
        tuple(axis_number(k, y.ndim) for k in right),
    )


@define_function(np.einsum)
def einsum(subscripts: object, *operands: object, optimize: object = False) -> Any:
    """The sums of products that the subscripts name; several operands from left to right."""
    if not isinstance(subscripts, str):
        raise Limitation("np.einsum with lists of axes", instead="subscripts: 'ij,jk->ik'")
    values = [strong(lift(operand)) for operand in operands]
    given, _, wanted = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != len(values):
        raise ShapeError(f"np.einsum: {len(terms)} terms for {len(values)} operands")
    factors = [
        Factor(value, _labels(term, 0 if isinstance(value, ScalarRep) else as_array(value).ndim))
        for term, value in zip(terms, values, strict=True)
    ]
    dots = max((_dots(f.labels) for f in factors), default=0)
    if "->" in subscripts:
        out = _labels(wanted, len(wanted.replace("...", "")) + dots)
    else:
        names = "".join(terms).replace("...", "")
        once = tuple(name for name in sorted(set(names)) if names.count(name) == 1)
        out = (*products.stack_labels(dots), *once)
    if len(set(out)) < len(out):
        raise ShapeError("np.einsum: an axis of the result is named twice")
    if dots and not _dots(out):
        raise ShapeError("np.einsum: the operands have '...', but the result has none")
    return contract(factors, out, "the sizes in np.einsum")


def _dots(labels: Labels) -> int:
    """How many axes stand for an ellipsis."""
    return sum(isinstance(label, int) for label in labels)


def _labels(term: str, rank: int) -> Labels:
    """The labels of a term's axes: letters, and numbers from the last one for an ellipsis."""
    if not re.fullmatch(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", term):
        raise StagingTypeError(f"np.einsum: the term {term!r}", instead="letters and one '...'")
    before, dots, after = term.partition("...")
    named = len(before) + len(after)
    if named > rank or (not dots and named < rank):
        raise ShapeError(f"np.einsum: the term {term!r} for an operand with {rank} axes")
    return (*before, *products.stack_labels(rank - named if dots else 0), *after)
