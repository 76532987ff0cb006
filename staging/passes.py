"""The pass driver: runs a pipeline, checks after every pass, tells observers.

>>> from .nodes import Block
>>> keep = Pass("keep", lambda program: program, "changes nothing")
>>> result = run(Program("f", (), (), Block((), (), ())), (keep, Milestone("staged"), keep))
>>> [step.name for step in result.steps], list(result.milestones)
(['keep#1', 'keep#2'], ['staged'])
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from .checker import check
from .dataclass import dataclass
from .decisions import Decision, at_step, recording
from .equality import program_key
from .nodes import Program


@dataclass(frozen=True, slots=True)
class Pass:
    """A transformation of programs, as a value."""

    name: str
    function: Callable[[Program], Program]
    description: str
    idempotent: bool = False  # leaves what it made as it is


@dataclass(frozen=True, slots=True)
class Milestone:
    """A point in a pipeline whose program the user can ask for by name."""

    name: str


Pipeline = tuple[Pass | Milestone, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One pass as it ran; the k-th run of a pass is named "name#k"."""

    name: str
    before: Program
    after: Program
    seconds: float


Observer = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a user sets for a compilation: decisions by id, and their limit (see decisions.py)."""

    choices: Mapping[str, object] = field(default_factory=dict[str, object])
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a pipeline made."""

    program: Program
    steps: tuple[Step, ...]
    milestones: Mapping[str, Program]
    decisions: tuple[Decision, ...]

    def ir(self, stage: str) -> Program:
        """The program at a milestone, or after a pass "name#k"; KeyError names what there is."""
        known = {**self.milestones, **{step.name: step.after for step in self.steps}}
        if stage not in known:
            raise KeyError(f"no stage {stage}; there are {', '.join(known)}")
        return known[stage]


def run(
    program: Program,
    pipeline: Pipeline,
    *,
    observers: Sequence[Observer] = (),
    options: Options | None = None,
) -> Result:
    """Runs the passes in order.

    The checker runs on the program and after every pass that changed it; each observer is called
    after that. A pass that left an equal program as it was before is not run on it again.
    Raises UserError for an option that belongs to no decision, InternalError when a pass makes a
    program that is not well formed.
    """
    options = options or Options()
    runs: Counter[str] = Counter()
    steps: list[Step] = []
    milestones: dict[str, Program] = {}
    settled: set[Settled] = set()
    check(program, "the program handed to the pipeline")
    with recording(options.choices, options.limit) as recorder:
        for entry in pipeline:
            if isinstance(entry, Milestone):
                milestones[entry.name] = program
                continue
            runs[entry.name] += 1
            step = _step(entry, runs[entry.name], program, settled)
            program = step.after
            steps.append(step)
            for observer in observers:
                observer(step)
    return Result(program, tuple(steps), milestones, tuple(recorder.decisions))


Settled = tuple[Pass, str, object]  # a pass, and the name and key of a program that it leaves


def _step(entry: Pass, number: int, before: Program, settled: set[Settled]) -> Step:
    """One pass, unless it is known to leave the program as it is."""
    name = f"{entry.name}#{number}"
    at_step(name)
    start = time.perf_counter()
    known = (entry, before.name, program_key(before))
    if known in settled:
        return Step(name, before, before, time.perf_counter() - start)
    after = entry.function(before)
    if after is before or (after.name, program_key(after)) == known[1:]:
        settled.add(known)
        return Step(name, before, before, time.perf_counter() - start)
    seconds = time.perf_counter() - start
    check(after, f"the program after {name}")
    if entry.idempotent:
        settled.add((entry, after.name, program_key(after)))
    return Step(name, before, after, seconds)
