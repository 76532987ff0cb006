"""Arguments that a function writes to: `pm.jit(f, inout="a")`, or `pm.inout` at a parameter.

While staging, such an array is one that the function may write to (cells.py); what it holds at the
end is a hidden result of the program, which is copied into the argument's memory once the call has
succeeded. So nothing is written by a call that raises, nor by one that is done again by another
version. What cannot be written, or would change another argument, is refused when the call begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .arguments import Binder
from .cells import cell_of
from .dataclass import dataclass
from .errors import Limitation, ReadOnlyError, StagingTypeError
from .layouts import check_dtype, is_array, is_number_list, is_ready
from .locations import Location
from .nodes import Contiguous, Operand, Var
from .outputs import apart
from .pytree import flatten, paths, unflatten
from .reps import Rep


@dataclass(frozen=True, slots=True)
class Marked:
    """The arrays of a call that the function may write to, in the order of the parameters."""

    names: tuple[str, ...]
    arrays: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, binder: Binder, values: Sequence[Any]) -> Marked:
        """Raises StagingTypeError or Limitation for what is no array that can be written to,
        ReadOnlyError, and StagingTypeError for two arguments that share memory.
        """
        named: list[tuple[str, np.ndarray]] = []
        others: list[tuple[str, np.ndarray]] = []
        for k, (name, value) in enumerate(zip(binder.names, values, strict=True)):
            if k in binder.static:
                continue
            found = _leaves(value, name)
            arrays = [(n, leaf) for n, leaf in found if is_array(leaf)]
            if k not in binder.inout:
                others += arrays
                continue
            for leaf_name, leaf in found:
                _check_leaf(leaf, leaf_name, alone=len(found) == 1)
            named += arrays
        for k, (name, array) in enumerate(named):
            for other_name, other in (*named[k + 1 :], *others):
                _check_apart(name, array, other_name, other)
        return cls(tuple(n for n, _ in named), tuple(a for _, a in named))

    def check_apart(self, name: str, others: Sequence[object]) -> None:
        """StagingTypeError where other arrays of the call share memory with one of these."""
        for other in filter(is_array, others):
            for own_name, own in zip(self.names, self.arrays, strict=True):
                _check_apart(own_name, own, name, other)

    def write(self, places: Sequence[int], values: Sequence[Any]) -> None:
        """Copies what the program says that the arrays at these places hold."""
        for place, value in zip(places, values, strict=True):
            np.copyto(self.arrays[place], value)

    def without(self, result: object) -> object:
        """A result of plain Python, copied where it shares memory with one of the arrays."""
        leaves, tree = flatten(result)
        return unflatten(tree, [apart(leaf, self.arrays) for leaf in leaves])


def _leaves(value: object, name: str) -> list[tuple[str, object]]:
    """An argument's leaves, by their names."""
    if type(value) is np.ndarray:
        return [(name, value)]
    leaves, tree = flatten(value, is_number_list)
    return list(zip(paths(tree, name), leaves, strict=True))


def _check_leaf(leaf: object, name: str, alone: bool) -> None:
    if not is_array(leaf):
        if (alone and leaf is not None) or is_number_list(leaf):
            raise StagingTypeError(
                f"{name} is a {type(leaf).__name__}, where an array is written to (inout)",
                why="what is written must be seen in the caller's own array",
                instead="a NumPy array",
            )
        return
    if leaf.ndim == 0:
        raise Limitation(
            f"{name}, which is written to (inout), is an array without axes",
            why="it is passed as a number",
            instead=f"{name}.reshape(1)",
        )
    if not leaf.flags.writeable:
        raise ReadOnlyError(
            f"{name} is read-only, where an array is written to (inout)",
            instead="an array that may be written to",
        )
    if not is_ready(leaf):
        check_dtype(leaf.dtype, name)
        raise Limitation(
            f"{name}, which is written to (inout), is not aligned, or of another byte order",
            instead="np.require(...) or astype before the call",
        )
    if _overlaps_itself(leaf):
        raise StagingTypeError(
            f"elements of {name}, which is written to (inout), share memory",
            why="what they hold would depend on the order of the writes",
            instead=f"{name}.copy()",
        )


def _overlaps_itself(array: np.ndarray) -> bool:
    """Whether elements may lie on each other: an axis steps over less than those inside of it."""
    if array.flags.c_contiguous:
        return False
    reach = array.itemsize
    axes = [(abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    for stride, size in sorted(axes):
        if stride < reach:
            return True
        reach += stride * (size - 1)
    return False


def _check_apart(name: str, array: np.ndarray, other_name: str, other: np.ndarray) -> None:
    if np.may_share_memory(array, other) and _share(array, other):
        raise StagingTypeError(
            f"{name}, which is written to (inout), shares memory with {other_name}",
            why="a staged function takes its arguments for arrays apart from each other",
            instead=f"a copy for {other_name}",
        )


def _share(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an element of the one lies on one of the other; also where that is hard to tell."""
    try:
        return bool(cast(Any, np.shares_memory)(a, b, max_work=_WORK))
    except np.exceptions.TooHardError:
        return True


_WORK = 1_000_000  # candidates that NumPy looks at


# While staging.


def open_to_writes(rep: Rep, param: Var) -> None:
    """Lets the function write to an argument."""
    cell = cell_of(rep)
    assert cell is not None
    cell.given, cell.dense = False, Contiguous() in param.facts


def written(
    marked: Sequence[tuple[Rep, Var]], where: Location | None
) -> tuple[tuple[int, ...], list[Operand]]:
    """Which of the marked arrays the function has written to, and what they hold in the end.

    Limitation for one of which that is not known.
    """
    places: list[int] = []
    values: list[Operand] = []
    for place, (rep, param) in enumerate(marked):
        cell = cell_of(rep)
        assert cell is not None
        if cell.expired is not None:
            raise Limitation(
                f"what {param.name} holds in the end is not known",
                where=tuple(p for p in (cell.expired, where) if p is not None),
                why="what is written to there may be this array or another one: after a staged "
                "branch or loop, or where a reshape is a view for some strides only",
                instead=f"a write under the name {param.name}",
            )
        if cell.value is not param:
            places.append(place)
            values.append(cell.value)
    return tuple(places), values
