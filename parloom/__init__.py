"""parloom: write plain Python over arrays, get fused parallel kernels that you can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .patterns.eager import Array
from .patterns.public import asarray, collect, erf, erfc, range
from .staging import targets as _targets
from .staging.eager_mode import disable_jit
from .staging.errors import InternalError, Limitation, ParloomError, UserError
from .staging.jit import Jitted, jit

if TYPE_CHECKING:
    from .codegen.cache import CacheInfo
    from .codegen.runtime.memory import Memory

__version__ = "0.1.0"


def set_num_threads(count: int) -> None:
    """Sets the number of threads of the launches that follow (default: all processors).

    The results' bits do not depend on it. The environment variable PARLOOM_NUM_THREADS sets it
    from outside.
    """
    from .codegen.runtime import threads

    threads.set_num_threads(count)


def memory(limit: int | str | None = None) -> Memory:
    """The memory of results: what is in use, and what is kept for the next ones.

    limit : sets how many bytes are kept from now on, as an integer or a text such as "2G"; 0 keeps
        none. The environment variable PARLOOM_MEMORY sets it from outside; by default it is an
        eighth of the machine's memory.

    `memory().clear()` gives back to the system what is kept now.
    """
    from .codegen.runtime.memory import memory as report

    return report(limit)


def cache_info() -> CacheInfo:
    """The disk cache and what it did in this process; `print` shows it.

    `folder` (None without a cache, and then `reason`), `entries`, `bytes`, `cap`; `hits`, `misses`,
    and `why`, the misses by their reason; `unwritten`, why the last entry was not written.
    """
    from .codegen import cache

    return cache.info()


def clear_cache() -> int:
    """Removes every entry of the disk cache; how many there were."""
    from .codegen import cache

    return cache.clear()


def _cpu() -> _targets.Target:
    from .codegen.cpu.target import CpuTarget

    return CpuTarget()


def _python() -> _targets.Target:
    from .codegen.cpu.target import CpuTarget

    return CpuTarget("python")


def _reference() -> _targets.Target:
    from .codegen.reference import ReferenceTarget

    return ReferenceTarget()


_targets.register("cpu", _cpu)
_targets.register("python", _python)
_targets.register("reference", _reference)

__all__ = [
    "Array",
    "InternalError",
    "Jitted",
    "Limitation",
    "ParloomError",
    "UserError",
    "__version__",
    "asarray",
    "cache_info",
    "clear_cache",
    "collect",
    "disable_jit",
    "erf",
    "erfc",
    "jit",
    "memory",
    "range",
    "set_num_threads",
]
