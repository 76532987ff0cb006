"""The vocabulary of patterns, shared by arrays, rows, columns, ranges, zips and selections.

A collection is a domain of indices and an element for each index. Every method emits one MultiLoop
(`mean` and the `_by` forms a little arithmetic beside it). A callable first argument is applied to
the elements before they combine; where a condition is asked for, a callable on the element or a
boolean array over the collection will do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..staging import primitives as p
from ..staging.arithmetic import apply_ufunc
from ..staging.errors import StagingTypeError
from ..staging.primitives import Primitive
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep, cast, constant
from ..staging.types import I64, Scalar
from . import emit, reducers, sizes
from .conversions import arg_reducer, as_float, binary, flat_index, strong, widened
from .sizes import Size

if TYPE_CHECKING:
    from .collections import Zip

Selector = Callable[..., Any]
Predicate = Callable[..., Any] | object


class Patterns(Rep):
    """The patterns, for a class that has `domain` and `at`."""

    __slots__ = ()

    @property
    @abstractmethod
    def domain(self) -> tuple[Size, ...]:
        """The extents of the indices."""

    @abstractmethod
    def at(self, *indices: ScalarRep) -> Any:
        """The element at these indices, which are inside the domain."""

    def call(self, f: Selector | None, *indices: ScalarRep) -> Any:
        """`f` of the element, or the element itself."""
        element = self.at(*indices)
        return element if f is None else f(element)

    # Python's protocols in rewritten code.

    def staged_length(self) -> int | ScalarRep:
        """len(): the number of elements along the first axis."""
        return sizes.dim(self.domain[0])

    def __len__(self) -> int:
        known = sizes.static(self.domain[0])
        if known is None:
            raise StagingTypeError(
                "len() of a staged collection whose size is not static",
                why="its value is known only when the compiled program runs",
                instead="x.shape[0], or len(x) inside a staged function",
            )
        return known

    # Patterns.

    def map(self, f: Selector) -> Any:
        """`f` of each element: [...] of numbers, [..., d] of arrays of [d]; a tuple gives a tuple
        of arrays.
        """
        return emit.collect(self.domain, lambda *i: self.call(f, *i))

    def zip(self, *others: object) -> Zip:
        """The collection of tuples; functions over it take one argument for each of its parts."""
        from .collections import Zip

        return Zip((self, *(as_collection(other) for other in others)))

    def filter(self, predicate: Predicate) -> Any:
        """The elements for which the predicate holds, compacted, in order."""
        from .selections import kept

        return kept(self, predicate)

    def reduce(
        self,
        f: Selector,
        *,
        associative: bool | None = None,
        commutative: bool | None = None,
        identity: object = None,
    ) -> Any:
        """All elements combined by `f(a, b)`, where a stands before b.

        What parloom can prove about f (sums, products, least and greatest, elementwise too) it
        proves; the rest you may declare. Without associativity the loop runs in order. An empty
        collection without an identity raises ValueError.
        """
        from .lambdas import reduce_by

        declared = {"associative": associative, "commutative": commutative}
        return reduce_by(self, f, declared, identity)

    def scan(
        self,
        f: Selector,
        init: object = None,
        *,
        exclusive: bool = False,
        associative: bool | None = None,
        commutative: bool | None = None,
    ) -> Any:
        """The elements up to each one combined by `f(a, b)`, after `init`: [n], as f's results.

        An exclusive scan leaves out the element's own value: its first result is `init`, or f's
        identity, which must be known then. What is known of f is as for `reduce`.
        """
        from .scans import scan_by

        declared = {"associative": associative, "commutative": commutative}
        return scan_by(self, f, init, exclusive, declared)

    def sum(self, f: Selector | None = None, /, *, where: Predicate | None = None) -> Any:
        """The sum of the elements, of `f` of them, of those `where` a condition holds; small
        integers widen.
        """
        return self._combine(p.ADD, "sum", f, where, widen=True)

    def prod(self, f: Selector | None = None, /, *, where: Predicate | None = None) -> Any:
        """The product of the elements; small integers widen."""
        return self._combine(p.MULTIPLY, "prod", f, where, widen=True)

    def min(self, f: Selector | None = None, /) -> Any:
        """The least element, or the least `f` of one; NaN if there is one, ValueError if empty."""
        return self._combine(p.MINIMUM, "min", f)

    def max(self, f: Selector | None = None, /) -> Any:
        """The greatest element, or the greatest `f` of one; NaN if there is one; ValueError when
        empty.
        """
        return self._combine(p.MAXIMUM, "max", f)

    def any(self, f: Selector | None = None, /) -> Any:
        """Whether any element, or `f` of it, is true."""
        truth = self._truth(f)
        return emit.reduce(self.domain, truth, binary(p.LOGICAL_OR, "any"))[0]

    def all(self, f: Selector | None = None, /) -> Any:
        """Whether every element, or `f` of it, is true."""
        truth = self._truth(f)
        return emit.reduce(self.domain, truth, binary(p.LOGICAL_AND, "all"))[0]

    def count(self, predicate: Predicate | None = None) -> Any:
        """The number of elements, or of those for which the predicate holds."""
        if predicate is None:
            return sizes.dim(sizes.product(self.domain))
        one = constant(np.int64(1))
        return emit.reduce(
            self.domain, lambda *_: one, binary(p.ADD, "count"), self.holds(predicate)
        )[0]

    def mean(self, f: Selector | None = None, /) -> Any:
        """The mean of the elements or of `f` of them; of integers as float64; NaN when empty."""
        total = emit.reduce(
            self.domain, lambda *i: as_float(self.call(f, *i)), binary(p.ADD, "sum")
        )[0]
        return apply_ufunc(np.true_divide, (total, sizes.dim(sizes.product(self.domain))))

    def argmin(self, f: Selector | None = None, /) -> Any:
        """The index of the least element, or of the least `f` of one: the first of equals, the
        first NaN if any.
        """
        return self._arg(reducers.argmin_block, "argmin", f)

    def argmax(self, f: Selector | None = None, /) -> Any:
        """The index of the greatest element, or of the greatest `f`: the first of equals, the first
        NaN if any.
        """
        return self._arg(reducers.argmax_block, "argmax", f)

    def min_by(self, f: Selector) -> Any:
        """The element whose `f` is least."""
        return self._at_flat(Patterns.argmin(self, f))

    def max_by(self, f: Selector) -> Any:
        """The element whose `f` is greatest."""
        return self._at_flat(Patterns.argmax(self, f))

    def group_by(self, key: Predicate, *, size: object = None) -> Any:
        """The elements grouped by a key, a callable on the element or an array: groups in the order
        in which their keys are first met. With a `size`, an integer key `0 <= key < size`: that
        many groups, in the order of the keys.
        """
        from .buckets import Buckets
        from .groups import Groups

        return Buckets.of(self, key) if size is None else Groups.of(self, key, size)

    # What they are made of.

    def holds(self, predicate: Predicate) -> Selector:
        """The predicate as a function of the indices."""
        if callable(predicate) and not isinstance(predicate, Rep):
            return lambda *i: self.call(predicate, *i)
        mask = as_collection(predicate)
        sizes.unify_shapes(self.domain, mask.domain, "a mask and what it selects from")
        return lambda *i: mask.at(*i)

    def _combine(
        self,
        primitive: Primitive,
        name: str,
        f: Selector | None,
        where: Predicate | None = None,
        *,
        widen: bool = False,
    ) -> Any:
        cond = None if where is None else self.holds(where)

        def value(*indices: ScalarRep) -> Rep:
            found = lift(self.call(f, *indices))
            return widened(found) if widen else strong(found)

        return emit.reduce(self.domain, value, binary(primitive, name), cond)[0]

    def _truth(self, f: Selector | None) -> Selector:
        return lambda *i: ScalarRep(emit.condition(self.call(f, *i)))

    def _arg(self, block: Callable[[Scalar], Any], name: str, f: Selector | None) -> Any:
        def components(*indices: ScalarRep) -> tuple[Rep, Rep]:
            value = sizes.scalar_of(self.call(f, *indices), f"what {name} compares")
            return strong(value), cast(ScalarRep(flat_index(self.domain, indices)), I64)

        return emit.reduce(self.domain, components, arg_reducer(block, name))[1]

    def _at_flat(self, flat: ScalarRep) -> Any:
        return self.at(*sizes.unraveled(sizes.index_operand(flat), self.domain))


def as_collection(value: object) -> Patterns:
    """Anything that can be an array, as a collection."""
    rep = lift(value)
    if not isinstance(rep, Patterns):
        raise StagingTypeError(f"expected a collection, found {rep.type}")
    return rep
