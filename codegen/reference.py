"""The target `reference`: the staged program as it is, run by the reference interpreter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..patterns.reference import interpret
from ..staging.dataclass import dataclass
from ..staging.passes import Milestone, Options, Result, run
from ..staging.printer import to_text
from ..staging.tracing import Traced
from .report import Report


@dataclass(frozen=True, slots=True)
class InterpretedProgram:
    """A staged program to call with arguments in the order of its parameters."""

    result: Result

    def __call__(self, arguments: Sequence[Any], into: Sequence[Any] = ()) -> list[Any]:
        """The results: new arrays and NumPy scalars; nothing is written to `into`."""
        return list(interpret(self.result.program, arguments))

    def report(self) -> Report:
        """The staged program, which is also the text that runs."""
        return Report(self.result, {"program": to_text(self.result.program)})


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """Scalar, simple, obviously right: what every other target is compared with."""

    name: str = "reference"

    def compile(self, traced: Traced, options: Mapping[str, object]) -> InterpretedProgram:
        """Checks the program; no pass runs.

        Raises UserError for an option, for there is nothing to choose.
        """
        pipeline = (Milestone("staged"),)
        return InterpretedProgram(run(traced.program, pipeline, options=Options(options)))
