"""Which code is the user's: it is rewritten and guarded; the libraries, Python's own modules and
parloom are not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import TypeGuard

from .locations import is_ours

# Libraries that work on their own data, or that must see Python's control flow as it is written.
_NAMES = """
IPython PIL _pytest attr attrs babel cffi cloudpickle coverage cupy cycler dask dateutil distributed
hypothesis ipykernel jax jaxlib jinja2 joblib jupyter llvmlite matplotlib mypy networkx numba
numexpr numpy pandas pluggy polars pyarrow pydantic pytest pytz rich scipy seaborn setuptools six
skimage sklearn statsmodels sympy tensorflow torch tqdm traitlets typing_extensions yaml
"""
LIBRARIES = frozenset(_NAMES.split())


def is_library(module: str | None) -> bool:
    """Whether a module, by its dotted name, is Python's own or one of the known libraries.

    >>> is_library("numpy.linalg"), is_library("json"), is_library("my_model")
    (True, True, False)
    """
    root = (module or "").partition(".")[0]
    if root == "__main__":
        return False
    return root in LIBRARIES or root in sys.stdlib_module_names


def is_users_function(f: object) -> TypeGuard[FunctionType]:
    """Whether `f` is a Python function of the user's."""
    if not isinstance(f, FunctionType) or is_ours(f.__code__.co_filename):
        return False
    return not is_library(f.__module__)


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside `code`, and itself, outer before inner."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from all_codes(constant)


def is_users_object(value: object) -> bool:
    """Whether attributes of `value` belong to the user's program."""
    if isinstance(value, ModuleType):
        file = getattr(value, "__file__", None) or ""
        return not (is_library(value.__name__) or is_ours(file))
    module = (value if isinstance(value, type) else type(value)).__module__
    owner = sys.modules.get(module)
    file = getattr(owner, "__file__", None) or ""
    return not (is_library(module) or is_ours(file))
