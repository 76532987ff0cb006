"""Names for kernel text: the user's where there are any, unique, never a keyword or a builtin."""

from __future__ import annotations

import builtins
import keyword
from dataclasses import field

from ...staging.dataclass import dataclass
from ...staging.names import words

_TAKEN = {*keyword.kwlist, *dir(builtins), "np", "math"}


@dataclass(slots=True)
class KernelNames:
    """Hands out names for one kernel; all are visible everywhere in it.

    >>> names = KernelNames()
    >>> [names.fresh(hint) for hint in ("row", "row", "sum", "")]
    ['row', 'row_1', 'sum_1', 't']
    """

    used: set[str] = field(default_factory=lambda: set(_TAKEN))
    last: dict[str, int] = field(default_factory=dict[str, int])

    def fresh(self, hint: str, otherwise: str = "t") -> str:
        """A name that is not in use, as close to `hint` as possible."""
        base = words(hint).strip("_") or otherwise
        if base[0].isdigit():
            base = f"{otherwise}{base}"
        name, number = base, self.last.get(base, 0)
        while name in self.used:
            number += 1
            name = f"{base}_{number}"
        self.last[base] = number
        self.used.add(name)
        return name
