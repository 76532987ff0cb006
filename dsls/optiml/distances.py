"""How far apart two vectors are."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ...patterns.public import asarray
from ...staging.errors import StagingTypeError


class Distance(enum.Enum):
    """A metric of `dist`."""

    ABS = "the sum of absolute differences"
    SQUARE = "the sum of squared differences"
    EUC = "the Euclidean distance, the root of SQUARE"


ABS, SQUARE, EUC = Distance.ABS, Distance.SQUARE, Distance.EUC
_METRICS = tuple(Distance)


def dist(a: Any, b: Any, metric: Distance) -> Any:
    """The distance of two vectors, or of two matrices element by element.

    a, b : [d], or [n, d]
    metric : ABS, SQUARE or EUC
    -> a number: float for floats, integer for integers (EUC is always float)

    Raises ValueError when the sizes differ, TypeError for an unknown metric.

    >>> float(dist([1.0, 2.0], [4.0, 6.0], EUC)), int(dist([1, 2], [4, 6], ABS))
    (5.0, 7)
    """
    if metric not in _METRICS:
        raise StagingTypeError(
            f"{metric!r} is no metric of dist", instead="ml.ABS, ml.SQUARE or ml.EUC"
        )
    if metric is Distance.ABS:
        return np.abs(asarray(a) - asarray(b)).sum()
    squares = sum_of_squares(a, b)
    return squares if metric is Distance.SQUARE else np.sqrt(squares)


def sum_of_squares(a: Any, b: Any) -> Any:
    """The sum of squared differences of two arrays of one shape, or of two numbers.

    >>> float(sum_of_squares([1.0, 2.0], [4.0, 6.0])), sum_of_squares(1.0, 3.0)
    (25.0, 4.0)
    """
    if np.ndim(a) == 0:
        return (a - b) * (a - b)
    away = asarray(a) - asarray(b)
    return (away * away).sum()
