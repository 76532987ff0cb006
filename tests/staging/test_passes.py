"""The driver: order, names, checks, observers, milestones, options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from parloom.staging import primitives as p
from parloom.staging.decisions import decide
from parloom.staging.errors import InternalError, UserError
from parloom.staging.nodes import Apply, Program, Stmt, Var
from parloom.staging.parser import parse
from parloom.staging.passes import Milestone, Options, Pass, Step, run
from parloom.staging.printer import to_text
from parloom.staging.types import F64

PROGRAM = parse("program f(x: f64) {\n  y: f64 = x + x\n  return y\n}")


def _renamed(program: Program) -> Program:
    name = decide("rename.f", f"{program.name}g", (program.name,), "it is shorter to type")
    return replace(program, name=name)


def _broken(program: Program) -> Program:
    stray = Var(F64, "stray")
    stmt = Stmt((Var(F64, "z"),), Apply(p.ADD, (stray, stray)))
    return replace(program, body=replace(program.body, stmts=(*program.body.stmts, stmt)))


RENAME = Pass("rename", _renamed, "appends a letter to the name")
BREAK = Pass("break", _broken, "reads a variable that nobody binds")


def test_passes_run_in_order_and_their_runs_are_numbered() -> None:
    seen: list[Step] = []
    pipeline = (Milestone("staged"), RENAME, Milestone("named"), RENAME)
    result = run(PROGRAM, pipeline, observers=(seen.append,))
    assert result.program.name == "fgg"
    assert [step.name for step in seen] == ["rename#1", "rename#2"]
    assert [(s.before.name, s.after.name) for s in seen] == [("f", "fg"), ("fg", "fgg")]
    assert all(step.seconds >= 0 for step in seen)
    assert tuple(seen) == result.steps


def test_stages_are_found_by_milestone_and_by_pass() -> None:
    result = run(PROGRAM, (Milestone("staged"), RENAME, Milestone("named"), RENAME))
    assert [result.ir(s).name for s in ("staged", "named", "rename#1", "rename#2")] == [
        *["f", "fg", "fg", "fgg"]
    ]
    with pytest.raises(KeyError, match="no stage fused; there are staged, named, rename#1"):
        result.ir("fused")


def test_a_pass_that_breaks_the_program_is_named() -> None:
    with pytest.raises(InternalError) as caught:
        run(PROGRAM, (RENAME, BREAK))
    message = "the program after break#1 is not well formed: stray is not visible here"
    assert str(caught.value).startswith(message)


def test_a_broken_program_is_refused_before_any_pass() -> None:
    with pytest.raises(InternalError, match="the program handed to the pipeline"):
        run(_broken(PROGRAM), (RENAME,))


def test_decisions_carry_the_step_and_follow_options() -> None:
    result = run(PROGRAM, (RENAME, RENAME), options=Options({"rename.f_2": "fg"}))
    assert [(d.id, d.step, d.chosen) for d in result.decisions] == [
        ("rename.f", "rename#1", "fg"),
        ("rename.f_2", "rename#2", "fg"),
    ]
    with pytest.raises(UserError, match=r"there is no decision rename\.g"):
        run(PROGRAM, (RENAME,), options=Options({"rename.g": "fg"}))


def test_the_empty_pipeline_changes_nothing() -> None:
    assert to_text(run(PROGRAM, ()).program) == to_text(PROGRAM)
