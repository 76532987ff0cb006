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
    return unit_rows.explain(np.ones((4, 3)))


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
    assert set(found) == {"stages", "decisions", "sources"}
    assert set(found["sources"]) == {"python", "llvm"}
    assert len(found["decisions"]) == len(report.decisions)


def test_the_interpreter_has_one_text() -> None:
    report: Any = unit_rows.on("reference").explain(np.ones((4, 3)))
    assert "== kernels (program)" in str(report)
