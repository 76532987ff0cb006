"""Whether a program is well formed: scopes, types, arities. It runs after every pass.

The rules that hold for every node are in `Checker`; a node class adds its own with
`@checks(Class)`, as patterns/checks.py does for multiloops. A violation is our bug, an
InternalError.

>>> from .types import F64
>>> x, y = Var(F64, "x"), Var(F64, "y")
>>> check(Program("f", (), (x,), Block((), (), (y,))), "the example")
Traceback (most recent call last):
    ...
parloom.staging.errors.InternalError: the example is not well formed: y is not visible here
  in the header or the results of the program
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from .builder import close_type
from .dataclass import dataclass
from .errors import InternalError
from .nodes import (
    Apply,
    Block,
    Cast,
    Check,
    Const,
    ForLoop,
    If,
    Index,
    Node,
    Operand,
    Program,
    Stmt,
    Update,
    Var,
    While,
    state_types,
)
from .printer import statement_text
from .traversal import blocks, free_vars, operands, type_vars
from .types import BOOL, I64, INDEX, Array, Scalar, Type

N = TypeVar("N", bound=Node)
Rule = Callable[["Checker", Any], None]

_rules: dict[type[Node], list[Rule]] = {}
_SHOWN_LINES = 12


def checks(node_type: type[N]) -> Callable[[Callable[[Checker, N], None]], Rule]:
    """Registers a rule: it calls `checker.require`; operands and inner blocks have been checked."""

    def register(function: Callable[[Checker, N], None]) -> Rule:
        _rules.setdefault(node_type, []).append(function)
        return function

    return register


@dataclass(frozen=True, slots=True)
class WellFormed:
    """What was found right: the variables from outside, all that are bound inside."""

    free: tuple[Var, ...]
    bound: tuple[Var, ...]


_well_formed: WeakKeyDictionary[Block, WellFormed] = WeakKeyDictionary()


def check(program: Program, what: str = "the program") -> None:
    """Raises InternalError, naming `what` and the statement, unless the program is well formed."""
    Checker(what).program(program)


class Checker:
    """Walks a program with the set of visible variables."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._visible: set[Var] = set()
        self._bound: set[Var] = set()
        self._order: list[Var] = []  # what is bound, in order
        self._stmt: Stmt | None = None

    def require(self, condition: bool, message: str) -> None:
        """Raises InternalError for the current statement unless the condition holds."""
        if not condition:
            raise self._error(message)

    def _error(self, message: str) -> InternalError:
        stmt = self._stmt
        place = f"\n    {_shown(stmt)}" if stmt else "the header or the results of the program"
        return InternalError(
            f"{self._what} is not well formed: {message}\n  in {place}",
            where=stmt.sources if stmt else (),
        )

    # Scopes.

    def program(self, program: Program) -> None:
        """Sizes, parameters, entry checks and the body."""
        for size in program.sizes:
            self._bind(size)
            self.require(size.type == INDEX, f"size {size} is {size.type}")
        for param in program.params:
            self._bind(param)
        named = {size for param in program.params for size in type_vars(param.type)}
        for size in program.sizes:
            self.require(size in named, f"size {size} is the size of no parameter")
        for entry in program.checks:
            for axis in (entry.kept, entry.dropped):
                self.require(isinstance(axis, int) or _is_axis(program, axis), "no such axis")
        self.require(not program.body.params, "the body has parameters")
        self.block(program.body)

    def block(self, block: Block) -> None:
        """A block with all that is inside; what it binds is not visible behind it."""
        known = _well_formed.get(block)
        if known is not None:
            self._again(known)
            return
        before, stmt = len(self._order), self._stmt
        for param in block.params:
            self._bind(param)
        for inner in block.stmts:
            self._stmt = inner
            self._statement(inner)
        self._stmt = stmt
        for result in block.results:
            if isinstance(result, Node):
                self.node(result)
            else:
                self._see(result)
        for var in (*block.params, *(b for s in block.stmts for b in s.binders)):
            self._visible.discard(var)
        _well_formed[block] = WellFormed(tuple(free_vars(block)), tuple(self._order[before:]))

    def _again(self, known: WellFormed) -> None:
        """A block that another check has seen: its surroundings alone may be others."""
        for var in known.free:
            self._see(var)
        for var in known.bound:
            self._once(var)

    def _once(self, var: Var) -> None:
        if var in self._bound:
            raise self._error(f"{var} is bound twice")
        self._bound.add(var)
        self._order.append(var)

    def _statement(self, stmt: Stmt) -> None:
        self.node(stmt.op)
        signature = self._signature(stmt)
        self.require(
            len(signature) == len(stmt.binders),
            f"it binds {len(stmt.binders)} variables for {len(signature)} results",
        )
        for binder, type_ in zip(stmt.binders, signature, strict=True):
            closed = close_type(type_, stmt.binders)
            self._bind(binder)
            if binder.type != closed:
                raise self._error(f"{binder} is {binder.type}, its value is {closed}")

    def _signature(self, stmt: Stmt) -> tuple[Type, ...]:
        try:
            return stmt.op.signature()
        except (AssertionError, IndexError, TypeError, ValueError) as error:
            raise self._error(f"its operands have no signature: {error}") from error

    def node(self, node: Node) -> None:
        """A node's operands, blocks and own rules."""
        for operand in operands(node):
            self._see(operand)
        for inner in blocks(node):
            self.block(inner)
        for own in _rules.get(type(node), ()):
            own(self, node)

    def _bind(self, var: Var) -> None:
        self._once(var)
        for size in type_vars(var.type):
            if size not in self._visible:
                raise self._error(f"size {size} of {var} is not visible here")
            if size.type != INDEX:
                raise self._error(f"size {size} of {var} is {size.type}")
        self._visible.add(var)

    def _see(self, operand: Operand) -> None:
        if not isinstance(operand, Const) and operand not in self._visible:
            raise self._error(f"{operand} is not visible here")

    # What rules are made of.

    def boolean(self, operand: Operand, what: str) -> None:
        """The operand is a truth value."""
        if operand.type != BOOL:
            raise self._error(f"{what} is {operand.type}, not bool")

    def index(self, operand: Operand, what: str) -> None:
        """The operand is an i64, weak or not."""
        type_ = operand.type
        if not isinstance(type_, Scalar) or type_.dtype != I64.dtype:
            raise self._error(f"{what} is {type_}, not i64")

    def same(self, found: Sequence[Type], wanted: Sequence[Type], what: str) -> None:
        """The types are equal, one by one."""
        if tuple(found) != tuple(wanted):
            texts = (", ".join(map(str, types)) for types in (found, wanted))
            raise self._error(f"{what}: {' instead of '.join(texts)}")


def _shown(stmt: Stmt) -> str:
    lines = statement_text(stmt).splitlines()
    if len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], "..."]
    return "\n    ".join(lines)


def _is_axis(program: Program, axis: tuple[int, int]) -> bool:
    if not 0 <= axis[0] < len(program.params):
        return False
    type_ = program.params[axis[0]].type
    return isinstance(type_, Array) and 0 <= axis[1] < type_.rank


def types_of(many: Sequence[Operand]) -> tuple[Type, ...]:
    """The operands' types."""
    return tuple(operand.type for operand in many)


@checks(Apply)
def _apply(checker: Checker, op: Apply) -> None:
    """The operands are what the primitive's loop takes."""
    name, scalars = op.primitive.name, [a.type for a in op.args if isinstance(a.type, Scalar)]
    checker.require(len(scalars) == len(op.args), f"{name} takes scalars")
    checker.require(len(scalars) == op.primitive.arity, f"{name} takes {op.primitive.arity}")
    try:
        loop = op.primitive.loop(tuple(scalars))
    except TypeError:
        checker.require(False, f"{name} is not defined for {', '.join(map(str, scalars))}")
    else:
        checker.same(scalars, loop, f"the operands of {name}")


@checks(Cast)
def _cast(checker: Checker, op: Cast) -> None:
    checker.require(isinstance(op.arg.type, Scalar), f"a {op.arg.type} is cast")


@checks(Update)
def _update(checker: Checker, op: Update) -> None:
    _index(checker, op)
    array = op.array.type
    if isinstance(array, Array):
        checker.same((op.value.type,), (array.element,), "the new element")


@checks(Index)
def _index(checker: Checker, op: Index | Update) -> None:
    array = op.array.type
    checker.require(isinstance(array, Array), f"a {array} is indexed")
    rank = array.rank if isinstance(array, Array) else 0
    checker.require(len(op.indices) == rank, f"{len(op.indices)} indices for rank {rank}")
    for index in op.indices:
        checker.index(index, f"index {index}")


@checks(If)
def _if(checker: Checker, op: If) -> None:
    checker.boolean(op.cond, "the condition")
    checker.require(not op.then.params + op.orelse.params, "a branch has parameters")
    then, orelse = types_of(op.then.operands), types_of(op.orelse.operands)
    checker.same([_rank(t) for t in then], [_rank(t) for t in orelse], "the branches' results")


def _rank(type_: Type) -> Type:
    """The type without its sizes, which may differ between branches."""
    return Array(type_.element, (0,) * type_.rank) if isinstance(type_, Array) else type_


@checks(ForLoop)
def _for_loop(checker: Checker, op: ForLoop) -> None:
    checker.index(op.count, "the count")
    checker.require(bool(op.body.params), "the body has no index")
    checker.require(op.body.params[0].type == INDEX, f"the index is {op.body.params[0].type}")
    _state(checker, op.body.params[1:], op.init, op.body)


@checks(While)
def _while(checker: Checker, op: While) -> None:
    checker.same(types_of(op.cond.operands), (BOOL,), "the condition")
    checker.same(
        state_types(op.cond.params), state_types(op.body.params), "the parameters of the condition"
    )
    _state(checker, op.body.params, op.init, op.body)


def _state(
    checker: Checker, params: tuple[Var, ...], init: tuple[Operand, ...], body: Block
) -> None:
    """The initial state and the body's results have the types of the state's parameters."""
    state = state_types(params)
    for values, what in ((init, "the initial state"), (body.operands, "the new state")):
        checker.require(len(values) == len(state), f"{what} has {len(values)} values")
        closed = [close_type(type_, values) for type_ in state]
        checker.same(types_of(values), closed, what)


@checks(Check)
def _check(checker: Checker, op: Check) -> None:
    checker.boolean(op.cond, "the condition")
