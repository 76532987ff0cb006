"""Running a program's sequential part: the text of host_text.py, and what its names stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from ...patterns.library import Routine, evaluate
from ...patterns.machine import bind_arguments
from ...patterns.semantics import check_inside, failed_check
from ...staging.errors import InternalError
from ...staging.locations import Location
from ...staging.nodes import Check, Program
from ...staging.primitives import POWER
from ..host_program import HostText
from ..plain import load
from . import memory

FILENAME = "<parloom host>"


Run = Callable[..., tuple[Any, ...]]


def load_host(host: HostText, program: Program) -> Run:
    """The function: arguments in the order of the program's parameters, arrays and NumPy scalars of
    their types; the results are new arrays and NumPy scalars.

    It raises what the program's checks raise, ShapeError where sizes do not fit together.
    """

    def check_arguments(*arguments: Any) -> NoReturn:
        bind_arguments(program, arguments)
        raise InternalError("the arguments' sizes do not fit together", where=())

    def fault(site: int, shape: tuple[int, ...] = (), *index: Any) -> NoReturn:
        op, sources = host.sites[site]
        if isinstance(op, Check):
            raise failed_check(op.kind, op.message, sources)
        check_inside(tuple(map(int, index)), shape, op.bounds, sources)
        raise InternalError("an index inside was found outside", where=sources)

    namespace = load(host.text, FILENAME)
    namespace |= host.launches
    namespace |= host.callbacks
    namespace |= {
        name: partial(call_library, routine, sources)
        for name, (routine, sources) in host.libraries.items()
    }
    namespace |= {
        "check_arguments": check_arguments,
        "copied": copied,
        "fault": fault,
        "owned": owned,
        "power": POWER.evaluate,
    }
    found: Run = namespace[host.name]
    return found


def with_launches(run: Run, launches: Mapping[str, Callable[..., Any]]) -> Run:
    """The same function, with other launches by some names."""
    return FunctionType(run.__code__, {**run.__globals__, **launches})


def call_library(routine: Routine, sources: tuple[Location, ...], *args: Any) -> tuple[Any, ...]:
    """A library's results; its failures name the user's lines."""
    return evaluate(routine, args, sources)


def copied(array: np.ndarray) -> np.ndarray:
    """A new array with the same elements."""
    return memory.copied(array, "a copy")


def owned(result: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The result, copied where it is one of the others: an argument, or another result."""
    return copied(result) if any(result is other for other in others) else result
