"""What to write instead of a NumPy function or method that staged values do not have."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping

import numpy as np

_COUNTED = "x.group_by(key, size=k).count(), or .sum() for weights"
_COMPLETE = "an array whose length is known before: pm.collect(shape, f)"

INSTEAD: Mapping[str, str] = {
    "unique": "np.sort(x), and of that what differs from the element before",
    "digitize": 'np.searchsorted(bins, x, side="right")',
    "eig": "np.linalg.eigh of a symmetric matrix",
    "eigvals": "np.linalg.eigvalsh of a symmetric matrix",
    **dict.fromkeys(["bincount", "histogram"], _COUNTED),
    "append": _COMPLETE,
    "insert": _COMPLETE,
    "delete": "x.filter(f), or a mask: x[keep]",
    "resize": _COMPLETE,
    "allclose": "(abs(a - b) <= tolerance).all()",
    "isclose": "abs(a - b) <= tolerance",
    "array_equal": "(a == b).all()",
    "nansum": "np.where(np.isnan(x), 0, x).sum()",
    "nanmean": "x.filter(lambda v: v == v).mean()",
    "nanmax": "x.filter(lambda v: v == v).max()",
    "nanmin": "x.filter(lambda v: v == v).min()",
    "average": "(w * x).sum() / w.sum()",
    "cov": "d = x - x.mean(axis=0), then d.T @ d / (n - 1)",
    "convolve": "pm.range(n - w + 1).map(lambda i: (x[i : i + w] * weights).sum())",
    "correlate": "pm.range(n - w + 1).map(lambda i: (x[i : i + w] * weights).sum())",
    "kron": "pm.collect(shape, lambda i, j: ...)",
    "cross": "the three components, and np.stack",
    "tile": "pm.collect(shape, lambda i, j: x[i % n, j])",
    "repeat": "pm.range(k * n).map(lambda i: x[i // k])",
    "roll": "pm.range(n).map(lambda i: x[(i - shift) % n])",
    "rot90": "np.transpose and np.flip",
    "meshgrid": "pm.collect((n, m), lambda i, j: f(x[j], y[i])), or x[None, :] and y[:, None]",
    "linspace": "start + (stop - start) * np.arange(n) / (n - 1)",
    "reshape": "pm.collect(shape, lambda i, j: x[i * m + j]), x.ravel(), or before the call",
    "apply_along_axis": "x.rows.map(f) or x.cols.map(f)",
    "vectorize": "x.map(f)",
    "erf": "pm.erf(x)",
    "erfc": "pm.erfc(x)",
    "tolist": "the array itself: what the compiled function returns has tolist()",
    "fill": "np.full(shape, value)",
    "put": "np.where, or group_by(positions, size=n)",
    "dump": "the array as a result of the function",
    "tofile": "the array as a result of the function",
}
"""The NumPy name -> what does the same in a staged function."""


def instead_of(name: str, known: Collection[str], written: str = "{}") -> str:
    """What to write for `name`: what does the same, the known name nearest to it, or nothing.

    written : how a known name is written

    >>> instead_of("nansum", ["sum"])
    'np.where(np.isnan(x), 0, x).sum()'
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
