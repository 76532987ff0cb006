"""Products of vectors, and the logistic function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...patterns.public import asarray


def dot(a: Any, b: Any) -> Any:
    """The inner product of two vectors, or the product of matrices and vectors.

    a, b : [d], [d] -> a number; [n, d], [d] -> [n]; [n, d], [d, m] -> [n, m]

    Raises ValueError when the inner sizes differ.

    >>> float(dot([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    return asarray(a) @ asarray(b)


def outer(a: Any, b: Any) -> Any:
    """The products of every element of a with every element of b.

    a : [n], b : [m] -> [n, m]

    >>> outer([1, 2], [3, 4, 5])
    Array([[ 3,  4,  5],
           [ 6,  8, 10]])
    """
    return np.outer(asarray(a), asarray(b))


def sigmoid(x: Any) -> Any:
    """The logistic function 1 / (1 + exp(-x)), of a number or element by element.

    >>> float(sigmoid(0.0))
    0.5
    """
    values = asarray(x) if isinstance(x, list) else x
    return 1 / (1 + np.exp(-values))
