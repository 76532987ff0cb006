"""The folder of the disk cache: where it is, whether it can be trusted, its files and their locks.

All that is done in the folder goes through one descriptor of it, which was checked: the user's own,
mode 0700, no link. A file is written under another name and renamed, so that it is there whole or
not at all.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import os
import pwd
import stat
import sys
import time
from collections.abc import Generator
from pathlib import Path

from ..staging.dataclass import dataclass
from .cache_entry import Unusable

ENTRY = ".plc"
_LOCK = ".lock"
_TEMPORARY = ".tmp"

# Seconds that a process waits for another one that compiles the same; then it compiles, too.
PATIENCE = 10.0

# Seconds after which an unfinished file is one that a killed process left.
_ABANDONED = 3600.0

_counter = itertools.count()


class Unsafe(OSError):
    """There is a folder, or a setting, that the cache must not use."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the cache: when it was last used (seconds since 1970) and its bytes on disk."""

    used: float
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder."""

    path: Path
    descriptor: int

    def read(self, name: str) -> bytes | None:
        """A file's bytes, None where there is none; Unusable if it is not a file of one's own."""
        try:
            file = self._open(name, os.O_RDONLY | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unusable(f"unreadable: {error.strerror}") from error
        with os.fdopen(file, "rb", buffering=0) as opened:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise Unusable("corrupt: no regular file")
            if status.st_uid != os.getuid():
                raise Unusable("unreadable: it belongs to another user")
            try:
                return opened.read()
            except OSError as error:
                raise Unusable(f"unreadable: {error.strerror}") from error

    def write(self, name: str, data: bytes) -> None:
        """Makes a file, or replaces it; OSError if that cannot be."""
        temporary = f"{name}.{os.getpid()}.{next(_counter)}{_TEMPORARY}"
        file = self._open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            with os.fdopen(file, "wb") as opened:
                opened.write(data)
            os.replace(temporary, name, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            self.remove(temporary)
            raise

    def remove(self, name: str) -> None:
        """Removes a file, if it is there and can be removed."""
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=self.descriptor)

    def names(self, beginning: str) -> list[str]:
        """The names of the entries that begin so."""
        with os.scandir(self.descriptor) as entries:
            found = [entry.name for entry in entries]
        return sorted(n for n in found if n.startswith(beginning) and n.endswith(ENTRY))

    def touch(self, name: str) -> None:
        """Notes that a file is used now."""
        with contextlib.suppress(OSError):
            os.utime(name, dir_fd=self.descriptor, follow_symlinks=False)

    def files(self, *endings: str) -> list[File]:
        """The files with one of these endings, by default the entries."""
        found: list[File] = []
        with os.scandir(self.descriptor) as entries:
            for entry in entries:
                if entry.name.endswith(endings or ENTRY):
                    with contextlib.suppress(OSError):
                        status = entry.stat(follow_symlinks=False)
                        found.append(File(status.st_mtime, status.st_size, entry.name))
        return found

    @contextlib.contextmanager
    def locked(self, name: str) -> Generator[None]:
        """Keeps other processes, and threads, that ask for the same lock waiting.

        The lock ends with the process. Who has waited PATIENCE seconds goes on without it, and so
        does who cannot have one here.
        """
        lock = f"{name}{_LOCK}"
        try:
            file = self._open(lock, os.O_RDWR | os.O_CREAT)
        except OSError:
            yield
            return
        taken = False
        try:
            taken = _take(file)
            yield
        finally:
            if taken:
                self.remove(lock)
                fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may have the file open, too
            os.close(file)

    def shrink(self, cap: int, target: int, keep: str) -> int:
        """Removes what killed processes left and, if the entries have more than `cap` bytes, those
        that were unused for longest, down to `target`; the bytes that remain.

        keep : the entry that stays
        """
        now = time.time()
        entries: list[File] = []
        for file in self.files(ENTRY, _TEMPORARY, _LOCK):
            if file.name.endswith(ENTRY):
                entries.append(file)
            elif now - file.used > _ABANDONED:
                self.remove(file.name)
            if file.used > now:  # by another clock: it ages from now on
                self.touch(file.name)
        entries.sort(key=lambda file: (file.name == keep, min(file.used, now)))
        total = sum(file.size for file in entries)
        if total <= cap:
            return total
        for file in entries:
            if total <= target or file.name == keep:
                break
            self.remove(file.name)
            total -= file.size
        return total

    def _open(self, name: str, flags: int) -> int:
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, 0o600, dir_fd=self.descriptor)


def _take(file: int) -> bool:
    """Whether the lock was to be had."""
    until = time.monotonic() + PATIENCE
    pause = 0.001
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        else:
            return True


@contextlib.contextmanager
def opened() -> Generator[Folder]:
    """The folder, made if need be; OSError, with the reason, where there can be none."""
    path = location()
    with contextlib.suppress(FileExistsError):  # a file, or a link to none: said below
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = _open_folder(path)
    try:
        _check(path, os.fstat(descriptor))
        yield Folder(path, descriptor)
    finally:
        os.close(descriptor)


def _open_folder(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if path.is_symlink():
            raise Unsafe(f"{path} is a link, not a folder") from error
        if path.exists() and not path.is_dir():
            raise Unsafe(f"{path} is not a folder") from error
        raise


def _check(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.getuid():
        raise Unsafe(f"{path} belongs to another user")
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if mode != 0o700:
        raise Unsafe(f"{path} has mode {mode:o}, not 700: chmod 700 lets parloom use it")


def location() -> Path:
    """Where the folder is, by PARLOOM_CACHE_DIR or the custom of the system."""
    if named := os.environ.get("PARLOOM_CACHE_DIR"):
        return Path(os.path.abspath(os.path.expanduser(named)))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base) and sys.platform != "darwin":
        return Path(base, "parloom")
    home = os.environ.get("HOME") or _home()
    if not os.path.isabs(home):
        raise Unsafe("no home folder is known: set HOME or PARLOOM_CACHE_DIR")
    return Path(home, "Library/Caches" if sys.platform == "darwin" else ".cache", "parloom")


def _home() -> str:
    """The home folder that the system knows, "" if it knows none."""
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_dir
    return ""
