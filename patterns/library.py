"""Library calls: functions of whole arrays that a library computes (sorting, linear algebra, FFTs).

    op       ::=  "library" routine "of" "(" operands ")"
    routine  ::=  a record of patterns/routines/: the function's name and its static parameters

A routine is declared once, as a class: the shapes of its results, what computes them, whether it
may fail. The dtypes of its results are those of the function's own answer for arrays of one
element. In a program's sequential part it is called from the host; loops cannot call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np

from ..staging.checker import Checker, checks
from ..staging.dataclass import dataclass
from ..staging.errors import LinearAlgebraFailed
from ..staging.locations import Location
from ..staging.nodes import Effects, Op, Operand, operand_dim
from ..staging.records import read as read_record
from ..staging.records import text_of
from ..staging.syntax import Kind, form, kinds
from ..staging.types import INDEX, Array, Exists, Scalar, Type
from .machine import Machine, Places, Value, Values, evaluates

Dim = Any  # a size: an int, a variable, or Exists
Shape = tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Routine:
    """A library's function with its parameters: plain data.

    may_fail : whether it raises LinAlgError for some values
    counts : how many results, the first ones, are sizes of those that follow
    instead : what to write inside of a pattern's function, where it cannot be called
    """

    may_fail: ClassVar[bool] = False
    counts: ClassVar[int] = 0
    instead: ClassVar[str] = ""

    def shapes(self, *args: Operand) -> tuple[Shape, ...]:
        """The shape of each result, () for a number."""
        raise NotImplementedError(type(self).__name__)

    def run(self, *args: Any) -> Any:
        """What it computes: an array or a number, or a tuple of them."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, slots=True)
class Library(Op):
    """`routine` of whole arrays and of numbers; its results are new arrays."""

    routine: Routine
    args: tuple[Operand, ...]
    makes_arrays: ClassVar[bool] = True

    @property
    def effects(self) -> Effects:
        return Effects.LIBRARY | (Effects.FAULT if self.routine.may_fail else Effects.NONE)

    def signature(self) -> tuple[Type, ...]:
        kinds = tuple(_kind(a.type) for a in self.args)
        shapes = self.routine.shapes(*self.args)
        elements = [INDEX] * self.routine.counts + [
            Scalar(dtype) for dtype in result_dtypes(self.routine, kinds)[self.routine.counts :]
        ]
        return tuple(
            Array(element, shape) if shape else element
            for element, shape in zip(elements, shapes, strict=True)
        )


def _kind(type_: Type) -> tuple[np.dtype[Any], int]:
    return (type_.element.dtype, type_.rank) if isinstance(type_, Array) else (type_.dtype, 0)


@cache
def result_dtypes(
    routine: Routine, kinds: tuple[tuple[np.dtype[Any], int], ...]
) -> tuple[np.dtype[Any], ...]:
    """The dtypes of the results for arguments of these dtypes and ranks."""
    samples = [np.ones((1,) * rank, dtype)[...] if rank else dtype.type(1) for dtype, rank in kinds]
    return tuple(value.dtype for value in evaluate(routine, samples, ()))


def evaluate(routine: Routine, args: Sequence[Any], where: tuple[Location, ...]) -> Values:
    """The results, as new arrays without gaps and NumPy scalars.

    Raises LinearAlgebraFailed, at the user's lines, where NumPy raises LinAlgError.
    """
    found: Any
    try:
        with np.errstate(all="ignore"):
            found = routine.run(*args)
    except np.linalg.LinAlgError as error:
        raise LinearAlgebraFailed(str(error), where=where) from None
    many: Any = cast(Any, found) if isinstance(found, tuple) else (found,)
    return tuple(_result(value) for value in many)


def _result(value: Any) -> Value:
    array = np.asarray(value)
    return np.ascontiguousarray(array) if array.ndim else array[()]


def shape_of(operand: Operand) -> Shape:
    """The sizes of an array operand, () for a number."""
    return operand.type.shape if isinstance(operand.type, Array) else ()


def size_of(operand: Operand) -> Dim:
    """A size that is an argument, as a dimension."""
    return operand_dim(operand)


def replaced(shape: Shape, axis: int, *dims: Dim) -> Shape:
    """The shape with other dimensions in the place of an axis.

    >>> replaced((2, 3, 4), -1, 5, 6)
    (2, 3, 5, 6)
    """
    at = axis % len(shape)
    return (*shape[:at], *dims, *shape[at + 1 :])


kinds[Routine] = Kind(
    lambda p, routine, _: p.text(text_of(routine)), lambda p, _: read_record(p, Routine)
)
form(Library, "library {routine} of ({args})")


@checks(Library)
def _library(checker: Checker, op: Library) -> None:
    """Sizes among the results come first, and the shapes name no later one."""
    shapes = op.routine.shapes(*op.args)
    counts = op.routine.counts
    checker.require(all(not s for s in shapes[:counts]), "a size among a library's results is none")
    later = [d for s in shapes for d in s if isinstance(d, Exists) and d.binder >= counts]
    checker.require(not later, "a library's result has a size that is none of its results")


@evaluates(Library)
def _evaluate(machine: Machine, op: Library, where: Places) -> Values:
    return evaluate(op.routine, [machine.value(a) for a in op.args], where)
