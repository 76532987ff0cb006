"""Fixtures of the tests of code generation."""

from __future__ import annotations

from pathlib import Path

import pytest

from parloom.codegen import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's folder, not made yet; the cache's counts begin at 0."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(folder))
    monkeypatch.delenv("PARLOOM_CACHE", raising=False)
    monkeypatch.delenv("PARLOOM_CACHE_SIZE", raising=False)
    monkeypatch.setattr(cache, "_state", cache.State())
    return folder
