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
from ..staging.scalars import ScalarRep
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
    """`shape` has a size for each axis of the view, `places` a place for each axis of the base;
    with `under` the base is not the array itself but a reshaped view of it.
    """

    shape: tuple[Size, ...]
    places: tuple[Place, ...]
    under: Reshape | None = None

    @staticmethod
    def whole(shape: Sequence[Size]) -> View:
        """The view that is the base itself."""
        zero = size_operand(0)
        return View(tuple(shape), tuple(Span(axis, zero, 1) for axis in range(len(shape))))

    @staticmethod
    def reshaped(under: Reshape) -> View:
        """The whole of a reshaped view."""
        return replace(View.whole(under.shape), under=under)

    def is_whole(self, base: Sequence[Size]) -> bool:
        """Whether this is the whole array of shape `base`, axis by axis."""
        return self.under is None and self.is_whole_of(base)

    def is_whole_of(self, base: Sequence[Size]) -> bool:
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

        places = tuple(map(base, self.places))
        if self.under is None:
            return places
        self._check_inside(indices)
        return self.under.locate(places)

    def _check_inside(self, indices: Sequence[Operand]) -> None:
        """Before indices become a position in another shape, where one that is outside may be
        inside.
        """
        assert self.under is not None
        meeting = [*zip(indices, self.shape, strict=True)]
        for place, size in zip(self.places, self.under.shape, strict=True):
            if isinstance(place, Fixed) and not place.proven:
                meeting.append((place.index, size))
        for index, size in meeting:
            if not sizes.in_range(ScalarRep(index), size):
                sizes.check_inside(index, size, "index is out of bounds")

    def levels(self, array: Sequence[Size]) -> list[tuple[View, Sequence[Size]]]:
        """This view and those below it, down to the array, each with the shape of its base."""
        if self.under is None:
            return [(self, array)]
        return [(self, self.under.shape), *self.under.view.levels(array)]

    @property
    def proven(self) -> bool:
        """Whether indices inside the view are known to be inside the base."""
        own = all(place.proven for place in self.places if isinstance(place, Fixed))
        return own and (self.under is None or self.under.view.proven)

    # Views of views.

    def fix(self, axis: int, index: Operand, proven: bool) -> View:
        """The view at one index of `axis`, without that axis."""

        def place(span: Span) -> Place:
            if span.axis == axis:
                return Fixed(_affine(span, index, None if proven else self.shape[axis]), proven)
            return replace(span, axis=span.axis - (span.axis > axis))

        shape = self.shape[:axis] + self.shape[axis + 1 :]
        return replace(self, shape=shape, places=self._spans(place))

    def slice(self, axis: int, start: Operand, step: int, size: Size) -> View:
        """`size` indices of `axis`, from `start` by `step`; all of them must be inside."""

        def place(span: Span) -> Place:
            if span.axis != axis:
                return span
            whole = sizes.same(size, self.shape[axis])
            return Span(axis, _affine(span, start), span.step * step, span.sliced or not whole)

        shape = self.shape[:axis] + (size,) + self.shape[axis + 1 :]
        return replace(self, shape=shape, places=self._spans(place))

    def insert(self, axis: int) -> View:
        """The view with a new axis of size 1 before `axis`."""
        shape = self.shape[:axis] + (size_operand(1),) + self.shape[axis:]
        places = self._spans(lambda s: replace(s, axis=s.axis + (s.axis >= axis)))
        return replace(self, shape=shape, places=places)

    def permute(self, order: Sequence[int]) -> View:
        """The view whose axis k is the old axis `order[k]`."""
        shape = tuple(self.shape[old] for old in order)
        places = self._spans(lambda s: replace(s, axis=order.index(s.axis)))
        return replace(self, shape=shape, places=places)

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
        return replace(self, shape=kept, places=self._spans(place))

    def _spans(self, change: Callable[[Span], Place]) -> tuple[Place, ...]:
        return tuple(change(q) if isinstance(q, Span) else q for q in self.places)


@dataclass(frozen=True, slots=True)
class Reshape:
    """A view's elements, in C order, in another shape of as many."""

    view: View
    shape: tuple[Size, ...]

    def locate(self, indices: Sequence[Operand]) -> tuple[Operand, ...]:
        """The array's indices for indices of the shape."""
        return self.view.locate(regrouped(indices, self.shape, self.view.shape))


def regrouped(
    indices: Sequence[Operand], old: Sequence[Size], new: Sequence[Size]
) -> tuple[Operand, ...]:
    """The indices, in a shape, of the element that has the given ones in another."""
    found: list[Operand] = [size_operand(0)] * len(new)
    for here, there in runs(old, new):
        flat = size_operand(0)
        for axis in here:
            flat = sizes.add(sizes.multiply(flat, old[axis]), indices[axis])
        for axis in reversed(there[1:]):
            found[axis] = sizes.arithmetic(p.REMAINDER, flat, new[axis])
            flat = sizes.arithmetic(p.FLOOR_DIVIDE, flat, new[axis])
        found[there[0]] = flat
    return tuple(found)


def runs(old: Sequence[Size], new: Sequence[Size]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The shortest runs of axes of two shapes that have as many elements, pair by pair; axes of
    size 1 are in none.
    """
    rests = [[k for k, size in enumerate(s) if not sizes.is_one(size)] for s in (old, new)]
    found: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    while any(rests):
        lengths = _first_run([old[k] for k in rests[0]], [new[k] for k in rests[1]])
        found.append((tuple(rests[0][: lengths[0]]), tuple(rests[1][: lengths[1]])))
        rests = [rest[n:] for rest, n in zip(rests, lengths, strict=True)]
    return found


def _first_run(a: Sequence[Size], b: Sequence[Size]) -> tuple[int, int]:
    """How many of the first sizes of each shape have the same product, as few as can be; all where
    that is not known of fewer.
    """
    for total in range(2, len(a) + len(b)):
        for m in range(1, total):
            if m <= len(a) and total - m <= len(b):
                if _as_many(a[:m], b[: total - m]) and _as_many(a[m:], b[total - m :]):
                    return m, total - m
    return len(a), len(b)


def _as_many(a: Sequence[Size], b: Sequence[Size]) -> bool:
    return sizes.product_key(a) == sizes.product_key(b)


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
