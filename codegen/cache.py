"""The disk cache of compiled code: what one process built, the next one loads.

An entry is one file, written whole or not at all, that checks itself: magic, version, a JSON
header, the code, and a SHA-256 of all before it. Nothing is ever unpickled. The folder must be the
user's own with mode 0700; otherwise there is no disk cache, and `info` says why.

Environment: PARLOOM_CACHE_DIR names the folder, PARLOOM_CACHE=0 switches the cache off.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import stat
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from .objects import ObjectCode, host

# Bytes on disk; above it the entries unused for longest go first.
LIMIT = 256 << 20

_MAGIC = b"parloom\0"
_VERSION = 1
_HEAD = struct.Struct("<8sIIQ")  # magic, version, length of the header, length of the code
_SUFFIX = ".plc"


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What the cache did in this process.

    folder : where entries are, None without a disk cache
    reason : why there is no disk cache, or why the last entry was not written
    hits, misses : answers of the disk cache
    dropped : entries removed because they were corrupt
    """

    folder: Path | None = None
    reason: str = ""
    hits: int = 0
    misses: int = 0
    dropped: int = 0


_lock = threading.Lock()
_info = CacheInfo()


def info() -> CacheInfo:
    """Where the cache is and what it did in this process."""
    folder, reason = _folder()
    with _lock:
        return replace(_info, folder=folder, reason=reason or _info.reason)


def fetch(key: str, build: Callable[[], ObjectCode]) -> ObjectCode:
    """The code of `key`, from disk or else built and stored.

    key : what the code is made from: a digest of the staged program, of its options, of the target.
        The versions of everything that compiles and the processor are added here.
    """
    folder, _ = _folder()
    if folder is None:
        return build()
    name = hashlib.sha256(f"{key}\0{environment()}".encode()).hexdigest()
    path = folder / (name + _SUFFIX)
    code = _read(path, name)
    if code is None:
        _count(misses=1)
        code = build()
        _write(path, name, code)
    else:
        _count(hits=1)
    return code


@cache
def environment() -> str:
    """Everything but the program that compiled code depends on, in one line."""
    machine = host()
    versions = (
        f"python {platform.python_implementation()} {platform.python_version()}",
        f"numpy {np.__version__}",
        *(f"{package} {_version(package)}" for package in ("numba", "llvmlite")),
        f"parloom {_source_digest()}",
        f"{machine.triple} {machine.cpu} {machine.features}",
    )
    return "; ".join(versions)


def _version(package: str) -> str:
    """The version of an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return "none"
    written = Path(spec.origin).with_name("_version.py")
    with contextlib.suppress(OSError):
        return hashlib.sha256(written.read_bytes()).hexdigest()[:16]
    return importlib.metadata.version(package)


def _source_digest() -> str:
    """Digest of parloom's own source, found beside this file through links or without."""
    digest = hashlib.sha256()
    root = Path(__file__).parent.parent
    for folder in ("staging", "patterns", "transforms", "codegen", "dsls"):
        for where, folders, files in os.walk(root / folder, followlinks=True):
            folders.sort()
            for file in sorted(files):
                if file.endswith(".py"):
                    digest.update(f"{Path(where, file).relative_to(root)}\0".encode())
                    digest.update(Path(where, file).read_bytes())
    return digest.hexdigest()


def _folder() -> tuple[Path | None, str]:
    """The folder of the cache, made if need be, or None and the reason."""
    if os.environ.get("PARLOOM_CACHE") == "0":
        return None, "switched off by PARLOOM_CACHE=0"
    return _checked_folder(os.environ.get("PARLOOM_CACHE_DIR") or _default_folder())


def _default_folder() -> str:
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/parloom")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "parloom")


def _checked_folder(name: str) -> tuple[Path | None, str]:
    folder = Path(name)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        return None, f"{name}: {error.strerror}"
    if not stat.S_ISDIR(status.st_mode):
        return None, f"{name} is not a folder"
    if status.st_uid != os.getuid():
        return None, f"{name} belongs to another user"
    if stat.S_IMODE(status.st_mode) != 0o700:
        return None, f"{name} has mode {stat.S_IMODE(status.st_mode):o}, not 700"
    return folder, ""


def _read(path: Path, name: str) -> ObjectCode | None:
    try:
        if not path.is_file():
            return None
        data = path.read_bytes()
    except OSError:
        return None
    code = _decode(data, name)
    with contextlib.suppress(OSError):
        if code is None:
            path.unlink()
            _count(dropped=1)
        else:
            os.utime(path)
    return code


def _write(path: Path, name: str, code: ObjectCode) -> None:
    data = _encode(name, code)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise
        _shrink(path.parent)
    except OSError as error:
        _count(reason=f"not written: {error.strerror}")


def _encode(name: str, code: ObjectCode) -> bytes:
    header = json.dumps({"name": name, "functions": code.functions}).encode()
    head = _HEAD.pack(_MAGIC, _VERSION, len(header), len(code.code))
    body = head + header + code.code
    return body + hashlib.sha256(body).digest()


def _decode(data: bytes, name: str) -> ObjectCode | None:
    """The code in an entry, or None if the entry is not whole or not the one asked for."""
    body, digest = data[:-32], data[-32:]
    if len(body) < _HEAD.size or hashlib.sha256(body).digest() != digest:
        return None
    magic, version, header_length, code_length = _HEAD.unpack_from(body)
    if (magic, version) != (_MAGIC, _VERSION):
        return None
    if len(body) != _HEAD.size + header_length + code_length:
        return None
    header = json.loads(body[_HEAD.size : _HEAD.size + header_length])
    if header["name"] != name:
        return None
    return ObjectCode(tuple(header["functions"]), body[_HEAD.size + header_length :])


def _shrink(folder: Path) -> None:
    """Remove the entries unused for longest until the rest fits."""
    entries = sorted(_entries(folder), reverse=True)
    total = 0
    for _, size, path in entries:
        total += size
        if total > LIMIT:
            path.unlink(missing_ok=True)


def _entries(folder: Path) -> Iterator[tuple[float, int, Path]]:
    with os.scandir(folder) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                yield status.st_mtime, status.st_size, Path(entry.path)


def _count(*, hits: int = 0, misses: int = 0, dropped: int = 0, reason: str = "") -> None:
    global _info
    with _lock:
        _info = replace(
            _info,
            hits=_info.hits + hits,
            misses=_info.misses + misses,
            dropped=_info.dropped + dropped,
            reason=reason or _info.reason,
        )
