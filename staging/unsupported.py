"""What to write instead of a NumPy function or method that staged values do not have."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

import numpy as np

_COMPLETE = "an array whose length is known before: pm.collect(shape, f)"

INSTEAD: Mapping[str, str] = {
    "eig": "np.linalg.eigh of a symmetric matrix",
    "eigvals": "np.linalg.eigvalsh of a symmetric matrix",
    "resize": _COMPLETE,
    "vectorize": "x.map(f)",
    "erf": "pm.erf(x)",
    "erfc": "pm.erfc(x)",
    "tolist": "the array itself: what the compiled function returns has tolist()",
    "dump": "the array as a result of the function",
    "tofile": "the array as a result of the function",
}
"""The NumPy name -> what does the same in a staged function."""


def instead_of(name: str, known: Collection[str], written: str = "{}") -> str:
    """What to write for `name`: what does the same, the known name nearest to it, or nothing.

    written : how a known name is written

    >>> instead_of("vectorize", ["sum"])
    'x.map(f)'
    >>> instead_of("summ", ["sum", "mean"], "np.{}")
    "did you mean 'np.sum'?"
    >>> instead_of("fft", ["sum", "mean"])
    ''
    """
    if name in INSTEAD:
        return INSTEAD[name]
    by_name = {full.rpartition(".")[2]: full for full in sorted(known)}
    near = difflib.get_close_matches(name, by_name, n=1)
    return f"did you mean {written.format(by_name[near[0]])!r}?" if near else ""


def is_method(name: str) -> bool:
    """Whether NumPy's arrays or scalars have a method or attribute of this name.

    >>> is_method("sort"), is_method("srot")
    (True, False)
    """
    return hasattr(np.ndarray, name)
