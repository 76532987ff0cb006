"""The facts that a measurement means nothing without."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("parloom", "numpy", "numba", "llvmlite", "jax")
THREAD_SETTINGS = (
    "PARLOOM_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def thread_settings(threads: int) -> dict[str, str]:
    """The environment variables that give every implementation the same number of threads."""
    return dict.fromkeys(THREAD_SETTINGS, str(threads))


def facts(threads: int) -> dict[str, Any]:
    """Machine, versions, settings and date."""
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": versions(),
        "threads": threads,
        "load_1min": load(),
    }


def versions() -> dict[str, str]:
    """The versions of what is installed."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def load() -> float | None:
    """The load average of the last minute: above 0.5 at the start, somebody else is working."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def processor() -> str:
    """The model of the processor as the system names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
