"""Signatures: the short ways give what the definition gives; different kinds never share one."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from parloom.staging.arguments import Key, add_leaves, leaves_of, signature_of
from parloom.staging.errors import Limitation, StagingTypeError
from parloom.staging.types import Array


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass(frozen=True)
class Config:
    rate: Any
    note: str = ""


@dataclasses.dataclass(eq=False)
class Holder:
    items: list[int]


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Whole(int):
    pass


class Real(float):
    pass


class Grid(np.ndarray):
    pass


def unaligned(strided: bool = False) -> np.ndarray:
    """Elements that begin at odd addresses."""
    found = np.zeros(8 * 8 + 1, np.uint8)[1:].view(np.float64)
    assert not found.flags.aligned
    return found[::2] if strided else found


def read_only() -> np.ndarray:
    """An array that cannot be written."""
    found = np.ones(4)
    found.flags.writeable = False
    return found


DTYPES = "? b B h H i I l L q Q f d F D".split()
ARRAYS: list[Any] = [
    *(np.ones(3, code) for code in DTYPES),
    *(np.ones(3, f">{code}") for code in "hHiIlLqQfdFD"),
    *(np.ones(shape) for shape in [(0,), (1,), (2, 3), (1, 3), (2, 1), (1, 1), (0, 1), (2, 3, 4)]),
    *(np.ones((4, 4), code) for code in "fd"),
    np.ones((3, 2)).T,
    np.ones((2, 3), order="F"),
    np.ones(6)[::2],
    np.ones(6)[::-1],
    np.ones(6)[:1][::-1],
    np.broadcast_to(np.ones(3), (2, 3)),
    np.broadcast_to(np.ones(1), (4,)),
    np.ones(3).view(Grid),
    read_only(),
    unaligned(),
    unaligned(strided=True),
]
NUMBERS: list[Any] = [
    *(1, 0, -1, 2**63 - 1, -(2**63), True, False, 1.0, 0.0, -0.0, float("nan"), 1j, 0j),
    *(np.dtype(code).type(1) for code in DTYPES),
    *(np.array(1, code) for code in DTYPES),
    *(np.array(1, ">f8"), np.array(1.0).view(Grid), Whole(1), Real(1.0)),
]
OTHERS: list[Any] = [
    *(
        None,
        "1",
        b"1",
        np.sqrt,
        len,
        Colour.RED,
        Level.LOW,
        range(3),
        slice,
        int,
        float,
        np.dtype(int),
    ),
    *((1,), (True,), (1.0,), (np.float64(1),), (1, 2.0), (1, (2.0, None)), (), {}, []),
    *([1, 2], [1.0, 2], [[1, 2], [3, 4]], [True], [1j], [None], [1, "a"], [np.float32(1)]),
    *({"a": 1}, {"a": 1.0}, {"b": 1}, {"a": {"b": np.ones(2)}}, {"a": np.ones(2, "f")}),
    *(Point(1, 2.0), Point(1.0, 2.0), Config(1), Config(1.0), Config(True), Config(1, "a")),
    *((np.ones(3), "a"), (np.ones(3), "b"), (np.ones((3, 1)), "a")),
]
VALUES = [*ARRAYS, *NUMBERS, *OTHERS]


def short(value: Any) -> tuple[Key, list[Any]]:
    """The signature as a call finds it."""
    return signature_of((value,), ("x",), frozenset())


def defined(value: Any) -> tuple[Key, list[Any]]:
    """The signature as it is defined."""
    key: list[object] = []
    arguments: list[Any] = []
    add_leaves(value, "x", key, arguments)
    return tuple(key), arguments


def description(value: Any) -> object:
    """What a trace of the argument depends on."""
    leaves, tree = leaves_of(value, "x")
    found: list[object] = []
    for leaf in leaves:
        if leaf.type is None:
            static: object = leaf.value
            found.append(("static", type(static), repr(static)))
        elif isinstance(leaf.type, Array):
            ones = [size == 1 for size in leaf.value.shape]
            found.append((str(leaf.type.element), ones, leaf.value.flags.c_contiguous))
        else:
            found.append((str(leaf.type), leaf.truth))
    return tree, found


def name_of(value: Any) -> str:
    """The value for messages."""
    kind: type = type(value)
    if issubclass(kind, np.ndarray):
        return f"{kind.__name__} {value.dtype.str} {value.shape} {value.strides}"
    return repr(value)


@pytest.mark.parametrize("value", VALUES, ids=map(name_of, VALUES))
def test_the_short_way_gives_what_is_defined(value: Any) -> None:
    (key, arguments), (expected, wanted) = short(value), defined(value)
    assert key == expected
    assert hash(key) == hash(expected)
    assert len(arguments) == len(wanted)
    found: Any
    for found, argument in zip(arguments, wanted, strict=True):
        kind: type = type(argument)
        of_one_class = type(found) is kind
        assert of_one_class
        assert kind is np.ndarray or issubclass(kind, np.generic)
        np.testing.assert_array_equal(found, argument, strict=True)
        if kind is np.ndarray:
            assert found.flags.aligned
            assert found.dtype.isnative
            assert found.strides == argument.strides


def test_two_values_share_a_signature_where_a_trace_sees_no_difference() -> None:
    keys = [(short(value)[0], description(value), name_of(value)) for value in VALUES]
    for (key, seen, name), (other, others, its_name) in product(keys, keys):
        if key == other:
            assert seen == others, f"{name} and {its_name} share {key}"
        elif seen == others:  # at worst compiled twice: the classes of one dtype
            assert {type(part) for part in (*key, *other)} == {type}, f"{name} and {its_name}"


def test_arguments_do_not_run_into_each_other() -> None:
    values: list[Any] = [1, 1.0, np.ones(2), np.ones((2, 2)), "a", None, (1, 1.0), [1], {"a": 1}]
    found: dict[Key, object] = {}
    for count in range(4):
        for arguments in product(values, repeat=count):
            key, _ = signature_of(arguments, "xyz"[:count], frozenset())
            seen = repr([description(v) for v in arguments])
            assert found.setdefault(key, seen) == seen
    assert len(found) == 1 + 9 + 9**2 + 9**3


STATIC: list[Any] = [
    *(
        1,
        True,
        1.0,
        0.0,
        -0.0,
        1j,
        complex(0.0, -0.0),
        complex(0.0, 0.0),
        np.float64(1),
        np.int64(1),
    ),
    *(np.float32(0.0), np.float32(-0.0), np.bool_(True), "1", b"1", None, Colour.RED, Level.LOW),
    *((1,), (True,), (1.0,), ((1,),), ((True,),), (0.0,), (-0.0,), Point(1, 2), Point(1, 2.0)),
    *(
        frozenset([1]),
        frozenset([True]),
        frozenset([1.0]),
        frozenset([(0.0,)]),
        frozenset([(-0.0,)]),
    ),
    *(Config(1), Config(True), Config(1.0), Config((0.0,)), Config((-0.0,)), range(1), float, int),
]


def static_key(value: Any) -> Key:
    """The signature of a static argument."""
    return signature_of((value,), ("x",), frozenset([0]))[0]


def test_static_values_are_told_apart_by_type_and_bits() -> None:
    assert len({static_key(value) for value in STATIC}) == len(STATIC)


def test_equal_static_values_share_a_signature() -> None:
    makers: list[Callable[[], Any]] = [
        lambda: float("nan"),
        lambda: np.float32("nan"),
        lambda: (1, "a", float("nan")),
        lambda: Config((1, 2.0), "b"),
        lambda: Point(1, frozenset([2, 3])),
    ]
    for make in makers:
        assert static_key(make()) == static_key(make())


def test_objects_with_a_hash_of_their_own() -> None:
    one, two = Holder([1]), Holder([1])
    assert static_key(one) == static_key(one)
    assert static_key(one) != static_key(two)
    assert hash(static_key(one)) == hash(static_key(one))


REFUSED: list[tuple[Any, type[Exception]]] = [
    (np.array(["a"]), Limitation),
    (np.array([None]), Limitation),
    (np.zeros(2, "i4,f8"), Limitation),
    (np.ones(2, np.float16), Limitation),
    (np.ones(2, np.longdouble), Limitation),
    (np.array(["2020-01-01"], "M8[D]"), Limitation),
    (np.float16(1), Limitation),
    (np.ones(2, np.float64).view(np.ma.MaskedArray), Limitation),
    (np.ones((2, 2)).view(np.matrix), Limitation),
    (2**63, StagingTypeError),
    (-(2**63) - 1, StagingTypeError),
    ([[1], [1, 2]], StagingTypeError),
    ({1: 2}, StagingTypeError),
    ({1, 2}, StagingTypeError),
]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(("value", "error"), REFUSED, ids=[name_of(v) for v, _ in REFUSED])
def test_both_ways_refuse_the_same(value: Any, error: type[Exception]) -> None:
    for way in (short, defined):
        with pytest.raises(error):
            way(value)
