"""What a call in rewritten code calls: the function itself, its rewritten version, or its staged
replacement.

    len, range, math.sqrt, ...             the replacement registered for it, by `replace`
    np.zeros, np.where, ...                the definition registered for it (reps.define_function)
    the user's functions                   rewritten, wherever they are defined
    parloom's functions                    as they are; user functions handed to them are rewritten
                                           (not those named on_...: they run when the program runs)
    time.time, np.random.normal, open      refused: they would run once, while staging
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterable
from types import CellType, FunctionType, MethodType
from typing import Any, TypeVar, cast

from .context import current
from .descriptions import described
from .errors import Limitation, StagingTypeError
from .guards import check_method, guard_unrewritten
from .libraries import is_users_function
from .locations import is_ours
from .mutations import Mutations, contents
from .numpy_functions import staged_function
from .reps import Rep
from .signatures import misfit, written
from .virtualize import is_rewritten, virtualize

F = TypeVar("F", bound=Callable[..., Any])

_replacements: dict[object, Callable[..., Any]] = {}


def replace(original: Callable[..., Any]) -> Callable[[F], F]:
    """Registers what staged code calls in place of `original`, whatever the arguments."""

    def register(replacement: F) -> F:
        _replacements[original] = replacement
        return replacement

    return register


def callee(f: Any) -> Any:
    """What to call in place of `f` while staging; `f` itself at other times."""
    if current() is None:
        return f
    replacement = _replacement(f)
    if replacement is not None:
        return replacement
    if isinstance(f, FunctionType):
        return _function(f)
    if isinstance(f, MethodType):
        return _method(f)
    if issubclass(type(f), functools.partial):
        return functools.partial(callee(f.func), *f.args, **f.keywords)
    _refuse_impure(f)
    check_method(f)
    own_call: object = inspect.getattr_static(cast(Any, type)(f), "__call__", None)
    if is_users_function(own_call):
        return MethodType(virtualize(own_call), f)
    return f


def staged_callable(f: Any) -> Any:
    """A user's function as it must be called while staging; anything else unchanged."""
    if isinstance(f, FunctionType | MethodType | functools.partial):
        return callee(cast(Any, f))
    return f


def _replacement(f: object) -> Callable[..., Any] | None:
    if not isinstance(f, Hashable):
        return None
    return _replacements.get(f) or staged_function(f)


def _function(f: FunctionType) -> Callable[..., Any]:
    if is_users_function(f):
        found = virtualize(f)
        if not is_rewritten(found):
            guard_unrewritten(f)
        return found
    if is_ours(f.__code__.co_filename):
        return _with_staged_callables(f)
    _refuse_impure(f)
    return f


def _method(f: MethodType) -> Callable[..., Any]:
    inner = cast(object, f.__func__)
    if isinstance(inner, FunctionType) and is_ours(inner.__code__.co_filename):
        return _with_staged_callables(f)
    if is_users_function(inner):
        return MethodType(virtualize(inner), f.__self__)
    _refuse_impure(f)
    return f


def _with_staged_callables(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> object:
        named = {
            name: value if name.startswith("on_") else staged_callable(value)
            for name, value in options.items()
        }
        staged = tuple(map(staged_callable, args))
        before = list(_cells((*args, *options.values())))
        shared = Mutations({name: held for name, _, held in before}, (), "loop")
        try:
            found = f(*staged, **named)
            _check_cells(before)
            shared.check()
            return found
        except TypeError as error:
            reason = misfit(f, staged, named)
            if not reason or isinstance(error, StagingTypeError):
                raise
            raise _misfits(f, reason) from None

    return call


_Cells = Iterable[tuple[str, CellType, object]]


def _cells(values: Iterable[object]) -> _Cells:
    """The variables that functions share with the function around them, and what they hold."""
    for value in values:
        if isinstance(value, FunctionType) and is_users_function(value):
            for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                yield name, cell, contents(cell)


def _check_cells(before: _Cells) -> None:
    for name, cell, held in before:
        if contents(cell) is not held:
            raise Limitation(
                f"`nonlocal {name}` is assigned in a function that runs for every element",
                why="elements may be computed in any order, and the function is staged once",
                instead="pm.range(n).map, zip(pm.range(n)) for the position, reduce, or a for loop",
            )


def _misfits(f: Callable[..., Any], reason: str) -> StagingTypeError:
    """The error for arguments that a function or a method of ours does not take."""
    owner, name = getattr(f, "__self__", None), f.__name__
    if isinstance(owner, Rep):
        what = f"{name}() of {described(owner)}: {reason}"
        return StagingTypeError(what, instead=written(f".{name}", f))
    return StagingTypeError(f"{name}(): {reason}", instead=written(name, f))


# Calls whose result would be frozen into the program.

_IMPURE = {
    "random": "draw the numbers before the call and pass them as an array",
    "numpy.random": "draw the numbers before the call and pass them as an array",
    "secrets": "draw the numbers before the call and pass them as an array",
    "time": "read the clock outside of the staged function",
    "_io": "read the file before the call and pass its contents",
    "io": "read the file before the call and pass its contents",
}


def _refuse_impure(f: object) -> None:
    owner = getattr(f, "__self__", None)
    module = getattr(f, "__module__", None)
    if not isinstance(module, str):
        module = type(owner).__module__ if owner is not None else ""
    name = getattr(f, "__name__", type(f).__name__)
    root = "numpy.random" if module.startswith("numpy.random") else module.partition(".")[0]
    if root == "builtins" and name == "input":
        root = "io"
    if root in _IMPURE and not isinstance(f, type):
        raise Limitation(
            f"{root}.{name} was called while staging" if root != "_io" else f"{name}() was called",
            why="staging runs the function once; its result would be the same at every later call",
            instead=_IMPURE[root],
        )
