"""The scalar primitives: one row each, with their algebra beside them.

A primitive is a NumPy ufunc (its loops decide the types, its values are the semantics) or one of
the few scalar operations that NumPy spells differently (`select`) or lacks (`erf`). Properties are
data that rules and reducers read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .dataclass import dataclass
from .types import Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """One scalar operation.

    `commutative`, `associative` hold for every bit pattern of integers and bools; for floats
    `associative` means "NumPy's bounded tier lets us re-associate" (+ and *) or that it is exact
    (min, max). `identity` is the neutral element as a Python number, `None` without one. `cost` is
    in units of one addition. `types` is a ufunc that has the loops of a function that is none.
    """

    name: str
    function: Callable[..., np.generic]
    arity: int
    symbol: str = ""
    commutative: bool = False
    associative: bool = False
    identity: int | None = None
    cost: int = 1
    types: np.ufunc | None = None

    def __repr__(self) -> str:
        return self.name

    def loop(self, args: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """The types to cast the arguments to (NumPy 2's promotion); TypeError without a loop."""
        return _loop(self, args)[0]

    def result(self, args: tuple[Scalar, ...]) -> Scalar:
        """The result type for arguments that already have their loop types."""
        return _loop(self, args)[1]

    def evaluate(self, *args: np.generic) -> np.generic:
        """NumPy's value, without its warnings; what it refuses is in the semantics of nodes.py."""
        with np.errstate(all="ignore"):
            if self is POWER and args[1].dtype.kind == "i" and args[1].item() < 0:
                return _inverse_power(args[0], args[1])
            return self.function(*args)


_WEAK_KIND: dict[str, type] = {"i": int, "f": float, "c": complex}


@cache
def _loop(p: Primitive, args: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], Scalar]:
    if p is SELECT:
        return _select_loop(args)
    ufunc = p.types or p.function
    assert isinstance(ufunc, np.ufunc)
    return ufunc_loop(ufunc, args)


def ufunc_loop(ufunc: np.ufunc, args: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], Scalar]:
    """The types that a ufunc's arguments are cast to, and that of its (first) result, as NumPy 2
    resolves them; TypeError without a loop.

    >>> from .types import F32, WEAK_INT
    >>> [str(t) for t in ufunc_loop(np.add, (F32, WEAK_INT))[0]]
    ['f32', 'f32']
    """
    weak = all(a.weak or a.dtype.kind == "b" for a in args) and any(a.weak for a in args)
    kinds = tuple(_WEAK_KIND[a.dtype.kind] if a.weak and not weak else a.dtype for a in args)
    found = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    ins, out = found[: ufunc.nin], found[ufunc.nin]
    loop = tuple(Scalar(np.dtype(d), weak and np.dtype(d).kind != "b") for d in ins)
    return loop, Scalar(np.dtype(out), weak and np.dtype(out).kind != "b")


def _select_loop(args: tuple[Scalar, ...]) -> tuple[tuple[Scalar, ...], Scalar]:
    _, a, b = args
    joined = join(a, b)
    return (Scalar(np.dtype(np.bool_)), joined, joined), joined


@cache
def join(a: Scalar, b: Scalar) -> Scalar:
    """The common type of two scalars (NumPy 2's result_type; a weak one yields).

    >>> from .types import F32, I64, WEAK_FLOAT
    >>> str(join(F32, WEAK_FLOAT)), str(join(F32, I64))
    ('f32', 'f64')
    """
    if a == b:
        return a
    if a.weak and b.weak:
        return Scalar(np.result_type(a.dtype, b.dtype), weak=True)
    first = _WEAK_KIND[a.dtype.kind](1) if a.weak else a.dtype
    second = _WEAK_KIND[b.dtype.kind](1) if b.weak else b.dtype
    return Scalar(np.result_type(first, second))


def _inverse_power(base: np.generic, exponent: np.generic) -> np.generic:
    """An integer to a negative power, truncated: 1 and -1 have inverses, for others it is 0."""
    odd = base.dtype.type(exponent.item() % 2)
    return np.power(base, odd) if base.item() in (1, -1) else base.dtype.type(0)


def _select(cond: np.generic, a: np.generic, b: np.generic) -> np.generic:
    return a if cond else b


def _by_math(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of Python's `math` on floats of any shape."""

    def elementwise(x: Any) -> Any:
        values = [function(v) for v in x.ravel().tolist()]
        return np.array(values, x.dtype).reshape(x.shape)[()]

    return elementwise


SELECT = Primitive("select", _select, 3)

ADD = Primitive("add", np.add, 2, "+", True, True, 0)
SUBTRACT = Primitive("subtract", np.subtract, 2, "-")
MULTIPLY = Primitive("multiply", np.multiply, 2, "*", True, True, 1)
DIVIDE = Primitive("divide", np.true_divide, 2, "/", cost=4)
FLOOR_DIVIDE = Primitive("floor_divide", np.floor_divide, 2, "//", cost=8)
REMAINDER = Primitive("remainder", np.remainder, 2, "%", cost=8)
POWER = Primitive("power", np.power, 2, "**", cost=40)
NEGATIVE = Primitive("negative", np.negative, 1, "-")
POSITIVE = Primitive("positive", np.positive, 1, "+")
ABSOLUTE = Primitive("absolute", np.absolute, 1)
SQUARE = Primitive("square", np.square, 1)
COPYSIGN = Primitive("copysign", np.copysign, 2)
NEXTAFTER = Primitive("nextafter", np.nextafter, 2, cost=20)
FMOD = Primitive("fmod", np.fmod, 2, cost=20, types=np.arctan2)  # floats only
SQRT = Primitive("sqrt", np.sqrt, 1, cost=6)
SIGN = Primitive("sign", np.sign, 1)
FLOOR = Primitive("floor", np.floor, 1)
CEIL = Primitive("ceil", np.ceil, 1)
TRUNC = Primitive("trunc", np.trunc, 1)
RINT = Primitive("rint", np.rint, 1)

EXP = Primitive("exp", np.exp, 1, cost=20)
EXP2 = Primitive("exp2", np.exp2, 1, cost=20)
EXPM1 = Primitive("expm1", np.expm1, 1, cost=20)
LOG = Primitive("log", np.log, 1, cost=20)
LOG2 = Primitive("log2", np.log2, 1, cost=20)
LOG10 = Primitive("log10", np.log10, 1, cost=20)
LOG1P = Primitive("log1p", np.log1p, 1, cost=20)
SIN = Primitive("sin", np.sin, 1, cost=20)
COS = Primitive("cos", np.cos, 1, cost=20)
TAN = Primitive("tan", np.tan, 1, cost=30)
ARCSIN = Primitive("arcsin", np.arcsin, 1, cost=30)
ARCCOS = Primitive("arccos", np.arccos, 1, cost=30)
ARCTAN = Primitive("arctan", np.arctan, 1, cost=30)
ARCTAN2 = Primitive("arctan2", np.arctan2, 2, cost=30)
HYPOT = Primitive("hypot", np.hypot, 2, cost=10)
SINH = Primitive("sinh", np.sinh, 1, cost=30)
COSH = Primitive("cosh", np.cosh, 1, cost=30)
TANH = Primitive("tanh", np.tanh, 1, cost=30)
ARCSINH = Primitive("arcsinh", np.arcsinh, 1, cost=40)
ARCCOSH = Primitive("arccosh", np.arccosh, 1, cost=40)
ARCTANH = Primitive("arctanh", np.arctanh, 1, cost=40)
CBRT = Primitive("cbrt", np.cbrt, 1, cost=30)
ERF = Primitive("erf", _by_math(math.erf), 1, cost=20, types=np.cbrt)
ERFC = Primitive("erfc", _by_math(math.erfc), 1, cost=20, types=np.cbrt)

MINIMUM = Primitive("minimum", np.minimum, 2, "", True, True)
MAXIMUM = Primitive("maximum", np.maximum, 2, "", True, True)
EQUAL = Primitive("equal", np.equal, 2, "==", True)
NOT_EQUAL = Primitive("not_equal", np.not_equal, 2, "!=", True)
LESS = Primitive("less", np.less, 2, "<")
LESS_EQUAL = Primitive("less_equal", np.less_equal, 2, "<=")
GREATER = Primitive("greater", np.greater, 2, ">")
GREATER_EQUAL = Primitive("greater_equal", np.greater_equal, 2, ">=")
COMPARISONS = (EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL)
LOGICAL_AND = Primitive("logical_and", np.logical_and, 2, "and", True, True, 1)
LOGICAL_OR = Primitive("logical_or", np.logical_or, 2, "or", True, True, 0)
LOGICAL_XOR = Primitive("logical_xor", np.logical_xor, 2, "", True, True, 0)
LOGICAL_NOT = Primitive("logical_not", np.logical_not, 1, "not")
BITWISE_AND = Primitive("bitwise_and", np.bitwise_and, 2, "&", True, True, -1)
BITWISE_OR = Primitive("bitwise_or", np.bitwise_or, 2, "|", True, True, 0)
BITWISE_XOR = Primitive("bitwise_xor", np.bitwise_xor, 2, "^", True, True, 0)
INVERT = Primitive("invert", np.invert, 1, "~")
LEFT_SHIFT = Primitive("left_shift", np.left_shift, 2, "<<")
RIGHT_SHIFT = Primitive("right_shift", np.right_shift, 2, ">>")
ISNAN = Primitive("isnan", np.isnan, 1)
ISINF = Primitive("isinf", np.isinf, 1)
ISFINITE = Primitive("isfinite", np.isfinite, 1)

ALL: tuple[Primitive, ...] = tuple(v for v in list(globals().values()) if isinstance(v, Primitive))
BY_NAME: dict[str, Primitive] = {p.name: p for p in ALL}
BY_UFUNC: dict[np.ufunc, Primitive] = {
    p.function: p for p in ALL if isinstance(p.function, np.ufunc)
}
