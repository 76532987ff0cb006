"""From an LLVM module's text to object code."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import llvmlite.binding as llvm

from .. import objects


def module(text: str, functions: Collection[str]) -> Any:
    """The optimised module, for reading (`str`, `objects.assembly`)."""
    objects.host()
    return objects.optimise(llvm.parse_assembly(text), functions)


def compile(text: str, functions: Collection[str]) -> objects.ObjectCode:
    """The object code of the module's functions with the native ABI."""
    return objects.emit(module(text, functions), functions)
