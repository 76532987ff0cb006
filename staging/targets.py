"""What a back end must offer to `pm.jit`, and the registry in which it is found by name.

The facade fills the registry with loaders: a target is made when it is used for the first time.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .errors import UnknownNameError
from .tracing import Traced


class Executable(Protocol):
    """A compiled program."""

    def __call__(self, arguments: Sequence[Any], into: Sequence[Any] = ()) -> Sequence[Any]:
        """The program's results for arguments in the order of its parameters: ndarrays and NumPy
        scalars. ShapeError where the arguments' sizes do not fit together.

        into : for each result None, or an array of its dtype and shape, contiguous and apart from
            all others, that the result may be, if nothing can raise once it is written to
        """
        ...

    def report(self) -> object:
        """What was done and why: the stages, the decisions, the generated text."""
        ...


class Target(Protocol):
    """A back end."""

    @property
    def name(self) -> str:
        """The name in `pm.jit(target=...)`."""
        ...

    def compile(self, traced: Traced, options: Mapping[str, object]) -> Executable:
        """Compiles a staged function; Limitation, before anything is printed, for what it cannot
        do.
        """
        ...


Loader = Callable[[], Target]

_loaders: dict[str, Loader] = {}
_loaded: dict[str, Target] = {}


def register(name: str, loader: Loader) -> None:
    """Makes a target known; `loader` runs when it is used for the first time."""
    _loaders[name] = loader
    _loaded.pop(name, None)


def find(name: str) -> Target:
    """The target of that name; UnknownNameError, with the nearest name, when there is none."""
    if name not in _loaded:
        if name not in _loaders:
            near = difflib.get_close_matches(name, _loaders, n=1)
            raise UnknownNameError(
                f"there is no target {name!r}",
                instead=f"did you mean {near[0]!r}?" if near else f"one of {', '.join(_loaders)}",
            )
        _loaded[name] = _loaders[name]()
    return _loaded[name]


def names() -> tuple[str, ...]:
    """The known targets."""
    return tuple(_loaders)
