"""Tracebacks without parloom's frames: what is left are the user's lines.

Set PARLOOM_FULL_TRACEBACK=1 to keep all frames.
"""

from __future__ import annotations

import os
from types import TracebackType

from .locations import is_ours


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
