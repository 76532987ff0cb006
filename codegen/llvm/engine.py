"""From an LLVM module's text to an optimised module."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Generator
from typing import Any

from .. import objects
from ..llvm_binding import llvm


def module(text: str, functions: Collection[str]) -> Any:
    """The optimised module, for `objects.emit`, or for reading (`str`, `objects.assembly`)."""
    objects.host()
    with _any_strides():
        return objects.optimise(llvm.parse_assembly(text), functions)


@contextlib.contextmanager
def _any_strides() -> Generator[None]:
    """While it is open, LLVM makes no version of each loop for strides of one element: the text has
    functions for these, and a loop over a few lanes has no place for the test.
    """
    llvm.set_option("parloom", "-enable-mem-access-versioning=false")
    try:
        yield
    finally:
        llvm.set_option("parloom", "-enable-mem-access-versioning=true")
