"""Staged control flow as functions: for DSLs, and for what the rewriting of a user's source calls.

A condition that is known while staging is decided then, and nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from .branches import Branches
from .builder import Scope
from .context import Trace, current, trace
from .errors import UserError
from .locations import caller
from .loops import Loop
from .mutations import watched
from .nodes import Block, Const, ForLoop, Operand, Var, While
from .reps import Rep, index_of
from .scalars import ScalarRep, lift_scalar
from .scalars import cast as convert
from .state import Undefined, truth
from .types import INDEX

S = TypeVar("S")


def decide(condition: object) -> bool | ScalarRep:
    """A condition as a Python bool where it is known while staging, else as a staged bool.

    StagingTypeError for an array of many elements.

    >>> decide(3), decide("")
    (True, False)
    """
    if not isinstance(condition, Rep):
        return bool(condition)
    found = truth(condition)
    return bool(found.operand.value) if isinstance(found.operand, Const) else found


def if_then_else(
    condition: object, then: Callable[[], S], orelse: Callable[[], S], what: str = ".result"
) -> S:
    """`then()` or `orelse()`; both are recorded when the condition is staged.

    The two results must have the same structure and ranks; element types join (a Python number
    yields). UserError otherwise.
    """
    cond = decide(condition)
    if isinstance(cond, bool):
        return then() if cond else orelse()
    branches, outside = Branches(cond), watched("branch", then, orelse)
    for branch in (then, orelse):
        _record_branch(branches, branch, what)
        outside.check()
    found = branches.finish({})[what]
    if isinstance(found, Undefined):
        found.where = (caller(),)
        found.fail()
    return cast(S, found)


def _record_branch(branches: Branches, branch: Callable[[], object], what: str) -> None:
    unwind = mark()
    branches.begin()
    try:
        value = branch()
    except BaseException:
        unwind()
        raise
    branches.end({what: value})


def while_loop(
    condition: Callable[[S], object], body: Callable[[S], S], state: S, *, unroll: bool = True
) -> S:
    """`while condition(state): state = body(state)`; the state after it.

    With `unroll`, iterations whose condition is known while staging run while staging. The state
    keeps its structure and ranks (UserError otherwise); its element types widen, its sizes may
    change.
    """
    while unroll:
        rollback = checkpoint()
        known = decide(condition(state))
        if not isinstance(known, bool):
            rollback()
            break
        if not known:
            return state
        state = body(state)
    loop = Loop({_STATE: state}, {})
    unwind = mark()
    try:
        blocks = None
        while blocks is None:
            blocks = _record_while(loop, condition, body)
    except BaseException:
        unwind()
        raise
    return _after(loop, trace().emit(While(loop.init, *blocks)))


_STATE = ".state"


def _record_while(
    loop: Loop, condition: Callable[[S], object], body: Callable[[S], S]
) -> tuple[Block, Block] | None:
    _, variables = loop.enter()
    holds = loop.close([condition_operand(condition(_state_of(variables)))])
    scope, variables = loop.enter()
    recorded = loop.leave(scope, {_STATE: body(_state_of(variables))})
    return None if recorded is None else (holds, recorded)


def condition_operand(value: object) -> Operand:
    """A condition, staged or not, as a bool operand."""
    known = decide(value)
    return lift_scalar(known).operand


def for_range(count: object, body: Callable[[ScalarRep, S], S], state: S) -> S:
    """`for i in range(count): state = body(i, state)`, in order; the state after it.

    A Python count is a constant here: the loop is recorded all the same. The state as in
    `while_loop`.
    """
    extent = count_operand(count)
    loop = Loop({_STATE: state}, {})
    unwind = mark()
    try:
        recorded = None
        while recorded is None:
            scope, index, variables = enter_counted(loop, extent)
            index.hint("i")
            recorded = loop.leave(scope, {_STATE: body(index, _state_of(variables))})
    except BaseException:
        unwind()
        raise
    return _after(loop, trace().emit(ForLoop(extent, loop.init, recorded)))


def enter_counted(loop: Loop, extent: Operand) -> tuple[Scope, ScalarRep, dict[str, object]]:
    """Opens the body of a counted loop: the block, its index, the variables inside."""
    index = Var(INDEX)  # unnamed, so that a user's name can be given
    scope, variables = loop.enter((index,))
    return scope, index_of(index, extent), variables


def count_operand(count: object) -> Operand:
    """A number of iterations as an INDEX operand (a negative one runs zero times)."""
    rep = lift_scalar(count)
    if rep.dtype.kind not in "iub":
        raise UserError(
            f"a loop cannot run {rep.scalar} times", instead="an integer, for example int(n)"
        )
    return trace().canonical(convert(rep, INDEX).operand)


def _state_of(variables: dict[str, object]) -> S:  # type: ignore[type-var]
    found = variables[_STATE]
    if isinstance(found, Undefined):
        found.where = (caller(),)
        found.fail()
    return cast(S, found)


def _after(loop: Loop, binders: tuple[Operand, ...]) -> S:  # type: ignore[type-var]
    return _state_of(loop.results(binders))


# Going back.


def mark() -> Callable[[], None]:
    """Remembers the open blocks; the function returned drops what was opened since (after an
    exception).
    """
    t: Trace = trace()
    depth, regions = len(t.builder.scopes), t.regions

    def unwind() -> None:
        if len(t.builder.scopes) > depth:
            t.builder.abandon(t.builder.scopes[depth])
        t.regions = regions

    return unwind


def checkpoint() -> Callable[[], None]:
    """Remembers the innermost block; the function returned drops the statements recorded in it
    since.
    """
    if current() is None:
        return lambda: None
    scope = trace().builder.scopes[-1]
    stmts, shared = len(scope.stmts), len(scope.shared)
    log = len(trace().builder.log)

    def rollback() -> None:
        trace().builder.rewind(log)
        del scope.stmts[stmts:]
        for key in list(scope.shared)[shared:]:
            del scope.shared[key]

    return rollback
