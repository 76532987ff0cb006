"""Asking the disk cache, in tests; its folder is a fixture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from parloom.codegen import cache

CODE = b"machine code \0 of some kind"
LARGE = bytes(400_000)


class Builder:
    """Counts how often it had to build."""

    def __init__(self, code: bytes = CODE) -> None:
        self.code = code
        self.built = 0

    def __call__(self) -> bytes:
        self.built += 1
        return self.code


def as_it_is(data: bytes) -> bytes:
    """Loads nothing."""
    return data


def fetch(key: str, build: Callable[[], bytes] | None = None) -> cache.Fetched[bytes]:
    """Asks for an entry."""
    return cache.fetch("code", key, build or Builder(), as_it_is)


def entry(folder: Path) -> Path:
    """The only file."""
    [path] = folder.iterdir()
    return path
