"""Cases of functions that libraries compute: sorting, linear algebra, Fourier transforms."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.patterns.numpy_layout_cases import Case


def _square(x: Any) -> Any:
    """A positive definite matrix."""
    return x.T @ x + np.eye(3)


def _transform(name: str) -> Case:
    transform: Any = getattr(np.fft, name)
    return lambda x, v: transform(x) if name.endswith(("2", "n")) else (transform(v), transform(x))


LIBRARY: Mapping[str, Case] = {
    "sort": lambda x, i: (np.sort(x), np.sort(x, axis=0), np.sort(i)),
    "argsort": lambda x: (np.argsort(x), np.argsort(x, axis=0)),
    "partition": lambda v: np.sort(np.partition(v, 2)[:3]),
    "argpartition": lambda v: np.sort(v[np.argpartition(v, 2)[:3]]),
    "lexsort": lambda v, i: np.lexsort((v, i)),
    "sort_complex": lambda v: np.sort_complex(v),
    "median": lambda x: (np.median(x), np.median(x, axis=0)),
    "quantile": lambda x: np.quantile(x, 0.3),
    "percentile": lambda x: np.percentile(x, 70.0, axis=0),
    "unique": lambda x, i: (np.unique(i), *np.unique(i // 2, True, True, True), np.unique(x > 0)),
    "union1d": lambda v, i: np.union1d(v, i),
    "isin": lambda i, j: (np.isin(i, [3, 5]), np.isin(j, i, invert=True)),
    "setdiff1d": lambda i, v: (np.setdiff1d(i, [3, 5]), np.setdiff1d(v, i)),
    "digitize": lambda x, v: (np.digitize(x, [-1.0, 0.0, 2.0]), np.digitize(x, -np.sort(v), True)),
    "interp": lambda x, v, w: (np.interp(x, np.sort(v), w), np.interp(x, np.sort(w), v, -1, 1)),
    "searchsorted": lambda v, w: np.searchsorted(np.sort(v), w),
    "einsum": lambda x, y: (np.einsum("ij,ij->i", x, y), np.einsum("ij,kj->ik", x, y)),
    "tensordot": lambda x, y: np.tensordot(x, y.T, 1),
    "linalg.matmul": lambda x, y: np.linalg.matmul(x, y.T),
    "linalg.multi_dot": lambda x, y: np.linalg.multi_dot([x, y.T, x]),
    "linalg.outer": lambda v, w: np.linalg.outer(v, w),
    "linalg.tensordot": lambda x, y: np.linalg.tensordot(x, y.T, axes=1),
    "linalg.norm": lambda x: (np.linalg.norm(x), np.linalg.norm(x, axis=1)),
    "linalg.solve": lambda x: np.linalg.solve(_square(x), x.T),
    "linalg.inv": lambda x: np.linalg.inv(_square(x)),
    "linalg.cholesky": lambda x: np.linalg.cholesky(_square(x)),
    "linalg.det": lambda x: np.linalg.det(_square(x)),
    "linalg.slogdet": lambda x: np.linalg.slogdet(_square(x)),
    "linalg.eigh": lambda x: np.abs(np.linalg.eigh(_square(x))[1]),
    "linalg.eigvalsh": lambda x: np.linalg.eigvalsh(_square(x)),
    "linalg.svd": lambda x: np.linalg.svd(x)[1],
    "linalg.svdvals": lambda x: np.linalg.svdvals(x),
    "linalg.qr": lambda x: np.abs(np.linalg.qr(x)[1]),
    "linalg.lstsq": lambda x: np.linalg.lstsq(x, x[:, 0])[0],
    "linalg.matrix_power": lambda x: np.linalg.matrix_power(_square(x), 3),
    "linalg.matrix_rank": lambda x: np.linalg.matrix_rank(x),
    "linalg.pinv": lambda x: np.linalg.pinv(x),
    "linalg.trace": lambda x: np.linalg.trace(x),
    "fft.fftshift": lambda v: np.fft.fftshift(v),
    "fft.ifftshift": lambda v: np.fft.ifftshift(v),
    **{
        f"fft.{name}": _transform(name)
        for name in (
            "fft ifft rfft irfft hfft ihfft fft2 ifft2 fftn ifftn rfft2 irfft2 rfftn irfftn"
        ).split()
    },
}
