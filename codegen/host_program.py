"""A printed sequential part: the text, and what its names stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..staging.dataclass import dataclass
from ..staging.locations import Location
from ..staging.nodes import Check, Index, PythonFunction, Update
from .runtime.launch import Launcher

Site = tuple[Check | Index | Update, tuple[Location, ...]]

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
    sites: Sequence[Site]
