"""Numbers of bytes, as settings say them and as people read them."""

from __future__ import annotations

import math

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def bytes_of(setting: int | str, name: str) -> int:
    """A number of bytes: an integer, or a text with K, M, G or T behind a number.

    name : what is set, for the error

    >>> bytes_of("512M", "memory"), bytes_of("1.5G", "memory"), bytes_of(4096, "memory")
    (536870912, 1610612736, 4096)
    """
    text = str(setting).strip().upper()
    number, unit = (text[:-1], _UNITS[text[-1]]) if text[-1:] in _UNITS else (text, 1)
    try:
        size = float(number) * unit
    except ValueError:
        size = math.nan
    if not 0 <= size < math.inf:
        raise ValueError(f"{name} must be a number of bytes such as 2**30 or '1G', not {setting!r}")
    return int(size)


def readable(size: int) -> str:
    """A number of bytes for people.

    >>> readable(512), readable(83886080)
    ('512 B', '80.0 MiB')
    """
    value, unit = float(size), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"
