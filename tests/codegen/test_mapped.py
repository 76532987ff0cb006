"""The passes' outcome in the disk cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen import cache, mapped
from parloom.staging.passes import Options
from parloom.transforms import cpu_levels
from parloom.transforms.pipelines import CPU


def squares(x: Any) -> Any:
    """Something to fuse."""
    y = x * x
    return y.sum() + (y + 1.0).max()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PARLOOM_CACHE", raising=False)


def lookups() -> dict[str, int]:
    """How often programs were asked for, by outcome."""
    found = cache.info().lookups
    return {outcome: n for (kind, outcome), n in found.items() if kind == "program"}


def hits() -> int:
    """How many programs were on disk."""
    return lookups().get("hit", 0)


def test_the_second_compilation_runs_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(5.0)
    first: Any = pm.jit(squares)
    wanted, before = first(x), hits()

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the passes ran")

    again: Any = pm.jit(squares)
    with monkeypatch.context() as patch:
        patch.setattr(mapped, "run", refuse)
        assert again(x) == wanted
    assert hits() == before + 1
    # what is told is made when it is asked for, and is the same
    assert (
        str(again.explain(x)).split("== kernels")[0] == str(first.explain(x)).split("== kernels")[0]
    )
    assert again.explain(x).source() == first.explain(x).source()


def test_other_options_and_other_lines_are_other_programs() -> None:
    x = np.arange(5.0)
    jitted: Any = pm.jit(squares)
    wanted, before = jitted(x), hits()
    assert jitted.on(limit=0)(x) == wanted
    scope: dict[str, Any] = {}
    exec("\n\ndef squares(x):\n    y = x * x\n    return y.sum() + (y + 1.0).max()", scope)
    moved: Any = pm.jit(scope["squares"])
    assert moved(x) == wanted
    assert hits() == before


def test_a_number_that_the_mapping_was_made_with_is_part_of_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = pm.jit(squares).trace(np.arange(5.0))
    mapped.map_program(program, CPU, Options())
    before = hits()
    monkeypatch.setattr(cpu_levels, "CHUNK", 7)
    mapped.map_program(program, CPU, Options())
    assert hits() == before
    mapped.map_program(program, CPU, Options())
    assert hits() == before + 1


def test_a_fault_names_the_line_also_from_the_cache() -> None:
    def pick(x: Any, i: int) -> Any:
        return x[i] + 1.0

    for _ in range(2):
        jitted: Any = pm.jit(pick)
        with pytest.raises(IndexError, match=r"x\[i\] \+ 1.0"):
            jitted(np.arange(3.0), 7)


def test_a_wrong_option_is_refused_each_time() -> None:
    choices: dict[str, Any] = {"fuse_vertical.no_such": True}
    jitted: Any = pm.jit(squares).on(**choices)
    for _ in range(2):
        with pytest.raises(pm.UserError, match="no_such"):
            jitted(np.arange(3.0))


def test_bytes_that_are_no_program_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    program = pm.jit(squares).trace(np.arange(5.0))

    def wrong(program: object) -> bytes:
        return b"not a program"

    monkeypatch.setattr(mapped, "dumps", wrong)
    first = mapped.map_program(program, CPU, Options())
    second = mapped.map_program(program, CPU, Options())
    assert first.program is first.result().program
    assert second.program is second.result().program
