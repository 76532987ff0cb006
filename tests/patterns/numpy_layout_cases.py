"""Cases of functions that change or arrange values, that make arrays, and of arrays' methods."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Case = Callable[..., Any]

VALUES: Mapping[str, Case] = {
    "where": lambda x, y, m: (np.where(x > 0, x, y), np.where(x > 0, x, 0), np.where(m)),
    "clip": lambda x, i: (np.clip(x, -0.5, 0.5), np.clip(i, 1, None), np.clip(x, None, 0.2)),
    "select": lambda x, i: np.select([x > 1, x > 0], [x, 2 * x], -1),
    "piecewise": lambda x: np.piecewise(x, [x < 0, x > 1], [lambda v: -v, lambda v: v * v, 3.0]),
    "round": lambda x, i: (np.round(x), np.round(x, 2), np.round(i)),
    "around": lambda x: np.around(x, 1),
    "nan_to_num": lambda s, i: (
        np.nan_to_num(s),
        np.nan_to_num(s, nan=1.0, posinf=9.0),
        np.nan_to_num(i),
    ),
    "isclose": lambda x, y, s: (
        np.isclose(x, x + 1e-9),
        np.isclose(s, s),
        np.isclose(s, s, equal_nan=True),
    ),
    "allclose": lambda x, y: (np.allclose(x, y), np.allclose(x, x * (1 + 1e-9))),
    "array_equal": lambda x, y, s: (np.array_equal(x, y), np.array_equal(s, s, equal_nan=True)),
    "array_equiv": lambda x, y: np.array_equiv(x, x[0]),
    "isposinf": lambda s: np.isposinf(s),
    "isneginf": lambda s: np.isneginf(s),
    "isreal": lambda x: np.isreal(x),
    "iscomplex": lambda x: np.iscomplex(x),
    "isrealobj": lambda x: np.isrealobj(x),
    "iscomplexobj": lambda x: np.iscomplexobj(x),
    "isscalar": lambda x: (np.isscalar(x[0, 0]), np.isscalar(x)),
    "real": lambda x: np.real(x) + 1,
    "imag": lambda x: np.imag(x),
    "angle": lambda x: (np.angle(x), np.angle(x, deg=True)),
    "diff": lambda x, m: (np.diff(x), np.diff(x, 2, axis=0), np.diff(m), np.diff(x, prepend=0.0)),
    "ediff1d": lambda x, i: (np.ediff1d(x), np.ediff1d(i, to_begin=[7], to_end=[8, 9])),
    "gradient": lambda x, v: (np.gradient(x), np.gradient(v, 0.5), np.gradient(x, axis=1)),
    "convolve": lambda v, w: (
        np.convolve(v, w[:3]),
        np.convolve(v, w[:3], "same"),
        np.convolve(v, w[:4], "valid"),
    ),
    "correlate": lambda v, w: (
        np.correlate(v, w[:3]),
        np.correlate(v, w[:4], "same"),
        np.correlate(v, w, "full"),
    ),
    "polyval": lambda x, w: (np.polyval([2.0, -1.0, 0.5], x), np.polyval(w, 0.3)),
    "cross": lambda x, y: (np.cross(x, y), np.cross(x[0], y[1])),
    "kron": lambda x, y, v: (np.kron(x, y), np.kron(v, v[:2]), np.kron(x, v)),
    "unwrap": lambda v: (np.unwrap(v * 4), np.unwrap(v * 9, period=3.0)),
    "apply_along_axis": lambda x: (
        np.apply_along_axis(lambda r: r.sum(), 0, x),
        np.apply_along_axis(lambda r: r * 2, 1, x),
    ),
}

LAYOUTS: Mapping[str, Case] = {
    "reshape": lambda x: (np.reshape(x, (2, 6)), np.reshape(x, -1), np.reshape(x.T, (2, -1, 3))),
    "ravel": lambda x: (np.ravel(x), np.ravel(x[:, 1])),
    "transpose": lambda x, t: (np.transpose(x), np.transpose(t, (1, 0, 2))),
    "permute_dims": lambda t: np.permute_dims(t, (2, 0, 1)),
    "matrix_transpose": lambda t: np.matrix_transpose(t),
    "swapaxes": lambda t: np.swapaxes(t, 0, 2),
    "moveaxis": lambda t: (np.moveaxis(t, 0, -1), np.moveaxis(t, (0, 1), (-1, 0))),
    "rollaxis": lambda t: (np.rollaxis(t, 2), np.rollaxis(t, 0, 3)),
    "expand_dims": lambda x: (np.expand_dims(x, -1), np.expand_dims(x, (0, 2))),
    "squeeze": lambda x: (np.squeeze(x[None]), np.squeeze(x[None, :, None], axis=(0,))),
    "atleast_1d": lambda x, v: (np.atleast_1d(v[0]), np.atleast_1d(x, v)),
    "atleast_2d": lambda x, v: np.atleast_2d(v[0], v, x),
    "atleast_3d": lambda x, v, t: np.atleast_3d(v, x, t),
    "broadcast_to": lambda x: np.broadcast_to(x[0], (4, 3)),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, x[0]),
    "concatenate": lambda x, y: (np.concatenate([x, y]), np.concatenate([x, y], axis=1)),
    "concat": lambda x, y: np.concat([x, y]),
    "stack": lambda x, y: (np.stack([x, y]), np.stack([x, y], axis=-1)),
    "vstack": lambda x, y: np.vstack([x, y[0]]),
    "hstack": lambda x, v: (np.hstack([x, x]), np.hstack([v, v])),
    "dstack": lambda x, y: np.dstack([x, y]),
    "column_stack": lambda x: np.column_stack([x, x[:, 0]]),
    "block": lambda x, y: np.block([[x, y], [y, x]]),
    "append": lambda x, v: (np.append(x, v), np.append(x, x, axis=0)),
    "insert": lambda x, v: (
        np.insert(v, 2, 7.0),
        np.insert(v, 1, [8.0, 9.0]),
        np.insert(x, 1, 5.0, axis=1),
    ),
    "delete": lambda x, v: (np.delete(v, 2), np.delete(x, -1, axis=0), np.delete(v, slice(1, 3))),
    "split": lambda x, v: (np.split(v, 3), np.split(x, [1, 2])),
    "array_split": lambda v: (np.array_split(v, 4), np.array_split(v, [2])),
    "vsplit": lambda x: np.vsplit(x, 2),
    "hsplit": lambda x, v: (np.hsplit(x, 3), np.hsplit(v, 2)),
    "dsplit": lambda t: np.dsplit(t, 3),
    "tile": lambda x, v: (np.tile(v, 2), np.tile(x, (2, 1, 2)), np.tile(x, (2, 1))),
    "repeat": lambda x, v, i: (np.repeat(v, 2), np.repeat(x, 3, axis=1), np.repeat(v, i)),
    "roll": lambda x, v: (
        np.roll(v, 2),
        np.roll(x, -1, axis=0),
        np.roll(x, 4),
        np.roll(x, (1, 2), axis=(0, 1)),
    ),
    "rot90": lambda x: (np.rot90(x), np.rot90(x, 2), np.rot90(x, -1)),
    "flip": lambda x: (np.flip(x), np.flip(x, 0), np.flip(x, (0, 1))),
    "flipud": lambda x: np.flipud(x),
    "fliplr": lambda x: np.fliplr(x),
    "pad": lambda x, v: (
        np.pad(v, 2),
        np.pad(x, ((1, 2), (0, 1)), constant_values=3.0),
        np.pad(v, (4, 3), "edge"),
        np.pad(v, 8, "wrap"),
        np.pad(v, (3, 9), "reflect"),
        np.pad(v, (3, 9), "symmetric"),
    ),
    "diag": lambda x, v: (np.diag(x), np.diag(v), np.diag(v, 1), np.diag(v, -2), np.diag(x, -1)),
    "diagonal": lambda x, t: (np.diagonal(x), np.diagonal(x, 1), np.diagonal(t, 0, 1, 2)),
    "diagflat": lambda x: np.diagflat(x),
    "tril": lambda x, t: (np.tril(x), np.tril(t, 1)),
    "triu": lambda x: (np.triu(x), np.triu(x, -1)),
    "take": lambda x, i: (np.take(x, [0, 2], axis=1), np.take(x, i)),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argmax(x, axis=1)[:, None], axis=1),
    "compress": lambda m, v: np.compress(m, v),
    "extract": lambda x: np.extract(x > 0, x),
    "nonzero": lambda x: np.nonzero(x > 0),
    "flatnonzero": lambda x: np.flatnonzero(x > 0),
    "argwhere": lambda x: np.argwhere(x > 0),
    "choose": lambda m, v, w: np.choose(m.astype(int), [v, w]),
    "unstack": lambda x: np.unstack(np.broadcast_to(x[0, 0], (2, 3))),
    "ix_": lambda x: x[np.ix_([0, 2], [1, 2])],
    "put": lambda v, w: _put(v, w),
    "put_along_axis": lambda x: _put_along(x),
    "copy": lambda x: np.copy(x),
    "asarray": lambda x: np.asarray(x) + 1,
    "array": lambda x: np.array(x) + 1,
    "ascontiguousarray": lambda x: np.ascontiguousarray(x.T) + 0,
    "shape": lambda x: np.shape(x),
    "ndim": lambda x: np.ndim(x),
    "size": lambda x: np.size(x),
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like": lambda x: np.ones_like(x, dtype=np.int8),
    "empty_like": lambda x: np.empty_like(x) * 0,
    "full_like": lambda x: np.full_like(x, 7),
}

NEW: Mapping[str, Case] = {
    "zeros": lambda n: np.zeros((n, 2)),
    "ones": lambda n: np.ones(n, np.int8),
    "empty": lambda n: np.empty(n) * 0,
    "full": lambda n: (np.full(n, 2.5), np.full((2, n), 3)),
    "arange": lambda n: (np.arange(n), np.arange(1, n, 2), np.arange(0.0, 1.0, 0.3)),
    "linspace": lambda n: (
        np.linspace(0, 1, n),
        np.linspace(2.0, -3.0, n, endpoint=False),
        np.linspace(0, 9, 4, dtype=int),
        np.linspace(0, 1, n, retstep=True),
        np.linspace(1, 2, 1),
        np.linspace(3, 3, n),
    ),
    "logspace": lambda n: (np.logspace(0, 2, n), np.logspace(0, 3, 4, base=2.0)),
    "geomspace": lambda n: (np.geomspace(1, 1000, n), np.geomspace(-2.0, -8.0, 3)),
    "eye": lambda n: (np.eye(n), np.eye(n, 3, k=1)),
    "identity": lambda n: np.identity(n),
    "tri": lambda n: (np.tri(n), np.tri(n, 3, -1, dtype=int)),
    "vander": lambda v: (np.vander(v, 3), np.vander(v, 4, increasing=True)),
    "meshgrid": lambda v, w: (np.meshgrid(v, w), np.meshgrid(v, w, indexing="ij", sparse=True)),
    "indices": lambda n: np.indices((n, 3)),
    "fromfunction": lambda n: np.fromfunction(lambda a, b: a + 2 * b, (n, 3)),
}

METHODS: Mapping[str, Case] = {
    "sum": lambda x: (x.sum(), x.sum(0), x.sum(axis=1, keepdims=True, initial=1.0)),
    "prod": lambda x: x.prod(axis=0),
    "mean": lambda x: (x.mean(0), x.mean(dtype=np.float32)),
    "var": lambda x: x.var(0, ddof=1),
    "std": lambda x: x.std(axis=1),
    "min": lambda x: x.min(0, initial=0.0),
    "max": lambda x: x.max(axis=1),
    "argmin": lambda x: x.argmin(0),
    "argmax": lambda x: x.argmax(axis=1, keepdims=True),
    "any": lambda x: (x > 0).any(0),
    "all": lambda x: (x > 0).all(axis=1),
    "clip": lambda x: (x.clip(-0.5, 0.5), x.clip(min=0.0)),
    "round": lambda x: (x.round(), x.round(2)),
    "astype": lambda x: (x.astype(np.int64), x.astype(np.float32)),
    "copy": lambda x: x.copy(),
    "reshape": lambda x: (x.reshape(2, 6), x.reshape((3, -1))),
    "ravel": lambda x: x.ravel(),
    "flatten": lambda x: x.flatten(),
    "transpose": lambda t: (t.transpose(), t.transpose(1, 0, 2)),
    "swapaxes": lambda t: t.swapaxes(0, 1),
    "squeeze": lambda x: x[None].squeeze(),
    "diagonal": lambda x: x.diagonal(),
    "trace": lambda x: x.trace(),
    "repeat": lambda v: v.repeat(2),
    "take": lambda x: x.take([0, 2], axis=1),
    "nonzero": lambda x: (x > 0).nonzero(),
    "choose": lambda m, v, w: m.astype(int).choose([v, w]),
    "compress": lambda m, v: v.compress(m),
    "dot": lambda x, y: x.dot(y.T),
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "argsort": lambda x: x.argsort(axis=0),
    "argpartition": lambda v: np.sort(v[v.argpartition(2)[:3]]),
    "searchsorted": lambda v, w: np.sort(v).searchsorted(w),
    "sort": lambda x: _sorted(x.copy()),
    "cumsum": lambda x: x.cumsum(axis=0),
    "cumprod": lambda x: x.cumprod(axis=0),
    "fill": lambda x: _filled(x.copy()),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "size": lambda x: x.size,
    "T": lambda x: x.T,
    "mT": lambda t: t.mT,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "dtype": lambda x: np.zeros(3, x.dtype),
}


def _put(v: Any, w: Any) -> Any:
    a = v.copy()
    np.put(a, [0, 2], w[:2])
    return a


def _put_along(x: Any) -> Any:
    a = x.copy()
    np.put_along_axis(a, np.argmax(x, axis=1)[:, None], 0.0, axis=1)
    return a


def _sorted(x: Any) -> Any:
    x.sort(axis=0)
    return x


def _filled(x: Any) -> Any:
    x.fill(3.0)
    return x
