"""Python's operators on staged values, as NumPy's ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from .descriptions import described
from .errors import Limitation, StagingTypeError
from .primitives import BY_UFUNC, EQUAL, NOT_EQUAL
from .reps import Rep, can_lift, kind_of, lift, strong, trap, unknown_attribute

Handler = Callable[[np.ufunc, tuple[Any, ...]], Rep]
_handlers: dict[bool, Handler] = {}
_ufunc_methods: dict[str, Callable[..., object]] = {}
_compositions: dict[np.ufunc, Callable[..., object]] = {}
F = TypeVar("F", bound=Callable[..., object])


def register_ufuncs(handler: Handler, *, numbers: bool) -> None:
    """Says how a ufunc applies: to numbers alone, or where an input is none."""
    _handlers[numbers] = handler


def define_ufunc_method(name: str) -> Callable[[F], F]:
    """Registers what a method of ufuncs, `np.add.accumulate` say, means on staged values; the
    definition takes the ufunc first. `__call__` is the call with options."""

    def register(definition: F) -> F:
        _ufunc_methods[name] = definition
        return definition

    return register


def compose_ufunc(*ufuncs: np.ufunc) -> Callable[[F], F]:
    """Registers what ufuncs with several results, or of whole arrays, mean: a composition of
    others.
    """

    def register(definition: F) -> F:
        _compositions.update(dict.fromkeys(ufuncs, definition))
        return definition

    return register


def apply_ufunc(ufunc: np.ufunc, inputs: tuple[object, ...]) -> Rep:
    """A NumPy ufunc on staged values, and on what can be staged."""
    reps = tuple(lift(x) for x in inputs)
    return _handlers[all(r.is_number for r in reps)](ufunc, reps)


def numpy_ufunc(
    ufunc: np.ufunc, method: str, inputs: tuple[object, ...], options: dict[str, Any]
) -> object:
    """What `np.add(x, y)` and the like do when an input is staged."""
    # None stands for an option that is not given, except for an axis: there it means all of them.
    given = {k: v for k, v in options.items() if v is not None or k == "axis"}
    if method != "__call__" or given:
        if method not in _ufunc_methods:
            raise Limitation(f"np.{ufunc.__name__}.{method} is not supported on staged values")
        return _ufunc_methods[method](ufunc, *inputs, **given)
    if ufunc in _compositions:
        return _compositions[ufunc](*inputs)
    others = [x for x in inputs if not can_lift(x)]
    if any(hasattr(type(x), "__array_ufunc__") for x in others):
        return NotImplemented
    return strong(apply_ufunc(ufunc, inputs))


def _check_repeated(number: object, other: object) -> None:
    """StagingTypeError for a list times an integer: Python repeats it, which no array does."""
    found, kind = other, getattr(getattr(number, "dtype", None), "kind", "")
    if isinstance(other, list | tuple) and kind in "iub" and not getattr(number, "ndim", 0):
        raise StagingTypeError(
            f"a {type(found).__name__} was repeated a staged number of times",
            why="its length must be known while staging",
            instead="np.full(n, value); or pm.static(n), or static_argnames",
        )


def _binary(ufunc: np.ufunc) -> Any:
    def forward(self: object, other: object) -> object:
        if ufunc is np.multiply:
            _check_repeated(self, other)
        if can_lift(other):
            return apply_ufunc(ufunc, (self, other))
        return _no_operator(ufunc, self, other)

    return forward


def _reflected(ufunc: np.ufunc) -> Any:
    def backward(self: object, other: object) -> object:
        if ufunc is np.multiply:
            _check_repeated(self, other)
        if can_lift(other):
            return apply_ufunc(ufunc, (other, self))
        return _no_operator(ufunc, other, self)

    return backward


def _pair(reflected: bool) -> Any:
    def method(self: object, other: object) -> object:
        sides = (other, self) if reflected else (self, other)
        return apply_ufunc(np.floor_divide, sides), apply_ufunc(np.remainder, sides)

    return method


def _no_operator(ufunc: np.ufunc, left: object, right: object) -> object:
    """The answer to an operator whose other side cannot be staged: its type may have one of its
    own; Python's have none. `==` and `!=` of different things have Python's answer.
    """
    primitive = BY_UFUNC.get(ufunc)
    other = right if isinstance(left, Rep) else left
    if primitive in (EQUAL, NOT_EQUAL) or type(other).__module__ != "builtins":
        return NotImplemented
    symbol = f"`{primitive.symbol}`" if primitive and primitive.symbol else f"np.{ufunc.__name__}"
    sides = [described(x) if isinstance(x, Rep) else kind_of(x) for x in (left, right)]
    raise StagingTypeError(f"{symbol} is not defined for {' and '.join(sides)}")


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
    __divmod__, __rdivmod__ = _pair(False), _pair(True)
    __abs__, __invert__ = _unary(np.absolute), _unary(np.invert)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, like_ndarray=True)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> object:
        return numpy_ufunc(ufunc, method, inputs, options)

    def __array__(self, *args: object, **options: object) -> NoReturn:
        trap(
            "NumPy tried to make an array out of a staged value",
            "an array of Python objects would hold the value's name, not the value",
            "pm.collect(shape, f) or np.stack of staged arrays; np.full, np.zeros and np.arange "
            "work in staged functions",
        )
