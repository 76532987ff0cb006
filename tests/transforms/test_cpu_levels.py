"""cpu_levels: forms, rows side by side, orders; every choice recorded, and open to options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.codegen.runtime import threads
from parloom.patterns.generators import Fold, Generator, MultiLoop, Reduce
from parloom.patterns.reducers import Order
from parloom.staging.decisions import Decision
from parloom.staging.equality import equal
from parloom.staging.errors import UserError
from parloom.staging.parser import parse
from parloom.staging.passes import Options, Result, run
from parloom.staging.printer import to_text
from parloom.transforms import cpu_levels
from parloom.transforms.cpu_levels import (
    BLOCK,
    CHUNK,
    CHUNKS,
    FOLD_CHUNKS,
    LANES,
    STRIP,
    VECTOR,
    CpuLevels,
)
from parloom.transforms.pipelines import LEVELS
from tests.codegen.kernels import interpret, run_llvm, run_plain, same_bits
from tests.transforms.forms import FORMS
from tests.transforms.structure import loop_of, program


def mapped(name: str, choices: dict[str, object] | None = None) -> Result:
    """A form, mapped."""
    return run(program(FORMS[name]), (LEVELS,), options=Options(choices or {}))


def loop(result: Result) -> MultiLoop:
    """The only loop of a form."""
    (stmt,) = result.program.body.stmts
    return loop_of(stmt)


def levels(result: Result) -> CpuLevels:
    """How the loop is mapped."""
    mapping = loop(result).mapping
    assert isinstance(mapping, CpuLevels)
    return mapping


def decision(result: Result, kind: str) -> Decision:
    """What was decided about the form, the rows or the order."""
    (found,) = [d for d in result.decisions if d.id.startswith(f"cpu_levels.{kind}.")]
    return found


def test_forms() -> None:
    chosen = {name: decision(mapped(name), "form") for name in FORMS if name != "while"}
    strips = [name for name, found in chosen.items() if found.chosen == "strip"]
    assert strips == ["nearest row", "nearest row's last number", "k-means step"]
    lanes = [name for name, found in chosen.items() if found.chosen == "lanes"]
    assert lanes == [
        "sum",
        "sum of products",
        "conditional reductions",
        "argmin",
        "a sum and a product of floats in one reducer",
    ]
    reasons = {found.reason for found in chosen.values()}
    assert reasons == {
        "a nested loop reads the same elements for each of its indices",
        "no nested loop reads an element more than once",
        "the body has statements that cannot run over lanes",
        "the loop has several axes",
        "lanes of accumulators do not wait for each other",
    }


def test_rows_side_by_side() -> None:
    found = {name: decision(mapped(name), "jam") for name in ("sum of rows", "elementwise", "sum")}
    assert [d.chosen for d in found.values()] == [cpu_levels.JAM, 1, 1]
    assert mapped("conditional argmin").decisions[1].reason == "the body may fault, in index order"


def test_orders() -> None:
    assert levels(mapped("sum")).order == Order(CHUNK * VECTOR, CHUNKS, BLOCK * LANES, LANES)
    assert levels(mapped("conditional reductions")).order.lanes == LANES // 2
    assert levels(mapped("sum of rows")).order == Order(CHUNK, CHUNKS, BLOCK)
    assert levels(mapped("k-means step")).order == Order(CHUNK, FOLD_CHUNKS, STRIP)
    for name in ("in order", "in order without identity"):
        result = mapped(name)
        assert levels(result).order.chunks == 1
        assert "is not known to be associative" in decision(result, "order").reason


def order_of(generator: Generator) -> Order | None:
    """The order of a reduction."""
    assert isinstance(generator, Reduce | Fold)
    return generator.reducer.order


def test_only_sums_that_round_have_blocks() -> None:
    total, count = loop(mapped("sum", {"cpu_levels.form.s": "rows"})).generators
    assert order_of(total) == Order(CHUNK, CHUNKS, BLOCK)
    assert order_of(count) == Order(CHUNK, CHUNKS, 0)


def test_only_reducers_that_commute_have_lanes() -> None:
    for generator in loop(mapped("sum")).generators:
        assert order_of(generator) == Order(CHUNK * VECTOR, CHUNKS, BLOCK * LANES, LANES)
    assert order_of(loop(mapped("argmin")).generators[0]) == Order(CHUNK * VECTOR, CHUNKS)


def test_the_mapping_is_part_of_the_text() -> None:
    for name in FORMS:
        text = to_text(mapped(name).program)
        assert equal(parse(text), mapped(name).program)
        assert "mapped cpu_levels(" in text


def test_a_choice_is_overridden_by_its_id() -> None:
    result = mapped("k-means step", {"cpu_levels.form.total": "rows"})
    assert levels(result).strip == 0
    assert decision(result, "form").reason == "the option cpu_levels.form.total"
    with pytest.raises(UserError, match="'strip' is no alternative"):
        mapped("while", {"cpu_levels.form.y": "strip"})


def test_nested_loops_are_not_mapped() -> None:
    inner = [s.op for s in loop(mapped("gradient")).body.stmts if isinstance(s.op, MultiLoop)]
    assert len(inner) == 2
    assert [op.mapping for op in inner] == [None, None]


def exact_rows(n: int) -> list[Any]:
    """Data whose sums depend on their order."""
    rng = np.random.default_rng(n)
    return [rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 6, 7, 29, 30, 31, 32, 60, 61])
def test_sums_follow_the_order_that_the_program_says(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter takes the order from the program; kernels, threads and printers agree."""
    monkeypatch.setattr(cpu_levels, "BLOCK", 3)
    monkeypatch.setattr(cpu_levels, "CHUNK", 5)
    monkeypatch.setattr(cpu_levels, "VECTOR", 1)
    monkeypatch.setattr(cpu_levels, "CHUNKS", 6)
    source, arguments = mapped("sum").program, exact_rows(n)
    expected = interpret(source, arguments)
    for count in (1, 2, 7):
        monkeypatch.setattr(threads, "_wanted", count)
        assert same_bits(run_plain(source, arguments), expected)
        assert same_bits(run_llvm(source, arguments), expected)
