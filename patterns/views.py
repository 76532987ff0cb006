"""Views: index maps from an array's axes to a view's, so that slices, transposes, rows and
broadcasts cost no loop.

A view of rank r over a base of rank b is a shape of r sizes and, for each base axis, where its
index comes from:

    place ::= Fixed(index)               the view stands at one index of the base axis
           |  Span(axis, start, step)    base index = start + step * the index on the view's axis

An index that may be outside of a view's axis may be inside of the base's: where the axis has been
`sliced`, such an index becomes -1, which is outside of the base as well.

A view axis that no base axis names is a broadcast one (every index reads the same elements).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..staging import primitives as p
from ..staging.context import trace
from ..staging.dataclass import dataclass
from ..staging.errors import ShapeError
from ..staging.nodes import Operand, size_operand
from . import sizes
from .sizes import Size


@dataclass(frozen=True, slots=True)
class Fixed:
    """One index of the base axis; `proven` when it is known to be inside."""

    index: Operand
    proven: bool


@dataclass(frozen=True, slots=True)
class Span:
    """The base index is `start + step * index on the view's axis`."""

    axis: int
    start: Operand
    step: int
    sliced: bool = False


Place = Fixed | Span


@dataclass(frozen=True, slots=True)
class View:
    """`shape` has a size for each axis of the view, `places` a place for each axis of the base."""

    shape: tuple[Size, ...]
    places: tuple[Place, ...]

    @staticmethod
    def whole(shape: Sequence[Size]) -> View:
        """The view that is the base itself."""
        zero = size_operand(0)
        return View(tuple(shape), tuple(Span(axis, zero, 1) for axis in range(len(shape))))

    def is_whole(self, base: Sequence[Size]) -> bool:
        """Whether this is the whole base of shape `base`, axis by axis."""
        if len(self.shape) != len(self.places):
            return False
        straight = View.whole(self.shape).places == self.places
        return straight and all(sizes.same(a, b) for a, b in zip(self.shape, base, strict=True))

    def locate(
        self, indices: Sequence[Operand], inside: Sequence[bool] = ()
    ) -> tuple[Operand, ...]:
        """The base indices for indices of the view; `inside`: which are known to be, by default all
        of them."""

        def base(place: Place) -> Operand:
            if isinstance(place, Fixed):
                return place.index
            known = not inside or inside[place.axis]
            return _affine(place, indices[place.axis], None if known else self.shape[place.axis])

        return tuple(map(base, self.places))

    @property
    def proven(self) -> bool:
        """Whether indices inside the view are known to be inside the base."""
        return all(place.proven for place in self.places if isinstance(place, Fixed))

    # Views of views.

    def fix(self, axis: int, index: Operand, proven: bool) -> View:
        """The view at one index of `axis`, without that axis."""

        def place(span: Span) -> Place:
            if span.axis == axis:
                return Fixed(_affine(span, index, None if proven else self.shape[axis]), proven)
            return replace(span, axis=span.axis - (span.axis > axis))

        shape = self.shape[:axis] + self.shape[axis + 1 :]
        return View(shape, self._spans(place))

    def slice(self, axis: int, start: Operand, step: int, size: Size) -> View:
        """`size` indices of `axis`, from `start` by `step`; all of them must be inside."""

        def place(span: Span) -> Place:
            if span.axis != axis:
                return span
            whole = sizes.same(size, self.shape[axis])
            return Span(axis, _affine(span, start), span.step * step, span.sliced or not whole)

        shape = self.shape[:axis] + (size,) + self.shape[axis + 1 :]
        return View(shape, self._spans(place))

    def insert(self, axis: int) -> View:
        """The view with a new axis of size 1 before `axis`."""
        shape = self.shape[:axis] + (size_operand(1),) + self.shape[axis:]
        return View(shape, self._spans(lambda s: replace(s, axis=s.axis + (s.axis >= axis))))

    def permute(self, order: Sequence[int]) -> View:
        """The view whose axis k is the old axis `order[k]`."""
        shape = tuple(self.shape[old] for old in order)
        return View(shape, self._spans(lambda s: replace(s, axis=order.index(s.axis))))

    def broadcast(self, shape: Sequence[Size], what: str) -> View:
        """The view stretched to `shape`: axes are added in front, those of static size 1 repeat."""
        added = len(shape) - len(self.shape)
        if added < 0:
            raise ShapeError(f"{what}: {len(self.shape)} axes do not broadcast to {len(shape)}")
        stretched: set[int] = set()
        for axis, size in enumerate(self.shape):
            wanted = shape[axis + added]
            if sizes.is_one(size) and not sizes.is_one(wanted):
                stretched.add(axis)
            else:
                trace().unify(wanted, size, what)

        def place(span: Span) -> Place:
            if span.axis in stretched:
                return Fixed(span.start, True)
            return replace(span, axis=span.axis + added)

        kept = tuple(
            wanted if axis < added or axis - added in stretched else self.shape[axis - added]
            for axis, wanted in enumerate(shape)
        )
        return View(kept, self._spans(place))

    def _spans(self, change: Callable[[Span], Place]) -> tuple[Place, ...]:
        return tuple(change(q) if isinstance(q, Span) else q for q in self.places)


def _affine(span: Span, index: Operand, size: Size | None = None) -> Operand:
    """The base index; -1 for one that is outside of the axis, if its size is given."""
    straight = span.step == 1 and sizes.static(span.start) == 0
    found = index if straight else sizes.add(span.start, sizes.multiply(index, span.step))
    if size is None or not span.sliced:
        return found
    low = sizes.arithmetic(p.GREATER_EQUAL, index, size_operand(0))
    high = sizes.arithmetic(p.LESS, index, size)
    inside = sizes.arithmetic(p.LOGICAL_AND, low, high)
    return sizes.arithmetic(p.SELECT, inside, found, size_operand(-1))


@dataclass(frozen=True, slots=True)
class Cut:
    """A slice of one axis: `size` indices from `start` by `step`."""

    start: Operand
    step: int
    size: Size


def cut(length: Size, start: Operand | None, stop: Operand | None, step: int) -> Cut:
    """Python's slice `start:stop:step` of an axis of `length`, out-of-range bounds clamped.

    Static bounds give the smallest arithmetic, so that `x[1:]` and `x[:-1]` have the same size by
    construction.
    """
    if step == 0:
        raise ShapeError("slice step cannot be zero")
    if step < 0:
        return _cut_backwards(length, start, stop, step)
    first = size_operand(0) if start is None else _bound(length, start, 0)
    last = length if stop is None else _last(length, stop)
    span = last if start is None else sizes.greatest(sizes.subtract(last, first), 0)
    return Cut(first, step, sizes.divide_up(span, step))


def _last(length: Size, stop: Operand) -> Operand:
    bound, known = _bound(length, stop, 0), sizes.static(stop)
    counted_from_end = known is not None and known < 0
    return bound if counted_from_end else sizes.least(bound, length)


def _cut_backwards(length: Size, start: Operand | None, stop: Operand | None, step: int) -> Cut:
    end = sizes.subtract(length, 1)
    first = end if start is None else sizes.least(_bound(length, start, -1), end)
    if stop is None:
        span = length if start is None else sizes.add(first, 1)
    else:
        last = sizes.least(_bound(length, stop, -1), end)
        span = sizes.greatest(sizes.subtract(first, last), 0)
    return Cut(first, step, sizes.divide_up(span, -step))


def _bound(length: Size, bound: Operand, floor: int) -> Operand:
    """A slice bound counted from the front, not below `floor`; the other side is clamped by the
    caller.
    """
    known = sizes.static(bound)
    if known is None:
        return sizes.greatest(sizes.wrapped(bound, length), floor)
    if known >= 0:
        return bound
    return sizes.greatest(sizes.subtract(length, -known), floor)
