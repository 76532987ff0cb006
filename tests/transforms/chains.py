"""Random chains of array operations, as a user might write them: many ways for loops to be fused.

program, arguments = random_chain(7)
"""
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from parloom.patterns import public as pm
from parloom.staging.nodes import Program
from tests.patterns.staged import stage

Array = Any


def random_chain(seed: int, n: int = 7, d: int = 3, k: int = 4) -> tuple[Program, list[np.ndarray]]:
    """A program of vectors [n], matrices [n, d] and labels [n] below k, and its arguments."""
    rng = random.Random(seed)
    data = np.random.default_rng(seed)
    x, v = data.normal(size=(n, d)), data.normal(size=n)
    w, label = data.normal(size=d), data.integers(-1, k + 1, n)
    steps = [rng.choice(_STEPS) for _ in range(rng.randint(3, 8))]
    choices = [[rng.random() for _ in range(6)] for _ in steps]

    def chain(x: Array, v: Array, w: Array, label: Array, of_k: Array) -> tuple[Array, ...]:
        pool: dict[str, list[Array]] = {
            "matrix": [x], "vector": [v], "row": [w], "label": [label], "scalar": [v.sum()],
            "by_key": [of_k], "kept": [v[v > 0]],
        }  # fmt: skip
        for step, choice in zip(steps, choices, strict=True):
            step(_Chooser(pool, choice))
        kinds = [name for name in pool if len(pool[name]) > 1]
        return tuple(pool[name][-1] for name in kinds) or (v,)

    program, values, _ = stage(chain, x, v, w, label, data.normal(size=k))
    return program, values


class _Chooser:
    """The pool of values so far, and the random numbers of one step."""

    def __init__(self, pool: dict[str, list[Array]], choice: list[float]) -> None:
        self.pool = pool
        self.choice = list(choice)

    def any(self, kind: str) -> Array:
        """One of the values of a kind, later ones more often."""
        values = self.pool[kind]
        return values[int(self.choice.pop() ** 0.5 * len(values))]

    def add(self, kind: str, value: Array) -> None:
        """A new value of a kind."""
        self.pool[kind].append(value)

    def pick(self, *options: Callable[..., Array]) -> Callable[..., Array]:
        """One of several functions."""
        return options[int(self.choice.pop() * len(options))]


def _map_vector(c: _Chooser) -> None:
    a, b = c.any("vector"), c.any("vector")
    f = c.pick(
        lambda: a * b, lambda: np.exp(a) - b, lambda: a[::-1] + b, lambda: np.where(a > b, a, 1.0)
    )
    c.add("vector", f())


def _map_matrix(c: _Chooser) -> None:
    a, v, w = c.any("matrix"), c.any("vector"), c.any("row")
    f = c.pick(lambda: a - w, lambda: a * v[:, None], lambda: np.exp(a) / 2, lambda: a + a[:, ::-1])
    c.add("matrix", f())


def _rows(c: _Chooser) -> None:
    a, w = c.any("matrix"), c.any("row")
    f = c.pick(
        lambda: a @ w,
        lambda: a.sum(axis=1),
        lambda: a.rows.map(lambda p: ((p - w) ** 2).sum()),
        lambda: a.max(axis=1),
    )
    c.add("vector", f())


def _columns(c: _Chooser) -> None:
    a, v = c.any("matrix"), c.any("vector")
    f = c.pick(lambda: a.sum(axis=0), lambda: a.mean(axis=0), lambda: a.T @ v, lambda: v @ a)
    c.add("row", f())


def _scalar(c: _Chooser) -> None:
    v, a, kept = c.any("vector"), c.any("matrix"), c.any("kept")
    f = c.pick(lambda: v.sum(), lambda: a.sum(), lambda: kept.sum(), lambda: (v > 0).sum() * 1.0)
    c.add("scalar", f())


def _filter(c: _Chooser) -> None:
    v, b, kept = c.any("vector"), c.any("vector"), c.any("kept")
    f = c.pick(
        lambda: v[b > 0], lambda: v[v < b] * 2, lambda: kept[kept < 1], lambda: np.sqrt(kept)
    )
    c.add("kept", f())


def _labels(c: _Chooser) -> None:
    a, h = c.any("matrix"), c.any("by_key")
    nearest: Callable[[], Array] = lambda: a.rows.map(
        lambda p: pm.range(h.shape[0]).argmin(lambda j: (p * h[j]).sum())
    )
    f = c.pick(nearest, lambda: c.any("label") % 3)
    c.add("label", f())


def _by_key(c: _Chooser) -> None:
    label, v, h = c.any("label"), c.any("vector"), c.any("by_key")
    keys = pm.range(h.shape[0])
    n = pm.range(v.shape[0])
    f = c.pick(
        lambda: keys.map(lambda j: v[label == j].sum()),
        lambda: keys.map(lambda j: n.sum(lambda i: v[i] * 2, where=lambda i: label[i] == j)),
        lambda: keys.map(lambda j: np.where(label == j, v, 0.0).sum() / h[j]),
        lambda: keys.map(lambda j: v.sum() - (label == j).sum()),
    )
    c.add("by_key", f())


def _by_key_and_column(c: _Chooser) -> None:
    label, a, h = c.any("label"), c.any("matrix"), c.any("by_key")
    keys = pm.range(h.shape[0])
    means = keys.map(lambda j: a[label == j].sum(axis=0) / np.maximum((label == j).sum(), 1))
    c.add("by_key", means.sum(axis=1))


_STEPS = (
    _map_vector,
    _map_vector,
    _map_matrix,
    _rows,
    _columns,
    _scalar,
    _filter,
    _labels,
    _by_key,
    _by_key_and_column,
)
