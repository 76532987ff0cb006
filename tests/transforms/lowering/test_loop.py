"""Lowering: every form computes what the interpreter says, in kernels of the expected structure."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parloom.codegen.python_text import print_kernels
from parloom.patterns.reference import interpret
from parloom.staging.errors import UserError
from parloom.staging.nodes import Program
from parloom.staging.passes import Options, run
from parloom.staging.traversal import walk_stmts
from parloom.transforms import cpu_levels
from parloom.transforms.kernel_ir import (
    Fault,
    Fill,
    Finish,
    For,
    Kernel,
    LoopKind,
    Merge,
    Space,
    Store,
    While,
)
from parloom.transforms.kernel_walk import nodes
from parloom.transforms.lowering.program import lower_program
from parloom.transforms.pipelines import CPU, LEVELS
from tests.codegen.kernels import run_llvm, run_plain, same_bits, text_of
from tests.transforms.forms import FORMS, whole_numbers
from tests.transforms.structure import program

GOLDEN = Path(__file__).parents[2] / "golden"
SIZES = ({"m": 4, "d": 3}, {"m": 1, "d": 1}, {"m": 0, "d": 0})
Run = Callable[[Program, Sequence[Any]], list[Any]]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips, blocks and chunks of a few indices, so that small data cross their boundaries."""
    monkeypatch.setattr(cpu_levels, "STRIP", 4)
    monkeypatch.setattr(cpu_levels, "BLOCK", 3)
    monkeypatch.setattr(cpu_levels, "CHUNK", 5)
    monkeypatch.setattr(cpu_levels, "VECTOR", 1)
    monkeypatch.setattr(cpu_levels, "CHUNKS", 6)
    monkeypatch.setattr(cpu_levels, "FOLD_CHUNKS", 3)


def mappings(source: Program) -> Iterator[Program]:
    """The program as it is mapped, and with every other form and number of rows side by side."""
    result = run(source, (LEVELS,))
    yield result.program
    for decision in result.decisions:
        if decision.id.startswith(("cpu_levels.form", "cpu_levels.jam", "cpu_levels.tiles")):
            for other in decision.alternatives:
                if other != decision.chosen:
                    options = Options({decision.id: other})
                    yield run(source, (LEVELS,), options=options).program


def outcome(run: Run, source: Program, arguments: Sequence[Any]) -> Any:
    """The results, or what was raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return list(run(source, arguments))
        except UserError as error:
            return f"{type(error).__name__}: {error.what}"


def agree(source: Program, mapped: Program, sizes: dict[str, int], run: Run = run_plain) -> None:
    """The kernels give the bits of the interpreter, or raise what it raises."""
    arguments = whole_numbers(source, sizes, seed=sum(sizes.values()))
    expected = outcome(interpret, source, arguments)
    found = outcome(run, mapped, arguments)
    if isinstance(expected, str) or isinstance(found, str):
        assert found == expected, sizes
    else:
        assert same_bits(found, expected), sizes


def without_names(source: Program) -> Program:
    """The program with no variable named: then each reads what it can where it needs it."""
    for stmt in walk_stmts(source.body):
        for binder in stmt.binders:
            binder.name = ""
    return source


# Results.


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", FORMS)
def test_every_form_computes_what_the_interpreter_says(name: str) -> None:
    for source in (program(FORMS[name]), without_names(program(FORMS[name]))):
        mapped = run(source, (LEVELS,)).program
        for n in (0, 1, 3, 4, 5, 11, 32):
            agree(source, mapped, {"n": n, **SIZES[n % 3]})


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", FORMS)
def test_every_other_mapping_gives_the_same(name: str) -> None:
    source = program(FORMS[name])
    for mapped in list(mappings(source))[1:]:
        for n in (0, 3, 13):
            agree(source, mapped, {"n": n, "m": 5, "d": 6})


@pytest.mark.parametrize("name", FORMS)
def test_native_code_agrees_around_the_width_of_a_strip(name: str) -> None:
    source = program(FORMS[name])
    mapped = run(source, CPU).program
    width = cpu_levels.STRIP
    for n in (0, 1, width - 1, width, width + 1):
        agree(source, mapped, {"n": n, "m": 3, "d": 5}, run_llvm)


@pytest.mark.usefixtures("small")
def test_nan_and_infinity_in_lanes_and_rows() -> None:
    """argmin starts from infinity in lanes; all values may be infinite, or NaN."""
    source = program(FORMS["nearest row"])
    x, c = np.zeros((6, 2)), np.zeros((3, 2))
    x[1], x[2, 1], x[4] = np.inf, np.nan, (np.inf, np.nan)
    for rows in (c, np.full((3, 2), np.inf), np.full((3, 2), np.nan)):
        expected = outcome(interpret, source, [x, rows])
        for mapped in mappings(source):
            assert same_bits(outcome(run_plain, mapped, [x, rows]), expected)


# Structure.


def kernel_of(name: str) -> Kernel:
    """The kernel of a form that is one loop."""
    (found,) = lower_program(run(program(FORMS[name]), (LEVELS,)).program).values()
    return found


def loops(kernel: Kernel) -> list[For]:
    """All loops of the chunk function."""
    return [x for x in nodes(list(kernel.chunk.body)) if isinstance(x, For)]


def test_an_elementwise_loop_is_a_chunk_and_nothing_else() -> None:
    kernel = kernel_of("elementwise")
    assert [f.name for f in kernel.functions] == ["chunk"]
    (loop,) = loops(kernel)
    assert loop.kind is LoopKind.CHUNK
    assert [type(x) for x in loop.body][-1] is Store
    (output,) = kernel.outputs
    assert output.finish is Finish.DENSE
    assert output.state == ()


def test_a_sum_begins_anew_in_each_block() -> None:
    kernel = kernel_of("sum")
    assert [f.name for f in kernel.functions] == ["init", "chunk", "combine"]
    assert [type(x) for x in kernel.init.body] == [Fill, Fill]
    assert [type(x) for x in kernel.combine.body] == [Merge, Merge]
    block, begin, whole, lanes, *_ = loops(kernel)
    assert block.step == cpu_levels.BLOCK * cpu_levels.LANES
    assert whole.step == cpu_levels.LANES
    assert [x.kind for x in (begin, lanes)] == [LoopKind.LANES, LoopKind.LANES]
    assert [output.finish for output in kernel.outputs] == [Finish.STATE, Finish.STATE]


@pytest.mark.parametrize("named", [True, False])
def test_a_product_that_a_float_sum_adds_is_fused(named: bool) -> None:
    for name, fused in (("k-means step", True), ("gradient", True), ("elementwise", False)):
        source = program(FORMS[name])
        text = text_of(run(source if named else without_names(source), CPU).program)
        assert ("fma(" in text) == fused, name


def test_a_float32_fold_is_kept_in_float64_and_converted() -> None:
    kernel = kernel_of("fold")
    finish = [output.finish for output in kernel.outputs]
    assert finish == [Finish.STATE, Finish.STATE, Finish.CONVERTED, Finish.STATE]
    assert [b.dtype.name for b in kernel.outputs[2].state] == ["float64"]
    assert [b.dtype.name for b in kernel.outputs[2].results] == ["float32"]


def test_a_filter_writes_into_its_part_and_counts() -> None:
    kernel = kernel_of("filter over two axes")
    (output,) = kernel.outputs
    assert output.finish is Finish.COMPACTED
    assert [(b.space, b.dtype.name) for b in output.state] == [(Space.STATE, "int64")]
    assert kernel.combine.body == ()


def test_a_reduction_without_identity_knows_whether_it_had_a_value() -> None:
    kernel = kernel_of("argmin")
    assert [f.name for f in kernel.functions] == ["init", "chunk", "combine", "finish"]
    assert any(isinstance(x, Fault) for x in nodes(list(kernel.finish.body)))
    assert "seen" in kernel.outputs[0].state[-1].name


def test_a_loop_that_reads_rows_again_runs_over_lanes() -> None:
    kernel = kernel_of("k-means step")
    found = loops(kernel)
    assert found[0].step == cpu_levels.STRIP
    innermost = [x for x in found if not any(isinstance(y, For) for y in nodes(list(x.body)))]
    assert sum(x.kind is LoopKind.LANES for x in innermost) == len(innermost) - 2
    assert [b.name for b in kernel.private if b.name.endswith("_tile")] == ["x_tile"]


def test_rows_that_share_an_accumulator_stand_side_by_side() -> None:
    steps = [x.step for x in loops(kernel_of("sum of rows")) if x.kind is LoopKind.CHUNK]
    assert steps == [cpu_levels.BLOCK, cpu_levels.JAM, 1]


def test_what_faults_keeps_its_order() -> None:
    steps = [x.step for x in loops(kernel_of("conditional argmin"))]
    assert steps == [1]


def test_a_while_stays_a_while() -> None:
    kernel = kernel_of("while")
    assert sum(isinstance(x, While) for x in nodes(list(kernel.chunk.body))) == 1


# Texts.


@pytest.mark.parametrize("name", ["k-means step", "sum of rows", "filter of rows"])
def test_golden_texts(name: str) -> None:
    """PARLOOM_UPDATE_GOLDEN=1 writes them anew."""
    kernels = lower_program(run(program(FORMS[name]), CPU).program)
    text = print_kernels(list(kernels.values()))
    path = GOLDEN / f"{name.replace(' ', '_').replace('-', '')}.txt"
    if os.environ.get("PARLOOM_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing: PARLOOM_UPDATE_GOLDEN=1 writes it"
    assert text == path.read_text(encoding="utf-8")
