"""The disk cache: what it returns, what it refuses, and that nothing breaks it."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from parloom.codegen import cache
from parloom.codegen.objects import ObjectCode, host

CODE = ObjectCode(("init", "chunk"), b"machine code \0 of some kind")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(folder))
    monkeypatch.delenv("PARLOOM_CACHE", raising=False)
    return folder


class Builder:
    """Counts how often it had to build."""

    def __init__(self, code: ObjectCode = CODE) -> None:
        self.code = code
        self.built = 0

    def __call__(self) -> ObjectCode:
        self.built += 1
        return self.code


def entry(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


def test_an_entry_is_built_once(folder: Path) -> None:
    build = Builder()
    before = cache.info()
    assert [cache.fetch("k", build) for _ in range(3)] == [CODE] * 3
    after = cache.info()
    assert build.built == 1
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 1)
    assert after.folder == folder


def test_another_key_is_another_entry(folder: Path) -> None:
    other = ObjectCode(("f",), b"")
    cache.fetch("k", Builder())
    assert cache.fetch("l", Builder(other)) == other
    assert len(list(folder.iterdir())) == 2


def test_another_environment_is_another_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.fetch("k", Builder())
    monkeypatch.setattr(cache, "environment", lambda: "another processor")
    build = Builder()
    cache.fetch("k", build)
    assert build.built == 1


def test_the_environment_names_versions_and_processor() -> None:
    text = cache.environment()
    for word in ("python ", "numpy ", "numba ", "llvmlite ", "parloom ", host().cpu):
        assert word in text


def test_files_are_private_and_whole(folder: Path) -> None:
    cache.fetch("k", Builder())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600
    assert [p.suffix for p in folder.iterdir()] == [".plc"]


@pytest.mark.parametrize("cut", [0, 1, 8, 30, -33, -1])
def test_a_truncated_entry_is_rebuilt(folder: Path, cut: int) -> None:
    cache.fetch("k", Builder())
    path = entry(folder)
    path.write_bytes(path.read_bytes()[:cut])
    assert_rebuilt(folder)


@pytest.mark.parametrize("position", [0, 8, 12, 16, 30, -40, -1])
def test_a_corrupt_entry_is_rebuilt(folder: Path, position: int) -> None:
    cache.fetch("k", Builder())
    data = bytearray(entry(folder).read_bytes())
    data[position] ^= 1
    entry(folder).write_bytes(data)
    assert_rebuilt(folder)


def test_an_entry_of_another_version_is_rebuilt(folder: Path) -> None:
    cache.fetch("k", Builder())
    body = bytearray(entry(folder).read_bytes()[:-32])
    body[8] += 1
    entry(folder).write_bytes(bytes(body) + hashlib.sha256(body).digest())
    assert_rebuilt(folder)


def test_an_entry_under_another_name_is_rebuilt(folder: Path) -> None:
    cache.fetch("l", Builder())
    foreign = entry(folder)
    data = foreign.read_bytes()
    foreign.unlink()
    cache.fetch("k", Builder())
    entry(folder).write_bytes(data)
    assert_rebuilt(folder)


def assert_rebuilt(folder: Path) -> None:
    dropped = cache.info().dropped
    build = Builder()
    assert cache.fetch("k", build) == CODE
    assert build.built == 1
    assert cache.info().dropped == dropped + 1
    assert cache.fetch("k", build) == CODE
    assert build.built == 1


def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLOOM_CACHE", "0")
    assert_no_disk_cache("switched off by PARLOOM_CACHE=0")
    assert not folder.exists()


def test_a_folder_open_to_others_is_not_used(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    assert_no_disk_cache(f"{folder} has mode 755, not 700")


def test_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "target")
    assert_no_disk_cache(f"{folder} is not a folder")


def test_a_file_in_the_way_is_not_used(folder: Path) -> None:
    folder.touch()
    assert_no_disk_cache(f"{folder}: File exists")


def test_a_folder_of_another_user_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    assert_no_disk_cache(f"{folder} belongs to another user")


def assert_no_disk_cache(reason: str) -> None:
    build = Builder()
    cache.fetch("k", build)
    cache.fetch("k", build)
    assert build.built == 2
    assert (cache.info().folder, cache.info().reason) == (None, reason)


def test_a_full_disk_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cache.fetch("k", Builder()) == CODE
    assert cache.info().reason == "not written: No space left on device"
    assert list(folder.iterdir()) == []


def test_the_entries_unused_for_longest_go_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "LIMIT", 1_000_000)
    large = ObjectCode(("f",), bytes(400_000))
    paths: dict[str, Path] = {}
    for age, key in enumerate(("a", "b")):
        cache.fetch(key, Builder(large))
        [paths[key]] = set(folder.iterdir()) - set(paths.values())
        os.utime(paths[key], (age, age))
    cache.fetch("a", Builder(large))  # used last
    cache.fetch("c", Builder(large))
    assert paths["a"].exists()
    assert not paths["b"].exists()


WARM = """
import sys
import numpy as np
from parloom.codegen import cache, objects
from parloom.codegen.native import ArrayParam
from parloom.codegen.numba import engine
text = "def f(x):\\n    for i in range(x.shape[0]):\\n        x[i] = x[i] * 2.0\\n"
signatures = {"f": (ArrayParam(np.dtype(float), 1),)}
code = cache.fetch("double", lambda: engine.compile(text, signatures))
x = np.ones(3)
objects.load(code, signatures)["f"](x)
print(x.tolist(), "numba" in sys.modules, cache.info().hits)
"""


def test_a_fresh_process_runs_cached_code_without_numba(folder: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", WARM], check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    ]
    assert said == ["[2.0, 2.0, 2.0] True 0\n", "[2.0, 2.0, 2.0] False 1\n"]
