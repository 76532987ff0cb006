"""Expressions of Kernel IR as Python.

What Python spells differently from NumPy (`floor_divide`, `minimum` of NaNs, shifts, `exp` without
exceptions) is a helper function of scalar_functions.py; the text that uses one begins with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

import numpy as np

from ..staging import primitives as p
from ..staging.dataclass import dataclass
from ..staging.primitives import Primitive
from ..transforms.kernel_ir import Bits, Buffer, Convert, Expr, Fma, Literal, Load, Local, Prim
from .python_literals import ATOM, literal
from .vector_math import TRANSCENDENTAL, routine_for

_PRECEDENCE = {
    "or": 1, "and": 2, "not": 3,
    "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "~": 11,
}  # fmt: skip
_UNARY = 11
_SELECT = 0

# Primitives that NumPy and Numba compute exactly, by NumPy's name.
_NUMPY = {
    p.SQRT, p.FLOOR, p.CEIL, p.TRUNC, p.RINT, p.ABSOLUTE, p.ISINF, p.ISFINITE, p.COPYSIGN,
    p.FMOD,
}  # fmt: skip
# Helper functions that depend on the kind of the operands.
_BY_KIND = {
    ("floor_divide", "i"): "floor_divide",
    ("floor_divide", "u"): "floor_divide_unsigned",
    ("floor_divide", "f"): "floor_divide_float",
    ("remainder", "i"): "remainder",
    ("remainder", "u"): "remainder_unsigned",
    ("remainder", "f"): "remainder_float",
    ("power", "i"): "power_int",
    ("power", "u"): "power_unsigned",
    ("power", "f"): "power_float",
    ("left_shift", "i"): "left_shift",
    ("left_shift", "u"): "left_shift",
    ("right_shift", "i"): "right_shift",
    ("right_shift", "u"): "right_shift_unsigned",
    ("sign", "f"): "sign_float",
    ("multiply", "c"): "complex_multiply",
    ("divide", "c"): "complex_divide",
    ("absolute", "c"): "complex_absolute",
}
# Comparisons of a signed with an unsigned number: the helper, and whether it says yes or no.
_MIXED = {
    p.EQUAL: ("equal_signed", True),
    p.NOT_EQUAL: ("equal_signed", False),
    p.LESS: ("less_signed", True),
    p.GREATER_EQUAL: ("less_signed", False),
    p.LESS_EQUAL: ("less_equal_signed", True),
    p.GREATER: ("less_equal_signed", False),
}
_MIRRORED = {
    p.LESS: p.GREATER,
    p.LESS_EQUAL: p.GREATER_EQUAL,
    p.GREATER: p.LESS,
    p.GREATER_EQUAL: p.LESS_EQUAL,
}
# The integers that floats are truncated to first; the others by way of int32.
_TRUNCATES = {"int64": "int64", "uint32": "int64", "uint64": "uint64"}
# Integer results that Python, or Numba, would widen.
_WRAPS = (
    p.ADD, p.SUBTRACT, p.MULTIPLY, p.NEGATIVE, p.INVERT, p.BITWISE_AND, p.BITWISE_OR, p.BITWISE_XOR,
)  # fmt: skip


@dataclass(slots=True)
class Expressions:
    """Prints expressions; collects the functions that the text needs.

    helpers : of scalar_functions.py
    functions : of transcendental.py
    intrinsics : of numba/intrinsics.py
    renamed : variables that would be called like one of them
    """

    helpers: dict[str, None] = field(default_factory=dict[str, None])
    functions: dict[str, None] = field(default_factory=dict[str, None])
    intrinsics: dict[str, None] = field(default_factory=dict[str, None])
    renamed: dict[str, str] = field(default_factory=dict[str, str])

    def name(self, variable: Local | Buffer) -> str:
        """The variable's name in the text."""
        return self.renamed.get(variable.name, variable.name)

    def text(self, expr: Expr, above: int = 0) -> str:
        """The expression, in parentheses where the operator above it binds tighter."""
        found, level = self.expression(expr)
        return f"({found})" if level < above else found

    def expression(self, expr: Expr) -> tuple[str, int]:
        """The expression and how tightly its outermost operator binds."""
        if isinstance(expr, Local):
            return self.name(expr), ATOM
        if isinstance(expr, Literal):
            return literal(expr.value)
        if isinstance(expr, Load):
            return self.element(expr.buffer, expr.indices), ATOM
        if isinstance(expr, Convert):
            return self.convert(expr), ATOM
        if isinstance(expr, Fma):
            self.intrinsics["fma"] = None
            return f"fma({self.arguments((expr.a, expr.b, expr.c))})", ATOM
        if isinstance(expr, Bits):
            return f"{self.helper('float_bits')}({self.text(expr.arg)})", ATOM
        return self.primitive(expr)

    def element(self, buffer: Buffer, indices: tuple[Expr, ...]) -> str:
        """One element of a buffer."""
        return f"{self.name(buffer)}[{', '.join(self.text(i) for i in indices) or '()'}]"

    def convert(self, expr: Convert) -> str:
        """A conversion as NumPy's astype does it."""
        source, target = expr.arg.dtype, expr.dtype
        if target.kind == "b":
            return f"({self.text(expr.arg, 5)} != 0)"
        inner = self.text(expr.arg)
        if source.kind == "c" and target.kind in "iuf":
            inner = f"{self.text(expr.arg, ATOM)}.real"
        if source.kind in "fc" and target.kind in "iu":
            through = _TRUNCATES.get(target.name, "int32")
            inner = f"{self.helper(f'to_{through}')}({inner})"
            return inner if target.name == through else f"np.{target.name}({inner})"
        if source == np.int64 and target.kind in "iu" and target != source:
            inner = f"np.int64({inner})"  # a loop's index is a Python integer, which does not wrap
        return f"np.{target.name}({inner})"

    def helper(self, name: str) -> str:
        """A function of scalar_functions.py."""
        self.helpers[name] = None
        return name

    def primitive(self, expr: Prim) -> tuple[str, int]:
        """A primitive application."""
        primitive, args = expr.primitive, expr.args
        special = _SPECIAL.get(primitive)
        if special is not None:
            return special(self, expr)
        if primitive in _NUMPY and (primitive.name, args[0].dtype.kind) not in _BY_KIND:
            return f"np.{primitive.function.__name__}({self.arguments(args)})", ATOM
        if primitive.symbol and (primitive.name, args[0].dtype.kind) not in _BY_KIND:
            return self.infix(expr)
        return self.call(expr), ATOM

    def call(self, expr: Prim) -> str:
        """A helper function, or one of the C library."""
        name, args = expr.primitive.name, expr.args
        kind = args[0].dtype.kind
        if kind == "f" and name in TRANSCENDENTAL:
            return self.transcendental(expr)
        given = self.arguments(args)
        if name in ("left_shift", "right_shift"):
            given += f", {expr.dtype.itemsize * 8}"
        if name == "power":
            given += f", {self.text(Literal(expr.dtype.type(1)))}"
        return self.narrowed(expr, f"{self.helper(_BY_KIND.get((name, kind), name))}({given})")

    def transcendental(self, expr: Prim) -> str:
        """A function of the C library, in float64 where it has none for float32."""
        name = expr.primitive.name
        inner: np.dtype[np.generic] = np.dtype(routine_for(name, expr.dtype).dtype)
        given = self.arguments(tuple(converted(a, inner) for a in expr.args))
        if (name, "f") in _BY_KIND:  # a helper may give float64
            return self.narrowed(expr, f"{self.helper(_BY_KIND[name, 'f'])}({given})")
        self.functions[name] = None
        found = f"{name}({given})"
        return found if inner == expr.dtype else f"np.{expr.dtype.name}({found})"

    def narrowed(self, expr: Prim, text: str) -> str:
        """Wrapped in the dtype where Python or Numba would widen."""
        bare = expr.dtype.kind == "b" or expr.dtype.name in ("int64", "float64")
        return text if bare else f"np.{expr.dtype.name}({text})"

    def arguments(self, args: tuple[Expr, ...]) -> str:
        """Call arguments."""
        return ", ".join(self.text(a) for a in args)

    def infix(self, expr: Prim) -> tuple[str, int]:
        """An operator, wrapped where Python would widen a narrow integer."""
        symbol, args = expr.primitive.symbol, expr.args
        if expr.primitive in _MIXED and args[0].dtype.kind != args[1].dtype.kind:
            return self.mixed(expr.primitive, args)
        if len(args) == 1:
            level = _PRECEDENCE["not"] if symbol == "not" else _UNARY
            gap = " " if symbol == "not" else ""
            found = f"{symbol}{gap}{self.text(args[0], level)}"
        else:
            level = _PRECEDENCE[symbol]
            # comparisons do not chain, and the right operand of - and / needs its parentheses
            left = self.text(args[0], level + (level == _PRECEDENCE["<"]))
            found = f"{left} {symbol} {self.text(args[1], level + 1)}"
        narrow = expr.dtype.kind in "iu" and expr.dtype != np.int64
        if narrow and expr.primitive in _WRAPS:
            return f"np.{expr.dtype.name}({found})", ATOM
        if expr.dtype.kind == "b" and expr.primitive in (p.ADD, p.MULTIPLY):
            return f"({found}) != 0", _PRECEDENCE["!="]
        return found, level

    def mixed(self, primitive: Primitive, args: tuple[Expr, ...]) -> tuple[str, int]:
        """A comparison of int64 with uint64, for which Numba compares float64s."""
        if args[0].dtype.kind == "u":
            args = args[::-1]
            primitive = _MIRRORED.get(primitive, primitive)
        name, holds = _MIXED[primitive]
        found = f"{self.helper(name)}({self.arguments(args)})"
        return (found, ATOM) if holds else (f"not {found}", _PRECEDENCE["not"])


def _select(printer: Expressions, expr: Prim) -> tuple[str, int]:
    cond, a, b = expr.args
    text = f"{printer.text(a, 1)} if {printer.text(cond, 1)} else {printer.text(b, 0)}"
    return text, _SELECT


def _divide(printer: Expressions, expr: Prim) -> tuple[str, int]:
    a, b = expr.args
    if expr.dtype.kind == "c":
        return printer.call(expr), ATOM
    level = _PRECEDENCE["/"]
    return f"{printer.text(a, level)} / {printer.text(b, level + 1)}", level


def _logical(symbol: str) -> Callable[[Expressions, Prim], tuple[str, int]]:
    """`&` and `|` of truth values: without the branches of `and` and `or`."""

    def found(printer: Expressions, expr: Prim) -> tuple[str, int]:
        level = _PRECEDENCE[symbol]
        a, b = (truth_of(x) for x in expr.args)
        return f"{printer.text(a, level)} {symbol} {printer.text(b, level + 1)}", level

    return found


def converted(expr: Expr, dtype: np.dtype[np.generic]) -> Expr:
    """The expression in this dtype."""
    return expr if expr.dtype == dtype else Convert(expr, dtype)


def truth_of(expr: Expr) -> Expr:
    """The operand of a logical primitive as a truth value."""
    if expr.dtype.kind == "b":
        return expr
    return Convert(expr, np.dtype(np.bool_))


def _isnan(printer: Expressions, expr: Prim) -> tuple[str, int]:
    return _against_itself(printer, expr.args[0], "!=")


def _against_itself(printer: Expressions, arg: Expr, symbol: str) -> tuple[str, int]:
    """NaN is what does not equal itself."""
    level = _PRECEDENCE[symbol]
    text = printer.text(arg, level + 1)
    return f"{text} {symbol} {text}", level


def _not(printer: Expressions, expr: Prim) -> tuple[str, int]:
    inner = expr.args[0]
    if isinstance(inner, Prim) and inner.primitive is p.ISNAN:
        return _against_itself(printer, inner.args[0], "==")
    level = _PRECEDENCE["not"]
    return f"not {printer.text(truth_of(expr.args[0]), level)}", level


def _xor(printer: Expressions, expr: Prim) -> tuple[str, int]:
    a, b = (printer.text(truth_of(x), 5) for x in expr.args)
    return f"{a} != {b}", _PRECEDENCE["!="]


def _least(builtin: str) -> Callable[[Expressions, Prim], tuple[str, int]]:
    """Integers have Python's own; floats a helper that lets NaN through."""

    def found(printer: Expressions, expr: Prim) -> tuple[str, int]:
        if expr.dtype.kind in "iu":
            return f"{builtin}({printer.arguments(expr.args)})", ATOM
        return printer.call(expr), ATOM

    return found


def _square(printer: Expressions, expr: Prim) -> tuple[str, int]:
    return printer.primitive(Prim(p.MULTIPLY, (expr.args[0], expr.args[0]), expr.dtype))


def _invert(printer: Expressions, expr: Prim) -> tuple[str, int]:
    return _not(printer, expr) if expr.dtype.kind == "b" else printer.infix(expr)


_SPECIAL: dict[Primitive, Callable[[Expressions, Prim], tuple[str, int]]] = {
    p.SELECT: _select,
    p.DIVIDE: _divide,
    p.LOGICAL_AND: _logical("&"),
    p.LOGICAL_OR: _logical("|"),
    p.LOGICAL_NOT: _not,
    p.LOGICAL_XOR: _xor,
    p.ISNAN: _isnan,
    p.MINIMUM: _least("min"),
    p.MAXIMUM: _least("max"),
    p.SQUARE: _square,
    p.INVERT: _invert,
}
