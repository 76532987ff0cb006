"""The builder: the one way in which statements come into being, while staging and in every pass.

Construction is smart: `emit` asks the rules of the op's class first (constant folding and algebra,
rules.py), shares an equal pure statement of this or an enclosing block (never of a sibling), and
appends otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Protocol

from . import algebra as algebra  # its rules are part of every construction
from . import rules
from .dataclass import dataclass
from .equality import key
from .locations import Location
from .nodes import ORDERED, Block, Const, Fact, Node, Op, Operand, Stmt, Var, operand_dim
from .traversal import effects, operands, type_vars
from .types import Array, Exists, Type


@dataclass(slots=True)
class Scope:
    """One open block.

    mark : how long the builder's log was when the block was opened
    region : "branch" or "loop" for a block of staged control flow
    raises : whether the block always ends with an error
    joined : the block that its statements were moved to
    """

    params: tuple[Var, ...]
    mark: int = 0
    region: str = ""
    raises: bool = False
    joined: Scope | None = None
    stmts: list[Stmt] = field(default_factory=list[Stmt])
    shared: dict[object, tuple[Operand, ...]] = field(
        default_factory=dict[object, tuple[Operand, ...]]
    )


class Restorable(Protocol):
    """What the log can give its old contents back."""

    def restore(self, value: Any, expired: Any, /) -> None: ...


class Builder:
    """Builds blocks, innermost open block last.

    >>> from .nodes import Apply; from .primitives import ADD; from .types import F64
    >>> b = Builder(); x = Var(F64, "x"); scope = b.open((x,))
    >>> once, = b.emit(Apply(ADD, (x, x))); again, = b.emit(Apply(ADD, (x, x)))
    >>> once is again, len(b.close((once,)).stmts)
    (True, 1)
    """

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.log: list[tuple[Restorable, Any, Any]] = []
        self._depth: dict[Var, int] = {}
        self._used: set[Var] = set()  # every variable that was ever bound here

    def open(self, params: Sequence[Var] = (), region: str = "") -> Scope:
        """Begins a block."""
        scope = Scope(tuple(params), len(self.log), region)
        for param in scope.params:
            self._bind(param, len(self.scopes))
        self.scopes.append(scope)
        return scope

    def _bind(self, var: Var, level: int) -> None:
        self._depth[var] = level
        self._used.add(var)

    def close(self, results: Sequence[Operand | Node]) -> Block:
        """Ends the innermost block."""
        scope = self.scopes.pop()
        self._forget(scope)
        return Block(scope.params, tuple(scope.stmts), tuple(results))

    def suspend(self) -> Scope:
        """Takes the innermost block off, to be completed later (once the other branch is known)."""
        scope = self.scopes.pop()
        self._forget(scope)
        return scope

    def resume(self, scope: Scope) -> None:
        """Makes a suspended block the innermost one again, inside the same enclosing blocks."""
        level = len(self.scopes)
        for var in _bound(scope):
            self._depth[var] = level
        self.scopes.append(scope)

    def join(self, scope: Scope) -> None:
        """Moves a suspended block's statements to the end of the innermost open one."""
        here = self.scopes[-1]
        for var in _bound(scope):
            self._depth[var] = len(self.scopes) - 1
        here.stmts += scope.stmts
        here.shared.update(scope.shared)
        scope.joined = here

    def rewind(self, mark: int) -> None:
        """Takes back what was logged since the log had this length."""
        while len(self.log) > mark:
            what, *before = self.log.pop()
            what.restore(*before)

    def _forget(self, scope: Scope) -> None:
        for var in _bound(scope):
            self._depth.pop(var, None)

    def abandon(self, scope: Scope) -> None:
        """Drops `scope`, everything opened inside it, and what happened there."""
        self.rewind(scope.mark)
        while self.scopes and self.scopes[-1] is not scope:
            self._forget(self.scopes.pop())
        if self.scopes:
            self._forget(self.scopes.pop())

    def emit(
        self,
        op: Op,
        names: Sequence[str] = (),
        sources: tuple[Location, ...] = (),
        facts: Sequence[frozenset[Fact]] = (),
        depth: int | None = None,
        origin: Stmt | None = None,
    ) -> tuple[Operand, ...]:
        """The operands that hold the op's results.

        depth : an outer scope to place the statement in
        origin : a statement of another program that binds the same op; where its variables are not
            bound here, it becomes part of this program, too
        """
        simpler = rules.apply(self, op)
        if simpler is not None:
            return simpler
        level = len(self.scopes) - 1 if depth is None else depth
        own = effects(op)
        identity: object = None
        if not own & ORDERED:
            identity = key(op)
            for scope in reversed(self.scopes[: level + 1]):
                known = scope.shared.get(identity)
                if known is not None:
                    return known
        if origin is None or self.binds(origin.binders):
            origin = Stmt(make_binders(op.signature(), names, facts), op, sources)
        binders = origin.binders
        for binder in binders:
            self._bind(binder, level)
        self.scopes[level].stmts.append(origin)
        if identity is not None:
            self.scopes[level].shared[identity] = binders
        return binders

    def emit_outermost(self, op: Op, name: str = "", sources: tuple[Location, ...] = ()) -> Operand:
        """Emits a cheap scalar op that cannot fault, in the outermost block that sees its operands.

        Size arithmetic comes this way, so that a size computed inside a loop can be part of a type
        outside.
        """
        depth = max((self.depth(v) for v in operands(op) if isinstance(v, Var)), default=0)
        (result,) = self.emit(op, (name,), sources, depth=depth)
        return result

    def adopt(self, param: Var) -> None:
        """Makes a late parameter (a captured array) visible from the outermost block on."""
        for size in type_vars(param.type):
            self._depth.setdefault(size, 0)
        self._depth[param] = 0

    def depth(self, var: Var) -> int:
        """The number of the open block that binds `var`, 0 the outermost."""
        return self._depth[var]

    def binds(self, variables: Sequence[Var]) -> bool:
        """Whether one of the variables is, or was, bound here."""
        return not self._used.isdisjoint(variables)

    def sees(self, operand: Operand) -> bool:
        """Whether an open block binds the operand."""
        return isinstance(operand, Const) or self._depth.get(operand, len(self.scopes)) < len(
            self.scopes
        )


def _bound(scope: Scope) -> Iterator[Var]:
    yield from scope.params
    for stmt in scope.stmts:
        yield from stmt.binders


def make_binders(
    signature: tuple[Type, ...],
    names: Sequence[str] = (),
    facts: Sequence[frozenset[Fact]] = (),
) -> tuple[Var, ...]:
    """Fresh variables for a signature; `Exists` dimensions become the size binders before them."""
    binders: list[Var] = []
    for k, type_ in enumerate(signature):
        name = names[k] if k < len(names) else ""
        fact = facts[k] if k < len(facts) else frozenset[Fact]()
        binders.append(Var(close_type(type_, binders), name, fact))
    return tuple(binders)


def close_type(type_: Type, binders: Sequence[Operand]) -> Type:
    """The type with `Exists(k)` replaced by what binder k holds."""
    if not isinstance(type_, Array):
        return type_
    shape = tuple(
        operand_dim(binders[d.binder]) if isinstance(d, Exists) else d for d in type_.shape
    )
    return Array(type_.element, shape)
