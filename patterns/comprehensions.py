"""`[f(r) for r in x.rows if c(r)]` over a staged collection: a loop with a Collect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from ..staging.errors import Limitation
from ..staging.iteration import StagedIterable, register_comprehension
from ..staging.reps import Rep, lift
from ..staging.scalars import ScalarRep
from . import emit, sizes
from .arrays import ArrayRep
from .collections import Rows, Zip


def comprehension(
    iterable: StagedIterable, value: Callable[[Any], Any], holds: Callable[[Any], Any] | None
) -> Any:
    """The values of the elements for which `holds`, as a collection: a Python list has no
    arithmetic, and neither has this. Tuples become several arrays side by side.
    """
    domain = (sizes.count(iterable.staged_length()),)

    def at(i: ScalarRep) -> Any:
        return value(iterable.staged_element(i))

    if holds is None:
        return _listed(emit.collect(domain, at))
    test = holds

    def passes(i: ScalarRep) -> Any:
        return test(iterable.staged_element(i))

    def kept(i: ScalarRep) -> Rep:
        found = at(i)
        if isinstance(found, tuple | list | dict):
            raise Limitation(
                "a comprehension with a condition over a staged collection gives tuples",
                instead="x.filter(...) first, or one comprehension for each part",
            )
        return lift(found)

    return _listed(emit.collect_if(domain, passes, kept))


def _listed(found: Any) -> Any:
    if isinstance(found, ArrayRep):
        return Rows(found, 0)
    if type(found) is tuple:
        return Zip(list(map(_listed, cast(Any, found))))
    return found


register_comprehension(comprehension)
