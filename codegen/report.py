"""What `explain` answers: the program at every stage, the decisions, the generated text.

A report prints as text, shows as HTML in a notebook, and converts to JSON.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath

from ..staging.dataclass import dataclass
from ..staging.decisions import Decision
from ..staging.passes import Result
from ..staging.printer import to_text
from .machine_code import MachineCode
from .vectorisation import Loops


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The way of one compilation.

    result : the passes' programs and decisions
    sources : the generated text by printer, the readable one first
    machine : the machine code; its `cached` says whether it came from the disk cache. None where
        the target compiles none, or the program has no loop
    """

    result: Result
    sources: Mapping[str, str]
    machine: MachineCode | None = None

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Every choice of every pass, and every rule that did not apply, with the reason."""
        return self.result.decisions

    @property
    def stages(self) -> tuple[str, ...]:
        """The names that `ir` knows."""
        return (*self.result.milestones, *(step.name for step in self.result.steps))

    def ir(self, stage: str = "fused") -> str:
        """The program at a milestone ("staged", "fused", "mapped") or after a pass ("simplify#2").

        Raises KeyError that names the stages there are.
        """
        return to_text(self.result.ir(stage), locations=True)

    def source(self, printer: str | None = None) -> str:
        """The generated text: by default the readable text of the Kernel IR that ran.

        printer : "python" for that text, which the target `python` runs and Numba compiles; "llvm"
            for the LLVM IR that was compiled from the same Kernel IR; "host" for the sequential
            part, which launches the kernels
        Raises KeyError that names the printers there are.
        """
        if printer is None:
            return next(iter(self.sources.values()))
        if printer not in self.sources:
            raise KeyError(f"no text by {printer}; there are {', '.join(self.sources)}")
        return self.sources[printer]

    def optimised(self) -> str:
        """The LLVM IR of the kernels after all passes of LLVM's.

        Raises LookupError where there is no machine code, as the two below.
        """
        return self._machine_code().optimised()

    def assembly(self) -> str:
        """The kernels' assembly: of the code that runs, wherever it came from."""
        return self._machine_code().assembly()

    def vectorised(self) -> Loops:
        """The loops of the kernels as LLVM left them, and which of them are vectors, how wide."""
        return self._machine_code().vectorised()

    def _machine_code(self) -> MachineCode:
        if self.machine is None:
            raise LookupError("no machine code was made: no loop is compiled by this target")
        return self.machine

    def sections(self) -> list[tuple[str, str]]:
        """Title and text of everything that there is to show."""
        stages = [(f"program, {name}", self.ir(name)) for name in self.result.milestones]
        texts = [(_title(name), text) for name, text in self.sources.items()]
        return [
            *stages,
            ("decisions", _listed(d for d in self.decisions if not d.declined)),
            ("rules that did not apply", _listed(d for d in self.decisions if d.declined)),
            *texts,
            *([("machine code", str(self.machine))] if self.machine else []),
        ]

    def __repr__(self) -> str:
        name = self.result.milestones["staged"].name
        stages, decisions = len(self.stages), len(self.decisions)
        return f"<Report of {name}: {stages} stages, {decisions} decisions; print shows it>"

    def __str__(self) -> str:
        """Everything but the texts for machines, which are counted."""
        further = {_title(name): name for name in self.sources if name not in _READABLE}
        parts = [
            f"== {title}\n{text.rstrip()}"
            for title, text in self.sections()
            if title not in further
        ]
        parts += [
            f"== {title}\n{len(self.sources[name].splitlines())} lines: report.source({name!r})"
            for title, name in further.items()
        ]
        return "\n\n".join(parts) + "\n"

    def _repr_html_(self) -> str:
        parts = (
            f"<details{' open' if k == 0 else ''}><summary>{html.escape(title)}</summary>"
            f"<pre>{html.escape(text)}</pre></details>"
            for k, (title, text) in enumerate(self.sections())
        )
        return "".join(parts)

    def to_json(self) -> str:
        """The report as a JSON object: stages, decisions, sources."""
        stages = {name: to_text(p) for name, p in self.result.milestones.items()}
        decisions = [
            {
                "id": d.id,
                "step": d.step,
                "chosen": d.chosen,
                "alternatives": list(d.alternatives),
                "reason": d.reason,
                "lines": [str(s) for s in d.sources],
            }
            for d in self.decisions
        ]
        found = {"stages": stages, "decisions": decisions, "sources": dict(self.sources)}
        cache = None if self.machine is None else self.machine.outcome
        return json.dumps({**found, "cache": cache})


_READABLE = ("program", "python", "host")


def _title(name: str) -> str:
    """The heading of a text."""
    return "sequential part (host)" if name == "host" else f"kernels ({name})"


def _listed(decisions: Iterable[Decision]) -> str:
    return "\n".join(map(_line, decisions)) or "none"


def _line(decision: Decision) -> str:
    """The decision in one line, the places by file name: "programs.py:20, 23"."""
    lines: dict[str, list[str]] = {}
    for place in decision.sources:
        numbers = lines.setdefault(PurePath(place.file).name, [])
        if str(place.line) not in numbers:
            numbers.append(str(place.line))
    places = "; ".join(f"{file}:{', '.join(numbers)}" for file, numbers in lines.items())
    text = str(replace(decision, sources=()))
    return f"{text} [{places}]" if places else text
