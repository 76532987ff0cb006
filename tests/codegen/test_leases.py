"""Who holds the memory of an array: everything that refers to it, however it came to."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from parloom.codegen.runtime import memory
from parloom.codegen.runtime.memory import Store
from tests.codegen.blocks import LENGTH, SIZE, address, new


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The process's store, for one test; only its garbage is collected meanwhile."""
    made = Store(1 << 30)
    monkeypatch.setattr(memory, "_store", made)
    gc.freeze()
    yield made
    gc.unfreeze()


class Interface:
    """An object with NumPy's array interface that keeps its array alive."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Cycle:
    """An object that only the cyclic collector can free."""

    def __init__(self, held: object) -> None:
        self.held = held
        self.me = self


def generator(array: np.ndarray) -> Iterator[float]:
    yield array[0]
    yield array[1]


def begun(array: np.ndarray) -> Iterator[float]:
    made = generator(array)
    next(made)
    return made


HOLDERS: dict[str, Callable[[Any], object]] = {
    "array": lambda x: x,
    "slice": lambda x: x[5:9],
    "slice of a slice": lambda x: x[5:900][3:4],
    "row of a matrix": lambda x: x.reshape(2, -1).T[1:, :1],
    "other dtype": lambda x: x.view(np.uint8)[8:],
    "field": lambda x: x.view(np.complex128).imag,
    "subclass": lambda x: x.view(np.ma.MaskedArray),
    "broadcast": lambda x: np.broadcast_to(x, (3, LENGTH)),
    "windows": lambda x: sliding_window_view(x, 3),
    "flat": lambda x: x.flat,
    "iterator": iter,
    "nditer": lambda x: np.nditer(x),
    "memoryview": memoryview,
    "memoryview of a memoryview": lambda x: memoryview(memoryview(x))[3:4],
    "bytes of a memoryview": lambda x: memoryview(x).cast("B"),
    "frombuffer": lambda x: np.frombuffer(x, np.uint8, 8, 16),
    "ndarray over a buffer": lambda x: np.ndarray((3,), np.int16, x, 64),
    "array interface": lambda x: np.asarray(Interface(x)),
    "capsule": lambda x: x.__dlpack__(),
    "from_dlpack": lambda x: np.from_dlpack(x),
    "ctypes pointer": lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    "ctypes array": np.ctypeslib.as_ctypes,
    "pickle buffer": pickle.PickleBuffer,
    "base": lambda x: x.base,
    "view of the base": lambda x: np.frombuffer(x.base, np.uint8)[7:8],
    "pointer into the base": lambda x: ctypes.pointer(x.base),
    "copy of the base": lambda x: copy.copy(x.base),
    "list": lambda x: [[x]],
    "closure": lambda x: lambda: x,
    "generator": begun,
    "cycle": Cycle,
    "cycle of the base": lambda x: Cycle(x.base),
    "exception": lambda x: ValueError(x),
}


@pytest.mark.parametrize("how", HOLDERS)
def test_whoever_holds_any_part_keeps_all(store: Store, how: str) -> None:
    x = new()
    x[:] = 7.0
    first = address(x)
    holder = HOLDERS[how](x)
    del x
    gc.collect()
    assert (store.held, store.waiting) == (SIZE, 0)
    y = new()
    assert address(y) != first
    y[:] = 8.0
    assert store.held == 2 * SIZE
    del holder
    gc.collect()
    assert (store.held, store.waiting) == (SIZE, SIZE)
    assert address(new()) == first
    assert (store.hits, store.misses) == (1, 2)


def test_a_holder_still_sees_its_elements() -> None:
    x = new()
    x[:] = np.arange(LENGTH)
    part = x[10:20:3]
    view = memoryview(x)
    del x
    others = [new() for _ in range(5)]
    for y in others:
        y[:] = -1.0
    assert part.tolist() == [10.0, 13.0, 16.0, 19.0]
    assert view[LENGTH - 1] == LENGTH - 1


def test_a_weak_reference_does_not_hold(store: Store) -> None:
    x = new()
    gone = weakref.ref(x)
    del x
    assert gone() is None
    assert store.held == 0


class Phoenix:
    """What its finalizer brings back, after the cyclic collector found it unreachable."""

    saved: Any = None

    def __init__(self, held: object) -> None:
        self.held = held
        self.me = self

    def __del__(self) -> None:
        Phoenix.saved = self.held


def test_a_finalizer_may_bring_an_array_back(store: Store) -> None:
    x = new()
    x[:] = 3.0
    Phoenix(x.base)
    del x
    gc.collect()
    assert store.held == SIZE
    back = np.frombuffer(Phoenix.saved, np.float64, LENGTH)
    y = new()
    y[:] = 4.0
    assert back[0] == 3.0
    Phoenix.saved = None
    del back, y
    gc.collect()
    assert (store.held, store.waiting) == (0, 2 * SIZE)


def test_a_copy_or_a_pickle_holds_nothing(store: Store) -> None:
    x = new()
    x[:] = np.arange(LENGTH)
    others = [x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))]
    del x
    assert store.held == 0
    new()[:] = -1.0
    for y in others:
        assert y[-1] == LENGTH - 1
