"""Which routine computes exp and its kin in native code: vectors of glibc's libmvec where it can.

For each function and dtype that a module uses it defines one scalar function, the **wrapper**,
which puts its argument into all lanes of the vector function and takes the first lane out. The
wrapper carries a `vector-function-abi-variant`, by which LLVM's vectorisers replace calls of it by
calls of the vector function. So an element has the same bits in a vector loop, in what remains of
it, and in scalar code: it always goes through the same routine, whose lanes do not depend on each
other (libmvec hands the lanes that are special, one by one, to the scalar function). Plain Python
calls the wrapper, too (transcendental.py).

A scalar function of libm beside the vectors, which would be the usual way, differs from them by
some units in the last place; and the wrapper takes no longer: 10 ns for exp, as libm's.

The wrapper is `speculatable`, so that loops with branches become vectors that compute both sides.

The routines are chosen once per process, by what the processor and the C library have. They stand
in the LLVM text, and so in the key of the disk cache.

Accuracy of glibc 2.36's functions for AVX2 and SSE4.1, the greatest error in units in the last
place: of float64, over 8 million arguments or more (every exponent, near 1, near multiples of
pi / 2, special values) against x87's extended precision: cos 3.6, sin 3.5, acosh 3.4, tan 3.3,
atanh 3.1, exp 3.0, all others below 3, pow 1.0. Of float32 against float64: log 3.94 (with AVX2,
over all arguments), tan 3.7, atan2 3.5, acosh 3.2, all others below 3. Arguments of sin, cos and
tan may be as large as they like, and all values of C's standard for zeros, infinities and quiet
NaNs are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from ..staging.dataclass import dataclass
from ..staging.primitives import BY_NAME
from . import objects

# NumPy's names of the functions, with C's.
C_NAMES = {
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "hypot": "hypot",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "cbrt": "cbrt",
    "nextafter": "nextafter",
    "power": "pow",
    "erf": "erf",
    "erfc": "erfc",
}
TRANSCENDENTAL = frozenset(C_NAMES)
# Of float32 these mean something else than of float64.
_OF_EACH_DTYPE = {"nextafter"}
_TYPES = {"float32": ("float", 32), "float64": ("double", 64)}


@dataclass(frozen=True, slots=True)
class Abi:
    """Vector functions of one instruction set.

    triple : what LLVM's name of such a machine begins with
    feature : what the processor must have, in LLVM's words
    letter : the instruction set in the functions' names
    bits : the width of their vectors
    """

    triple: str
    feature: str
    letter: str
    bits: int


# The first that fits is taken. A processor with AVX-512 takes AVX2's: vectors of 256 bits are what
# LLVM prefers on most of them, and with one glibc all machines that have AVX2 give the same bits.
ABIS = (Abi("x86_64", "avx2", "d", 256), Abi("x86_64", "sse4.1", "b", 128))


@dataclass(frozen=True, slots=True)
class Routine:
    """A routine of the C library.

    name : NumPy's name of the function
    dtype : float32 or float64, of arguments and result
    symbol : the routine
    lanes : how many values it takes at once, 0 for a scalar function
    """

    name: str
    dtype: str
    symbol: str
    lanes: int

    @property
    def arity(self) -> int:
        """How many arguments it has."""
        return BY_NAME[self.name].arity

    @property
    def type(self) -> str:
        """LLVM's name of the dtype."""
        return _TYPES[self.dtype][0]

    @property
    def declaration(self) -> str:
        """The routine in LLVM text. LLVM takes it as it is: pow(2.0, x) is no exp2(x)."""
        type_ = f"<{self.lanes} x {self.type}>" if self.lanes else self.type
        arguments = ", ".join([type_] * self.arity)
        return f"declare {type_} @{self.symbol}({arguments}) nobuiltin {_PURE}"

    @property
    def callee(self) -> str:
        """The scalar function to call: the wrapper of a vector function."""
        return f"parloom.{self.name}.{self.dtype}" if self.lanes else self.symbol


def routine_for(name: str, dtype: np.dtype[Any]) -> Routine:
    """The routine for a function by NumPy's name: of float64 where float32 has none of its own."""
    found = routine(name, dtype.name) or routine(name, "float64")
    assert found is not None
    return found


@cache
def routine(name: str, dtype: str) -> Routine | None:
    """The routine of this process for just that dtype; float64 has one always."""
    host = objects.host()
    features = host.features.split(",")
    for abi in ABIS:
        if host.triple.startswith(abi.triple) and f"+{abi.feature}" in features:
            found = vector_routine(name, dtype, abi)
            if found is not None:
                return found
            break
    if dtype == "float32" and name in _OF_EACH_DTYPE:
        return Routine(name, dtype, f"{C_NAMES[name]}f", 0)
    return Routine(name, dtype, C_NAMES[name], 0) if dtype == "float64" else None


def vector_routine(name: str, dtype: str, abi: Abi) -> Routine | None:
    """The vector function, if the C library has it."""
    bits = _TYPES[dtype][1]
    lanes = abi.bits // bits
    suffix = "f" if dtype == "float32" else ""
    symbol = f"_ZGV{abi.letter}N{lanes}{'v' * BY_NAME[name].arity}_{C_NAMES[name]}{suffix}"
    return Routine(name, dtype, symbol, lanes) if objects.has_symbol(symbol) else None


def routines_of(name: str) -> list[Routine]:
    """The routines of a function, one for each dtype that has its own."""
    return [r for dtype in _TYPES if (r := routine(name, dtype)) is not None]


def routines() -> list[Routine]:
    """All routines of this process."""
    return [r for name in C_NAMES for r in routines_of(name)]


def wrappers(wanted: Iterable[Routine]) -> list[str]:
    """The wrappers of vector functions, as LLVM text."""
    wrapped = [r for r in wanted if r.lanes]
    if not wrapped:
        return []
    # Constants that all calls pass must stay arguments, for the vector function takes them as well.
    kept = ", ".join(f"ptr @{r.callee}" for r in wrapped)
    return [
        *(line for r in wrapped for line in (*_wrapper(r), "")),
        f"@llvm.compiler.used = appending global [{len(wrapped)} x ptr] [{kept}], "
        'section "llvm.metadata"',
    ]


def _wrapper(r: Routine) -> list[str]:
    scalar, vector = r.type, f"<{r.lanes} x {r.type}>"
    names = ("x", "y")[: r.arity]
    variant = f"_ZGV_LLVM_N{r.lanes}{'v' * r.arity}_{r.callee}({r.symbol})"
    lines = [
        r.declaration,
        f"define {scalar} @{r.callee}({', '.join(f'{scalar} %{n}' for n in names)}) "
        f'noinline speculatable {_PURE} "vector-function-abi-variant"="{variant}" {{',
    ]
    for n in names:
        lines.append(f"  %{n}.first = insertelement {vector} poison, {scalar} %{n}, i64 0")
        lines.append(
            f"  %{n}.all = shufflevector {vector} %{n}.first, {vector} poison, "
            f"<{r.lanes} x i32> zeroinitializer"
        )
    arguments = ", ".join(f"{vector} %{n}.all" for n in names)
    return [
        *lines,
        f"  %found = call {vector} @{r.symbol}({arguments})",
        f"  %one = extractelement {vector} %found, i64 0",
        f"  ret {scalar} %one",
        "}",
    ]


_PURE = "nounwind willreturn nosync nofree memory(none)"
