"""The disk cache: what it returns, and entries that it refuses."""

from __future__ import annotations

import ast
import hashlib
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parloom.codegen import cache, environment
from parloom.codegen.byte_counts import readable
from parloom.codegen.cache_entry import Unusable
from parloom.codegen.cpu.code import MAKERS
from parloom.codegen.objects import host
from tests.codegen.caches import CODE, Builder, as_it_is, entry, fetch

# Hits and misses.


def test_an_entry_is_built_once(folder: Path) -> None:
    build = Builder()
    assert [fetch("k", build).value for _ in range(3)] == [CODE] * 3
    info = cache.info()
    assert build.built == 1
    assert (info.hits, info.misses, info.why) == (2, 1, {"new": 1})
    assert (info.folder, info.entries, info.cap) == (folder, 1, 256 << 20)
    assert info.bytes == entry(folder).stat().st_size


def test_another_key_or_kind_is_another_entry(folder: Path) -> None:
    fetch("k")
    assert fetch("l", Builder(b"")).value == b""
    assert cache.fetch("other", "k", Builder(b"other"), as_it_is).value == b"other"
    assert len(list(folder.iterdir())) == 3


def test_the_answer_is_what_load_makes_of_the_bytes(folder: Path) -> None:
    found = [cache.fetch("code", "k", Builder(), len) for _ in range(2)]
    assert [(f.value, f.hit) for f in found] == [(len(CODE), False), (len(CODE), True)]


def test_the_report_reads_well(folder: Path) -> None:
    for _ in range(2):
        fetch("k")
    info = cache.info()
    assert str(info) == (
        f"disk cache {folder}: 1 entries, {readable(info.bytes)} of 256.0 MiB\n"
        "this process: 1 hits, 1 misses\n"
        "  code: 1 hit\n"
        "  code: 1 new"
    )
    assert repr(info) == "<CacheInfo: 1 hits, 1 misses; print shows it>"


@pytest.mark.parametrize("name", ["python", "numpy", "numba", "llvmlite", "parloom", "processor"])
def test_another_environment_is_another_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fetch("k")
    elsewhere = {**environment.environment(), name: "another"}

    def changed(_: object) -> dict[str, str]:
        return elsewhere

    monkeypatch.setattr(cache, "environment", changed)
    assert fetch("k").outcome == f"other {name}"
    assert fetch("k").hit
    monkeypatch.undo()
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(folder))
    assert fetch("k").hit  # both are kept


def test_the_environment_names_versions_and_processor() -> None:
    found = environment.environment()
    assert list(found) == ["python", "numpy", "numba", "llvmlite", "parloom", "processor"]
    assert host().cpu in found["processor"]


def test_each_folder_of_the_source_has_its_part() -> None:
    digests = {environment.source_digest((folder,)) for folder in environment.FOLDERS}
    assert len({*digests, environment.source_digest(environment.FOLDERS)}) == 6
    assert environment.source_digest(("codegen",)) in digests


def test_the_source_that_makes_an_entry_is_part_of_it(folder: Path) -> None:
    cache.fetch("code", "k", Builder(), as_it_is, ("codegen",))
    assert fetch("k").outcome == "other parloom"
    assert cache.fetch("code", "k", Builder(), as_it_is, ("codegen",)).hit


@pytest.mark.parametrize("module", ["objects", "native", "llvm/engine", "numba/engine"])
def test_what_makes_machine_code_of_a_text_is_in_its_key(module: str) -> None:
    """Whatever it imports of ours stands in the folders whose digest is."""
    seen: set[Path] = set()
    waiting = [ROOT / "codegen" / f"{module}.py"]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += imported(path)
    assert ROOT / "codegen" / "native.py" in seen
    assert {path.relative_to(ROOT).parts[0] for path in seen} <= set(MAKERS)


ROOT = Path(__file__).parents[2]


def imported(path: Path) -> list[Path]:
    """The modules of ours that a module imports, at its head or within."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            names = [base / name.name for name in node.names]
            found += [p.with_suffix(".py") for p in (base, *names) if p.with_suffix(".py").exists()]
    return found


def test_files_are_private_and_whole(folder: Path) -> None:
    fetch("k")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600
    assert entry(folder).name.endswith(".code.plc")


def test_a_build_that_raises_leaves_nothing(folder: Path) -> None:
    def fails() -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fetch("k", fails)
    assert list(folder.iterdir()) == []


# Entries of no use.


@pytest.mark.parametrize("cut", [0, 1, 8, 30, 200, -33, -1])
def test_a_truncated_entry_is_rebuilt(folder: Path, cut: int) -> None:
    fetch("k")
    path = entry(folder)
    path.write_bytes(path.read_bytes()[:cut])
    assert_rebuilt("corrupt: ")


def test_an_entry_that_is_wrong_in_any_byte_is_rebuilt(folder: Path) -> None:
    fetch("k")
    whole = entry(folder).read_bytes()
    for position in range(0, len(whole), 7):
        data = bytearray(whole)
        data[position] ^= 0x10
        entry(folder).write_bytes(data)
        other_format = 8 <= position < 12
        assert_rebuilt("other format" if other_format else "corrupt: ")


def test_an_entry_of_another_format_is_rebuilt(folder: Path) -> None:
    fetch("k")
    body = bytearray(entry(folder).read_bytes()[:-32])
    body[8] += 1
    entry(folder).write_bytes(bytes(body) + hashlib.sha256(body).digest())
    assert_rebuilt("other format: 3, not 2")


def test_an_entry_under_another_name_is_rebuilt(folder: Path) -> None:
    fetch("l")
    foreign = entry(folder)
    data = foreign.read_bytes()
    foreign.unlink()
    fetch("k")
    entry(folder).write_bytes(data)
    assert_rebuilt("corrupt: the entry of something else")


def test_an_entry_that_cannot_be_loaded_is_rebuilt(folder: Path) -> None:
    def load(data: bytes) -> bytes:
        if data == b"old":
            raise Unusable("it needs a symbol")
        return data

    fetch("k", Builder(b"old"))
    found = cache.fetch("code", "k", Builder(b"new"), load)
    assert (found.value, found.outcome) == (b"new", "it needs a symbol")
    assert cache.fetch("code", "k", Builder(), load).value == b"new"


def test_what_cannot_be_loaded_is_not_kept(folder: Path) -> None:
    def load(data: bytes) -> bytes:
        raise Unusable("it needs a symbol")

    with pytest.raises(Unusable):
        cache.fetch("code", "k", Builder(), load)
    assert list(folder.iterdir()) == []


def test_a_link_in_the_place_of_an_entry_is_not_followed(folder: Path, tmp_path: Path) -> None:
    fetch("k")
    path = entry(folder)
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert_rebuilt("unreadable: ")
    assert (tmp_path / "moved").exists()


def test_a_pipe_in_the_place_of_an_entry_is_not_waited_for(folder: Path) -> None:
    fetch("k")
    path = entry(folder)
    path.unlink()
    os.mkfifo(path)
    assert_rebuilt("corrupt: no regular file")


def test_an_entry_of_another_user_is_not_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch("k")
    foreign = entry(folder).stat().st_ino
    real = os.fstat

    def fstat(file: int) -> Any:
        status = real(file)
        if status.st_ino != foreign:
            return status
        return SimpleNamespace(st_mode=status.st_mode, st_uid=status.st_uid + 1)

    monkeypatch.setattr(os, "fstat", fstat)
    found = fetch("k")
    assert (found.value, found.outcome) == (CODE, "unreadable: it belongs to another user")


def assert_rebuilt(reason: str) -> None:
    build = Builder()
    found = fetch("k", build)
    assert found.value == CODE
    assert build.built == 1
    assert found.outcome.startswith(reason)
    assert fetch("k", build).hit
    assert build.built == 1
