"""A call's arguments: bound to parameters, flattened into what the program takes and what the
signature depends on.

    ndarray (any strides, read-only too), list of numbers   an array; its layout is in the signature
    Python number                                           a weak scalar; its type is in the
    signature NumPy scalar, 0-d array                                 a scalar; its dtype is in the
    signature tuple, list, dict, named tuple, dataclass               its leaves, one by one; its
    structure is in the signature None, str, function, any other hashable value           static:
    the value itself is in the signature
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from .annotations import Declared
from .context import trace
from .dataclass import dataclass
from .errors import StagingTypeError, UnknownNameError
from .layouts import SCALARS, array_of, check_dtype, is_number_list, is_ready, layout_of, normalised
from .pytree import LEAF, Tree, flatten, paths
from .reps import Rep
from .types import BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Array, Scalar, Type

Key = tuple[object, ...]
RunTime = np.ndarray | np.generic

_class_of: Callable[[object], type] = type


class Binder:
    """A function's parameters.

    names : of the parameters, in order
    static : the positions of those whose value belongs to the signature
    inout : the positions of those that the function writes to; those marked by an annotation are
        among them once arguments were bound
    takes_out : whether the function has a parameter for `out` of its own
    """

    def __init__(
        self,
        function: Callable[..., Any],
        static_argnames: Sequence[str] = (),
        inout: Sequence[str] = (),
    ) -> None:
        self.signature = inspect.signature(function)
        parameters = tuple(self.signature.parameters.values())
        self.names = tuple(p.name for p in parameters)
        self.static = self._positions("static_argnames", static_argnames)
        self.inout = self._positions("inout", inout)
        self._check_inout()
        self.kinds = tuple(p.kind for p in parameters)
        self.takes_out = "out" in self.names or inspect.Parameter.VAR_KEYWORD in self.kinds
        self._positional = all(
            k in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            for k, p in zip(self.kinds, parameters, strict=True)
        )
        self._defaults = tuple(p.default for p in parameters)
        self._function = function
        self._declared: Declared | None = None
        self._unread = True
        self._required = sum(d is inspect.Parameter.empty for d in self._defaults)

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """A value for each parameter, defaults filled in; TypeError as Python's.

        *args is a tuple, **kwargs a dict. StagingTypeError or ShapeError for what is not as the
        parameters declare it.
        """
        if self._positional and not kwargs and self._required <= len(args) <= len(self.names):
            values = args + self._defaults[len(args) :]
        else:
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = tuple(bound.arguments[name] for name in self.names)
        if self._unread or self._declared is not None:
            self.declared.check(values)
        return values

    @property
    def declared(self) -> Declared:
        """The types at the parameters, read when they are needed: names may be defined later."""
        if self._declared is not None:
            return self._declared
        found = Declared(self._function, self.names)
        self._unread = False
        self._declared = found if found.specs else None
        self.inout |= found.inout
        self._check_inout()
        return found

    def _positions(self, option: str, chosen: Sequence[str]) -> frozenset[int]:
        """The parameters that an option of `jit` names."""
        for name in chosen:
            if name not in self.names:
                near = difflib.get_close_matches(name, self.names, n=1)
                raise UnknownNameError(
                    f"{option} names {name!r}, which is no parameter",
                    instead=f"did you mean {near[0]!r}?"
                    if near
                    else f"one of {', '.join(self.names)}",
                )
        return frozenset(map(self.names.index, chosen))

    def _check_inout(self) -> None:
        for k in sorted(self.static & self.inout):
            raise StagingTypeError(
                f"{self.names[k]} is static, and written to (inout)",
                why="a static value is part of the compiled function",
                instead="one of the two",
            )

    def call(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """Calls the function with a value for each parameter."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, kind, value in zip(self.names, self.kinds, values, strict=True):
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args += value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs |= value
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return function(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of the arguments as the trace sees it.

    value : the array or NumPy scalar that the program takes; for a static leaf, the value itself
    type : the type of the parameter (an array's sizes are not in it yet), None when static
    truth : whether it is a bool of Python's, which is a number to Python's operators
    """

    name: str
    value: Any
    type: Type | None
    truth: bool = False


def signature_of(
    values: Sequence[Any], names: Sequence[str], static: frozenset[int]
) -> tuple[Key, list[RunTime]]:
    """What a compiled function depends on, and the values that it takes, in the order of the
    program.
    """
    key: list[object] = []
    arguments: list[RunTime] = []
    for k, value in enumerate(values):
        kind = _class_of(value)
        if k in static:
            key.append(_static_key(value, names[k]))
        elif kind is np.ndarray and value.shape and is_ready(value):
            key.append(layout_of(value))
            arguments.append(value)
        elif kind is float:
            key.append(float)
            arguments.append(np.float64(value))
        elif kind is int and -(2**63) <= value < 2**63:
            key.append(int)
            arguments.append(np.int64(value))
        elif kind in SCALARS:
            key.append(kind)
            arguments.append(value)
        else:
            add_leaves(value, names[k], key, arguments)
    return tuple(key), arguments


def add_leaves(value: object, name: str, key: list[object], arguments: list[RunTime]) -> None:
    """What an argument of any kind adds to the signature, and to the values; the usual kinds have
    a shorter way to the same in `signature_of`.
    """
    leaves, tree = leaves_of(value, name)
    if tree is not LEAF:
        key.append(tree)
    for leaf in leaves:
        if leaf.type is None:
            key.append(_static_key(leaf.value, leaf.name))
            continue
        arguments.append(leaf.value)
        key.append(layout_of(leaf.value) if isinstance(leaf.type, Array) else _class(leaf))


def _class(leaf: Leaf) -> type:
    """The class that a number's signature is: Python's for a number of Python's."""
    if leaf.truth:
        return bool
    assert isinstance(leaf.type, Scalar)
    return _PYTHON[leaf.type.dtype.kind] if leaf.type.weak else type(leaf.value)


_PYTHON: dict[str, type] = {"i": int, "f": float, "c": complex}


def _static_key(value: object, name: str) -> object:
    """What is equal for values that are the same in every way: 1 is not True, nor 0.0 -0.0."""
    if isinstance(value, Rep):
        trace()  # a leaked value: outside of a trace this is the error
    try:
        hash(value)
    except TypeError as error:
        raise StagingTypeError(
            f"the argument {name} is a {type(value).__name__}, which is not hashable",
            why="what is neither an array nor a number is static: the compiled function is found "
            "by its value",
            instead="a tuple, a NumPy array, or a frozen dataclass",
        ) from error
    key = _exact(value)
    try:
        hash(key)
    except TypeError:  # an object with a hash of its own, of parts that have none
        return type(value), value
    return key


def _exact(value: object) -> object:
    kind: Any = type(value)
    if isinstance(value, np.generic):
        return kind, str(cast(Any, value).dtype), cast(Any, value).tobytes()
    if isinstance(value, float | complex):
        return kind, repr(value)
    if isinstance(value, tuple):
        return kind, tuple(map(_exact, cast("tuple[object, ...]", value)))
    if isinstance(value, frozenset):
        return kind, frozenset(map(_exact, cast("frozenset[object]", value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, f.name) for f in dataclasses.fields(value) if f.compare]
        return kind, value, tuple(map(_exact, parts))
    return kind, value


def leaves_of(value: object, name: str) -> tuple[list[Leaf], Tree]:
    """The leaves of one argument, and its structure."""
    found, tree = flatten(value, is_number_list)
    names = paths(tree, name)
    return [_leaf(v, n) for v, n in zip(found, names, strict=True)], tree


def _leaf(value: Any, name: str) -> Leaf:
    if _is_static(value):
        return Leaf(name, value, None)
    if isinstance(value, list):
        value = array_of(cast("list[object]", value), name)
    if isinstance(value, np.ndarray):
        array = normalised(cast("np.ndarray", value), name)
        if array.ndim:
            return Leaf(name, array, Array(Scalar(array.dtype), (1,) * array.ndim))
        value = array[()]
    if issubclass(type(value), np.generic):
        check_dtype(value.dtype, name)
        return Leaf(name, value, Scalar(value.dtype))
    return _python_number(value, name)


def _is_static(value: object) -> bool:
    return isinstance(value, enum.Enum) or not isinstance(value, _DYNAMIC)


_DYNAMIC = (np.ndarray, np.generic, bool, int, float, complex, list)


def _python_number(value: complex, name: str) -> Leaf:
    if isinstance(value, bool):
        return Leaf(name, np.bool_(value), BOOL, truth=True)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise StagingTypeError(
                f"{name} is the Python integer {value}, which does not fit in 64 bits",
                instead="np.uint64(...), or a float",
            )
        return Leaf(name, np.int64(value), WEAK_INT)
    if isinstance(value, float):
        return Leaf(name, np.float64(value), WEAK_FLOAT)
    return Leaf(name, np.complex128(value), WEAK_COMPLEX)
