"""The disk cache: what one process made, the next one loads.

An entry is one file that checks itself (cache_entry.py), in a folder that must be the user's own
(cache_folder.py); its name is a digest of what it was made from and of everything that had a part
in it (environment.py). Processes that want the same entry at the same time wait for the first one,
as long as it lives. Whatever is wrong with the folder or an entry, the answer is right: it is made
anew, and `info` says why.

docs/machine-code.md describes the settings, which are environment variables, and the reasons.
"""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Generic, TypeVar

from ..staging.dataclass import dataclass
from . import cache_folder
from .byte_counts import bytes_of, readable
from .cache_entry import Identity, Unusable, decode, encode
from .cache_entry import environment as environment_of
from .cache_folder import Folder
from .environment import FOLDERS, environment

T = TypeVar("T")

HIT = "hit"
NEW = "new"
OFF = "switched off by PARLOOM_CACHE=0"


@dataclass(frozen=True, slots=True)
class Fetched(Generic[T]):
    """An answer of the cache.

    value : what was asked for
    outcome : "hit" if it was on disk, else why not
    """

    value: T
    outcome: str

    @property
    def hit(self) -> bool:
        """Whether it was on disk."""
        return self.outcome == HIT


@dataclass(frozen=True, slots=True, repr=False)
class CacheInfo:
    """The disk cache, and what it did in this process.

    folder : where entries are, None without a disk cache
    reason : why there is no disk cache
    entries, bytes : how many there are, and their bytes on disk
    cap : the bytes above which entries go
    lookups : how often each kind of entry was asked for, by (kind, outcome); the outcome is "hit",
        or why the entry was made anew
    unwritten : why the last entry that was made could not be written
    """

    folder: Path | None
    reason: str
    entries: int
    bytes: int
    cap: int
    lookups: Mapping[tuple[str, str], int]
    unwritten: str

    @property
    def hits(self) -> int:
        """How many answers were on disk."""
        return sum(n for (_, outcome), n in self.lookups.items() if outcome == HIT)

    @property
    def misses(self) -> int:
        """How many answers had to be made."""
        return sum(self.why.values())

    @property
    def why(self) -> dict[str, int]:
        """The misses by their reason."""
        found: Counter[str] = Counter()
        for (_, outcome), n in self.lookups.items():
            if outcome != HIT:
                found[outcome] += n
        return dict(found)

    def __repr__(self) -> str:
        return f"<CacheInfo: {self.hits} hits, {self.misses} misses; print shows it>"

    def __str__(self) -> str:
        """The report in a few lines."""
        if self.folder is None:
            lines = [f"no disk cache: {self.reason}"]
        else:
            size = f"{readable(self.bytes)} of {readable(self.cap)}"
            lines = [f"disk cache {self.folder}: {self.entries} entries, {size}"]
        lines.append(f"this process: {self.hits} hits, {self.misses} misses")
        for (kind, outcome), n in sorted(self.lookups.items()):
            lines.append(f"  {kind}: {n} {outcome}")
        if self.unwritten:
            lines.append(f"not written: {self.unwritten}")
        return "\n".join(lines)


@dataclass(slots=True)
class State:
    """What this process did.

    room : by folder and cap, how many bytes may be written before one must look at the whole
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    lookups: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    room: dict[tuple[Path, int], int] = field(default_factory=dict[tuple[Path, int], int])
    unwritten: str = ""
    said: set[str] = field(default_factory=set[str])


_state = State()


def _after_fork() -> None:
    _state.lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def fetch(
    kind: str,
    key: str,
    build: Callable[[], bytes],
    load: Callable[[bytes], T],
    folders: tuple[str, ...] = FOLDERS,
) -> Fetched[T]:
    """What `load` makes of the entry's bytes, which are on disk or else built and stored.

    kind : a word, what the bytes are
    key : digest of what `build` makes them from; versions and the processor are added here
    load : raises Unusable if this process cannot use the bytes; they are then built anew
    folders : those of parloom's source that have a part in what `build` makes of the key's matter
    """
    with contextlib.ExitStack() as stack:
        folder = _open(stack)
        if isinstance(folder, str):
            _count(kind, folder)
            return Fetched(load(build()), folder)
        limit = cap()
        identity = Identity(kind, key, environment(folders))
        found = _find(folder, identity, load)
        if isinstance(found, str):
            reason = _why_new(folder, identity) if found == NEW else found
            stack.enter_context(folder.locked(identity.name))
            found = _find(folder, identity, load)  # another process may have made it meanwhile
            if isinstance(found, str):
                _count(kind, reason)
                data = build()
                value = load(data)
                _write(folder, identity, data, limit)
                return Fetched(value, reason)
        _count(kind, HIT)
        return found


def info() -> CacheInfo:
    """Where the cache is, what is in it, and what it did in this process."""
    with contextlib.ExitStack() as stack:
        folder = _open(stack, quiet=True)
        files = [] if isinstance(folder, str) else folder.files()
    with _state.lock:
        return CacheInfo(
            folder=None if isinstance(folder, str) else folder.path,
            reason=folder if isinstance(folder, str) else "",
            entries=len(files),
            bytes=sum(file.size for file in files),
            cap=cap(),
            lookups=dict(_state.lookups),
            unwritten=_state.unwritten,
        )


def clear() -> int:
    """Removes every entry; how many there were."""
    with contextlib.ExitStack() as stack:
        folder = _open(stack, quiet=True)
        files = [] if isinstance(folder, str) else folder.files()
        for file in files:
            assert isinstance(folder, Folder)
            folder.remove(file.name)
    return len(files)


def cap() -> int:
    """The size of the cache in bytes, by PARLOOM_CACHE_SIZE."""
    return bytes_of(os.environ.get("PARLOOM_CACHE_SIZE") or "256M", "PARLOOM_CACHE_SIZE")


def _open(stack: contextlib.ExitStack, *, quiet: bool = False) -> Folder | str:
    """The folder, open as long as the stack, or why there is none."""
    if os.environ.get("PARLOOM_CACHE") == "0":
        return OFF
    try:
        return stack.enter_context(cache_folder.opened())
    except OSError as error:
        reason = _reason(error)
    if not quiet:
        _say(f"parloom works without its disk cache: {reason}")
    return reason


def _reason(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror}" if error.strerror else str(error)


def _find(folder: Folder, identity: Identity, load: Callable[[bytes], T]) -> Fetched[T] | str:
    """What is on disk, or why not; an entry that is of no use is removed."""
    try:
        data = folder.read(identity.name)
        if data is None:
            return NEW
        value = load(decode(data, identity))
    except Unusable as error:
        folder.remove(identity.name)
        return str(error)
    folder.touch(identity.name)
    return Fetched(value, HIT)


def _why_new(folder: Folder, identity: Identity) -> str:
    """What differs from the entry of the same key that was made elsewhere, if there is one."""
    for name in folder.names(identity.stem):
        with contextlib.suppress(Unusable):
            made_in = environment_of(folder.read(name) or b"")
            changed = [k for k, v in identity.environment.items() if made_in.get(k) != v]
            return " and ".join(f"other {name}" for name in changed)
    return NEW


def _write(folder: Folder, identity: Identity, contents: bytes, limit: int) -> None:
    data = encode(identity, contents)
    if len(data) > limit:
        _not_written(f"an entry of {len(data)} bytes is larger than the cache, {limit} bytes")
        return
    try:
        folder.write(identity.name, data)
        _make_room(folder, identity.name, len(data), limit)
    except OSError as error:
        _not_written(f"{folder.path}: {error.strerror}")


def _make_room(folder: Folder, name: str, written: int, limit: int) -> None:
    """Lets entries go above the cap; looks only when there may be more than that."""
    place = (folder.path, limit)
    with _state.lock:
        room = _state.room.get(place, 0) - written
        _state.room[place] = room
    if room <= 0:
        slack = limit // 16
        left = folder.shrink(limit, limit - slack, keep=name)
        with _state.lock:
            _state.room[place] = min(slack, limit - left)


def _not_written(reason: str) -> None:
    with _state.lock:
        _state.unwritten = reason
    _say(f"parloom cannot keep compiled code: {reason}")


def _count(kind: str, outcome: str) -> None:
    with _state.lock:
        _state.lookups[kind, outcome] += 1


def _say(message: str) -> None:
    """Warns, once in a process."""
    with _state.lock:
        known = message in _state.said
        _state.said.add(message)
    if not known:
        warnings.warn(f"{message}. See pm.cache_info()", RuntimeWarning, stacklevel=2)
