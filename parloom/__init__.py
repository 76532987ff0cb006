"""parloom: write plain Python over arrays, get fused parallel kernels that you can read."""

from .patterns.eager import Array
from .patterns.public import asarray, collect, range
from .staging import targets as _targets
from .staging.eager_mode import disable_jit
from .staging.errors import InternalError, Limitation, ParloomError, UserError
from .staging.jit import Jitted, jit

__version__ = "0.1.0"


def set_num_threads(count: int) -> None:
    """Sets the number of threads of the launches that follow (default: all processors).

    The results' bits do not depend on it. The environment variable PARLOOM_NUM_THREADS sets it
    from outside.
    """
    from .codegen.runtime import threads

    threads.set_num_threads(count)


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
    "collect",
    "disable_jit",
    "jit",
    "range",
    "set_num_threads",
]
