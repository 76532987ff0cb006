"""What a Scatter means, over Python callables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..staging.errors import CheckFailed
from ..staging.nodes import Bounds
from .generators import Conflict
from .semantics import Condition, Extents, Index, Where, check_inside, indices

SAME_PLACE = "values {0} and {1} both go to place {2}, where each place takes one"


def scatter(
    extents: Extents,
    update: Callable[[Index], tuple[Index, Any]],
    begin: np.ndarray,
    *,
    rank: int = 1,
    cond: Condition = None,
    conflict: Conflict = Conflict.LAST,
    bounds: Bounds = Bounds.CHECKED,
    where: Where = None,
) -> np.ndarray:
    """A copy of `begin`; for each index `location, v = update(index)` and `a[location] = v`.

    A location has `rank` integers. `conflict` says what several values at one of them mean.

    >>> scatter((3,), lambda i: ((i[0] % 2,), i[0]), np.zeros(2, int))
    array([2, 1])
    """
    result = begin.copy()
    shape = begin.shape[:rank]
    taken: dict[Index, int] = {}
    for number, index in enumerate(indices(extents)):
        if cond is not None and not cond(index):
            continue
        location, value = update(index)
        check_inside(location, shape, bounds, where)
        earlier = taken.setdefault(location, number)
        if earlier != number and conflict in (Conflict.UNIQUE, Conflict.PROVEN):
            raise same_place(earlier, number, int(np.ravel_multi_index(location, shape)), where)
        if earlier == number or conflict is Conflict.LAST:
            result[location] = value
    return result


def same_place(earlier: int, later: int, place: int, where: Where = None) -> CheckFailed:
    """The error of two values for one place, given by numbers in C order."""
    return CheckFailed(SAME_PLACE.format(earlier, later, place), where=where)
