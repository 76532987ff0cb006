"""Reading machine code: it is that of the code that runs, and says where that came from."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen import objects


def scaled(x: Any) -> Any:
    return x * 2.0 + 1.0


X = np.ones(8)


@pytest.mark.parametrize("printer", ["llvm", "numba"])
def test_what_is_read_is_what_runs(printer: str, folder: Path) -> None:
    """Another function of the same text hits; what it shows is the entry's code, byte by byte."""
    first = pm.jit(scaled).on(printer=printer).explain(X)
    again = pm.jit(scaled).on(printer=printer).explain(X)
    assert (first.machine.cached, first.machine.outcome) == (False, "new")
    assert again.machine.cached
    assert again.assembly() == first.assembly() == again.assembly()
    if printer == "llvm":  # Numba counts its labels
        assert again.optimised() == first.optimised()
    code = objects.emit(again.machine.module(), ()).code
    assert sum(code in entry.read_bytes() for entry in folder.iterdir()) == 1
    assert "parloom_" in again.assembly()


def test_the_report_says_where_the_code_came_from(folder: Path) -> None:
    made, found = (pm.jit(scaled).on(printer="llvm").explain(X) for _ in range(2))
    assert dict(made.sections())["machine code"] == "printer llvm, compiled by this process: new"
    assert dict(found.sections())["machine code"] == "printer llvm, from the disk cache"
    assert '"cache": "hit"' in found.to_json()


@pytest.mark.parametrize("target", ["python", "reference"])
def test_other_targets_have_none(target: str) -> None:
    report: Any = pm.jit(scaled).on(target).explain(X)
    for read in (report.optimised, report.assembly, report.vectorised):
        with pytest.raises(LookupError, match="no machine code was made"):
            read()
    assert '"cache": null' in report.to_json()


def test_a_program_without_loops_has_none() -> None:
    report: Any = pm.jit(lambda a, b: a + b).explain(1, 2)
    assert report.machine is None
    assert "machine code" not in dict(report.sections())
