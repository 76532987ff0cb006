"""The trace in progress: a context variable, so that threads and nested stagings stay apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import field

import numpy as np

from .builder import Builder
from .dataclass import dataclass
from .errors import ShapeError, UserError
from .locations import Location, caller
from .nodes import Apply, Check, Contiguous, ErrorKind, Op, Operand, Var, size_operand
from .primitives import EQUAL
from .traversal import operands
from .types import INDEX, Array, Scalar, Type


@dataclass(slots=True)
class Captured:
    """An array of the program's surroundings: a hidden argument, read again at each call."""

    param: Var
    read: Callable[[], np.ndarray]


@dataclass(slots=True)
class Trace:
    """One staging: the builder, the arguments' sizes, those found equal, the captured arrays."""

    builder: Builder = field(default_factory=Builder)
    sizes: list[Var] = field(default_factory=list[Var])
    merged: dict[Var, Operand] = field(default_factory=dict[Var, Operand])
    meetings: list[tuple[Var, Operand, Location]] = field(
        default_factory=list[tuple[Var, Operand, Location]]
    )
    captured: dict[int, Captured] = field(default_factory=dict[int, Captured])
    regions: int = 0  # staged branches and loops that are open
    tries: int = 0  # `try` statements whose body runs
    naturals: dict[Var, set[Operand]] = field(default_factory=dict[Var, set[Operand]])
    """Integers known not to be negative, and the sizes that each is known to be below."""

    def emit(self, op: Op, *names: str) -> tuple[Operand, ...]:
        """Emits an op at the user's current line; UserError when an operand leaked."""
        self.check_visible(*operands(op))
        return self.builder.emit(op, names, (caller(),))

    def emit_size(self, op: Op, name: str = "") -> Operand:
        """Emits size arithmetic as far out as its operands are known."""
        self.check_visible(*operands(op))
        return self.builder.emit_outermost(op, name, (caller(),))

    def check_visible(self, *used: Operand, where: Location | None = None) -> None:
        """UserError when an operand belongs to a block that is closed, or to another trace."""
        for operand in used:
            if not self.builder.sees(operand):
                raise leaked(operand, where)

    def canonical(self, size: Operand) -> Operand:
        """The representative of all sizes found equal to `size`."""
        while isinstance(size, Var) and size in self.merged:
            size = self.merged[size]
        return size

    def unify(
        self, a: Operand, b: Operand, what: str = "sizes", where: Location | None = None
    ) -> Operand:
        """Makes two sizes one that meet elementwise, or raises ShapeError.

        Two argument sizes are checked on entry of the call; any other pair is checked where they
        meet.
        """
        a, b = self.canonical(a), self.canonical(b)
        if a == b:
            return a
        if not isinstance(a, Var) and not isinstance(b, Var):
            raise ShapeError(f"{what} {a} and {b} do not fit together")
        if b not in self.sizes:
            a, b = b, a
        if isinstance(b, Var) and b in self.sizes and (a in self.sizes or not isinstance(a, Var)):
            self.merged[b] = a
            self.meetings.append((b, a, where or caller()))
            return a
        (same,) = self.emit(Apply(EQUAL, (a, b)))
        self.emit(Check(same, ErrorKind.VALUE, f"{what} do not fit together"))
        return a

    def new_param(self, type_: Type, name: str, array: np.ndarray | None = None) -> Var:
        """A parameter variable; an array's dimensions other than 1 become fresh sizes."""
        if isinstance(type_, Scalar) or array is None:
            return Var(type_, name)
        letters: list[int | Var] = []
        for axis, extent in enumerate(array.shape):
            if extent == 1:
                letters.append(1)
                continue
            size = Var(INDEX, f"{name}_{axis}")
            self.sizes.append(size)
            letters.append(size)
        facts = frozenset({Contiguous()}) if array.flags.c_contiguous else frozenset[Contiguous]()
        return Var(Array(type_.element, tuple(letters)), name, facts)

    def capture(self, array: np.ndarray, name: str, read: Callable[[], np.ndarray]) -> Var:
        """The hidden argument for an array of the surroundings, one for each array object."""
        known = self.captured.get(id(array))
        if known is None:
            type_ = Array(Scalar(array.dtype), (1,) * array.ndim)
            param = self.new_param(type_, name, array)
            self.builder.adopt(param)
            known = self.captured[id(array)] = Captured(param, read)
        return known.param


_current: ContextVar[Trace | None] = ContextVar("parloom_trace", default=None)


def current() -> Trace | None:
    """The innermost trace in progress, None outside staging."""
    return _current.get()


def trace() -> Trace:
    """The innermost trace in progress; UserError outside staging."""
    found = _current.get()
    if found is None:
        raise UserError(
            "a staged value was used outside of the function that staged it",
            why="it stands for a value of the compiled program, and only while that is recorded",
            instead="return the value from the staged function",
        )
    return found


def leaked(operand: Operand, where: Location | None = None) -> UserError:
    """The error for a staged value used where it does not exist."""
    name = f" `{operand.name}`" if isinstance(operand, Var) and operand.name else ""
    return UserError(
        f"the staged value{name} was used outside of the block that computes it",
        where=where,
        why="it was stored (in a list, an attribute, a global or an outer variable) in a branch, "
        "a loop, a function handed to a pattern, or another staged function",
        instead="return it from there, or assign it to a variable of the same function",
    )


def enter(new: Trace | None) -> Callable[[], None]:
    """Makes `new` the trace in progress; returns the function that restores the one before."""
    token = _current.set(new)
    return lambda: _current.reset(token)


def shape_operands(shape: Sequence[object]) -> tuple[Operand, ...]:
    """A type's shape as canonical size operands of the trace in progress."""
    t = trace()
    return tuple(t.canonical(size_operand(d)) for d in shape)  # type: ignore[arg-type]
