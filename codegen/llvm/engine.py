"""From an LLVM module's text to an optimised module."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from .. import objects
from ..llvm_binding import llvm


def module(text: str, functions: Collection[str]) -> Any:
    """The optimised module, for `objects.emit`, or for reading (`str`, `objects.assembly`)."""
    objects.host()
    return objects.optimise(llvm.parse_assembly(text), functions)
