"""`and`, `or`, `not`, `in` and chained comparisons on staged values, with short circuits."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

from . import primitives as p
from .branches import Branches
from .context import trace
from .control import decide, if_then_else, mark
from .iteration import StagedRange
from .locations import caller
from .mutations import watched
from .nodes import Apply, Block, Cast, Operand, Stmt
from .replay import Replay
from .reps import Rep, lift
from .scalars import PythonBool, ScalarRep, apply_primitive, constant
from .state import Undefined

Thunk = Callable[[], object]


def negation(value: object) -> object:
    """`not value`

    >>> negation(0)
    True
    """
    known = decide(value)
    if isinstance(known, bool):
        return not known
    return PythonBool(apply_primitive(p.LOGICAL_NOT, known).operand)


def conjunction(first: object, *rest: Thunk) -> object:
    """`first and rest[0]() and ...`: an operand is evaluated only if those before it are true.

    >>> conjunction(1, lambda: 0, lambda: 1 // 0)
    0
    """
    return _chain(first, rest, p.LOGICAL_AND)


def disjunction(first: object, *rest: Thunk) -> object:
    """`first or rest[0]() or ...`: an operand is evaluated only if those before it are false.

    >>> disjunction(0, lambda: 2, lambda: 1 // 0)
    2
    """
    return _chain(first, rest, p.LOGICAL_OR)


def _chain(first: object, rest: tuple[Thunk, ...], connective: p.Primitive) -> object:
    if not rest:
        return first
    goes_on = connective is p.LOGICAL_AND
    known = decide(first)
    if isinstance(known, bool):
        return _chain(rest[0](), rest[1:], connective) if known is goes_on else first

    def following() -> object:
        return _chain(rest[0](), rest[1:], connective)

    outside = watched("branch", *rest)
    if cast(ScalarRep, first).dtype.kind == "b":
        found = _short_circuit(known, following, connective)
    elif goes_on:
        found = if_then_else(known, following, lambda: first)
    else:
        found = if_then_else(known, lambda: first, following)
    outside.check()
    return found


def _short_circuit(cond: ScalarRep, following: Thunk, connective: p.Primitive) -> object:
    """A bool and what follows it: one logical operation where evaluating both is harmless."""
    goes_on = connective is p.LOGICAL_AND
    branches = Branches(cond if goes_on else apply_primitive(p.LOGICAL_NOT, cond))
    unwind = mark()
    branches.begin()
    try:
        value = following()
    except BaseException:
        unwind()
        raise
    branches.end({_RESULT: value})
    side = branches.sides[0]
    stmts = tuple(side.scope.stmts)
    if _is_bool(value) and _is_harmless(stmts) and not side.written:
        block = Block((), stmts, (_operand_of(value),))
        (inlined,) = Replay(trace().builder).inline(block, ())
        both = apply_primitive(connective, cond, ScalarRep(inlined))
        pythons = isinstance(cond, PythonBool) and isinstance(value, bool | PythonBool)
        return PythonBool(both.operand) if pythons else both
    branches.begin()
    branches.end({_RESULT: constant(not goes_on)})
    found = branches.finish({})[_RESULT]
    if isinstance(found, Undefined):
        found.where = (caller(),)
        found.fail()
    return found


_RESULT = ".condition"
_HARMLESS_COST = 16


def _operand_of(value: object) -> Operand:
    return value.operand if isinstance(value, ScalarRep) else constant(value).operand


def _is_bool(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, ScalarRep) and value.dtype.kind == "b")


def _is_harmless(stmts: tuple[Stmt, ...]) -> bool:
    cost = 0
    for stmt in stmts:
        if not isinstance(stmt.op, Apply | Cast):
            return False
        cost += stmt.op.primitive.cost if isinstance(stmt.op, Apply) else 1
    return cost <= _HARMLESS_COST


_COMPARISONS: dict[str, Callable[[Any, Any], object]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}


def comparison(first: object, *links: tuple[str, Thunk]) -> object:
    """`first < links[0]() < ...`: each operand evaluated once, and only if the links before hold.

    >>> comparison(1, ("Lt", lambda: 2), ("Lt", lambda: 0))
    False
    """
    (name, thunk), *rest = links
    second = thunk()
    found = compare(name, first, second)
    if not rest:
        return found
    return conjunction(found, partial(comparison, second, *rest))


def compare(name: str, a: object, b: object) -> object:
    """One comparison, by the name of its AST node."""
    if name == "In":
        return membership(a, b)
    if name == "NotIn":
        return negation(membership(a, b))
    if isinstance(a, PythonBool) and isinstance(b, bool) and name in ("Is", "IsNot"):
        return a if b is (name == "Is") else negation(a)
    return _COMPARISONS[name](a, b)


def membership(item: object, container: object) -> object:
    """`item in container`; staged where one of them is."""
    if isinstance(container, StagedRange):

        def equal(value: Any) -> object:
            return value == item

        return container.collected().count(equal) > 0
    if isinstance(container, Rep):
        return lift(container == item).any()  # type: ignore[attr-defined]
    if not isinstance(item, Rep):
        return operator.contains(cast(Any, container), item)
    if isinstance(container, range):
        return _in_range(item, container)
    if isinstance(container, dict | str):
        return operator.contains(cast(Any, container), item)  # hashing traps, with the fix
    items = cast(Iterable[object], container)
    return disjunction(False, *[_equals(item, other) for other in items])


def _equals(item: Rep, other: object) -> Thunk:
    return lambda: item == other


def _in_range(item: Any, values: range) -> object:
    if not values:
        return False
    low, high = min(values[0], values[-1]), max(values[0], values[-1])
    inside = conjunction(item >= low, lambda: item <= high)
    return conjunction(inside, lambda: (item - low) % abs(values.step) == 0)
