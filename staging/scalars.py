"""Staged numbers and truth values, and NumPy's ufuncs on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .arithmetic import Arithmetic, register_ufuncs
from .context import trace
from .errors import CheckFailed, Limitation, StagingTypeError
from .narrowing import UNCHECKED, holds, narrowed
from .nodes import Apply, Cast, Check, Const, ErrorKind, Operand
from .primitives import BY_UFUNC, COMPARISONS, LESS_EQUAL, MULTIPLY, POWER, SELECT, Primitive
from .reps import lift, register_index, register_lift, register_rep, trap
from .types import BOOL, I64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar
from .unsupported import instead_of

_KNOWN_LATER = "its value is known only when the compiled program runs"


class ScalarRep(Arithmetic):
    """A staged number or truth value."""

    __slots__ = ("_operand",)
    is_number = True

    def __init__(self, operand: Operand) -> None:
        assert isinstance(operand.type, Scalar)
        self._operand = operand

    @property
    def operand(self) -> Operand:
        return self._operand

    @property
    def scalar(self) -> Scalar:
        """The scalar type."""
        assert isinstance(self._operand.type, Scalar)
        return self._operand.type

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy dtype."""
        return self.scalar.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """(), as for a NumPy scalar."""
        return ()

    ndim, size = 0, 1

    def strong(self) -> ScalarRep:
        return cast(self, Scalar(self.dtype)) if self.scalar.weak else self

    def astype(self, dtype: Any) -> ScalarRep:
        """The value converted as NumPy does."""
        return cast(self, Scalar(np.dtype(dtype)))

    def item(self) -> ScalarRep:
        """The scalar itself (there is no staged Python number to give)."""
        return self

    def __int__(self) -> NoReturn:
        trap(
            "int() of a staged value",
            _KNOWN_LATER,
            "x.astype(np.int64), or int(x) inside a staged function",
        )

    def __float__(self) -> NoReturn:
        trap(
            "float() of a staged value",
            _KNOWN_LATER,
            "x.astype(np.float64), or float(x) inside a staged function",
        )

    def __index__(self) -> NoReturn:
        trap(
            "a staged value was used as a Python index or size",
            _KNOWN_LATER,
            "index a staged array (pm.asarray(list)[i]), or make the argument static with "
            "static_argnames",
        )

    def __iter__(self) -> NoReturn:
        trap("iteration over a staged scalar", "a number has no elements", "pm.range(n)")


class PythonBool(ScalarRep):
    """A truth value of Python's: among Python's numbers it counts as 0 or 1 (`True + True` is 2),
    where NumPy's bools have logical operators.
    """

    __slots__ = ()

    def strong(self) -> ScalarRep:
        return ScalarRep(self.operand)


def is_python(value: object) -> bool:
    """Whether a number or a truth value of Python's, staged or not."""
    if isinstance(value, ScalarRep):
        return value.scalar.weak or isinstance(value, PythonBool)
    return isinstance(value, bool | int | float | complex) and not isinstance(value, np.generic)


def _as_number(name: str) -> Any:
    operator = getattr(ScalarRep, name)

    def method(self: PythonBool, *others: object) -> object:
        pythons = all(map(is_python, others))
        return operator(cast(self, WEAK_INT) if pythons else self, *others)

    return method


def _as_bool(name: str) -> Any:
    operator = getattr(ScalarRep, name)

    def method(self: PythonBool, other: object) -> object:
        found = operator(self, other)
        return PythonBool(found.operand) if isinstance(other, bool | PythonBool) else found

    return method


for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift"]:
    setattr(PythonBool, f"__{_name}__", _as_number(f"__{_name}__"))
    setattr(PythonBool, f"__r{_name}__", _as_number(f"__r{_name}__"))
for _name in ("neg", "pos", "abs", "invert"):
    setattr(PythonBool, f"__{_name}__", _as_number(f"__{_name}__"))
for _name in ("and", "or", "xor"):
    setattr(PythonBool, f"__{_name}__", _as_bool(f"__{_name}__"))
    setattr(PythonBool, f"__r{_name}__", _as_bool(f"__r{_name}__"))


def apply_primitive(primitive: Primitive, *args: ScalarRep) -> ScalarRep:
    """The primitive on scalars, after NumPy 2's promotion."""
    types = tuple(a.scalar for a in args)
    try:
        loop = primitive.loop(_compared_exactly(primitive, args, types))
    except TypeError as error:
        names = ", ".join(map(str, types))
        raise StagingTypeError(f"{primitive.name} is not defined for {names}") from error
    to = cast if primitive in UNCHECKED else narrow
    operands = tuple(to(a, t).operand for a, t in zip(args, loop, strict=True))
    (found,) = trace().emit(Apply(primitive, operands))
    pythons = primitive in COMPARISONS and all(map(is_python, args))
    if pythons:
        return PythonBool(found)
    numpys = any(a.scalar == BOOL and not is_python(a) for a in args)
    result = ScalarRep(found)
    return result.strong() if numpys and primitive is not SELECT else result


def _compared_exactly(
    primitive: Primitive, args: tuple[ScalarRep, ...], types: tuple[Scalar, ...]
) -> tuple[Scalar, ...]:
    """NumPy compares a Python integer by its value, also one that a narrow dtype does not hold.

    Such an integer does not yield: both sides are compared as i64, or as u64 against i64.
    """
    narrow = [t.dtype for t in types if not t.weak and t.dtype.kind in "iu"]
    if primitive not in COMPARISONS or len(narrow) != 1 or narrow[0] == I64.dtype:
        return types
    return tuple(
        I64 if t == WEAK_INT and not holds(narrow[0], a.operand) else t
        for a, t in zip(args, types, strict=True)
    )


def cast(value: ScalarRep, to: Scalar) -> ScalarRep:
    """The value in another scalar type."""
    return value if value.scalar == to else ScalarRep(trace().emit(Cast(value.operand, to))[0])


def narrow(value: ScalarRep, to: Scalar) -> ScalarRep:
    """The value in another scalar type that must hold it if it is a Python integer."""
    return ScalarRep(narrowed(value.operand, to))


def select(cond: ScalarRep, a: ScalarRep, b: ScalarRep) -> ScalarRep:
    """`a if cond else b`, both evaluated."""
    return apply_primitive(SELECT, cond, a, b)


def constant(value: Any) -> ScalarRep:
    """A Python or NumPy number as a constant; Python's stay weak."""
    if issubclass(type(value), np.generic):
        return ScalarRep(Const(value, Scalar(value.dtype)))
    if isinstance(value, bool):
        return PythonBool(Const(value, BOOL))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise StagingTypeError(
                f"the Python integer {value} does not fit in 64 bits",
                instead="np.uint64(...), or a float: float(2**64)",
            )
        return ScalarRep(Const(value, WEAK_INT))
    if isinstance(value, float):
        return ScalarRep(Const(value, WEAK_FLOAT))
    return ScalarRep(Const(value, WEAK_COMPLEX))


def lift_scalar(value: object) -> ScalarRep:
    """The value as a scalar Rep."""
    rep = lift(value)
    if not isinstance(rep, ScalarRep):
        raise StagingTypeError(f"expected a number, found {rep.type}")
    return rep


# Ufuncs.


ScalarDefinition = Callable[..., ScalarRep]
_definitions: dict[np.ufunc, ScalarDefinition] = {}


def define_ufunc(ufunc: np.ufunc) -> Callable[[ScalarDefinition], ScalarDefinition]:
    """Registers what a ufunc without a primitive, or with conditions, means on scalars."""

    def register(definition: ScalarDefinition) -> ScalarDefinition:
        _definitions[ufunc] = definition
        return definition

    return register


def scalar_ufunc(ufunc: np.ufunc, args: tuple[ScalarRep, ...]) -> ScalarRep:
    """A ufunc on scalar Reps."""
    if ufunc in _definitions:
        return _definitions[ufunc](*args)
    if ufunc not in BY_UFUNC:
        known = [u.__name__ for u in (*BY_UFUNC, *_definitions)]
        raise Limitation(
            f"np.{ufunc.__name__} is not supported on staged values",
            instead=instead_of(ufunc.__name__, known, "np.{}"),
        )
    return apply_primitive(BY_UFUNC[ufunc], *args)


NEGATIVE_POWER = "Integers to negative integer powers are not allowed."


@define_ufunc(np.power)
def _power(base: ScalarRep, exponent: ScalarRep) -> ScalarRep:
    """NumPy's fast paths: x**2 is x*x, x**1 is x. Integers refuse negative exponents: known ones
    now, others when the program runs.
    """
    e = exponent.operand
    common = POWER.loop((base.scalar, exponent.scalar))[0]
    if not isinstance(e, Const):
        if common.dtype.kind == "i" and exponent.dtype.kind == "i" and e not in trace().naturals:
            fine = apply_primitive(LESS_EQUAL, constant(0), exponent)
            trace().emit(Check(fine.operand, ErrorKind.VALUE, NEGATIVE_POWER))
    elif exponent.scalar.dtype.kind in "iuf" and base.scalar.dtype.kind != "b":
        if e.value == 2:
            wide = narrow(base, common)
            return apply_primitive(MULTIPLY, wide, wide)
        if e.value == 1:
            return narrow(base, common)
        if e.value < 0 and common.dtype.kind in "iu":  # type: ignore[operator]
            raise CheckFailed(NEGATIVE_POWER, instead="use floats")
    return apply_primitive(POWER, base, exponent)


for _python in (bool, int, float, complex, np.bool_, np.number):
    register_lift(_python, constant)
register_rep(Scalar, ScalarRep)
register_index(lambda operand, extent: ScalarRep(operand))
register_ufuncs(scalar_ufunc, numbers=True)
