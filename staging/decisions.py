"""Every choice of a pass goes through `decide`: to be read, overridden and bisected.

A decision has a stable id, the pass's name and what it is about: "fuse_vertical.label", or
"fuse_vertical.reduce@12" for what has no name. The same again, in a later round or at another
place, is "fuse_vertical.label_2". The user overrides by id: the first form is for every occurrence,
a numbered one for that one. Without a recorder (a pass called by itself) `decide` only returns the
choice.

>>> with recording({"unroll.loop": 8}) as recorder:
...     factor = decide("unroll.loop", 4, (1, 4, 8), "four lanes fill a register")
>>> factor, recorder.decisions[0].reason
(8, 'the option unroll.loop')
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar, cast

from .dataclass import dataclass
from .errors import UserError
from .locations import Location
from .names import numbered

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice of a pass, or, without alternatives, a rule that did not apply.

    id : stable and unique in the compilation
    step : the pass as the driver names it, "fuse_vertical#1"; "" outside of the driver
    sources : the user's lines that it is about
    """

    id: str
    step: str
    chosen: object
    alternatives: Collection[object]  # the chosen one among them
    reason: str
    sources: tuple[Location, ...] = ()

    @property
    def declined(self) -> bool:
        """Whether a rule did not apply."""
        return not self.alternatives

    def __str__(self) -> str:
        what = "not applied" if self.declined else f"{self.chosen}"
        lines = ", ".join(dict.fromkeys(map(str, self.sources)))
        return f"{self.id}: {what}, because {self.reason}{f' [{lines}]' if lines else ''}"


class Recorder:
    """Collects a compilation's decisions and applies its options.

    choices : what the user chose, by decision id; without a number, for every occurrence
    limit : how many decisions may differ from their `neutral` choice; later ones are neutral, so
        that the decision that breaks a result is found by bisection
    """

    def __init__(self, choices: Mapping[str, object], limit: int | None = None) -> None:
        self.decisions: list[Decision] = []
        self.step = ""
        self._choices = dict(choices)
        self._limit = limit
        self._changes = 0
        self._ids: dict[str, int] = {}  # with the number that the next of that name may have
        self._used: set[str] = set()
        self._declined: set[tuple[str, str, tuple[Location, ...]]] = set()

    def unique(self, id: str) -> str:
        """The id, with a number behind it from the second time on."""
        found = id if id not in self._ids else numbered(id, self._ids, self._ids[id])
        self._ids.setdefault(found, 2)
        if found != id:
            self._ids[id] = int(found.removeprefix(f"{id}_")) + 1
        return found

    def repeats(self, id: str, reason: str, sources: tuple[Location, ...]) -> bool:
        """Whether this was declined before, for the same reason: in an earlier round."""
        told = (id, reason, sources) in self._declined
        self._declined.add((id, reason, sources))
        return told

    def choose(self, decision: Decision, base: str, neutral: object) -> Decision:
        """The decision as options and limit change it; `base` is its id without a number."""
        chosen, reason = decision.chosen, decision.reason
        option = next((id for id in (decision.id, base) if id in self._choices), None)
        if option is not None:
            self._used.add(option)
            chosen, reason = self._choices[option], f"the option {option}"
            if chosen not in decision.alternatives:
                raise UserError(
                    f"option {option}: {chosen!r} is no alternative",
                    where=decision.sources,
                    instead=f"one of {', '.join(map(repr, decision.alternatives))}",
                )
        if neutral is not None and chosen != neutral:
            self._changes += 1
            if self._limit is not None and self._changes > self._limit:
                chosen, reason = neutral, f"the limit of {self._limit} changes is reached"
        return Decision(
            decision.id, self.step, chosen, decision.alternatives, reason, decision.sources
        )

    def finish(self) -> None:
        """Raises UserError when an option belongs to no decision that was taken."""
        taken = [d.id for d in self.decisions if not d.declined]
        for id in self._choices:
            if id not in self._used:
                near = difflib.get_close_matches(id, taken, 1, 0.4)
                known = ", ".join(taken) or "none was taken"
                raise UserError(
                    f"there is no decision {id}",
                    where=(),
                    why=f"the decisions of this program: {known}",
                    instead=near[0] if near else "",
                )


_recorder: ContextVar[Recorder | None] = ContextVar("parloom_decisions", default=None)


@contextmanager
def recording(
    choices: Mapping[str, object] | None = None, limit: int | None = None
) -> Generator[Recorder, None, None]:
    """Records the decisions taken inside; on leaving without an error, checks the options' ids."""
    recorder = Recorder(choices or {}, limit)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)
    recorder.finish()


def decide(
    id: str,
    chosen: T,
    alternatives: Collection[T],
    reason: str,
    sources: tuple[Location, ...] = (),
    *,
    neutral: T | None = None,
) -> T:
    """The choice to follow: `chosen`, unless an option or the limit says otherwise.

    alternatives : the other choices that are legal here (a range for numbers)
    reason : a clause that completes "because ..."
    neutral : the choice that changes nothing; a choice with one counts towards the limit
    """
    recorder = _recorder.get()
    if recorder is None:
        return chosen
    legal = alternatives if chosen in alternatives else (chosen, *alternatives)
    planned = Decision(recorder.unique(id), "", chosen, legal, reason, sources)
    decision = recorder.choose(planned, id, neutral)
    recorder.decisions.append(decision)
    return cast(T, decision.chosen)


def decline(id: str, reason: str, sources: tuple[Location, ...] = ()) -> None:
    """Records that a rule did not apply, and why; once for the rounds that repeat it."""
    recorder = _recorder.get()
    if recorder is not None and not recorder.repeats(id, reason, sources):
        decision = Decision(recorder.unique(id), recorder.step, None, (), reason, sources)
        recorder.decisions.append(decision)


def at_step(step: str) -> None:
    """Names the pass that the decisions from here on belong to."""
    recorder = _recorder.get()
    if recorder is not None:
        recorder.step = step
