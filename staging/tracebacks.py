"""Tracebacks without parloom's frames: what is left are the user's lines.

Set PARLOOM_FULL_TRACEBACK=1 to keep all frames.
"""

from __future__ import annotations

import os
from collections import Counter
from types import TracebackType

from .locations import Location, is_ours


def trim(error: BaseException) -> None:
    """Takes parloom's frames out of the error's traceback, and out of those of its causes.

    To be called in an `except` block that ends with a bare `raise`, which adds no frame.
    """
    if os.environ.get("PARLOOM_FULL_TRACEBACK", "") in ("", "0"):
        seen: set[int] = set()
        current: BaseException | None = error
        while current is not None and id(current) not in seen:
            seen.add(id(current))
            current.__traceback__ = _users_frames(current.__traceback__)
            current = current.__cause__ or current.__context__


def repeated(error: RecursionError) -> Location | None:
    """The user's line that a recursion without end came to most often."""
    lines: Counter[tuple[str, int, str]] = Counter()
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_ours(code.co_filename):
            lines[code.co_filename, traceback.tb_lineno, code.co_name] += 1
        traceback = traceback.tb_next
    for (file, line, function), _ in lines.most_common(1):
        return Location(file, line, function=function)
    return None


def _users_frames(traceback: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while traceback is not None:
        if not is_ours(traceback.tb_frame.f_code.co_filename):
            kept.append(traceback)
        traceback = traceback.tb_next
    chain: TracebackType | None = None
    for entry in reversed(kept):
        chain = TracebackType(chain, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return chain
