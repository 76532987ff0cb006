"""The target that interprets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from parloom.codegen.reference import InterpretedProgram, ReferenceTarget
from parloom.staging.errors import UserError
from tests.compare import assert_agree
from tests.patterns.staged import stage

X = np.array([1.0, 2.0, 4.0])


def squares(x: Any) -> Any:
    """A program with one loop."""
    return x.map(np.square)


def compiled(**options: object) -> InterpretedProgram:
    """The program of `squares` for the target."""
    program, _, _ = stage(squares, X)
    return ReferenceTarget().compile(SimpleNamespace(program=program), options)


def test_it_runs_the_staged_program() -> None:
    assert_agree(compiled()([X]), [X * X])


def test_its_report_shows_the_program_that_runs() -> None:
    report = compiled().report()
    assert report.stages == ("staged",)
    assert report.source().startswith("program staged(")
    assert report.decisions == ()


def test_it_has_no_options() -> None:
    with pytest.raises(UserError, match="there is no decision fuse"):
        compiled(fuse=True)
