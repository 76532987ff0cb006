"""NumPy's functions on staged values, registered by their NumPy function.

`np.sum(x)` of a staged x comes here by `__array_function__`; functions without an array argument,
such as `np.zeros(n)`, through the rewritten calls of a staged function.
"""

from . import (
    arranging,
    axes,
    calling,
    comparing,
    counting,
    creation,
    differences,
    fourier,
    joining,
    linear_algebra,
    methods,
    missing,
    products,
    ranges,
    reducing,
    scanning,
    selecting,
    shaping,
    sorting,
    ufuncs,
    writing,
)

__all__ = [
    "arranging",
    "axes",
    "calling",
    "comparing",
    "counting",
    "creation",
    "differences",
    "fourier",
    "joining",
    "linear_algebra",
    "methods",
    "missing",
    "products",
    "ranges",
    "reducing",
    "scanning",
    "selecting",
    "shaping",
    "sorting",
    "ufuncs",
    "writing",
]
