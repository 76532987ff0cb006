"""`out=`: the user's arrays that a call's results are written to.

Everything that can be wrong with them is found before anything is written: what the program's
types say before it runs, sizes that it computes when it is done. Results are computed first and
copied then, so that an array may overlap the arguments. Where nothing speaks against it, a target
may write to the array itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .dataclass import dataclass
from .errors import ReadOnlyError, ShapeError, StagingTypeError
from .nodes import Program, Var
from .pytree import Tree, children, flatten, unflatten
from .types import Array, Type

Given = np.ndarray | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the user gave for each leaf of the result, None where an array is to be made.

    tree : the result's structure
    names : what to call each in messages: "out", "out[1]", "out['total']"
    """

    tree: Tree
    names: tuple[str, ...]
    arrays: tuple[Given, ...]

    @classmethod
    def of(cls, out: object, tree: Tree) -> Outputs:
        """Raises StagingTypeError where the structure is not the result's, or holds no array."""
        found = list(matched(out, tree, "out"))
        return cls(tree, tuple(name for name, _ in found), tuple(array for _, array in found))

    def check(self, found: Sequence[Expected | None]) -> None:
        """Raises StagingTypeError, ShapeError or ReadOnlyError, for the first array that does not
        fit; None is a leaf that is no array."""
        for name, array, expected in zip(self.names, self.arrays, found, strict=True):
            if array is None:
                continue
            if expected is None:
                raise StagingTypeError(
                    f"{name} is an array, where the result has none", instead="None there"
                )
            check_array(array, name, expected)

    def direct(self, found: Sequence[Expected | None], arguments: Sequence[Any]) -> Sequence[Given]:
        """The arrays that a target may write to: contiguous, apart from each other and from the
        arguments. None of them if the size of another one is not known: it may not fit."""
        pairs = [(a, e) for a, e in zip(self.arrays, found, strict=True) if a is not None]
        if any(e is None or None in e.shape for _, e in pairs):
            return [None] * len(self.arrays)
        given = [array for array, _ in pairs]
        others: list[np.ndarray] = [x for x in arguments if isinstance(x, np.ndarray)]
        return [
            None if array is None or not is_free(array, given, others) else np.asarray(array)
            for array in self.arrays
        ]

    def deliver(self, values: Sequence[Any], written: Sequence[Given] = ()) -> Any:
        """Writes the values; the user's result, in which each array that was given stands itself.

        A value that is the one of `written` is there already; another one that shares memory with
        one of the arrays is copied before.
        """
        self.check([expected_value(value) for value in values])
        given = [array for array in self.arrays if array is not None]
        results: list[Any] = []
        waiting: list[tuple[np.ndarray, Any]] = []
        for k, (value, array) in enumerate(zip(values, self.arrays, strict=True)):
            if array is None:
                results.append(apart(value, given))
                continue
            results.append(array)
            if not written or value is not written[k]:
                waiting.append((array, apart(value, given)))
        for array, value in waiting:
            np.copyto(array, value)
        return unflatten(self.tree, results)


def deliver(out: object, result: object) -> Any:
    """Writes a finished result to `out`; what the user sees."""
    values, tree = flatten(result)
    return Outputs.of(out, tree).deliver(values)


@dataclass(frozen=True, slots=True)
class Expected:
    """The dtype and shape of a result; None for a size that is not known yet."""

    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]


def expected_value(value: object) -> Expected | None:
    """What an array for a finished value must be; None for a value that is no number."""
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        return None
    array = np.asarray(cast(Any, value))
    return Expected(array.dtype, array.shape)


def expected_result(type_: Type, sizes: dict[Var, int]) -> Expected:
    """What an array for a result of that type must be, as far as the sizes are known."""
    if not isinstance(type_, Array):
        return Expected(type_.dtype, ())
    shape = tuple(
        dim if isinstance(dim, int) else sizes.get(dim) if isinstance(dim, Var) else None
        for dim in type_.shape
    )
    return Expected(type_.element.dtype, shape)


def sizes_of(program: Program, arguments: Sequence[Any]) -> dict[Var, int]:
    """The sizes that the arguments have."""
    found: dict[Var, int] = {}
    for param, argument in zip(program.params, arguments, strict=True):
        if isinstance(param.type, Array):
            for dim, size in zip(param.type.shape, argument.shape, strict=True):
                if isinstance(dim, Var):
                    found[dim] = size
    return found


def matched(out: object, tree: Tree, name: str) -> list[tuple[str, Given]]:
    """Name and array for each leaf of `tree`."""
    if out is None or tree.kind is None:
        if out is not None and not isinstance(out, np.ndarray):
            raise StagingTypeError(f"{name} is {described(out)}, not an array")
        array = cast("np.ndarray | None", out)
        return [(name, array)] * tree.leaves
    parts = children(out)
    if parts is None or type(out) is not tree.kind or len(parts[1]) != len(tree.children):
        raise StagingTypeError(
            f"{name} is {described(out)}, where the result is a {tree.kind.__name__} of "
            f"{len(tree.children)}",
            why="each array of the result has its place in out",
            instead="an array, or None, for each of them",
        )
    names, items = parts
    if names != tree.names:
        raise StagingTypeError(
            f"{name} has {', '.join(names)}, where the result has {', '.join(tree.names)}"
        )
    found: list[tuple[str, Given]] = []
    for k, (item, child) in enumerate(zip(items, tree.children, strict=True)):
        found += matched(item, child, part_name(name, tree, k))
    return found


def described(out: object) -> str:
    """A value in few words."""
    parts = children(out)
    return f"a {type(out).__name__}" + ("" if parts is None else f" of {len(parts[1])}")


def part_name(name: str, tree: Tree, k: int) -> str:
    """How Python reaches part `k`."""
    if not tree.names:
        return f"{name}[{k}]"
    return f"{name}[{tree.names[k]!r}]" if tree.kind is dict else f"{name}.{tree.names[k]}"


def check_array(array: np.ndarray, name: str, expected: Expected) -> None:
    """Raises what is wrong with an array for a result."""
    if isinstance(array, np.matrix | np.ma.MaskedArray):
        raise StagingTypeError(
            f"{name} is a {type(array).__name__}", instead="an ordinary array: np.asarray(...)"
        )
    if array.dtype != expected.dtype:
        raise StagingTypeError(
            f"{name} has dtype {array.dtype}, the result {expected.dtype}",
            why="results are written as they are",
            instead=f"an array of {expected.dtype}, or a conversion inside of the function",
        )
    fits = array.ndim == len(expected.shape) and all(
        size in (None, found) for found, size in zip(array.shape, expected.shape, strict=True)
    )
    if not fits:
        sizes = ["?" if size is None else str(size) for size in expected.shape]
        wanted = f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
        raise ShapeError(f"{name} has shape {array.shape}, the result {wanted}")
    if not array.flags.writeable:
        raise ReadOnlyError(f"{name} is read-only", instead="an array that may be written to")


def is_free(array: np.ndarray, given: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    """Whether a target may write to the array, one of `given`."""
    apart_from = [*(x for x in given if x is not array), *others]
    return (
        array.flags.c_contiguous
        and array.flags.aligned
        and sum(x is array for x in given) == 1
        and not any(np.may_share_memory(array, other) for other in apart_from)
    )


def apart(value: Any, given: Sequence[np.ndarray]) -> Any:
    """The value, copied where one of the arrays shares memory with it."""
    if not isinstance(value, np.ndarray):
        return value
    array = cast(np.ndarray, value)
    return array.copy() if any(np.may_share_memory(array, other) for other in given) else array
