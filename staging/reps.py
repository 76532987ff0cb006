"""Reps: what the user's function holds while it runs on staged values.

A Rep stands for a value of the program being recorded. Scalars are here; arrays join from patterns/
through the three registries at the end (`lift`, `rep_of`, elementwise ufuncs), so that this layer
knows no array operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from .context import trace
from .descriptions import described, public_names
from .errors import CheckFailed, Limitation, StagingTypeError, UnknownNameError
from .locations import caller
from .narrowing import UNCHECKED, holds, narrowed
from .nodes import Apply, Cast, Check, Const, ErrorKind, Operand, Var
from .primitives import (
    BY_UFUNC,
    COMPARISONS,
    EQUAL,
    LESS_EQUAL,
    MULTIPLY,
    NOT_EQUAL,
    POWER,
    SELECT,
    Primitive,
)
from .signatures import misfit, written
from .types import BOOL, I64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar, Type
from .unsupported import instead_of, is_method


class Rep:
    """A staged value.

    Python's control flow works on Reps in rewritten code only; elsewhere it is trapped here, with
    the fix in words.
    """

    __slots__ = ()

    @property
    def operand(self) -> Operand:
        """The value as an IR operand (a view is materialised)."""
        raise NotImplementedError

    @property
    def type(self) -> Type:
        """The IR type."""
        return self.operand.type

    @property
    def place(self) -> tuple[Any, object] | None:
        """The cell that a write goes to, and which part of it is shown; None for a number."""
        return None

    @property
    def storage(self) -> Operand:
        """The array that a write through this value replaces; what has none is its own."""
        return self.operand

    def __bool__(self) -> NoReturn:
        _trap(
            "a staged value was used where Python needs True or False",
            "its value is known only when the compiled program runs; `if`, `while`, `and`, `or` "
            "and `not` on staged values work only in source that parloom can rewrite",
            "write the condition in a function that parloom stages, or use np.where, "
            "np.logical_and, np.logical_not",
        )

    def __contains__(self, item: object) -> NoReturn:
        _trap(
            "`in` was used on a staged value",
            "membership is known only when the compiled program runs",
            "(x == item).any()",
        )

    def __hash__(self) -> int:
        _trap(
            "a staged value was used as a dict key or a set member",
            "its value is known only when the compiled program runs",
            "an array of the values, or a static argument (static_argnames)",
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> object:
        return numpy_function(function)(*args, **kwargs)

    def hint(self, name: str) -> None:
        """Tells the user's name of the value, for printing; the first one stays."""
        operand = getattr(self, "_operand", None)
        if isinstance(operand, Var) and not operand.name:
            operand.name = name

    def __format__(self, spec: str) -> str:
        return f"<staged {self.type}>"

    def __repr__(self) -> str:
        return f"<staged {self.type}>"


def unknown_attribute(rep: object, name: str) -> AttributeError:
    """The error for an attribute that a staged value does not have; it names the nearest one."""
    if name.startswith("_"):
        return AttributeError(f"{type(rep).__name__} has no attribute {name!r}")
    known = public_names(type(rep))
    owner = described(rep)
    what = f"{owner} {'have' if owner.startswith('the ') else 'has'} no attribute {name!r}"
    if isinstance(rep, Arithmetic) and is_method(name):
        what = f"ndarray.{name} is not supported on staged values"
    return UnknownNameError(what, instead=instead_of(name, known))


def _trap(what: str, why: str, instead: str) -> NoReturn:
    raise not_rewritten(what, why, instead)


def not_rewritten(what: str, why: str, instead: str) -> StagingTypeError:
    """The error for a use that works only where parloom rewrites the source; it says where the
    source cannot be had.
    """
    place = caller()
    if not place.text:
        function = place.function or "the function"
        why = f"{why}; and the source of {function} is not to be had from {place.file}"
        instead = f"define {function} in a file or a notebook's cell; elsewhere: {instead}"
    return StagingTypeError(what, where=place, why=why, instead=instead)


def _binary(ufunc: np.ufunc) -> Any:
    def forward(self: object, other: object) -> object:
        if can_lift(other):
            return apply_ufunc(ufunc, (self, other))
        return _no_operator(ufunc, self, other)

    return forward


def _reflected(ufunc: np.ufunc) -> Any:
    def backward(self: object, other: object) -> object:
        if can_lift(other):
            return apply_ufunc(ufunc, (other, self))
        return _no_operator(ufunc, other, self)

    return backward


def _no_operator(ufunc: np.ufunc, left: object, right: object) -> object:
    """The answer to an operator whose other side cannot be staged: its type may have one of its
    own; Python's have none. `==` and `!=` of different things have Python's answer.
    """
    primitive = BY_UFUNC.get(ufunc)
    other = right if isinstance(left, Rep) else left
    if primitive in (EQUAL, NOT_EQUAL) or type(other).__module__ != "builtins":
        return NotImplemented
    symbol = f"`{primitive.symbol}`" if primitive and primitive.symbol else f"np.{ufunc.__name__}"
    sides = [described(x) if isinstance(x, Rep) else _kind(x) for x in (left, right)]
    raise StagingTypeError(f"{symbol} is not defined for {' and '.join(sides)}")


def _kind(value: object) -> str:
    return "None" if value is None else f"a Python {type(value).__name__}"


def _unary(ufunc: np.ufunc) -> Any:
    def method(self: object) -> object:
        return apply_ufunc(ufunc, (self,))

    return method


class Arithmetic(Rep):
    """Python's operators as NumPy's ufuncs, shared by scalars and arrays."""

    __slots__ = ()
    __hash__ = Rep.__hash__  # a class that defines == loses the inherited one
    __add__, __radd__ = _binary(np.add), _reflected(np.add)
    __sub__, __rsub__ = _binary(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply), _reflected(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.true_divide), _reflected(np.true_divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder), _reflected(np.remainder)
    __pow__, __rpow__ = _binary(np.power), _reflected(np.power)
    __and__, __rand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and)
    __or__, __ror__ = _binary(np.bitwise_or), _reflected(np.bitwise_or)
    __xor__, __rxor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift), _reflected(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift), _reflected(np.right_shift)
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __neg__, __pos__ = _unary(np.negative), _unary(np.positive)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> object:
        return numpy_ufunc(ufunc, method, inputs, options)

    def __array__(self, *args: object, **options: object) -> NoReturn:
        _trap(
            "NumPy tried to make an array out of a staged value",
            "an array of Python objects would hold the value's name, not the value",
            "pm.collect(shape, f) or np.stack of staged arrays; np.full, np.zeros and np.arange "
            "work in staged functions",
        )


class ScalarRep(Arithmetic):
    """A staged number or truth value."""

    __slots__ = ("_operand",)

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

    def astype(self, dtype: Any) -> ScalarRep:
        """The value converted as NumPy does."""
        return cast(self, Scalar(np.dtype(dtype)))

    def item(self) -> ScalarRep:
        """The scalar itself (there is no staged Python number to give)."""
        return self

    def __int__(self) -> NoReturn:
        _trap(
            "int() of a staged value",
            _KNOWN_LATER,
            "x.astype(np.int64), or int(x) inside a staged function",
        )

    def __float__(self) -> NoReturn:
        _trap(
            "float() of a staged value",
            _KNOWN_LATER,
            "x.astype(np.float64), or float(x) inside a staged function",
        )

    def __index__(self) -> NoReturn:
        _trap(
            "a staged value was used as a Python index or size",
            _KNOWN_LATER,
            "index a staged array (pm.asarray(list)[i]), or make the argument static with "
            "static_argnames",
        )

    def __iter__(self) -> NoReturn:
        _trap("iteration over a staged scalar", "a number has no elements", "pm.range(n)")


class PythonBool(ScalarRep):
    """A truth value of Python's: among Python's numbers it counts as 0 or 1 (`True + True` is 2),
    where NumPy's bools have logical operators.
    """

    __slots__ = ()


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


_KNOWN_LATER = "its value is known only when the compiled program runs"


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
    return strong(ScalarRep(found)) if numpys and primitive is not SELECT else ScalarRep(found)


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


def apply_ufunc(ufunc: np.ufunc, inputs: tuple[object, ...]) -> Rep:
    """A NumPy ufunc on staged values: scalars here, the rest by the elementwise handler."""
    reps = tuple(lift(x) for x in inputs)
    scalars = tuple(r for r in reps if isinstance(r, ScalarRep))
    if len(scalars) < len(reps):
        return _elementwise(ufunc, reps)
    return scalar_ufunc(ufunc, scalars)


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


def numpy_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[object, ...], options: dict[str, Any]
) -> object:
    """What `np.add(x, y)` and the like do when an input is staged."""
    if method in _ufunc_methods:
        return _ufunc_methods[method](ufunc, *inputs, **_given(options))
    if method != "__call__":
        raise Limitation(f"np.{ufunc.__name__}.{method} is not supported on staged values")
    left = _given(options)
    if left:
        raise Limitation(
            f"np.{ufunc.__name__} with {', '.join(left)}= is not supported on staged values"
        )
    others = [x for x in inputs if not can_lift(x)]
    if any(hasattr(type(x), "__array_ufunc__") for x in others):
        return NotImplemented
    return strong(apply_ufunc(ufunc, inputs))


def strong(value: object) -> Any:
    """A result as NumPy's functions give it: no Python number, which would yield to a dtype."""
    if isinstance(value, ScalarRep) and value.scalar.weak:
        return cast(value, Scalar(value.dtype))
    return ScalarRep(value.operand) if isinstance(value, PythonBool) else value


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in options.items() if v is not None}


_functions: dict[object, Callable[..., object]] = {}
_ufunc_methods: dict[str, Callable[..., object]] = {}
F = TypeVar("F", bound=Callable[..., object])


def define_function(*functions: Callable[..., object]) -> Callable[[F], F]:
    """Registers what NumPy functions (`np.where`, `np.zeros`, ...) mean on staged values."""

    def register(definition: F) -> F:
        for function in functions:
            _functions[function] = _with_checked_arguments(function, definition)
        return definition

    return register


def define_ufunc_method(name: str) -> Callable[[F], F]:
    """Registers what a method of ufuncs, `np.add.accumulate` say, means on staged values; the
    definition takes the ufunc first."""

    def register(definition: F) -> F:
        _ufunc_methods[name] = definition
        return definition

    return register


def _with_checked_arguments(
    function: Callable[..., object], definition: Callable[..., object]
) -> Callable[..., object]:
    """The definition, which refuses arguments that it does not take in the function's name."""

    @functools.wraps(definition)
    def call(*args: object, **options: object) -> object:
        error = misfit(definition, args, options)
        if error:
            name = full_name(function)
            raise Limitation(
                f"{name} with these arguments is not supported on staged values: {error}",
                instead=written(name, definition),
            )
        found = definition(*args, **options)
        return found if function is np.size else strong(found)

    return call


def staged_function(function: object) -> Callable[..., object] | None:
    """The staged meaning of a NumPy function that is no ufunc, None without one."""
    return _functions.get(function) if isinstance(function, Hashable) else None


def numpy_function(function: Callable[..., object]) -> Callable[..., object]:
    """The staged meaning of a NumPy function; Limitation naming the nearest ones without one."""
    found = staged_function(function)
    if found is not None:
        return found
    known = [full_name(f) for f in _functions]
    raise Limitation(
        f"{full_name(function)} is not supported on staged values",
        instead=instead_of(getattr(function, "__name__", ""), known),
    )


def full_name(function: object) -> str:
    """A NumPy function's name as users write it.

    >>> full_name(np.linalg.norm), full_name(np.sum)
    ('np.linalg.norm', 'np.sum')
    """
    module = str(getattr(function, "__module__", "numpy"))
    return f"np{module.removeprefix('numpy')}.{getattr(function, '__name__', repr(function))}"


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


# Registries that patterns/ adds arrays to.

Elementwise = Callable[[np.ufunc, tuple[Rep, ...]], Rep]


def _no_arrays(ufunc: np.ufunc, inputs: tuple[Rep, ...]) -> Rep:
    raise Limitation(f"np.{ufunc.__name__} on {', '.join(str(r.type) for r in inputs)}")


_elementwise: Elementwise = _no_arrays
_lifters: dict[type, Callable[[Any], Rep]] = {}
_makers: dict[type, Callable[[Operand], Rep]] = {}


def register_elementwise(handler: Elementwise) -> None:
    """Says how a ufunc applies when an input is no scalar."""
    global _elementwise
    _elementwise = handler


def register_lift(type_: type, lifter: Callable[[Any], Rep]) -> None:
    """Says how a Python value of `type_` becomes a Rep."""
    _lifters[type_] = lifter


def register_rep(type_: type, maker: Callable[[Operand], Rep]) -> None:
    """Says which Rep stands for operands whose IR type is of class `type_`."""
    _makers[type_] = maker


IndexMaker = Callable[[Operand, Operand], ScalarRep]


def _plain_index(operand: Operand, extent: Operand) -> ScalarRep:
    return ScalarRep(operand)


_index: IndexMaker = _plain_index


def register_index(maker: IndexMaker) -> None:
    """Says which Rep stands for a loop index below an extent."""
    global _index
    _index = maker


def index_of(operand: Operand, extent: Operand) -> ScalarRep:
    """The Rep for a loop index: an integer with 0 <= index < extent."""
    return _index(operand, extent)


def can_lift(value: object) -> bool:
    """Whether the value is a Rep or can become one."""
    return isinstance(value, Rep) or any(t in _lifters for t in type(value).__mro__)


def lift(value: object) -> Rep:
    """The value as a Rep; StagingTypeError when it cannot be one."""
    if isinstance(value, Rep):
        return value
    for type_ in type(value).__mro__:
        if type_ in _lifters:
            return _lifters[type_](value)
    raise StagingTypeError(
        f"{_kind(value)} cannot be part of a staged computation",
        instead="numbers, NumPy arrays and scalars, lists of numbers, and staged values",
    )


def lift_scalar(value: object) -> ScalarRep:
    """The value as a scalar Rep."""
    rep = lift(value)
    if not isinstance(rep, ScalarRep):
        raise StagingTypeError(f"expected a number, found {rep.type}")
    return rep


def rep_of(operand: Operand) -> Rep:
    """The Rep for an operand, by its type."""
    return _makers[type(operand.type)](operand)


def constant(value: Any) -> ScalarRep:
    """A Python or NumPy number as a constant; Python's stay weak."""
    if issubclass(type(value), np.generic):
        return ScalarRep(Const(value, Scalar(value.dtype)))
    if isinstance(value, bool):
        return PythonBool(Const(value, BOOL))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise StagingTypeError(
                f"the Python integer {value} does not fit in 64 bits", instead="np.uint64(...)"
            )
        return ScalarRep(Const(value, WEAK_INT))
    if isinstance(value, float):
        return ScalarRep(Const(value, WEAK_FLOAT))
    return ScalarRep(Const(value, WEAK_COMPLEX))


for _python in (bool, int, float, complex, np.bool_, np.number):
    register_lift(_python, constant)
register_rep(Scalar, ScalarRep)
