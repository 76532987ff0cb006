"""Scalar primitives and conversions as LLVM instructions, with NumPy's values.

The same values, and the same bits, as the helpers of scalar_functions.py: what LLVM leaves
undefined (division by zero, shifts by the width, conversions out of range) is guarded here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...staging import primitives as p
from ...staging.errors import InternalError
from ...staging.primitives import Primitive
from ..vector_math import TRANSCENDENTAL, routine_for
from .emitter import BOOL, FLOAT64, INT64, Emitter, Value

Args = tuple[Value, ...]
Dtype = np.dtype[np.generic]
Rule = Callable[[Emitter, Args, Dtype], Value]


def kind_of(dtype: Dtype) -> str:
    """b, i, u or f."""
    return dtype.kind


def apply(e: Emitter, primitive: Primitive, args: Args, dtype: Dtype) -> Value:
    """The primitive on values of its loop types."""
    rule = _RULES.get(primitive)
    if rule is None:
        raise InternalError(f"the LLVM printer has no rule for {primitive.name}", where=())
    return rule(e, args, dtype)


# Arithmetic.


def _arithmetic(integer: str, floating: str) -> Rule:
    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        if dtype.kind == "b":
            return e.binary("or" if integer == "add" else "and", *args)
        return e.binary(floating if dtype.kind == "f" else integer, *args)

    return rule


def _divide(e: Emitter, args: Args, dtype: Dtype) -> Value:
    return e.binary("fdiv", *args)


def _negative(e: Emitter, args: Args, dtype: Dtype) -> Value:
    if dtype.kind == "f":
        return e.op(f"fneg {args[0]}", dtype)
    return e.binary("sub", e.const(0, dtype), args[0])


def _absolute(e: Emitter, args: Args, dtype: Dtype) -> Value:
    (a,) = args
    if dtype.kind == "f":
        return e.call(_intrinsic("fabs", dtype), args, dtype)
    if dtype.kind in "ub":
        return a
    return e.select(e.compare("icmp slt", a, e.const(0, dtype)), _negative(e, args, dtype), a)


def _square(e: Emitter, args: Args, dtype: Dtype) -> Value:
    return apply(e, p.MULTIPLY, (args[0], args[0]), dtype)


def _sign(e: Emitter, args: Args, dtype: Dtype) -> Value:
    (a,) = args
    zero, one = e.const(0, dtype), e.const(1, dtype)
    if dtype.kind == "f":
        above, below = e.compare("fcmp ogt", a, zero), e.compare("fcmp olt", a, zero)
        flat = e.select(e.compare("fcmp oeq", a, zero), zero, a)
        return e.select(above, one, e.select(below, e.const(-1, dtype), flat))
    above = e.compare("icmp ugt" if dtype.kind == "u" else "icmp sgt", a, zero)
    if dtype.kind == "u":
        return e.select(above, one, zero)
    below = e.compare("icmp slt", a, zero)
    return e.select(above, one, e.select(below, e.const(-1, dtype), zero))


def _floor_divide(e: Emitter, args: Args, dtype: Dtype) -> Value:
    a, b = args
    if dtype.kind == "f":
        return _floor_divide_float(e, a, b, dtype)
    if dtype.kind == "u":
        zero = e.compare("icmp eq", b, e.const(0, dtype))
        safe = e.select(zero, e.const(1, dtype), b)
        return e.select(zero, e.const(0, dtype), e.binary("udiv", a, safe))
    zero, minus, safe = _safe_divisor(e, b, dtype)
    quotient = e.binary("sdiv", a, safe)
    rest = e.binary("srem", a, safe)
    lower = e.binary("sub", quotient, e.const(1, dtype))
    quotient = e.select(_signs_differ(e, rest, safe, dtype), lower, quotient)
    quotient = e.select(minus, _negative(e, (a,), dtype), quotient)
    return e.select(zero, e.const(0, dtype), quotient)


def _safe_divisor(e: Emitter, b: Value, dtype: Dtype) -> tuple[Value, Value, Value]:
    zero = e.compare("icmp eq", b, e.const(0, dtype))
    minus = e.compare("icmp eq", b, e.const(-1, dtype))
    return zero, minus, e.select(e.binary("or", zero, minus), e.const(1, dtype), b)


def _signs_differ(e: Emitter, rest: Value, b: Value, dtype: Dtype) -> Value:
    """Whether a remainder is not 0 and of another sign than the divisor."""
    nonzero = e.compare("icmp ne", rest, e.const(0, dtype))
    mixed = e.compare("icmp slt", e.binary("xor", rest, b), e.const(0, dtype))
    return e.binary("and", nonzero, mixed)


def _remainder(e: Emitter, args: Args, dtype: Dtype) -> Value:
    a, b = args
    if dtype.kind == "f":
        return _remainder_float(e, a, b, dtype)
    if dtype.kind == "u":
        zero = e.compare("icmp eq", b, e.const(0, dtype))
        safe = e.select(zero, e.const(1, dtype), b)
        return e.select(zero, e.const(0, dtype), e.binary("urem", a, safe))
    zero, minus, safe = _safe_divisor(e, b, dtype)
    rest = e.binary("srem", a, safe)
    rest = e.select(_signs_differ(e, rest, safe, dtype), e.binary("add", rest, safe), rest)
    return e.select(e.binary("or", zero, minus), e.const(0, dtype), rest)


def _remainder_float(e: Emitter, a: Value, b: Value, dtype: Dtype) -> Value:
    zero = e.const(0, dtype)
    rest = e.binary("frem", a, b)
    opposite = _opposite(e, rest, b, dtype)
    shifted = e.select(opposite, e.binary("fadd", rest, b), rest)
    signed = e.call(_intrinsic("copysign", dtype), (rest, b), dtype)
    exact = e.select(e.compare("fcmp oeq", rest, zero), signed, shifted)
    return e.select(e.compare("fcmp oeq", b, zero), rest, exact)


def _opposite(e: Emitter, rest: Value, b: Value, dtype: Dtype) -> Value:
    zero = e.const(0, dtype)
    return e.binary("xor", e.compare("fcmp olt", b, zero), e.compare("fcmp olt", rest, zero))


def _floor_divide_float(e: Emitter, a: Value, b: Value, dtype: Dtype) -> Value:
    zero, one = e.const(0, dtype), e.const(1, dtype)
    rest = e.binary("frem", a, b)
    quotient = e.binary("fdiv", e.binary("fsub", a, rest), b)
    nonzero = e.compare("fcmp une", rest, zero)
    lower = e.binary("and", nonzero, _opposite(e, rest, b, dtype))
    quotient = e.select(lower, e.binary("fsub", quotient, one), quotient)
    straight = e.binary("fdiv", a, b)
    signed = e.call(_intrinsic("copysign", dtype), (quotient, straight), dtype)
    whole = e.call(_intrinsic("floor", dtype), (quotient,), dtype)
    over = e.compare("fcmp ogt", e.binary("fsub", quotient, whole), e.const(0.5, dtype))
    rounded = e.select(over, e.binary("fadd", whole, one), whole)
    found = e.select(e.compare("fcmp oeq", quotient, zero), signed, rounded)
    return e.select(e.compare("fcmp oeq", b, zero), straight, found)


def _power(e: Emitter, args: Args, dtype: Dtype) -> Value:
    if dtype.kind != "f":
        name = f"power_{dtype.kind}{dtype.itemsize * 8}"
        return e.call_defined(name, args, dtype, None)
    x, y = args
    found = _transcendental("power")(e, args, dtype)
    one = e.const(1, dtype)
    for exponent, value in (
        (-1.0, e.binary("fdiv", one, x)),
        (0.5, e.call(_intrinsic("sqrt", dtype), (x,), dtype)),
        (2.0, e.binary("fmul", x, x)),
    ):
        found = e.select(e.compare("fcmp oeq", y, e.const(exponent, dtype)), value, found)
    return found


def _minimum(less: str, integer: str) -> Rule:
    """The helpers' rule: a where a is better or NaN, else b."""

    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        a, b = args
        if dtype.kind == "f":
            better = e.compare(f"fcmp {less}", a, b)
            nan = e.compare("fcmp uno", a, a)
            return e.select(e.binary("or", better, nan), a, b)
        if dtype.kind == "b":
            return e.binary("and" if integer == "lt" else "or", a, b)
        return e.select(e.compare(f"icmp {dtype.kind.replace('i', 's')}{integer}", a, b), a, b)

    return rule


# Truth.


def _comparison(name: str, floating: str) -> Rule:
    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        a, b = args
        if a.dtype.kind == "f":
            return e.compare(f"fcmp {floating}", a, b)
        if a.dtype != b.dtype:
            return _mixed_comparison(e, name, a, b)
        unsigned = a.dtype.kind in "ub"
        sign = "" if name in ("eq", "ne") else "u" if unsigned else "s"
        return e.compare(f"icmp {sign}{name}", a, b)

    return rule


def _mixed_comparison(e: Emitter, name: str, a: Value, b: Value) -> Value:
    """i64 against u64: as numbers, in 128 bits that neither overflows."""
    wide = [
        e.op(f"{'zext' if v.dtype.kind == 'u' else 'sext'} {v} to i128", v.dtype) for v in (a, b)
    ]
    sign = "" if name in ("eq", "ne") else "s"
    return e.op(f"icmp {sign}{name} i128 {wide[0].text}, {wide[1].text}", BOOL)


def truth(e: Emitter, a: Value) -> Value:
    """Whether a value is not 0; NaN is true."""
    if a.dtype.kind == "b":
        return a
    if a.dtype.kind == "f":
        return e.compare("fcmp une", a, e.const(0, a.dtype))
    return e.compare("icmp ne", a, e.const(0, a.dtype))


def _logical(opcode: str) -> Rule:
    return lambda e, args, dtype: e.binary(opcode, *(truth(e, a) for a in args))


def _not(e: Emitter, args: Args, dtype: Dtype) -> Value:
    return e.binary("xor", truth(e, args[0]), e.const(True, BOOL))


def _bits(opcode: str) -> Rule:
    return lambda e, args, dtype: e.binary(opcode, *args)


def _invert(e: Emitter, args: Args, dtype: Dtype) -> Value:
    return e.binary("xor", args[0], e.const(True if dtype.kind == "b" else -1, dtype))


def _shift(left: bool) -> Rule:
    """Counts outside of the width give 0, or the sign."""

    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        a, count = args
        width = e.const(dtype.itemsize * 8, dtype)
        inside = e.compare("icmp ult", count, width)
        safe = e.select(inside, count, e.const(0, dtype))
        if left or dtype.kind == "u":
            shifted = e.binary("shl" if left else "lshr", a, safe)
            return e.select(inside, shifted, e.const(0, dtype))
        last = e.const(dtype.itemsize * 8 - 1, dtype)
        return e.binary("ashr", a, e.select(inside, count, last))

    return rule


def _isnan(e: Emitter, args: Args, dtype: Dtype) -> Value:
    (a,) = args
    return e.compare("fcmp uno", a, a) if a.dtype.kind == "f" else e.const(False, BOOL)


def _isinf(e: Emitter, args: Args, dtype: Dtype) -> Value:
    (a,) = args
    if a.dtype.kind != "f":
        return e.const(False, BOOL)
    size = e.call(_intrinsic("fabs", a.dtype), args, a.dtype)
    return e.compare("fcmp oeq", size, e.const(np.inf, a.dtype))


def _isfinite(e: Emitter, args: Args, dtype: Dtype) -> Value:
    (a,) = args
    if a.dtype.kind != "f":
        return e.const(True, BOOL)
    size = e.call(_intrinsic("fabs", a.dtype), args, a.dtype)
    return e.compare("fcmp olt", size, e.const(np.inf, a.dtype))


def _select(e: Emitter, args: Args, dtype: Dtype) -> Value:
    return e.select(*args)


# Functions.


def _intrinsic(name: str, dtype: Dtype) -> str:
    return f"llvm.{name}.f{dtype.itemsize * 8}"


def _exact(name: str) -> Rule:
    """A function that LLVM has an exact intrinsic for; integers are what they are."""

    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        if dtype.kind != "f":
            return args[0]
        return e.call(_intrinsic(name, dtype), args, dtype)

    return rule


def _transcendental(name: str) -> Rule:
    """The C library's function, in float64 where it has none for float32."""

    def rule(e: Emitter, args: Args, dtype: Dtype) -> Value:
        routine = routine_for(name, dtype)
        inner: Dtype = np.dtype(routine.dtype)
        given = tuple(convert(e, a, inner) for a in args)
        if routine.lanes:
            found = e.call_defined(routine.callee, given, inner, routine)
        else:
            found = e.call(routine.callee, given, inner)
        return convert(e, found, dtype)

    return rule


# Conversions.


def convert(e: Emitter, a: Value, dtype: Dtype) -> Value:
    """As NumPy's astype; a float outside of an integer's range as scalar_functions.py says."""
    source, target = a.dtype.kind, dtype.kind
    if a.dtype == dtype:
        return a
    if target == "b":
        return truth(e, a)
    if source == "b":
        whole = e.op(f"zext {a} to i64", INT64)
        return convert(e, whole, dtype)
    if source == "f":
        if target == "f":
            opcode = "fpext" if dtype.itemsize > a.dtype.itemsize else "fptrunc"
            return e.convert(opcode, a, dtype)
        return _float_to_integer(e, a, dtype)
    if target == "f":
        return e.convert("uitofp" if source == "u" else "sitofp", a, dtype)
    if dtype.itemsize == a.dtype.itemsize:
        return Value(a.text, dtype)
    if dtype.itemsize < a.dtype.itemsize:
        return e.convert("trunc", a, dtype)
    return e.convert("zext" if source == "u" else "sext", a, dtype)


def _float_to_integer(e: Emitter, a: Value, dtype: Dtype) -> Value:
    """Truncated to int64, uint64 or int32 first, then cut to the narrower type."""
    if dtype == np.uint64:
        return _float_to_unsigned(e, a)
    through: Dtype = np.dtype(np.int64 if dtype.itemsize == 8 or dtype == np.uint32 else np.int32)
    bits = through.itemsize * 8 - 1
    if bits == 63:
        inside = e.compare("fcmp oge", a, e.const(-(2.0**63), a.dtype))
    else:
        a = convert(e, a, FLOAT64)  # float32 has no number just below -2**31 - 1
        inside = e.compare("fcmp ogt", a, e.const(-(2.0**31) - 1, a.dtype))
    below = e.compare("fcmp olt", a, e.const(2.0**bits, a.dtype))
    inside = e.binary("and", inside, below)
    safe = e.select(inside, a, e.const(0, a.dtype))
    whole = e.convert("fptosi", safe, through)
    return convert(e, e.select(inside, whole, e.const(-(2**bits), through)), dtype)


def _float_to_unsigned(e: Emitter, a: Value) -> Value:
    zero, uint64 = e.const(0, a.dtype), np.dtype(np.uint64)
    low, high = e.const(-(2.0**63), a.dtype), e.const(2.0**64, a.dtype)
    above = e.compare("fcmp oge", a, zero)
    inside = e.binary("and", above, e.compare("fcmp olt", a, high))
    negative = e.binary("and", e.compare("fcmp oge", a, low), e.compare("fcmp olt", a, zero))
    up = e.convert("fptoui", e.select(inside, a, zero), uint64)
    down = Value(e.convert("fptosi", e.select(negative, a, zero), INT64).text, uint64)
    outside = e.select(above, e.const(0, uint64), e.const(2**63, uint64))
    return e.select(inside, up, e.select(negative, down, outside))


_RULES: dict[Primitive, Rule] = {
    p.ADD: _arithmetic("add", "fadd"),
    p.SUBTRACT: _arithmetic("sub", "fsub"),
    p.MULTIPLY: _arithmetic("mul", "fmul"),
    p.DIVIDE: _divide,
    p.FLOOR_DIVIDE: _floor_divide,
    p.REMAINDER: _remainder,
    p.NEGATIVE: _negative,
    p.POSITIVE: lambda e, args, dtype: args[0],
    p.ABSOLUTE: _absolute,
    p.SQUARE: _square,
    p.COPYSIGN: lambda e, args, dtype: e.call(_intrinsic("copysign", dtype), args, dtype),
    p.FMOD: lambda e, args, dtype: e.binary("frem", *args),
    p.SQRT: _exact("sqrt"),
    p.SIGN: _sign,
    p.FLOOR: _exact("floor"),
    p.CEIL: _exact("ceil"),
    p.TRUNC: _exact("trunc"),
    p.RINT: _exact("rint"),
    **{q: _transcendental(q.name) for q in p.ALL if q.name in TRANSCENDENTAL},
    p.POWER: _power,
    p.MINIMUM: _minimum("olt", "lt"),
    p.MAXIMUM: _minimum("ogt", "gt"),
    p.EQUAL: _comparison("eq", "oeq"),
    p.NOT_EQUAL: _comparison("ne", "une"),
    p.LESS: _comparison("lt", "olt"),
    p.LESS_EQUAL: _comparison("le", "ole"),
    p.GREATER: _comparison("gt", "ogt"),
    p.GREATER_EQUAL: _comparison("ge", "oge"),
    p.LOGICAL_AND: _logical("and"),
    p.LOGICAL_OR: _logical("or"),
    p.LOGICAL_XOR: _logical("xor"),
    p.LOGICAL_NOT: _not,
    p.BITWISE_AND: _bits("and"),
    p.BITWISE_OR: _bits("or"),
    p.BITWISE_XOR: _bits("xor"),
    p.INVERT: _invert,
    p.LEFT_SHIFT: _shift(left=True),
    p.RIGHT_SHIFT: _shift(left=False),
    p.ISNAN: _isnan,
    p.ISINF: _isinf,
    p.ISFINITE: _isfinite,
    p.SELECT: _select,
}
