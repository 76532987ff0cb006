"""What rewritten code calls (virtualize/ introduces the calls): one object for each function and
its nested ones.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from types import CellType, FunctionType
from typing import Any

from .assumptions import Leaving
from .builtin_calls import callee  # with the builtins registered
from .context import current, trace
from .control import decide, if_then_else, mark
from .dataclass import dataclass
from .directives import freeze, frozen
from .errors import Limitation, StagingTypeError
from .guards import Cell, Global, changes, check_written, load, load_attribute, users_getter
from .iteration import comprehension, is_staged_iterable, unpacked
from .locations import Location
from .logic import comparison, conjunction, disjunction, negation
from .mutations import watched
from .nodes import Check, ErrorKind
from .regions import ForRegion, IfRegion, Obstacle, Sites, WhileRegion, refused
from .reps import Rep
from .scalars import constant
from .state import is_staged

Place = tuple[int, int, int | None]


class Hooks:
    """The hooks of one rewritten function."""

    __slots__ = ("cells", "file", "function", "variables")
    left = Leaving()
    """What stands for the raising of an error where `slowpath` has left already."""

    def __init__(
        self, variables: dict[str, Any], cells: dict[str, CellType], file: str, function: str
    ) -> None:
        self.variables = variables
        self.cells = cells
        self.file = file
        self.function = function

    # Captured variables.

    def load_global(self, name: str, value: object) -> object:
        """A global variable (or a builtin, which nobody guards)."""
        return load(Global(self.variables, name), value) if name in self.variables else value

    def load_cell(self, name: str, value: object) -> object:
        """A variable of a function around the rewritten one."""
        return load(Cell(self.cells[name], name), value)

    def attribute(self, owner: object, name: str) -> object:
        """`owner.name`"""
        getter = users_getter(owner, name)
        return load_attribute(owner, name) if getter is None else callee(getter)(owner)

    def written(self, owner: Any, name: str) -> Any:
        """`owner`, of which the part `name` is about to be assigned or deleted."""
        check_written(owner, name)
        return owner

    def rebinds(self, name: str, at: Place) -> None:
        """Refuses that a variable of the surroundings is assigned or deleted."""
        if current() is not None:
            raise changes(name, self.location(at))

    def callee(self, f: object) -> object:
        """The function to call in place of `f`."""
        return callee(f)

    def freeze(self, f: Any, expression: FunctionType) -> object:
        """`f(expression())`, where `f` is called freeze."""
        if f is freeze and current() is not None:
            return frozen(expression)
        call: Any = callee(f)
        return call(expression())

    # Names.

    def named(self, name: str, value: object) -> object:
        """A value that the user assigns to `name`."""
        if isinstance(value, Rep) and not name.startswith("_parloom_"):
            value.hint(name)
        return value

    def named_parts(self, names: tuple[str, ...], value: object) -> object:
        """A value that the user unpacks into `names`."""
        value = unpacked(value, len(names))
        if isinstance(value, tuple) and len(value) == len(names):  # pyright: ignore[reportUnknownArgumentType]
            for name, part in zip(names, value, strict=True):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
                self.named(name, part)  # pyright: ignore[reportUnknownArgumentType]
        return value  # pyright: ignore[reportUnknownVariableType]

    # Logic.

    def not_(self, value: object) -> object:
        """`not value`"""
        return negation(value)

    def and_(self, first: object, *rest: Callable[[], object]) -> object:
        """`first and ...`"""
        return conjunction(first, *rest)

    def or_(self, first: object, *rest: Callable[[], object]) -> object:
        """`first or ...`"""
        return disjunction(first, *rest)

    def compare(self, first: object, *links: tuple[str, Callable[[], object]]) -> object:
        """`first < a < ...`, `first in a`"""
        return comparison(first, *links)

    def if_expression(
        self, cond: object, then: Callable[[], object], orelse: Callable[[], object]
    ) -> object:
        """`then if cond else orelse`"""
        return if_then_else(cond, then, orelse)

    def plain(self, cond: object, obstacle: tuple[str, Place]) -> object:
        """A condition that must be known while staging, because of `obstacle`."""
        known = decide(cond)
        if isinstance(known, bool):
            return known if isinstance(cond, Rep) else cond
        raise refused((obstacle[0], self.location(obstacle[1])), "a staged branch")

    # Statements.

    def location(self, at: Place) -> Location:
        """A place in the function's source."""
        line, column, end = at
        return Location(self.file, line, column, end, self.function)

    def _sites(self, sites: tuple[tuple[Any, ...], ...]) -> Sites:
        return tuple((name, tuple(map(self.location, places))) for name, *places in sites)

    def _obstacle(self, obstacle: tuple[str, Place] | None) -> Obstacle:
        return None if obstacle is None else (obstacle[0], self.location(obstacle[1]))

    def if_(self, cond: object, sites: tuple[tuple[Any, ...], ...], kept: int) -> IfRegion:
        """`if cond:`; the first `kept` variables are needed after it."""
        return IfRegion(cond, self._sites(sites), kept)

    def while_(
        self,
        sites: tuple[tuple[Any, ...], ...],
        obstacle: tuple[str, Place] | None,
        flags: tuple[str, ...],
    ) -> WhileRegion:
        """`while ...:`; it goes on only while none of the flags holds."""
        return WhileRegion(self._sites(sites), self._obstacle(obstacle), flags)

    def for_(
        self,
        iterable: object,
        sites: tuple[tuple[Any, ...], ...],
        obstacle: tuple[str, Place] | None,
        targets: tuple[str, ...],
        flags: tuple[str, ...],
    ) -> ForRegion:
        """`for targets in iterable:`; it ends when one of the flags holds."""
        return ForRegion(iterable, self._sites(sites), self._obstacle(obstacle), targets, flags)

    def comprehension(
        self,
        iterable: Any,
        run: Callable[[Iterable[object]], Iterable[object]],
        value: Callable[[Iterable[object]], Iterable[object]] | None = None,
        holds: Callable[[Iterable[object]], Iterable[object]] | None = None,
    ) -> object:
        """`[... for ... in iterable if ...]`: `run` is all of it, over any iterable; where there is
        a condition, `value` gives the elements and `holds` the conditions."""
        if not is_staged_iterable(iterable) or _has_static_length(iterable):
            return run(iterable)

        def one(part: Callable[[Iterable[object]], Iterable[object]]) -> Callable[[object], object]:
            return lambda element: next(iter(part((element,))))

        test, outside = None if holds is None else one(holds), watched("loop", run, value, holds)
        found = callee(comprehension())(iterable, one(value or run), test)
        outside.check()
        return found

    def unpacked(self, elements: Iterable[object], count: int) -> Iterable[object]:
        """Elements that a comprehension unpacks into `count` names."""
        return (unpacked(element, count) for element in elements)

    def iterate(self, iterable: Any) -> Iterable[object]:
        """What a comprehension iterates."""
        if is_staged_iterable(iterable) and not _has_static_length(iterable):
            raise StagingTypeError(
                "a comprehension over a staged collection",
                why="it makes a Python list, whose length must be known while staging",
                instead="x.map(f), x.rows.map(f), or pm.collect(shape, f)",
            )
        return iterable  # type: ignore[no-any-return]

    def assert_(self, cond: object, message: Callable[[], object] | None) -> None:
        """`assert cond, message()`: staged, it is checked when the program runs."""
        known = decide(cond)
        if known is True:
            return
        text = "" if message is None else str(message())
        if known is False:
            if current() is not None and trace().regions:
                raise self._inside("an assert that fails")
            raise AssertionError(text) if text else AssertionError
        assert not isinstance(known, bool)
        trace().emit(Check(known.operand, ErrorKind.ASSERTION, text or "assertion failed"))

    def raising(self, error: object) -> Raising:
        """`raise error`: in a staged branch or loop, when the program gets there."""
        if error is Hooks.left:
            return Raising(False, error)
        if current() is None or not trace().regions:
            return Raising(True, error)
        cls = error if isinstance(error, type) else type(error)
        args: tuple[object, ...] = getattr(error, "args", ()) if error is not cls else ()
        kind = _KINDS.get(cls)
        if kind is None or any(is_staged(a) for a in args) or trace().tries:
            raise self._cannot_raise(error, kind is None)
        trace().emit(Check(constant(False).operand, kind, str(error) if args else cls.__name__))
        trace().builder.scopes[-1].raises = True
        return Raising(False, error)

    def _cannot_raise(self, error: object, unknown: bool) -> Limitation:
        shown = error.__name__ if isinstance(error, type) else repr(error)
        kinds = ", ".join(cls.__name__ for cls in _KINDS)
        return Limitation(
            f"raise {shown} inside a staged branch or loop cannot be staged",
            why=f"compiled programs raise one of {kinds}"
            if unknown
            else "what it says, or who catches it, is known only when the compiled program runs",
            instead="one of these, with a text that is known, outside of `try`; or a result that "
            "says what is wrong",
        )

    def try_(self) -> Attempt:
        """`try:`"""
        if current() is not None and trace().regions:
            raise self._inside("try")
        return Attempt()

    def _inside(self, what: str) -> Limitation:
        return Limitation(
            f"{what} inside a staged branch or loop cannot be staged",
            why="whether it is reached is known only when the compiled program runs",
            instead="assert with the condition, which is checked when the program runs",
        )


@dataclass(frozen=True, slots=True)
class Raising:
    """A `raise`: whether it happens now, or when the program runs."""

    now: bool
    error: object


class Attempt:
    """A `try`: its handlers call it, which drops what was left half recorded; its body ends with
    `done`."""

    __slots__ = ("before", "unwind")

    def __init__(self) -> None:
        self.unwind = mark() if current() is not None else None
        self.before = trace().tries if current() is not None else 0
        if current() is not None:
            trace().tries += 1

    def __call__(self) -> None:
        self.done()
        if self.unwind is not None:
            self.unwind()

    def done(self) -> None:
        """The body is left."""
        if self.unwind is not None:
            trace().tries = self.before


_KINDS: dict[type, ErrorKind] = {
    getattr(builtins, kind.value): kind for kind in ErrorKind if hasattr(builtins, kind.value)
}


def _has_static_length(iterable: Any) -> bool:
    return isinstance(iterable.staged_length(), int)
