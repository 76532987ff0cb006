"""NumPy's functions on staged values, registered by their NumPy function.

`np.sum(x)` of a staged x comes here by `__array_function__`; functions without an array argument,
such as `np.zeros(n)`, through the rewritten calls of a staged function.
"""

from . import (
    creation,
    fourier,
    joining,
    linear_algebra,
    methods,
    products,
    reducing,
    scanning,
    selecting,
    shaping,
    sorting,
    writing,
)

__all__ = [
    "creation",
    "fourier",
    "joining",
    "linear_algebra",
    "methods",
    "products",
    "reducing",
    "scanning",
    "selecting",
    "shaping",
    "sorting",
    "writing",
]
