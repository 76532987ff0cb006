"""`math` on staged values: Python's floats, so the results are weak."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from . import primitives as p
from .arithmetic import apply_ufunc
from .calls import replace
from .errors import Limitation
from .scalars import ScalarRep, apply_primitive, lift_scalar
from .scalars import cast as convert
from .state import is_staged
from .types import WEAK_FLOAT, WEAK_INT

_UFUNCS: dict[str, np.ufunc] = {
    **{
        name: getattr(np, name) for name in ("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10")
    },
    **{name: getattr(np, name) for name in ("log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(np, name) for name in ("hypot", "cbrt", "isnan", "isinf", "isfinite")},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "fabs": np.absolute,
    "pow": np.power,
}
_PRIMITIVES = {"erf": p.ERF, "erfc": p.ERFC}
_ROUNDINGS: dict[str, np.ufunc] = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def _math(name: str) -> None:
    original: Callable[..., object] = getattr(math, name)

    @replace(original)
    def call(*args: Any, **options: Any) -> object:
        if not is_staged(args):
            return original(*args, **options)
        if name == "log" and len(args) == 2:
            return call(args[0]) / call(args[1])  # type: ignore[operator]
        floats = tuple(convert(lift_scalar(a), WEAK_FLOAT) for a in args)
        if name in _UFUNCS:
            return apply_ufunc(_UFUNCS[name], floats)
        if name in _PRIMITIVES:
            return apply_primitive(_PRIMITIVES[name], *floats)
        if name in _ROUNDINGS:
            return convert(cast(ScalarRep, apply_ufunc(_ROUNDINGS[name], floats)), WEAK_INT)
        raise Limitation(
            f"math.{name} is not supported on staged values",
            instead=f"one of {', '.join(sorted({*_UFUNCS, *_PRIMITIVES, *_ROUNDINGS}))}",
        )


for _name, _value in vars(math).items():
    if callable(_value) and not _name.startswith("_"):
        _math(_name)
