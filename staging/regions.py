"""What drives the user's branches and loops in rewritten code (virtualize/statements.py shows that
code).

A region looks at the variables of the frame that calls it. While its condition is known, it only
tells Python's answer. Once it is staged, the region has the code run on parameters, as often as
recording needs, and says before each run (`restores`, `values`) what the variables are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

from .branches import Branches
from .builder import Scope
from .context import trace
from .control import checkpoint, condition_operand, count_operand, decide, enter_counted
from .errors import Limitation
from .iteration import StagedIterable, as_iterable, is_staged_iterable, unpacked
from .locations import Location, caller
from .loops import Loop
from .mutations import Mutations
from .nodes import Block, ForLoop, Operand, Var, While
from .primitives import ADD, LESS, LOGICAL_AND, LOGICAL_NOT
from .reps import Rep, index_of
from .scalars import ScalarRep, apply_primitive, constant
from .state import MISSING, State, Undefined

Sites = tuple[tuple[str, tuple[Location, ...]], ...]
Obstacle = tuple[str, Location] | None


def refused(obstacle: tuple[str, Location], what: str) -> Limitation:
    """The error for what a recorded branch or loop cannot contain."""
    keyword, where = obstacle
    return Limitation(
        f"{keyword} in {what} cannot be staged",
        where=(where, caller()),
        why="whether it is reached is known only when the compiled program runs",
        instead="the condition in the loop's own condition, or a conditional expression",
    )


class Region:
    """The part that all regions share.

    restores : whether the rewritten code must assign `values()` now
    """

    def __init__(self, sites: Sites) -> None:
        self.names: tuple[str, ...] = tuple(name for name, _ in sites)
        self.places = dict(sites)
        self.restores = False
        self.now: dict[str, object] = {}
        self.mutations: Mutations | None = None

    def values(self) -> tuple[object, ...]:
        """What the variables are."""
        self.restores = False
        return tuple(self._value(name) for name in self.names)

    def _value(self, name: str) -> object:
        found = self.now.get(name, MISSING)
        if found is MISSING:
            return Undefined(
                name, "it has not been assigned on this path", self.places.get(name, ())
            )
        return found

    def restore(self, variables: dict[str, object]) -> None:
        """Has the rewritten code assign these."""
        self.now = variables
        self.restores = True

    def variables(self) -> State:
        """The variables of the frame that called the region's method."""
        found = sys._getframe(2).f_locals  # pyright: ignore[reportPrivateUsage]
        if self.mutations is not None:
            self.mutations.check(found)
        return {name: found.get(name, MISSING) for name in self.names}

    def watch(self, what: str, *targets: str) -> None:
        """Has `variables` check from now on that no object changes, nor a variable of others."""
        found = sys._getframe(2).f_locals  # pyright: ignore[reportPrivateUsage]
        self.mutations = Mutations(found, (*self.places, *targets), what)


class IfRegion(Region):
    """`if`: one run for a known condition, one for each branch of a staged one."""

    def __init__(self, condition: object, sites: Sites, kept: int) -> None:
        super().__init__(sites)
        self.kept = self.names[:kept]
        cond = decide(condition)
        self.branches = None if isinstance(cond, bool) else Branches(cond)
        self.first = cond if isinstance(cond, bool) else True
        self.runs = 0
        self.before: State = {}

    def enter(self) -> bool:
        """Whether a branch is to run now: the first one if `first`."""
        self.runs += 1
        if self.branches is None:
            return self.runs == 1
        if self.runs == 1:
            self.before = self.variables()
            self.watch("branch")
        else:
            after = _cleared(self.variables())
            self.branches.end({name: after[name] for name in self.kept})
        if self.runs == 3:
            self.names = self.kept
            self.restore(self.branches.finish(self.places))
            return False
        if self.runs == 2:
            self.first = False
            self.restore(dict(self.before))
        self.branches.begin()
        return True


def _cleared(state: State) -> State:
    """A variable that holds Undefined counts as unassigned."""
    return {n: MISSING if isinstance(v, Undefined) else v for n, v in state.items()}


class WhileRegion(Region):
    """`while`: Python's loop while the condition is known; then condition and body are recorded."""

    def __init__(self, sites: Sites, obstacle: Obstacle, flags: Sequence[str]) -> None:
        super().__init__(sites)
        self.obstacle = obstacle
        self.flags = flags
        self.in_body = False
        self.done = False
        self.loop: Loop | None = None
        self.cond: Block | None = None
        self.scope: Scope | None = None
        self.rollback = checkpoint()

    def again(self) -> bool:
        """Whether there is another run."""
        if self.loop is None:
            self.rollback = checkpoint()
            return not self.done
        if self.in_body:
            self._end_body(self.variables())
        elif self.cond is None:
            self._begin_condition()
        else:
            self.in_body = True
            self.scope, variables = self.loop.enter()
            self.restore({**variables, **dict.fromkeys(self.flags, False)})
        return not self.done

    def test(self, condition: object) -> bool:
        """The condition: whether the body runs now."""
        if self.loop is not None:
            self.cond = self.loop.close([condition_operand(condition)])
            return False
        known = decide(condition)
        if isinstance(known, bool):
            self.done = not known
            return known
        if self.obstacle is not None:
            raise refused(self.obstacle, "a staged while loop")
        state = self.variables()
        self.watch("loop")
        self.rollback()  # the first evaluation only told that it is staged
        self.loop = Loop(state, self.places)
        return False

    def _begin_condition(self) -> None:
        assert self.loop is not None
        _, variables = self.loop.enter()
        self.restore(variables)

    def _end_body(self, state: State) -> None:
        assert self.loop is not None
        assert self.scope is not None
        body = self.loop.leave(self.scope, _cleared(state))
        self.in_body = False
        cond, self.cond = self.cond, None
        if body is None:
            self._begin_condition()
            return
        assert cond is not None
        self.done = True
        self.restore(self.loop.results(trace().emit(While(self.loop.init, cond, body))))


class ForRegion(Region):
    """`for`: Python's loop over what Python can iterate; over a staged collection the body is
    recorded.
    """

    def __init__(
        self,
        iterable: object,
        sites: Sites,
        obstacle: Obstacle,
        targets: Sequence[str],
        flags: Sequence[str],
    ) -> None:
        super().__init__(sites)
        self.iterable = iterable
        self.targets = tuple(targets)
        self.flags = flags
        self.recorded = is_staged_iterable(iterable)
        self.left: State | None = None
        if self.recorded and obstacle is not None:
            raise refused(obstacle, "a staged for loop")

    def elements(self) -> Iterator[object]:
        """What the loop iterates."""
        if not self.recorded:
            elements: Iterator[Any] = iter(cast(Any, self.iterable))
            count = len(self.targets)
            return elements if count < 2 else (unpacked(e, count) for e in elements)
        record = self._record_stoppable if self.flags else self._record
        state = self.variables()
        self.watch("loop", *self.targets)
        return record(as_iterable(self.iterable), state)

    def leave(self) -> bool:
        """The end of the body: whether the loop stops here, because a flag is known to hold."""
        if self.recorded:
            self.left = _cleared(self.variables())
            return False
        if not self.flags:
            return False
        found = self.variables()
        return any(found[flag] is True for flag in self.flags)

    def _record(self, iterable: StagedIterable, before: State) -> Iterator[object]:
        extent = count_operand(iterable.staged_length())
        loop = Loop(before, self.places)
        body = None
        while body is None:
            scope, index, variables = enter_counted(loop, extent)
            element = self._named(index, iterable.staged_element(index))
            self.restore(variables)
            yield element
            assert self.left is not None
            body = loop.leave(scope, self.left)
        binders = trace().emit(ForLoop(extent, loop.init, body))
        after = loop.results(binders)
        for name in self.targets:
            why = "it is the variable of a staged loop, which may run zero times"
            after[name] = Undefined(name, why, self.places.get(name, ()))
        self.names = (*self.names, *self.targets)
        self.restore(after)

    def _record_stoppable(self, iterable: StagedIterable, before: State) -> Iterator[object]:
        """`while` no flag holds and there is another element."""
        extent = count_operand(iterable.staged_length())
        loop = Loop({**before, _COUNTER: 0}, self.places)
        cond = body = None
        while cond is None or body is None:
            _, variables = loop.enter()
            cond = loop.close([self._goes_on(variables, extent)])
            scope, variables = loop.enter()
            counter = cast(ScalarRep, variables[_COUNTER])
            index = index_of(cast(Var, counter.operand), extent)
            element = self._named(index, iterable.staged_element(index))
            self.restore({**variables, **dict.fromkeys(self.flags, False)})
            yield element
            assert self.left is not None
            following = apply_primitive(ADD, counter, constant(1))
            body = loop.leave(scope, {**self.left, _COUNTER: following})
        self.restore(loop.results(trace().emit(While(loop.init, cond, body))))

    def _goes_on(self, variables: dict[str, object], extent: Operand) -> Operand:
        found = apply_primitive(LESS, cast(ScalarRep, variables[_COUNTER]), ScalarRep(extent))
        for flag in self.flags:
            held = apply_primitive(LOGICAL_NOT, cast(ScalarRep, variables[flag]))
            found = apply_primitive(LOGICAL_AND, found, held)
        return found.operand

    def _named(self, index: ScalarRep, element: object) -> object:
        """The element as the loop's variables take it, with their names."""
        index.hint("i")
        if len(self.targets) > 1:
            return unpacked(element, len(self.targets))
        if self.targets and isinstance(element, Rep):
            element.hint(self.targets[0])
        return element


_COUNTER = ".counter"
