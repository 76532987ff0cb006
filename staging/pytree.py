"""Nested values: tuples, lists, dicts with string keys, named tuples and dataclasses.

Everything else is a leaf: arrays, numbers, Reps, None, and whatever a user passes around.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from .dataclass import dataclass
from .errors import StagingTypeError


@dataclass(frozen=True, slots=True)
class Tree:
    """The structure without the leaves: hashable, equal for equal structures.

    kind : the class of the container, None for a leaf
    names : the keys or field names, for containers that have them
    """

    kind: type | None
    names: tuple[str, ...] = ()
    children: tuple[Tree, ...] = ()

    @property
    def leaves(self) -> int:
        """How many leaves the structure has."""
        return 1 if self.kind is None else sum(c.leaves for c in self.children)


LEAF = Tree(None)

IsLeaf = Callable[[object], bool]


def _never(value: object) -> bool:
    return False


def children(value: object) -> tuple[tuple[str, ...], Sequence[object]] | None:
    """The names (if any) and parts of a container; None for a leaf.

    Raises StagingTypeError for a dict whose keys are not all strings.

    >>> children({"a": 1}), children((1, 2)), children(3)
    ((('a',), [1]), ((), (1, 2)), None)
    """
    kind = type(value)
    if kind is tuple or kind is list:
        return (), cast(Sequence[object], value)
    if kind is dict:
        table = cast(dict[object, object], value)
        names = tuple(k for k in table if isinstance(k, str))
        if len(names) < len(table):
            raise StagingTypeError(
                "a dict with keys that are not strings cannot be staged",
                why="its keys become the field names of a record",
                instead="string keys, or a list of pairs",
            )
        return names, list(table.values())
    if issubclass(kind, tuple) and hasattr(value, "_fields"):
        return tuple(cast(Any, kind)._fields), cast("tuple[object, ...]", value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(f.name for f in dataclasses.fields(value))
        return names, [getattr(value, n) for n in names]
    return None


def flatten(value: object, is_leaf: IsLeaf = _never) -> tuple[list[object], Tree]:
    """The leaves in order, and the structure.

    >>> leaves, tree = flatten({"a": (1, 2), "b": [3]})
    >>> leaves, unflatten(tree, [10, 20, 30])
    ([1, 2, 3], {'a': (10, 20), 'b': [30]})
    """
    leaves: list[object] = []

    def go(value: object) -> Tree:
        parts = None if is_leaf(value) else children(value)
        if parts is None:
            leaves.append(value)
            return LEAF
        names, items = parts
        return Tree(type(value), names, tuple(map(go, items)))

    return leaves, go(value)


def unflatten(tree: Tree, leaves: Sequence[object]) -> object:
    """The value of structure `tree` with `leaves`."""
    supply = iter(leaves)
    return _build(tree, supply)


Part = Callable[[Sequence[Any]], object]


def assembler(tree: Tree, parts: Iterator[Part]) -> Part:
    """`unflatten` prepared for many calls: each leaf's part picks from what the function gets.

    >>> from operator import itemgetter
    >>> pair = flatten((1, {"a": 2}))[1]
    >>> assembler(pair, iter([itemgetter(1), itemgetter(0)]))([10, 20])
    (20, {'a': 10})
    """
    if tree.kind is None:
        return next(parts)
    children = [assembler(child, parts) for child in tree.children]
    return lambda values: _container(tree, [child(values) for child in children])


def _build(tree: Tree, supply: Iterator[object]) -> object:
    if tree.kind is None:
        return next(supply)
    return _container(tree, [_build(child, supply) for child in tree.children])


def _is_tuple(kind: type) -> bool:
    return issubclass(kind, tuple)


def _container(tree: Tree, items: list[object]) -> object:
    """The container with these items, which has the list for itself."""
    if tree.kind is tuple:
        return tuple(items)
    if tree.kind is list:
        return items
    if tree.kind is dict:
        return dict(zip(tree.names, items, strict=True))
    kind: Any = tree.kind
    if _is_tuple(kind):
        return kind(*items)
    made: object = object.__new__(kind)  # past __init__ and __post_init__: they ran already
    for name, item in zip(tree.names, items, strict=True):
        object.__setattr__(made, name, item)
    return made


def paths(tree: Tree, root: str) -> list[str]:
    """A readable name for each leaf, below `root`.

    >>> paths(flatten({"a": (1, 2), "b": 3})[1], "cfg")
    ['cfg_a_0', 'cfg_a_1', 'cfg_b']
    """
    if tree.kind is None:
        return [root]
    labels = tree.names or tuple(map(str, range(len(tree.children))))
    found: list[str] = []
    for label, child in zip(labels, tree.children, strict=True):
        found.extend(paths(child, f"{root}_{label}"))
    return found
