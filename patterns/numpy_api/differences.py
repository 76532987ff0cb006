"""np.diff, np.gradient, np.convolve and their kin: functions of neighbours along an axis."""

# NumPy's stubs do not know staged values.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...staging.control import if_then_else
from ...staging.errors import Limitation, ShapeError, StagingTypeError
from ...staging.nodes import size_operand
from ...staging.numpy_functions import define_function
from ...staging.primitives import ADD, FLOOR_DIVIDE, GREATER_EQUAL, LESS, LOGICAL_OR, SELECT
from ...staging.scalars import ScalarRep
from .. import emit, sizes
from ..conversions import apply, as_array, binary, lifted, with_axes
from ..reductions import NOT_GIVEN, axes_of, axis_number
from ..sizes import Size
from .axes import moveaxis
from .joining import concatenate


@define_function(np.diff)
def diff(a: object, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences between neighbours along an axis, n times."""
    x: Any = as_array(lifted(a))
    place = axis_number(axis, x.ndim)
    before = (slice(None),) * place
    ends = [_end(e, x, place) for e in (prepend, append)]
    if any(e is not None for e in ends):
        x = concatenate([e for e in (ends[0], x, ends[1]) if e is not None], place)
    if n < 0:
        raise StagingTypeError("order must be non-negative")
    ufunc = np.not_equal if x.dtype.kind == "b" else np.subtract
    for _ in range(n):
        x = apply(ufunc, x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


def _end(value: Any, x: Any, axis: int) -> Any:
    if value is None or value is NOT_GIVEN:
        return None
    rep = lifted(value)
    if not isinstance(rep, ScalarRep):
        return rep
    return with_axes(rep).broadcast((*x.sizes[:axis], sizes.extent(1), *x.sizes[axis + 1 :]))


@define_function(np.ediff1d)
def ediff1d(ary: object, to_end: Any = None, to_begin: Any = None) -> Any:
    """The differences between neighbours in C order, with values before and behind."""
    x = with_axes(ary).ravel()
    parts = [diff(x)]
    if to_begin is not None:
        parts.insert(0, with_axes(to_begin).ravel().astype(x.dtype))
    if to_end is not None:
        parts.append(with_axes(to_end).ravel().astype(x.dtype))
    return concatenate(parts) if len(parts) > 1 else parts[0]


@define_function(np.gradient)
def gradient(f: object, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences, one-sided at the ends; the spacing is a number an axis, 1 by default."""
    x: Any = as_array(lifted(f))
    if x.dtype.kind == "b":
        raise StagingTypeError("np.gradient of bools", instead="x.astype(float)")
    x = x if x.dtype.kind in "fc" else x.astype(float)
    if edge_order != 1:
        raise Limitation("np.gradient with edge_order other than 1")
    places = list(axes_of(axis, x.ndim))
    steps = [lifted(v) for v in (varargs or (1.0,))]
    if any(not isinstance(step, ScalarRep) for step in steps):
        raise Limitation("np.gradient with coordinates", instead="a number as the spacing")
    steps = steps * len(places) if len(steps) == 1 else steps
    if len(steps) != len(places):
        raise StagingTypeError("np.gradient takes one spacing, or one for each axis")
    found = tuple(_slope(x, k, step) for k, step in zip(places, steps, strict=True))
    return found[0] if len(found) == 1 else found


def _slope(x: Any, axis: int, step: Any) -> Any:
    message = "Shape of array too small to calculate a numerical gradient"
    sizes.check_size(GREATER_EQUAL, x.sizes[axis], 2, message)
    before = (slice(None),) * axis

    def part(a: Any, b: Any) -> Any:
        return x[(*before, slice(a, b))]

    first = (part(1, 2) - part(0, 1)) / step
    middle = (part(2, None) - part(None, -2)) / (2.0 * step)
    last = (part(-1, None) - part(-2, -1)) / step
    return concatenate([first, middle, last], axis)


@define_function(np.trapezoid)
def trapezoid(y: object, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule."""
    values: Any = as_array(lifted(y))
    place = axis_number(axis, values.ndim)
    before = (slice(None),) * place
    width = dx
    if x is not None:
        points: Any = as_array(lifted(x))
        width = diff(points, axis=axis if points.ndim > 1 else -1)
        if points.ndim == 1:
            width = width[(slice(None), *(None,) * (values.ndim - place - 1))]
    both = values[(*before, slice(1, None))] + values[(*before, slice(None, -1))]
    return (width * both / 2.0).sum(axis=place)


_FULL, _SAME, _VALID = "full", "same", "valid"


def _products(a: Any, v: Any, mode: str, middle: Callable[[Size], Size]) -> Any:
    """The sums of products of `v` with its counterparts in `a`, at every offset of a mode; element
    k of the full result is `sum of a[k - (m - 1) + j] * v[j]`. The part that is "same" begins at
    `middle` of the lesser size.
    """
    if a.ndim != 1 or v.ndim != 1:
        raise ShapeError("np.convolve and np.correlate take vectors")
    if mode not in (_FULL, _SAME, _VALID):
        raise StagingTypeError("a mode is 'full', 'same' or 'valid'")
    (n,), (m,) = a.sizes, v.sizes
    for name, size in zip("av", (n, m), strict=True):
        sizes.check_not_empty(size, f"{name} cannot be empty")
    less, more = sizes.least(n, m), sizes.greatest(n, m)
    all_but_one = sizes.subtract(less, 1)
    start, length = {
        _FULL: (size_operand(0), sizes.add(more, all_but_one)),
        _SAME: (middle(less), more),
        _VALID: (all_but_one, sizes.subtract(more, all_but_one)),
    }[mode]
    first: Any = ScalarRep(sizes.subtract(start, sizes.subtract(m, 1)))
    to = np.result_type(a.dtype, v.dtype)
    zero, total = to.type(0), LOGICAL_OR if to.kind == "b" else ADD
    left, right = a.astype(to), v.astype(to)

    def entry(k: ScalarRep) -> Any:
        def term(j: ScalarRep) -> Any:
            place: Any = k + first + j
            inside = np.logical_and(np.greater_equal(place, 0), np.less(place, a.shape[0]))
            return if_then_else(inside, lambda: left[place] * right.element(j), lambda: zero)

        return emit.reduce(v.sizes, term, binary(total, "sum"))[0]

    return emit.array((length,), entry)


def _half(size: Size, up: bool) -> Size:
    return sizes.arithmetic(FLOOR_DIVIDE, size if up else sizes.subtract(size, 1), size_operand(2))


@define_function(np.convolve)
def convolve(a: object, v: object, mode: str = "full") -> Any:
    """The convolution of two vectors; the second should be the shorter one."""
    x, y = with_axes(a), with_axes(v)
    return _products(x, y[::-1], mode, lambda less: _half(less, False))


@define_function(np.correlate)
def correlate(a: object, v: object, mode: str = "valid") -> Any:
    """The correlation of two vectors, of the second its conjugate; it should be the shorter one."""
    x, y = with_axes(a), with_axes(v).conjugate()
    swapped = sizes.arithmetic(LESS, x.sizes[0], y.sizes[0])

    def middle(less: Size) -> Size:
        return sizes.arithmetic(SELECT, swapped, _half(less, True), _half(less, False))

    return _products(x, y, mode, middle)


@define_function(np.polyval)
def polyval(p: object, x: Any) -> Any:
    """A polynomial, the highest coefficient first, by Horner's rule."""
    coefficients, at = with_axes(p), lifted(x)
    count = sizes.static(coefficients.sizes[0])
    if count is None:
        from ...staging.control import while_loop

        last = coefficients.shape[0]
        zero = np.zeros_like(at) if not isinstance(at, ScalarRep) else at * 0
        start = (0, zero * coefficients.dtype.type(0))
        return while_loop(
            lambda s: s[0] < last, lambda s: (s[0] + 1, s[1] * at + coefficients[s[0]]), start
        )[1]
    found: Any = np.zeros_like(at)
    for k in range(count):
        found = found * at + coefficients[k]
    return found


@define_function(np.cross)
def cross(
    a: object, b: object, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """The cross products of vectors of three components along an axis."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (moveaxis(v, k, -1) for v, k in ((a, axisa), (b, axisb)))

    def product(i: int, j: int) -> Any:
        return x[..., i] * y[..., j] - x[..., j] * y[..., i]

    if any(sizes.static(v.sizes[-1]) == 2 for v in (x, y)):
        raise Limitation(
            "np.cross of vectors of two components", instead="a[0] * b[1] - a[1] * b[0]"
        )
    parts = [product(1, 2), product(2, 0), product(0, 1)]
    found = np.stack(parts, axis=-1)
    return moveaxis(found, -1, axisc) if x.ndim > 1 or y.ndim > 1 else found


@define_function(np.unwrap)
def unwrap(p: object, discont: Any = None, axis: int = -1, *, period: Any = 2 * np.pi) -> Any:
    """Jumps of half a period or more between neighbours undone by whole periods."""
    x: Any = as_array(lifted(p))
    x = x if x.dtype.kind == "f" else x.astype(float)
    half = period / 2
    jump = diff(x, axis=axis)
    wrapped = (jump + half) % period - half
    wrapped = np.where((wrapped == -half) & (jump > 0), half, wrapped)
    undo = np.where(np.absolute(jump) < (half if discont is None else discont), 0, wrapped - jump)
    place = axis_number(axis, x.ndim)
    before = (slice(None),) * place
    rest = x[(*before, slice(1, None))] + np.cumsum(undo, axis=place)
    return concatenate([x[(*before, slice(None, 1))], rest], place)
