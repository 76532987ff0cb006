"""What a compiled version takes for granted beside its signature and guards, and what is done when
it does not hold.

    pm.static(n)         the argument, or the size, is this one: compared before the version is
                         chosen
    pm.speculate(cond)   the condition holds: checked where it stands; else a version that asks
    pm.stable(x)         the value is the one that an earlier call saw: checked where it stands;
                         else a version that computes with any value, and reports it
    pm.slowpath()        is not reached: else the call runs as plain Python

A place (a `Site`) whose assumption fails too often is given up: later versions do without it.
Nothing of a version that is left has happened: arrays are values, and effects wait (effects.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from .dataclass import dataclass
from .errors import ParloomError
from .locations import Location
from .nodes import Operand, Var
from .types import Array

SPECULATE, STABLE, SLOWPATH = "pm.speculate", "pm.stable", "pm.slowpath"
FAILURES = 4  # of one place, until it is given up
PATIENCE = 100  # after so many calls without one, earlier failures are forgotten


@dataclass(frozen=True, slots=True)
class Site:
    """A place where the user said what may be assumed.

    kind : the function that says so
    where : the line that calls it
    count : which time the line is reached while staging, where this matters
    limit : how many failures are borne
    """

    kind: str
    where: Location
    count: int = 0
    limit: int = FAILURES

    def __str__(self) -> str:
        return f"{self.kind} at {self.where}" + (f" ({self.count})" if self.count else "")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a version may assume.

    general : the places that assume nothing
    values : what the values at the others are taken for; a place that is missing has none yet
    """

    general: frozenset[Site] = frozenset()
    values: tuple[tuple[Site, Any], ...] = ()

    def without(self, *sites: Site) -> Plan:
        """The plan that does not rely on the places; a value that is not known is reported."""
        known = tuple(v for v in self.values if v[0] not in sites)
        doubted = {s for s in sites if s.kind == SPECULATE}
        return Plan(self.general | doubted, known)

    def differences(self, other: Plan) -> Iterator[str]:
        """What another plan assumes otherwise."""
        old, new = dict(other.values), dict(self.values)
        for site in {**old, **new}:
            before, now = (str(v[site]) if site in v else "any value" for v in (old, new))
            if before != now:
                yield f"{site} is taken for {now}, was {before}"
        for site in self.general ^ other.general:
            yield f"{site} is {'not ' if site in self.general else ''}relied on"


NOTHING_YET = Plan()


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentValue:
    """A number that an argument is, or the size of one of its axes, known while staging."""

    position: int
    axis: int | None
    value: Any

    def holds(self, arguments: Sequence[Any]) -> bool:
        """Whether a call's arguments have it, too."""
        found = arguments[self.position]
        if self.axis is not None:
            return bool(found.shape[self.axis] == self.value)
        return bool(found.tobytes() == self.value.tobytes())


def places_of(params: Sequence[Var], values: Sequence[Any]) -> dict[Operand, ArgumentValue]:
    """Where a program's scalar parameters, and its parameters' sizes, are found in a call."""
    found: dict[Operand, ArgumentValue] = {}
    for k, (param, value) in enumerate(zip(params, values, strict=True)):
        if not isinstance(param.type, Array):
            found[param] = ArgumentValue(k, None, value)
            continue
        for axis, size in enumerate(param.type.shape):
            if isinstance(size, Var):
                found.setdefault(size, ArgumentValue(k, axis, value.shape[axis]))
    return found


@dataclass(slots=True)
class Assumed:
    """What a trace assumes.

    plan : what it may
    places : for an argument that is a number, and for an argument's size, where to find it in a
        call, and what it is in this one
    sites : the places met so far, by their text, which the checks carry
    observed : the values of `stable` that the program reports
    fixed : the arguments and sizes that `static` was asked for
    """

    plan: Plan = field(default_factory=Plan)
    places: dict[Operand, ArgumentValue] = field(default_factory=dict[Operand, ArgumentValue])
    sites: dict[str, Site] = field(default_factory=dict[str, Site])
    observed: dict[Site, Operand] = field(default_factory=dict[Site, Operand])
    fixed: dict[ArgumentValue, None] = field(default_factory=dict[ArgumentValue, None])

    def relies(self) -> bool:
        """Whether the program checks an assumption."""
        unchecked = self.plan.general | set(self.observed)
        return any(site not in unchecked for site in self.sites.values())


class AssumptionFailed(ParloomError):
    """A place of a running version where an assumption does not hold; `jit` takes another one."""


class Leaving(BaseException):
    """Staging came to `pm.slowpath()` whatever happens: nothing is compiled.

    guards, fixed : what it has read on the way
    """

    guards: Sequence[Any] = ()
    fixed: Sequence[ArgumentValue] = ()


class Experience:
    """What the calls of one signature have taught.

    calls : how many there were
    plan : what the next call's version may assume
    """

    __slots__ = ("_failures", "_last", "_values", "calls", "plan")

    def __init__(self) -> None:
        self.calls = 0
        self._failures: dict[Site, int] = {}
        self._last: dict[Site, int] = {}
        self._values: dict[Site, Any] = {}
        self.plan = NOTHING_YET

    def failed(self, site: Site) -> None:
        """Counts a failure of a place."""
        recent = self.calls - self._last.get(site, 0) <= PATIENCE
        self._failures[site] = 1 + (self._failures.get(site, 0) if recent else 0)
        self._last[site] = self.calls
        self._values.pop(site, None)
        self._learn()

    def saw(self, site: Site, value: np.generic) -> None:
        """Notes the value of a place of `stable`; one that equals values of other bits, or not even
        itself, is none to rely on.
        """
        zero = isinstance(value, np.inexact) and value == 0
        if value == value and not zero:
            self._values[site] = value
            self._learn()

    def _learn(self) -> None:
        general = frozenset(s for s, n in self._failures.items() if n >= s.limit)
        known = tuple(v for v in self._values.items() if v[0] not in general)
        self.plan = Plan(general, known)
