"""exp and its kin as functions that kernel texts call, by NumPy's names.

Plain Python and native code run the same routines of the C library (vector_math.py), so that a text
gives the same bits with Numba switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import objects
from .llvm import engine
from .native import ArrayParam, NativeFunction, ScalarParam, Signature
from .vector_math import C_NAMES, Routine, routine_for, wrappers

Function = Callable[..., Any]


def _function(name: str, called: str) -> Function:
    def function(*args: Any) -> Any:
        routine = routine_for(name, np.result_type(*args))
        result = np.empty(1, routine.dtype)
        _compiled(routine)(*args, result)
        return result[0]

    function.__name__ = called
    return function


# NumPy's names by those in texts. C's pow has not quite np.power's values: power_float has them.
NAMES = {"c_pow" if name == "power" else name: name for name in C_NAMES}
FUNCTIONS = {called: _function(name, called) for called, name in NAMES.items()}


def __getattr__(name: str) -> Function:
    try:
        return FUNCTIONS[name]
    except KeyError:
        raise AttributeError(name) from None


@cache
def _compiled(routine: Routine) -> NativeFunction:
    """The routine with the native ABI: its arguments, and an array of one element to write to."""
    name, scalar = "call", routine.type
    arguments = [f"a{k}" for k in range(routine.arity)]
    lines = wrappers([routine]) or [routine.declaration]
    lines.append(f"define void @{objects.symbol(name)}(ptr %table) {{")
    for k, a in enumerate((*arguments, "result")):
        lines.append(f"  %{a}.slot = getelementptr i64, ptr %table, i64 {k}")
        lines.append(f"  %{a} = load {scalar if a != 'result' else 'ptr'}, ptr %{a}.slot")
    given = ", ".join(f"{scalar} %{a}" for a in arguments)
    lines.append(f"  %found = call {scalar} @{routine.callee}({given})")
    lines += [f"  store {scalar} %found, ptr %result", "  ret void", "}"]
    dtype: np.dtype[Any] = np.dtype(routine.dtype)
    signature: Signature = (*(ScalarParam(dtype) for _ in arguments), ArrayParam(dtype, 1))
    code = objects.emit(engine.module("\n".join(lines), (name,)), (name,))
    return objects.load(code, {name: signature})[name]
