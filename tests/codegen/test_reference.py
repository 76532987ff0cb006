"""The target that interprets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.codegen.reference import InterpretedProgram, ReferenceTarget
from parloom.staging.errors import UserError
from parloom.staging.tracing import trace_function
from tests.compare import assert_agree

X = np.array([1.0, 2.0, 4.0])


def squares(x: Any) -> Any:
    """A program with one loop."""
    return x.map(np.square)


def compiled(**options: object) -> InterpretedProgram:
    """The program of `squares` for the target."""
    return ReferenceTarget().compile(trace_function(squares, (X,)), options)


def test_it_runs_the_staged_program() -> None:
    assert_agree(compiled()([X]), [X * X])


def test_its_report_shows_the_program_that_runs() -> None:
    report = compiled().report()
    assert report.stages == ("staged",)
    assert report.source().startswith("program squares(")
    assert report.decisions == ()


def test_it_has_no_options() -> None:
    with pytest.raises(UserError, match="there is no decision fuse"):
        compiled(fuse=True)
