"""Parallel patterns over arrays and collections, and the interpreter that defines their meaning."""

if __name__ != "parloom.patterns":
    raise ImportError(f"import this as parloom.patterns, not {__name__}")

from . import (
    arrays,
    checks,
    comprehensions,
    eager,
    elementwise,
    lifting,
    numpy_api,
    reference,
    routines,
    syntax,
)

__all__ = [
    "arrays",
    "checks",
    "comprehensions",
    "eager",
    "elementwise",
    "lifting",
    "numpy_api",
    "reference",
    "routines",
    "syntax",
]
