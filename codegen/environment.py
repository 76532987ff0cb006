"""What compiled code depends on besides the program: versions, our own source, the processor."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from .objects import host

FOLDERS = ("codegen", "dsls", "patterns", "staging", "transforms")


@cache
def environment(folders: tuple[str, ...] = FOLDERS) -> Mapping[str, str]:
    """Each dependence by its name.

    folders : the folders of our own source that have a part in it
    """
    machine = host()
    return MappingProxyType(
        {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "numpy": np.__version__,
            "numba": _version("numba"),
            "llvmlite": _version("llvmlite"),
            "parloom": source_digest(folders),
            "processor": f"{machine.triple} {machine.cpu} {machine.features}",
        }
    )


def _version(package: str) -> str:
    """The version of an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return "none"
    written = Path(spec.origin).with_name("_version.py")
    with contextlib.suppress(OSError):
        return hashlib.sha256(written.read_bytes()).hexdigest()[:16]
    from importlib.metadata import version  # takes longer to import than all else here

    return version(package)


def source_digest(folders: tuple[str, ...]) -> str:
    """Digest of parloom's own source, found beside this file through links or without."""
    digest = hashlib.sha256()
    root = os.path.dirname(os.path.dirname(__file__))
    for folder in folders:
        for path in sorted(_sources(os.path.join(root, folder))):
            digest.update(f"{path[len(root) :]}\0".encode())
            with open(path, "rb", buffering=0) as file:
                digest.update(file.read())
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path)
