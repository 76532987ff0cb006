"""What the user says about when to compile what: `pm.static`, `pm.freeze`, `pm.unroll`,
`pm.speculate`, `pm.stable`, `pm.slowpath`, `pm.macro`.

They come from Lancet (Rompf et al., Surgical Precision JIT Compilers, PLDI 2014). Outside of a
staged function, and in eager mode, they mean what plain Python makes of their arguments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar, cast

from .assumptions import FAILURES, SLOWPATH, SPECULATE, STABLE, Leaving, Site
from .calls import callee, replace
from .context import current, enter
from .control import count_operand, decide
from .errors import Limitation, StagingTypeError, UserError
from .guards import RecordingTrace
from .iteration import StagedIterable, as_iterable, is_staged_iterable
from .layouts import is_array, normalised
from .locations import caller
from .mutations import contents
from .nodes import Check, Const, ErrorKind, Operand, size_operand
from .primitives import EQUAL
from .pytree import flatten, unflatten
from .reps import Rep, rep_of
from .scalars import PythonBool, ScalarRep, apply_primitive, constant
from .state import is_staged
from .types import INDEX

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


def static(x: T) -> T:
    """The value of an argument, or of an argument's size, as a Python number that staging knows.

    Each value is compiled for itself, as with `static_argnames`. Raises UserError for a number that
    the program computes.

    >>> static(3)
    3
    """
    t = current()
    if not isinstance(t, RecordingTrace) or not isinstance(x, Rep):
        return x
    found = t.canonical(x.operand) if isinstance(x, ScalarRep) else None
    if isinstance(found, Const):
        return cast(T, _python(x, found))
    place = None if found is None else t.assumed.places.get(found)
    if place is None:
        raise UserError(
            "pm.static of a value that the program computes",
            why="only arguments that are numbers, and the sizes of arguments, are known before the "
            "compiled program runs",
            instead="pm.stable(x), which is compiled for the value that the last call saw",
        )
    t.assumed.fixed[place] = None
    if place.axis is not None:
        t.unify(cast(Operand, found), size_operand(place.value))
    return cast(T, _python(x, Const(place.value, cast(ScalarRep, x).scalar)))


def _python(rep: Rep, known: Const) -> object:
    """A constant as the user's number: weak ones are Python's."""
    if isinstance(rep, PythonBool) or known.type.weak:
        return known.value.item()
    return known.value


def freeze(value: T) -> T:
    """The value of an expression at the time of compiling, as a constant of the compiled function.

    The expression is plain Python over what is known then: Python values, arrays and objects of the
    surroundings, with any library. It is not looked at again. Raises UserError where it depends on
    an argument.

    >>> freeze(2 ** 10)
    1024
    """
    if current() is not None and is_staged(value):
        raise _not_frozen()
    return value


def frozen(expression: FunctionType) -> object:
    """The constant for a `freeze` in rewritten code, whose expression has not been evaluated."""
    if any(map(is_staged, map(contents, expression.__closure__ or ()))):
        raise _not_frozen()
    leave = enter(None)
    try:
        leaves, tree = flatten(expression())
    finally:
        leave()
    if any(isinstance(leaf, Rep) for leaf in leaves):
        raise _not_frozen()
    return unflatten(tree, [_embedded(leaf) for leaf in leaves])


def _embedded(leaf: object) -> object:
    """An array as a hidden argument that never changes; anything else as it is."""
    t = current()
    if t is None or not is_array(leaf):
        return leaf
    array = normalised(leaf, "the frozen array").copy()
    return rep_of(t.capture(array, "frozen", lambda: array))


def _not_frozen() -> UserError:
    return UserError(
        "pm.freeze of an expression with a staged value",
        why="it is evaluated once, while the function is compiled, and an argument of the function "
        "has no value then",
        instead="the expression without pm.freeze; or pm.static(n) for an argument in it",
    )


def unroll(iterable: Iterable[T]) -> Iterable[T]:
    """What a `for` should go through while staging, with the body recorded for each element.

    For collections whose loop would be recorded as a loop: `pm.range(4)`, the rows of an array with
    a known number of rows. Raises UserError where the length is not known while staging.

    >>> list(unroll(range(3)))
    [0, 1, 2]
    """
    if current() is None or not is_staged_iterable(iterable):
        return iterable
    staged: StagedIterable = as_iterable(iterable)
    length = count_operand(staged.staged_length())
    if not isinstance(length, Const):
        raise UserError(
            "pm.unroll of a range whose length is not known while staging",
            why="the loop's body is recorded once for each of its elements",
            instead="pm.unroll(range(pm.static(n))), or the loop without pm.unroll",
        )
    count = int(cast(Any, length.value))
    places = [cast(ScalarRep, rep_of(Const(k, INDEX))) for k in range(count)]
    return cast("list[T]", [_known(staged.staged_element(k)) for k in places])


def _known(element: object) -> object:
    """A number that turned out known, as Python's, so that it may be an index of a list."""
    if isinstance(element, ScalarRep) and isinstance(element.operand, Const):
        return _python(element, element.operand)
    return element


def speculate(condition: T) -> T:
    """The condition, taken for true while staging: of `if pm.speculate(c):` the first branch alone
    is compiled.

    The compiled function checks it. A call in which it does not hold is done again by a version
    that has both branches; where that happens often, it becomes the first choice.

    >>> speculate(1 > 0)
    True
    """
    t = current()
    if not isinstance(t, RecordingTrace):
        return condition
    known = decide(condition)
    site = Site(SPECULATE, caller())
    if isinstance(known, bool):
        return condition
    if site in t.assumed.plan.general:
        t.assumed.sites[str(site)] = site
        return condition
    _check(t, site, known)
    return cast(T, True)


def stable(x: T, limit: int = FAILURES) -> T:
    """The value, taken for what it was when it was last computed, as a number known while staging.

    x : a number that the program computes, outside of staged branches, loops and patterns
    limit : after so many changes the function stays with a version for any value

    The first call computes with any value and tells which it was. The next one is compiled for
    that; a call in which it is another is done again by the version for any value.

    >>> stable(3)
    3
    """
    t = current()
    if not isinstance(t, RecordingTrace) or not isinstance(x, Rep):
        return x
    if not isinstance(x, ScalarRep):
        raise StagingTypeError(
            f"pm.stable of {x.type}",
            why="a version is compiled for one value, which is compared at each call",
            instead="pm.stable of a number, or a captured array in pm.freeze",
        )
    found = t.canonical(x.operand)
    if isinstance(found, Const):
        return cast(T, _python(x, found))
    if len(t.builder.scopes) > 1:
        raise Limitation(
            "pm.stable inside of a staged branch, a staged loop or a pattern",
            why="it has a value for each element there, or none",
            instead="pm.stable in front of it",
        )
    places = sum(s.kind == STABLE for s in t.assumed.sites.values())
    site = Site(STABLE, caller(), places, limit)
    t.assumed.sites[str(site)] = site
    if site in t.assumed.plan.general:
        return cast(T, x)
    values = dict(t.assumed.plan.values)
    if site not in values:
        t.assumed.observed[site] = found
        return cast(T, x)
    value = Const(values[site], x.scalar)
    _check(t, site, apply_primitive(EQUAL, x, ScalarRep(value)))
    return cast(T, _python(x, value))


def slowpath() -> bool:
    """Leaves the compiled function: the call runs as plain Python, from the start.

    In a statement of its own. What stands behind it is not staged, and may be anything; what was
    printed before is not printed twice. True while staging, else False.

    >>> slowpath()
    False
    """
    t = current()
    if not isinstance(t, RecordingTrace):
        return False
    if not t.regions:
        raise Leaving
    _check(t, Site(SLOWPATH, caller()), constant(False))
    t.builder.scopes[-1].raises = True
    return True


def _check(t: RecordingTrace, site: Site, holds: ScalarRep) -> None:
    t.assumed.sites[str(site)] = site
    t.emit(Check(holds.operand, ErrorKind.ASSUMPTION, str(site)))


def macro(original: Callable[..., Any]) -> Callable[[F], F]:
    """Says what staged code does in place of calling `original`, a function of another library.

    A decorator: the function below takes the same arguments, and is staged where one of them is.
    With arguments that are all known, and in eager mode, `original` itself is called.
    """

    def register(definition: F) -> F:
        @functools.wraps(definition)
        def staged(*args: Any, **options: Any) -> object:
            if not is_staged((args, options)):
                return original(*args, **options)
            return callee(definition)(*args, **options)

        replace(original)(staged)
        for forget in _forgetting:
            forget()
        return definition

    return register


_forgetting: list[Callable[[], None]] = []


def on_macro(forget: Callable[[], None]) -> None:
    """Has `forget` called when a macro is defined: what was compiled may be other now."""
    _forgetting.append(forget)
