"""Random programs: the interpreter, the text as plain Python, and native code agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.codegen.runtime import threads
from parloom.transforms.pipelines import CPU
from tests.codegen.kernels import (
    interpret,
    mapped,
    run_llvm,
    run_numba,
    run_plain,
    same_bits,
    text_of,
)
from tests.program_arguments import random_arguments
from tests.programs import random_program


def near(a: Any, b: Any) -> bool:
    """Equal, but for the rounding that fused multiply-adds and wide accumulators may change."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    assert a.shape == b.shape
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    scale = np.max(np.abs(np.where(np.isfinite(a), a, 0)), initial=0)
    tolerance = 64 * np.finfo(a.dtype).eps
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_the_text_as_plain_python_agrees_with_the_interpreter(first: int) -> None:
    for seed in range(first, first + 20):
        program = mapped(random_program(seed))
        arguments = random_arguments(program, seed)
        expected = interpret(program, arguments)
        found = run_plain(program, arguments)
        assert all(map(near, expected, found)), f"seed {seed}"


@pytest.mark.parametrize("seed", range(200, 206))
def test_code_by_numba_gives_the_bits_of_the_text(seed: int) -> None:
    program = mapped(random_program(seed), CPU)
    arguments = random_arguments(program, seed)
    assert same_bits(run_plain(program, arguments), run_numba(program, arguments))


@pytest.mark.parametrize("first", range(200, 260, 20))
def test_code_by_llvm_gives_the_bits_of_the_text(first: int) -> None:
    for seed in range(first, first + 20):
        program = mapped(random_program(seed), CPU)
        arguments = random_arguments(program, seed)
        expected = run_plain(program, arguments)
        assert same_bits(expected, run_llvm(program, arguments)), f"seed {seed}"


@pytest.mark.parametrize("seed", range(300, 306))
def test_the_bits_do_not_depend_on_the_number_of_threads(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = mapped(random_program(seed), CPU)
    arguments = random_arguments(program, seed)
    results: list[Any] = []
    for count in (1, 2, 7):
        monkeypatch.setattr(threads, "_wanted", count)
        results.append(run_plain(program, arguments))
    assert same_bits(results[0], results[1])
    assert same_bits(results[0], results[2])


def test_the_text_is_deterministic() -> None:
    program = random_program(5)
    assert text_of(mapped(program)) == text_of(mapped(program))
