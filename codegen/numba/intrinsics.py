"""Functions that kernel texts may call, as plain Python; native code gets one instruction for each.

With Numba switched off a text runs on these, and gives the same bits.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

_libm = ctypes.CDLL("libm.so.6" if sys.platform == "linux" else None)
_fma64 = _libm.fma
_fma64.argtypes, _fma64.restype = [ctypes.c_double] * 3, ctypes.c_double
_fma32 = _libm.fmaf
_fma32.argtypes, _fma32.restype = [ctypes.c_float] * 3, ctypes.c_float


def fma(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once. All three are float64, or all three float32.

    C's function, since `math.fma` came with Python 3.13 and raises where IEEE gives inf or NaN.

    >>> print(fma(np.float64(0.1), np.float64(10.0), np.float64(-1.0)))
    5.551115123125783e-17
    """
    if np.result_type(a, b, c) == np.float32:
        return np.float32(_fma32(float(a), float(b), float(c)))
    return np.float64(_fma64(a, b, c))
