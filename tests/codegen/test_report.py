"""Reports: short at the prompt, readable when printed, complete as HTML and JSON."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import parloom as pm


@pm.jit
def unit_rows(x: Any) -> Any:
    norms = x.rows.map(lambda row: np.sqrt((row * row).sum()))
    return x / norms[:, None]


@pytest.fixture(scope="module")
def report() -> Any:
    return unit_rows.on(printer="llvm").explain(np.ones((4, 3)))


def test_the_prompt_shows_one_line(report: Any) -> None:
    stages, decisions = len(report.stages), len(report.decisions)
    assert repr(report) == (
        f"<Report of unit_rows: {stages} stages, {decisions} decisions; print shows it>"
    )


def test_printing_shows_the_way_in_order(report: Any) -> None:
    titles = [line[3:] for line in str(report).splitlines() if line.startswith("== ")]
    assert titles == [
        "program, staged",
        "program, fused",
        "program, mapped",
        "decisions",
        "rules that did not apply",
        "kernels (python)",
        "sequential part (host)",
        "machine code",
        "kernels (llvm)",
    ]


def test_programs_are_printed_with_the_users_lines(report: Any) -> None:
    assert report.ir("staged") in str(report)
    assert "# test_report.py:" in report.ir("fused")


def test_text_for_machines_is_counted_not_printed(report: Any) -> None:
    llvm = report.source("llvm")
    assert "define" not in str(report)
    assert str(report).endswith(f"{len(llvm.splitlines())} lines: report.source('llvm')\n")
    assert report.source() in str(report)


def test_decisions_come_before_the_rules_that_did_not_apply(report: Any) -> None:
    sections = dict(report.sections())
    made, declined = sections["decisions"], sections["rules that did not apply"]
    assert "not applied" not in made
    assert all(": not applied, because " in line for line in declined.splitlines())
    assert len(made.splitlines()) + len(declined.splitlines()) == len(report.decisions)


def test_html_and_json_have_everything(report: Any) -> None:
    page = report._repr_html_()
    assert page.count("<details") == len(report.sections())
    found = json.loads(report.to_json())
    assert set(found) == {"stages", "decisions", "sources", "cache"}
    assert set(found["sources"]) == {"python", "host", "llvm"}
    assert len(found["decisions"]) == len(report.decisions)


def test_the_interpreter_has_one_text() -> None:
    report: Any = unit_rows.on("reference").explain(np.ones((4, 3)))
    assert "== kernels (program)" in str(report)


def test_unknown_stages_and_printers_name_the_known_ones(report: Any) -> None:
    with pytest.raises(KeyError) as stage:
        report.ir("kernel")
    assert "no stage kernel; there are staged, fused, mapped, simplify#1, " in str(stage.value)
    with pytest.raises(KeyError) as printer:
        report.source("cuda")
    assert "no text by cuda; there are python, host, llvm" in str(printer.value)


def test_every_stage_can_be_asked_for(report: Any) -> None:
    assert report.stages[:3] == ("staged", "fused", "mapped")
    for stage in report.stages:
        assert report.ir(stage).startswith("program unit_rows(")
    assert report.ir() == report.ir("fused")


def test_html_escapes_the_users_lines() -> None:
    below: Any = pm.jit(lambda x: (x < 3) & (x > 1))
    page = below.explain(np.ones(4))._repr_html_()
    assert "(x &lt; 3) &amp; (x &gt; 1)" in page
    assert "(x < 3)" not in page
    assert "<script" not in page


def test_decisions_stand_one_to_a_line(report: Any) -> None:
    sections = dict(report.sections())
    for line in sections["decisions"].splitlines():
        assert ", because " in line
        assert "test_report.py:" in line or line.startswith("codegen.")


def test_places_are_short(report: Any) -> None:
    """Only the names of files, and several lines of one file together."""
    for title, text in report.sections():
        if title in ("decisions", "rules that did not apply"):
            assert "/" not in text
            assert all(line.count("test_report.py") <= 1 for line in text.splitlines())
