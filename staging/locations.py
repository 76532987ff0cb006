"""Where in the user's program something stands: file, line, columns."""

from __future__ import annotations

import inspect
import linecache
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

from .dataclass import dataclass

_ROOT = Path(__file__).resolve().parent.parent
_FOLDERS = ("staging", "patterns", "transforms", "codegen", "dsls", "parloom")
# Generated text has no file; its name begins with "<parloom".
_NUMPY = f"{Path(np.__file__).parent}/"
_OURS = (*(f"{_ROOT / folder}/" for folder in _FOLDERS), "<parloom")


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a user's source file; columns count characters from 0, `None` where unknown."""

    file: str
    line: int
    column: int | None = None
    end_column: int | None = None
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """The source line without its end, or "" when the source cannot be had."""
        return linecache.getline(self.file, self.line).rstrip()


_ours_cache: dict[str, bool] = {}


def is_ours(filename: str) -> bool:
    """Whether `filename` is part of parloom (its frames are hidden from the user).

    The package is reached through links (parloom/staging -> staging), so the resolved path decides.
    """
    known = _ours_cache.get(filename)
    if known is None:
        resolved = filename if filename.startswith("<") else str(Path(filename).resolve())
        known = _ours_cache[filename] = resolved.startswith(_OURS)
    return known


@cache
def _is_hidden(filename: str) -> bool:
    """Whether the file is part of parloom, or one of NumPy's own Python files."""
    return is_ours(filename) or filename.startswith(_NUMPY)


Positions = list[tuple[int | None, int | None, int | None, int | None]]

# By identity: Python computes the hash of code anew each time, from all of its constants.
_positions_cache: dict[int, tuple[CodeType, Positions]] = {}


def _frame_location(frame: FrameType) -> Location:
    code = frame.f_code
    known = _positions_cache.get(id(code))
    if known is None:
        known = _positions_cache[id(code)] = code, list(code.co_positions())
    positions = known[1]
    line, column, end_line, end_column = frame.f_lineno, None, None, None
    if 0 <= frame.f_lasti // 2 < len(positions):
        found, end_line, column, end_column = positions[frame.f_lasti // 2]
        line = found if found is not None else line
    if end_line != line:
        end_column = None
    return Location(code.co_filename, line, column, end_column, code.co_name)


def caller() -> Location:
    """The innermost frame outside parloom and outside NumPy's own Python files."""
    frame = inspect.currentframe()
    while frame is not None:
        if not _is_hidden(frame.f_code.co_filename):
            return _frame_location(frame)
        frame = frame.f_back
    return Location("<unknown>", 0)
