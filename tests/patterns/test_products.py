"""Products of vectors, matrices and stacks give NumPy's values."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import errors
from tests.patterns.staged import agree, loops, stage

RNG = np.random.default_rng(5)
A = RNG.normal(size=(2, 3, 4))
B = RNG.normal(size=(2, 4, 5))
M = RNG.normal(size=(4, 4))
V = RNG.normal(size=4)

PRODUCTS: list[Callable[..., Any]] = [
    lambda a, b, m, v: a @ b,
    lambda a, b, m, v: a @ m,
    lambda a, b, m, v: m @ b,
    lambda a, b, m, v: a[0][None] @ b,
    lambda a, b, m, v: np.matmul(a[:, None], b),
    lambda a, b, m, v: a @ v,
    lambda a, b, m, v: v @ b,
    lambda a, b, m, v: v @ v,
    lambda a, b, m, v: np.dot(a, b[0]),
    lambda a, b, m, v: np.dot(a, b),
    lambda a, b, m, v: np.dot(v, b),
    lambda a, b, m, v: np.inner(a, m),
    lambda a, b, m, v: np.inner(v, 2),
    lambda a, b, m, v: np.vdot(m, m.T),
    lambda a, b, m, v: np.outer(m, v),
    lambda a, b, m, v: np.tensordot(a, b, axes=((0, 2), (0, 1))),
    lambda a, b, m, v: np.tensordot(a, m, 1),
    lambda a, b, m, v: np.tensordot(v, v, 0),
    lambda a, b, m, v: np.tensordot(m, m),
    lambda a, b, m, v: np.tensordot(a, m, (-1, 0)),
    lambda a, b, m, v: np.linalg.multi_dot([m, m, v]),
    lambda a, b, m, v: np.linalg.matmul(m, m),
]
EINSUMS = [
    ("sij,sjk->sik", "ab"),
    ("sij,sjk", "ab"),
    ("...ij,...jk->...ik", "ab"),
    ("...ij, jk", "am"),
    ("ii", "m"),
    ("ii->i", "m"),
    ("ij->ji", "m"),
    ("ij->", "m"),
    ("ba", "m"),
    ("i,i", "vv"),
    ("i,j->ij", "vv"),
    ("...", "a"),
    ("s...->...", "a"),
    ("i,ij,j->", "vmv"),
    ("sij,jk,k->si", "amv"),
    ("ijk,il,lm->jkm", "bac"),
    (",i->i", "kv"),
]


@pytest.mark.parametrize("f", PRODUCTS)
def test_products(f: Callable[..., Any]) -> None:
    agree(f, A, B, M, V)
    np.testing.assert_allclose(pm.jit(f)(A, B, M, V), f(A, B, M, V))


@pytest.mark.parametrize(("subscripts", "names"), EINSUMS)
def test_einsum(subscripts: str, names: str) -> None:
    known = {"a": A, "b": B, "m": M, "v": V, "c": M[:3], "k": np.float64(2.0)}
    if names == "bac":
        known["a"] = np.ones((2, 3))
    agree(lambda *given: np.einsum(subscripts, *given), *[known[name] for name in names])


def test_integers_do_not_widen_and_bools_are_joined() -> None:
    i = np.full((3, 3), 100, np.int8)
    agree(lambda i: (i @ i, np.einsum("ij->", i), np.einsum("ij,jk->ik", i, i)), i)
    agree(lambda i: (i > 0) @ (i > 0), i)


def test_an_einsum_is_one_collect_of_one_reduce() -> None:
    program, _, _ = stage(lambda a, b: np.einsum("sij,sjk->sik", a, b), A, B)
    assert [len(loop.domain) for loop in loops(program)] == [3, 1]


def test_what_does_not_fit_is_refused() -> None:
    for f, message in (
        (lambda a, m: np.einsum("ij,jk", a, m), "an operand with 3 axes"),
        (lambda a, m: np.einsum("sij,jk->sz", a, m), "no factor has"),
        (lambda a, m: np.einsum("...j,jk->k", a, m), "the result has none"),
        (lambda a, m: np.tensordot(a, m, ((0, 1), (0,))), "as many axes"),
    ):
        with pytest.raises(errors.ShapeError, match=message):
            stage(f, A, M)
    with pytest.raises(ValueError, match="do not fit together"):
        pm.jit(lambda a, b: a @ b)(A, B[:, :3])
