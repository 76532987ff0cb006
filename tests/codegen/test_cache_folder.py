"""The folder of the disk cache: where it is, what it must be, and what happens when it is full."""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from parloom.codegen import cache, cache_folder
from tests.codegen.caches import CODE, LARGE, Builder, fetch

# Folders of no use.


def test_it_can_be_switched_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLOOM_CACHE", "0")
    assert_no_disk_cache("switched off by PARLOOM_CACHE=0", warns=False)
    assert not folder.exists()


@pytest.mark.parametrize("mode", [0o755, 0o720, 0o777, 0o500])
def test_a_folder_open_to_others_is_not_used(folder: Path, mode: int) -> None:
    folder.mkdir()
    folder.chmod(mode)
    assert_no_disk_cache(f"{folder} has mode {mode:o}, not 700: chmod 700 lets parloom use it")


def test_the_bit_that_new_folders_inherit_does_no_harm(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o2700)
    fetch("k")
    assert fetch("k").hit


def test_a_link_is_not_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "target").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "target")
    assert_no_disk_cache(f"{folder} is a link, not a folder")


def test_a_link_to_nothing_is_not_used(folder: Path, tmp_path: Path) -> None:
    folder.symlink_to(tmp_path / "nothing")
    assert_no_disk_cache(f"{folder} is a link, not a folder")
    assert not (tmp_path / "nothing").exists()


def test_a_file_in_the_way_is_not_used(folder: Path) -> None:
    folder.touch()
    assert_no_disk_cache(f"{folder} is not a folder")


def test_a_file_above_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.touch()
    monkeypatch.setenv("PARLOOM_CACHE_DIR", str(folder / "below"))
    assert_no_disk_cache(f"{folder / 'below'}: Not a directory")


def test_a_folder_that_cannot_be_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mkdir(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    assert_no_disk_cache(f"{folder}: Read-only file system")


def test_a_folder_of_another_user_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert_no_disk_cache(f"{folder} belongs to another user")


def test_without_a_home_there_is_no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "PARLOOM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)

    def unknown(_: int) -> Any:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert_no_disk_cache("no home folder is known: set HOME or PARLOOM_CACHE_DIR")


@pytest.mark.skipif(sys.platform == "darwin", reason="other customs")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"HOME": "/h"}, "/h/.cache/parloom"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/x/parloom"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "relative"}, "/h/.cache/parloom"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/x", "PARLOOM_CACHE_DIR": "/p"}, "/p"),
        ({"HOME": "/h", "PARLOOM_CACHE_DIR": "~/p"}, "/h/p"),
        ({"HOME": "", "PARLOOM_CACHE_DIR": ""}, "/pw/.cache/parloom"),
    ],
)
def test_where_the_folder_is(
    settings: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_CACHE_HOME", "PARLOOM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def known(_: int) -> Any:
        return SimpleNamespace(pw_dir="/pw")

    monkeypatch.setattr(pwd, "getpwuid", known)
    assert str(cache_folder.location()) == expected


def assert_no_disk_cache(reason: str, warns: bool = True) -> None:
    """Everything is built, and the reason is said once."""
    build = Builder()
    with warning(f"parloom works without its disk cache: {reason}. See") if warns else NOTHING:
        found = fetch("k", build)
    assert (found.value, found.outcome) == (CODE, reason)
    fetch("k", build)
    assert build.built == 2
    info = cache.info()
    assert (info.folder, info.reason, info.why) == (None, reason, {reason: 2})
    assert str(info).startswith(f"no disk cache: {reason}\nthis process: 0 hits, 2 misses\n")
    assert cache.clear() == 0


NOTHING = contextlib.nullcontext()


@contextlib.contextmanager
def warning(beginning: str) -> Generator[None]:
    """One warning, with that text."""
    with pytest.warns(RuntimeWarning) as said:
        yield
    [found] = said
    assert str(found.message).startswith(beginning)


# Entries that cannot be written.


def failing(code: int) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_full_disk_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.file)

        def __init__(self, file: int, *_: object, **__: object) -> None:
            self.file = file

        def write(self, data: bytes) -> None:
            os.write(self.file, data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def read(self) -> bytes:
            raise AssertionError

    monkeypatch.setattr(os, "fdopen", Full)
    assert_not_written(folder, f"{folder}: No space left on device")
    monkeypatch.undo()
    assert [p.name for p in folder.iterdir()] == []


def test_a_folder_that_is_read_only_is_no_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entries that are there are used all the same."""
    fetch("there")
    real = os.open

    def read_only(path: Any, flags: int, *args: Any, **options: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
        return real(path, flags, *args, **options)

    monkeypatch.setattr(os, "open", read_only)
    for name in ("unlink", "utime"):
        monkeypatch.setattr(os, name, failing(errno.EROFS))
    assert fetch("there").hit
    assert_not_written(folder, f"{folder}: Read-only file system")


def assert_not_written(folder: Path, reason: str) -> None:
    build = Builder()
    with warning(f"parloom cannot keep compiled code: {reason}. See"):
        assert fetch("k", build).value == CODE
    assert fetch("k", build).value == CODE
    assert build.built == 2
    assert cache.info().unwritten == reason
    assert f"not written: {reason}" in str(cache.info())


# The cap.


def test_the_entries_unused_for_longest_go_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLOOM_CACHE_SIZE", "1M")
    paths = fill(folder, ("a", "b"))
    for age, path in enumerate(paths.values()):
        os.utime(path, (age, age))
    fetch("a")  # used last
    fetch("c", Builder(LARGE))
    assert paths["a"].exists()
    assert not paths["b"].exists()
    assert fetch("c").hit


def test_a_clock_that_went_wrong_keeps_no_entry_for_ever(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLOOM_CACHE_SIZE", "1M")
    paths = fill(folder, ("future", "past"))
    later = time.time() + 1e6
    os.utime(paths["future"], (later, later))
    os.utime(paths["past"], (1, 1))
    fetch("c", Builder(LARGE))
    assert not paths["past"].exists()
    assert paths["future"].stat().st_mtime < later
    fetch("d", Builder(LARGE))
    fetch("e", Builder(LARGE))
    assert not paths["future"].exists()


def test_an_entry_larger_than_the_cache_is_not_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = fill(folder, ("a",))
    monkeypatch.setenv("PARLOOM_CACHE_SIZE", "0")
    with pytest.warns(RuntimeWarning, match="larger than the cache, 0 bytes"):
        fetch("b")
    assert paths["a"].exists()
    assert fetch("a").hit


def test_the_size_must_be_a_number(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARLOOM_CACHE_SIZE", "1 GB")
    with pytest.raises(ValueError, match=r"PARLOOM_CACHE_SIZE must be a number of bytes .* '1 GB'"):
        fetch("k")
    assert list(folder.iterdir()) == []


def test_what_killed_processes_left_goes_after_an_hour(folder: Path) -> None:
    fetch("k")
    for name, age in (("old.tmp", 4000), ("old.lock", 4000), ("young.tmp", 10), ("mine", 4000)):
        (folder / name).touch()
        then = time.time() - age
        os.utime(folder / name, (then, then))
    with cache_folder.opened() as opened:
        opened.shrink(1 << 20, 1 << 20, keep="")
    names = {path.name for path in folder.iterdir()}
    assert "old.tmp" not in names
    assert "old.lock" not in names
    assert {"young.tmp", "mine", *opened_entries(folder)} == names


def test_clearing_removes_the_entries_and_nothing_else(folder: Path) -> None:
    for key in ("a", "b"):
        fetch(key)
    (folder / "mine").touch()
    assert cache.clear() == 2
    assert [path.name for path in folder.iterdir()] == ["mine"]
    assert fetch("a").outcome == "new"


def fill(folder: Path, keys: tuple[str, ...]) -> dict[str, Path]:
    """Large entries, by their key."""
    paths: dict[str, Path] = {}
    for key in keys:
        fetch(key, Builder(LARGE))
        [paths[key]] = set(folder.iterdir()) - set(paths.values())
    return paths


def opened_entries(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".plc"]
