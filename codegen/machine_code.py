"""The machine code of a program, for reading.

It is made again from the text when it is asked for, by the passes and for the processor that made
what runs: the same bytes, whether that was compiled by this process or came from the disk cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from ..staging.dataclass import dataclass
from . import objects
from .cache import HIT
from .vectorisation import Loops, loops


@dataclass(frozen=True, slots=True)
class MachineCode:
    """What an LLVM module became.

    printer : who made the module's text, "llvm" or "numba"
    outcome : the disk cache's: "hit" if the code that runs was on disk, else why not
    module : the optimised module, new each time
    """

    printer: str
    outcome: str
    module: Callable[[], Any] = field(repr=False)

    @property
    def cached(self) -> bool:
        """Whether the code that runs was on disk."""
        return self.outcome == HIT

    def optimised(self) -> str:
        """The LLVM IR after all passes."""
        return str(self.module())

    def assembly(self) -> str:
        """The assembly."""
        return objects.assembly(self.module())

    def vectorised(self) -> Loops:
        """The loops that are left, and which of them are vectors."""
        return loops(self.optimised(), objects.symbol(""))

    def __str__(self) -> str:
        """Where the code came from, in one line."""
        made = "from the disk cache" if self.cached else f"compiled by this process: {self.outcome}"
        return f"printer {self.printer}, {made}"
