"""parloom: write plain Python over arrays, get fused parallel kernels that you can read."""

from __future__ import annotations

from .codegen import cache as _cache
from .codegen.cache import CacheInfo as _CacheInfo
from .codegen.cpu.target import CpuTarget as _CpuTarget
from .codegen.reference import ReferenceTarget as _ReferenceTarget
from .codegen.runtime import memory as _memory
from .codegen.runtime import threads as _threads
from .patterns.eager import Array
from .patterns.public import asarray, collect, erf, erfc, range, scatter
from .staging import targets as _targets
from .staging.annotations import INOUT as inout
from .staging.annotations import SPECS as _SPECS
from .staging.directives import freeze, macro, slowpath, speculate, stable, static, unroll
from .staging.eager_mode import disable_jit
from .staging.errors import InternalError, Limitation, ParloomError, UserError
from .staging.jit import Jitted, jit
from .staging.options import options

__version__ = "0.1.0"


def set_num_threads(count: int) -> None:
    """Sets the number of threads of the launches that follow (default: all processors).

    The results' bits do not depend on it. The environment variable PARLOOM_NUM_THREADS sets it
    from outside.
    """
    _threads.set_num_threads(count)


def memory(limit: int | str | None = None) -> _memory.Memory:
    """The memory of results: what is in use, and what is kept for the next ones.

    limit : sets how many bytes are kept from now on, as an integer or a text such as "2G"; 0 keeps
        none. The environment variable PARLOOM_MEMORY sets it from outside; by default it is an
        eighth of the machine's memory.

    `memory().clear()` gives back to the system what is kept now.
    """
    return _memory.memory(limit)


def cache_info() -> _CacheInfo:
    """The disk cache and what it did in this process; `print` shows it.

    `folder` (None without a cache, and then `reason`), `entries`, `bytes`, `cap`; `hits`, `misses`,
    and `why`, the misses by their reason; `unwritten`, why the last entry was not written.
    """
    return _cache.info()


def clear_cache() -> int:
    """Removes every entry of the disk cache; how many there were."""
    return _cache.clear()


# The types of arguments, as annotations and for `f.compile`.
bool_ = _SPECS["bool_"]
c64 = _SPECS["c64"]
c128 = _SPECS["c128"]
f32 = _SPECS["f32"]
f64 = _SPECS["f64"]
i8 = _SPECS["i8"]
i16 = _SPECS["i16"]
i32 = _SPECS["i32"]
i64 = _SPECS["i64"]
u8 = _SPECS["u8"]
u16 = _SPECS["u16"]
u32 = _SPECS["u32"]
u64 = _SPECS["u64"]

_targets.register("cpu", _CpuTarget)
_targets.register("python", lambda: _CpuTarget("python"))
_targets.register("reference", _ReferenceTarget)

__all__ = [
    "Array",
    "InternalError",
    "Jitted",
    "Limitation",
    "ParloomError",
    "UserError",
    "__version__",
    "asarray",
    "bool_",
    "c128",
    "c64",
    "cache_info",
    "clear_cache",
    "collect",
    "disable_jit",
    "erf",
    "erfc",
    "f32",
    "f64",
    "freeze",
    "i16",
    "i32",
    "i64",
    "i8",
    "inout",
    "jit",
    "macro",
    "memory",
    "options",
    "range",
    "scatter",
    "set_num_threads",
    "slowpath",
    "speculate",
    "stable",
    "static",
    "u16",
    "u32",
    "u64",
    "u8",
    "unroll",
]
