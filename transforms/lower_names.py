"""Names for kernel text: the user's where there are any, unique, never a keyword or a builtin."""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass, field

_TAKEN = {*keyword.kwlist, *dir(builtins), "np", "math"}


@dataclass(slots=True)
class Names:
    """Hands out names for one kernel.

    >>> names = Names(); names.fresh("row"), names.fresh("row"), names.fresh("sum"), names.fresh("")
    ('row', 'row_1', 'sum_1', 't')
    """

    used: set[str] = field(default_factory=lambda: set(_TAKEN))

    def fresh(self, hint: str, otherwise: str = "t") -> str:
        """A name that is not in use, as close to `hint` as possible."""
        base = re.sub(r"\W", "_", hint, flags=re.ASCII).strip("_") or otherwise
        if base[0].isdigit():
            base = f"{otherwise}{base}"
        name, count = base, 0
        while name in self.used:
            count += 1
            name = f"{base}_{count}"
        self.used.add(name)
        return name
