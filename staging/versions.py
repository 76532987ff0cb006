"""The compiled versions of a function for one signature: which one a call takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from .arguments import RunTime
from .assumptions import ArgumentValue, Experience, Leaving, Plan, Site
from .dataclass import dataclass
from .forking import Lock
from .guards import Guard, all_hold
from .inout import Marked
from .outputs import Outputs
from .pytree import flatten
from .targets import Executable
from .tracing import RESULT, Traced, check_sizes

KEPT = 16  # versions of one signature


class Version:
    """A version, and when it may be taken.

    guards : what was taken from the surroundings must still be so
    fixed : what the arguments must be
    plan : what it was allowed to assume, None where it makes no difference
    """

    __slots__ = ("fixed", "guards", "holds", "plan")

    def __init__(
        self, guards: Sequence[Guard], fixed: Sequence[ArgumentValue], plan: Plan | None
    ) -> None:
        self.guards = guards
        self.holds = all_hold(guards)
        self.fixed = tuple(fixed)
        self.plan = plan

    def fits(self, arguments: Sequence[RunTime], plan: Plan) -> bool:
        """Whether it may run."""
        if not self.holds() or (self.plan is not None and self.plan != plan):
            return False
        return not self.fixed or all(f.holds(arguments) for f in self.fixed)

    def misfits(self, arguments: Sequence[RunTime], plan: Plan) -> Iterator[str]:
        """Why it may not."""
        for guard in self.guards:
            if not guard.holds():
                yield f"{guard.source.name}, read at {guard.where}, is not what it was"
        for fixed in self.fixed:
            if not fixed.holds(arguments):
                yield f"a number given to pm.static was {fixed.value}"
        if self.plan is not None:
            yield from plan.differences(self.plan)


class PlainPython(Version):
    """Staging came to `pm.slowpath()` whatever happens: the function itself runs."""

    __slots__ = ()

    def __init__(self, left: Leaving) -> None:
        super().__init__(left.guards, left.fixed, None)


class Compiled(Version):
    """A compiled version.

    relies : whether a check of an assumption is in it
    """

    __slots__ = ("_captured", "_result", "executable", "relies", "traced")

    def __init__(self, traced: Traced, executable: Executable) -> None:
        assumed = traced.assumed
        super().__init__(
            traced.guards, tuple(assumed.fixed), assumed.plan if assumed.sites else None
        )
        self.executable = executable
        self.relies = assumed.relies()
        self.traced = traced
        self._captured = traced.captured
        self._result = traced.result()

    def run(
        self,
        arguments: list[RunTime],
        out: object = None,
        learn: Experience | None = None,
        marked: Marked | None = None,
    ) -> Any:
        """The user's result, written to the arrays of `out` if there are any.

        learn : is told what values were seen
        marked : the arguments that the function may write to
        """
        if self._captured:
            captured: list[RunTime] = [read() for read in self._captured]
            arguments = arguments + captured
            if marked is not None:
                marked.check_apart("an array of the surroundings", captured)
        if out is not None:
            return self._into(arguments, out, learn, marked)
        results = self.executable(arguments)
        self._tell(learn, results)
        found = self._result(results)
        if marked is not None:
            self._write(marked, results)
        return found

    def _into(
        self,
        arguments: list[RunTime],
        out: object,
        learn: Experience | None,
        marked: Marked | None,
    ) -> Any:
        """The user's result in the arrays of `out`."""
        traced = self.traced
        check_sizes(traced.program, arguments)
        outputs = Outputs.of(out, traced.out_tree)
        if marked is not None:
            marked.check_apart("out", outputs.arrays)
        expected = traced.expected(arguments)
        outputs.check(expected)
        written = outputs.direct(expected, arguments)
        into = [w for w, leaf in zip(written, traced.out_leaves, strict=True) if leaf is RESULT]
        hidden = len(traced.written) + len(traced.assumed.observed)
        results = self.executable(arguments, [*into, *[None] * hidden])
        self._tell(learn, results)
        values, _ = flatten(self._result(results))
        found = outputs.deliver(values, written)
        if marked is not None:
            self._write(marked, results)
        return found

    def _write(self, marked: Marked, results: Sequence[Any]) -> None:
        first = len(self.traced.weak)
        marked.write(self.traced.written, results[first : first + len(self.traced.written)])

    def _tell(self, learn: Experience | None, results: Sequence[Any]) -> None:
        observed = self.traced.assumed.observed
        if learn is not None and observed:
            for site, value in zip(observed, results[-len(observed) :], strict=True):
                learn.saw(site, value)


@dataclass(slots=True)
class Versions:
    """The versions for one signature, newest first, and the lock under which they are made.

    plan : what the next call's version may assume, from what is known
    """

    entries: list[Version] = field(default_factory=list[Version])
    lock: Lock = field(default_factory=Lock)
    experience: Experience = field(default_factory=Experience)

    def find(self, arguments: Sequence[RunTime], plan: Plan | None = None) -> Version | None:
        """The version that may run; under the usual plan, if none is given."""
        wanted = self.experience.plan if plan is None else plan
        for entry in self.entries:
            if entry.fits(arguments, wanted):
                return entry
        return None

    def add(self, version: Version) -> None:
        """Keeps a version; drops the oldest of too many."""
        self.entries = [version, *self.entries][:KEPT]

    def failed(self, site: Site, plan: Plan) -> Plan:
        """Notes that the assumption of a place did not hold; what the call may assume then."""
        with self.lock:
            self.experience.failed(site)
        return plan.without(site)
