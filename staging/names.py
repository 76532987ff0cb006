"""Names for variables: the user's hint where there is one, unique among all that are visible."""

from __future__ import annotations

import re
from collections.abc import Container, Generator
from contextlib import contextmanager

from .literals import LITERAL
from .nodes import Var
from .syntax import is_reserved

_INDICES = "ijklmn"


class Names:
    """Names given out in the order of the text, so that equal programs get equal names.

    A hint that is taken gets a numeric suffix. Names may come again in sibling blocks, never in a
    nested one. Variables without a hint are t1, t2, ..., indices without one i, j, k, ...
    """

    def __init__(self) -> None:
        self._of: dict[Var, str] = {}
        self._visible: dict[str, None] = {}
        self._anonymous = 0

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Names declared inside are free again afterwards."""
        before = len(self._visible)
        yield
        while len(self._visible) > before:
            self._visible.popitem()

    def of(self, var: Var) -> str:
        """The variable's name; one that was not declared is free and gets a name now."""
        return self._of[var] if var in self._of else self.declare(var)

    def declare(self, var: Var, is_index: bool = False) -> str:
        """Gives the variable a name for the rest of the scope."""
        hint = _identifier(var.name)
        if hint:
            name = self._free(hint)
        elif is_index:
            name = next((c for c in _INDICES if c not in self._visible), "") or self._free("i")
        else:
            name = self._numbered()
        self._visible[name] = None
        self._of[var] = name
        return name

    def _free(self, hint: str) -> str:
        return numbered(hint, self._visible)

    def _numbered(self) -> str:
        name = ""
        while not name or name in self._visible:
            self._anonymous += 1
            name = f"t{self._anonymous}"
        return name


def numbered(name: str, taken: Container[str], first: int = 2) -> str:
    """The name, where it is taken with the first number behind it that is free, from `first` on.

    >>> numbered("row", {"row", "row_2"})
    'row_3'
    """
    found, number = name, first
    while found in taken:
        found = f"{name}_{number}"
        number += 1
    return found


def words(hint: str) -> str:
    """The hint with nothing but ASCII letters, digits and underscores."""
    return re.sub(r"\W", "_", hint, flags=re.ASCII)


def _identifier(hint: str) -> str:
    """The hint as a name that is no word and no literal of the grammar, "" for none."""
    name = words(hint)
    if not name.strip("_"):
        return ""
    if name[0].isdigit():
        name = f"v{name}"
    return f"{name}_" if is_reserved(name) or LITERAL.fullmatch(name) else name
