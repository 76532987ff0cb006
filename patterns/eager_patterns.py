"""The vocabulary of patterns, eagerly: what collections.py stages, as Python loops and NumPy.

A user's function runs as plain Python, once for each element, in index order. Everything else is
NumPy. Where a collection has no elements the function does not run, and the array that would hold
its values is float64 of shape (0,), as np.array([]) is: there is nothing to tell its type by.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..staging import pytree
from ..staging.errors import ShapeError, StagingTypeError
from . import semantics
from .semantics import Element, Extents, Index

if TYPE_CHECKING:
    from .eager_collections import Zip

Selector = Callable[..., Any]
Predicate = Callable[..., Any] | object

_BOOL = Element(np.dtype(np.bool_), ())


class Patterns:
    """The patterns, for a class that has `extents`, `at` and `elements`."""

    @property
    @abstractmethod
    def extents(self) -> Extents:
        """The sizes of the index domain."""

    @abstractmethod
    def at(self, *indices: int) -> Any:
        """The element at these indices, which are inside the domain."""

    @abstractmethod
    def elements(self) -> np.ndarray:
        """All elements as one array, the domain's axes first."""

    def call(self, f: Selector, *indices: int) -> Any:
        """`f` of the element."""
        return f(self.at(*indices))

    def map(self, f: Selector) -> Any:
        """`f` of each element: [...] of numbers, [..., d] of arrays of [d]; tuples give tuples."""
        return gather(self.extents, lambda index: self.call(f, *index))

    def zip(self, *others: object) -> Zip:
        """The collection of tuples; functions over it take one argument for each of its parts."""
        from .eager_collections import Zip

        return Zip((self, *(as_collection(other) for other in others)))

    def filter(self, predicate: Predicate) -> Any:
        """The elements for which the predicate holds, compacted, in order: numbers, or rows."""
        from .eager_collections import Rows

        found = wrapped(self.elements()[self.holds(predicate)])
        return found if found.ndim == 1 else Rows(found, 0)

    def reduce(
        self,
        f: Selector,
        *,
        associative: bool | None = None,
        commutative: bool | None = None,
        identity: object = None,
    ) -> Any:
        """All elements combined by `f(a, b)` in index order, where a stands before b.

        The declared facts change no result here. Empty without an identity: ValueError.
        """
        items = [self.at(*index) for index in semantics.indices(self.extents)]
        start = None if identity is None else (self._filled(identity),)
        (total,) = semantics.reduce(
            (len(items),),
            lambda index: (items[index[0]],),
            lambda a, b: (f(a[0], b[0]),),
            identity=start,
        )
        return wrapped(total)

    def scan(
        self,
        f: Selector,
        init: object = None,
        *,
        exclusive: bool = False,
        associative: bool | None = None,
        commutative: bool | None = None,
    ) -> Any:
        """The elements up to each one combined by `f(a, b)`, after `init`, which an exclusive scan
        begins with. The declared facts change no result here.
        """
        if len(self.extents) > 1:
            raise StagingTypeError(
                "a scan over several axes",
                instead="x.rows.scan(f) for the rows, x.ravel().scan(f) for the elements",
            )
        if exclusive and init is None:
            raise StagingTypeError(
                "an exclusive scan without init",
                why="what an f has for its identity is only known of staged functions",
                instead="scan(f, init, exclusive=True)",
            )
        items = [self.at(*index) for index in semantics.indices(self.extents)]
        if init is not None:
            items.insert(0, init)
        steps: list[Any] = [
            step
            for (step,) in semantics.scan(
                len(items), lambda i: (items[i[0]],), lambda a, b: (f(a[0], b[0]),)
            )
        ]
        found: Any = gather((len(steps),), lambda index: steps[index[0]])
        kept = slice(None, -1) if exclusive else slice(int(init is not None), None)
        arrays, tree = pytree.flatten(found)
        return pytree.unflatten(tree, [np.asarray(a)[kept].view(type(a)) for a in arrays])

    def sum(self, f: Selector | None = None, *, where: Predicate | None = None) -> Any:
        """The sum of the elements, of `f` of them, of those `where` a condition holds.

        Small integers widen.
        """
        return wrapped(np.sum(self.values(f, where), axis=0))

    def prod(self, f: Selector | None = None, *, where: Predicate | None = None) -> Any:
        """The product of the elements; small integers widen."""
        return wrapped(np.prod(self.values(f, where), axis=0))

    def min(self, f: Selector | None = None) -> Any:
        """The least element, or `f` of one; NaN if there is one; ValueError when empty."""
        return wrapped(np.min(self.values(f), axis=0))

    def max(self, f: Selector | None = None) -> Any:
        """The greatest element, or `f` of one; NaN if there is one; ValueError when empty."""
        return wrapped(np.max(self.values(f), axis=0))

    def any(self, f: Selector | None = None) -> Any:
        """Whether any element, or `f` of it, is true."""
        return np.any(self._numbers(f, "a condition"))

    def all(self, f: Selector | None = None) -> Any:
        """Whether every element, or `f` of it, is true."""
        return np.all(self._numbers(f, "a condition"))

    def count(self, predicate: Predicate | None = None) -> Any:
        """The number of elements, or of those for which the predicate holds."""
        if predicate is None:
            return math.prod(self.extents)
        return np.int64(np.count_nonzero(self.holds(predicate)))

    def mean(self, f: Selector | None = None) -> Any:
        """The mean of the elements or of `f` of them; of integers as float64; NaN when empty."""
        values = as_float(self.values(f))
        with np.errstate(all="ignore"):
            return wrapped(np.sum(values, axis=0) / len(values))

    def argmin(self, f: Selector | None = None) -> Any:
        """The index of the least element, or of the least `f` of one.

        The first of equals, the first NaN if there is one; ValueError when empty.
        """
        return np.argmin(self._numbers(f, "what argmin compares"))

    def argmax(self, f: Selector | None = None) -> Any:
        """The index of the greatest element, or of the greatest `f` of one, as `argmin`."""
        return np.argmax(self._numbers(f, "what argmax compares"))

    def min_by(self, f: Selector) -> Any:
        """The element whose `f` is least."""
        return self._at_flat(Patterns.argmin(self, f))

    def max_by(self, f: Selector) -> Any:
        """The element whose `f` is greatest."""
        return self._at_flat(Patterns.argmax(self, f))

    def group_by(self, key: Predicate, *, size: object = None) -> Any:
        """The elements grouped by a key, a function of one or an array.

        With a `size` by an integer `0 <= key < size`, else in the order in which keys are met.
        """
        from .eager_buckets import Buckets
        from .eager_groups import Groups

        return Buckets.of(self, key) if size is None else Groups.of(self, key, size)

    # What they are made of.

    def holds(self, predicate: Predicate) -> np.ndarray:
        """Where the predicate holds, as a boolean array over the domain."""
        if callable(predicate):
            return semantics.collect(
                self.extents, lambda index: bool(self.call(predicate, *index)), element=_BOOL
            )
        mask: np.ndarray = np.asarray(predicate)
        if mask.shape != self.extents:
            raise ShapeError(
                f"a mask of shape {mask.shape} does not fit a collection of shape {self.extents}"
            )
        return np.asarray(mask != 0)

    def values(self, f: Selector | None = None, where: Predicate | None = None) -> np.ndarray:
        """`f` of the elements, or they themselves, in C order on the first axis."""
        mask = None if where is None else self.holds(where)
        if f is None:
            found = np.asarray(self.elements())
            found = found if mask is None else np.asarray(found[mask])
        else:
            found = self._called(f, mask)
        rank = 1 if mask is not None else len(self.extents)
        return found.reshape((math.prod(found.shape[:rank]), *found.shape[rank:]))

    def _called(self, f: Selector, mask: np.ndarray | None) -> np.ndarray:
        def included(index: Index) -> bool:
            return mask is None or bool(mask[index])

        cond = None if mask is None else included
        return checked(
            semantics.collect(self.extents, lambda index: self.call(f, *index), cond=cond)
        )

    def _numbers(self, f: Selector | None, what: str) -> np.ndarray:
        found = self.values(f)
        if found.ndim > 1:
            raise StagingTypeError(f"{what} must be a number, found an array of {found.shape[1:]}")
        return found

    def _at_flat(self, position: np.intp) -> Any:
        return self.at(*(int(i) for i in np.unravel_index(position, self.extents)))

    def _filled(self, identity: Any) -> Any:
        """An identity in the form of an element: an array of it where elements are arrays."""
        inner = self.elements().shape[len(self.extents) :]
        return np.full(inner, identity) if inner and np.ndim(identity) == 0 else identity


def gather(extents: Extents, value: Callable[[Index], Any]) -> Any:
    """The array of the values over a domain; for tuples and dicts, one array for each leaf."""
    flat = {i: pytree.flatten(value(i), _is_list) for i in semantics.indices(extents)}
    trees = list(dict.fromkeys(tree for _, tree in flat.values()))
    if not trees:
        return wrapped(semantics.collect(extents, value))
    if len(trees) > 1:
        raise StagingTypeError(
            "a function applied to each element returned values of different structure",
            instead="return tuples of one length, or dicts with the same keys, for every element",
        )

    def leaf(k: int) -> Any:
        return wrapped(checked(semantics.collect(extents, lambda index: flat[index][0][k])))

    return pytree.unflatten(trees[0], [leaf(k) for k in range(trees[0].leaves)])


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def checked(values: np.ndarray) -> np.ndarray:
    """The values, after a check that they are numbers."""
    if values.dtype.kind not in "biufc":
        kind = type(values.flat[0]).__name__
        raise StagingTypeError(
            f"a {kind} cannot be an element of an array",
            instead="return a number, an array, or a tuple or dict of them",
        )
    return values


def wrapped(value: Any) -> Any:
    """An ndarray as an eager array; anything else, and an array without axes, as a NumPy scalar."""
    from .eager import Array

    found: Any = value
    if not isinstance(value, np.ndarray):
        return found
    return found.view(Array) if found.ndim else found[()]


def as_float(values: np.ndarray) -> np.ndarray:
    """The values in the dtype in which NumPy takes means: integers as float64."""
    return values if values.dtype.kind in "fc" else values.astype(np.float64)


def as_collection(value: object) -> Patterns:
    """Anything that can be an array, as a collection."""
    from .eager import asarray

    return value if isinstance(value, Patterns) else asarray(value)
