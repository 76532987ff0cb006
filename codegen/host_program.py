"""A printed sequential part: the text, and what its names stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..patterns.library import Routine
from ..staging.dataclass import dataclass
from ..staging.locations import Location
from ..staging.nodes import Check, Effects, Index, PythonFunction, Stmt, Update
from ..staging.traversal import effects
from .runtime.launch import Launcher

Site = tuple[Check | Index | Update, tuple[Location, ...]]

LibraryCall = tuple[Routine, tuple[Location, ...]]

HELPERS = ("check_arguments", "copied", "fault", "owned", "power")


@dataclass(frozen=True, slots=True)
class HostText:
    """The text, the function's name in it, and what its other names stand for.

    sites : the statements that may raise, by the number that `fault` gets
    """

    text: str
    name: str
    launches: Mapping[str, Launcher]
    callbacks: Mapping[str, PythonFunction]
    libraries: Mapping[str, LibraryCall]
    sites: Sequence[Site]


def calls_back(stmt: Stmt) -> bool:
    """Whether the statement calls a function of the user's."""
    return bool(effects(stmt.op) & Effects.CALLBACK)
