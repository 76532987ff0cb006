"""Our dataclass decorator means what the standard one does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import weakref
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from parloom.staging import dataclass as module

ours: Any = module.dataclass
theirs: Any = dataclasses.dataclass

OPTIONS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
    {"slots": True, "eq": False},
]


def make(decorator: Any, options: dict[str, bool]) -> tuple[type[Any], type[Any]]:
    """The same two classes by either decorator."""

    class Base:
        """A base."""

        first: int
        kind: ClassVar[str] = "base"

        def double(self) -> int:
            """A method."""
            return 2 * self.first

    base = decorator(**options)(Base)

    class Derived(base):  # type: ignore[valid-type, misc]
        """A derived class."""

        second: str = "two"
        third: list[int] = field(default_factory=list[int])
        hidden: float = field(default=0.5, repr=False, compare=False)
        later: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "later", self.first + 1)

    return base, decorator(**options)(Derived)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_instances_behave_alike(options: dict[str, bool]) -> None:
    seen = [behaviour(make(decorator, options)[1]) for decorator in (ours, theirs)]
    assert seen[0] == seen[1]


def behaviour(cls: type[Any]) -> list[object]:
    """What can be seen of a class from outside."""
    one, two, other = cls(1, "b", [3]), cls(1, second="b", third=[3], hidden=0.75), cls(2)
    plain = cls(5)
    found: list[object] = [
        [f.name for f in dataclasses.fields(cls)],
        one == two,
        one == other,
        one != other,
        one == 1,
        other.third,
        other.third is cls(2).third,
        one.later,
        one.double(),
        cls.kind,
        cls.__match_args__,
        cls.__doc__,
        cls.__qualname__,
        dataclasses.replace(one, first=7).later,
        dataclasses.asdict(one),
        hasattr(one, "__dict__"),
        repr(one).partition(" object at ")[0],
        outcome(lambda: hash(cls(1, "b", ()))),
        outcome(lambda: setattr(plain, "first", 9)),
        outcome(lambda: delattr(plain, "first")),
        outcome(lambda: cls()),
        outcome(lambda: cls(1, 2, 3, 4, 5, 6)),
    ]
    return found


def outcome(action: Callable[[], object]) -> object:
    """What it gives, or how it fails; a hash by identity only as such."""
    try:
        result = action()
    except Exception as error:  # noqa: BLE001 - the kind is compared
        return FrozenInstanceError if isinstance(error, FrozenInstanceError) else type(error)
    return "number" if isinstance(result, int) else result


@module.dataclass(frozen=True, slots=True, weakref_slot=True)
class Point:
    """At the top level, where pickle finds it."""

    x: int
    y: int = 0


def test_frozen_slots_can_be_copied_pickled_and_referred_to_weakly() -> None:
    point = Point(1, 2)
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert weakref.ref(point)() is point


def test_a_frozen_instance_names_the_field() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        Point(1).x = 3  # type: ignore[misc]
