"""Sums of matrices in tiles: the same bits as row by row, whatever the sizes of tile and matrix."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.python_text import print_kernels
from parloom.dsls import optiml as ml
from parloom.patterns.reference import interpret
from parloom.staging.nodes import Program
from parloom.staging.passes import Options, run
from parloom.transforms.lowering.program import lower_program
from parloom.transforms.pipelines import CPU
from tests.codegen.kernels import run_llvm, run_plain, same_bits

N = 140  # more than a block
RNG = np.random.default_rng(5)


def covariance(x: Any, z: Any) -> Any:
    """Products of the columns of two matrices, and the sums of one, in one pass."""
    return x.T @ z, x.sum(axis=0)


def centred(x: Any, z: Any) -> Any:
    """What the terms need of a row: a number and an array that are computed once."""

    def scatter(row: Any) -> Any:
        away = row - row.mean()
        return ml.outer(away, away * row.sum())

    return ml.sum(x.rows, scatter)


def masked(x: Any, z: Any) -> Any:
    """The sum over some of the rows."""
    return x.rows.filter(lambda r: r.sum() > 0).sum(lambda r: ml.outer(r, r))


def compiled(f: Callable[..., Any], x: np.ndarray, z: np.ndarray, tiles: bool) -> Program:
    """The mapped program, with tiles or without."""
    traced: Any = pm.jit(f)
    program: Program = traced.trace(x, z)
    result = run(program, CPU)
    taken = [d for d in result.decisions if not d.declined]
    ids = [d.id for d in taken if d.id.startswith("cpu_levels.tiles.")]
    assert len(ids) == 1
    return result.program if tiles else run(program, CPU, options=Options({ids[0]: False})).program


def data(m: int, n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Two matrices whose products' sums depend on the order."""
    scale = 10.0 ** RNG.integers(-3, 3, (N, 1))
    return (RNG.normal(size=(N, m)) * scale).astype(dtype), RNG.normal(size=(N, n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_tile_changes_no_bit(dtype: str) -> None:
    tiled: list[Any] = []
    for f, sizes in (
        (covariance, ((2, 3), (3, 9), (4, 4), (5, 13), (11, 3))),
        (centred, ((6, 1),)),
    ):
        x, z = data(*sizes[0], dtype)
        programs = [compiled(f, x, z, tiles) for tiles in (True, False)]
        for m, n in sizes:
            x, z = data(m, n, dtype)
            tiled, straight = (run_llvm(program, [x, z]) for program in programs)
            assert same_bits(tiled, straight), (f.__name__, m, n)
    assert same_bits(run_plain(programs[0], [x, z]), tiled)


def test_whole_numbers() -> None:
    """The interpreter's results, for every way in which tiles cover a matrix."""
    for f in (covariance, centred, masked):
        program = compiled(f, *data(4, 4, "f8"), tiles=True)
        for m, n in ((2, 2), (4, 5), (5, 12)):
            x, z = RNG.integers(-3, 4, (N, m)) * 60.0, RNG.integers(-3, 4, (N, n)) * 1.0
            assert same_bits(run_llvm(program, [x, z]), interpret(program, [x, z])), f.__name__


def test_accumulators_are_registers() -> None:
    program = compiled(covariance, *data(4, 4, "f8"), tiles=True)
    text = print_kernels(list(lower_program(program).values()))
    assert re.search(r"tile_1\[lane_1\] = fma\(x\[\w+, corner \+ 1\]", text)
    f: Any = pm.jit(lambda x: x.T @ x)
    assert "alloca" not in f.explain(data(8, 8, "f8")[0]).optimised()


def test_what_may_fault_has_no_tiles() -> None:
    f: Any = pm.jit(lambda x, k: ml.sum(x.rows.zip(k), lambda r, j: ml.outer(r, r) * x[j, 0]))
    x, k = data(4, 4, "f8")[0], np.arange(N) - 3
    declined = [d for d in f.explain(x, k).decisions if d.id.startswith("cpu_levels.tiles.")]
    assert [d.reason for d in declined] == ["the body may fault, in index order"]
