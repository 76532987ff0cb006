"""`break`, `continue` and `return` become flags, so that loops and branches have one way out.

    while c:                       break_1 = False
        if a: break                while not break_1 and c:
        if b: continue      ->         if a: break_1 = True
        rest                           else:
    else:                                  if b: pass
        E                                  else: rest
                                   if not break_1: E

    for t in e:                    break_1 = False
        A; if c: break; B   ->     for t in e:  (StoppableFor: it ends when break_1 holds)
                                       A
                                       if c: break_1 = True
                                       else: B

A `return` inside a loop sets the result and the flag `returned`, which ends the loops around it.
What stands behind a statement that may jump runs under `if not <flags>`; behind an `if` of which
one side always jumps, it joins the other side. While conditions are known, so are the flags, and
everything means what it meant.

What stays: jumps out of `finally`, `return` in generators, and all of a function without jumps.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..dataclass import dataclass
from .returns import RESULT, RETURNED, lift_returns
from .scopes import binds_in_expression
from .tree import Transformer, inner_statements, own_statements

_LOOPS = (ast.For, ast.While)


class StoppableFor(ast.For):
    """A `for` that ends when one of its flags holds."""

    flags: tuple[str, ...] = ()


class StoppableWhile(ast.While):
    """A `while` whose condition says that its flags do not hold."""

    flags: tuple[str, ...] = ()


def lower_jumps(body: Sequence[ast.stmt], returns: bool) -> list[ast.stmt]:
    """A function's body without jumps out of loops and branches.

    returns : whether `return` may be moved (not in generators)
    """
    if returns:
        lifted = lift_returns(body)
        if any(isinstance(n, ast.Return) and n is not lifted[-1] for n in own_statements(lifted)):
            return _with_flag(lifted)
        body = lifted
    return _Jumps(False).sequence(body, None)


def _with_flag(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A body with returns inside of loops."""
    first, last = body[0], body[-1]
    end = [] if _never_ends(last) else [ast.copy_location(ast.Return(None), last)]
    made = _Jumps(True).sequence([*body, *end], None)
    result = ast.copy_location(ast.Return(_name(RESULT, last)), last)
    return [_set(RETURNED, False, first), *made, result]


@dataclass(slots=True)
class _Loop:
    """The loop around a statement: its flags, and whether the second is needed."""

    broken: str
    continued: str
    tested: bool = False


class _Jumps:
    def __init__(self, returns: bool) -> None:
        self.returns = returns
        self.count = 0

    def sequence(self, stmts: Sequence[ast.stmt], loop: _Loop | None) -> list[ast.stmt]:
        """The statements; what stands behind one that may jump runs only if it did not."""
        made: list[ast.stmt] = []
        for k, stmt in enumerate(stmts):
            jump = self.jump(stmt, loop)
            if jump is not None:
                return [*made, *jump]
            flags = self.flags([stmt], loop)
            if not flags:
                made += self.inside(stmt, loop)
                continue
            rest = stmts[k + 1 :]
            if isinstance(stmt, ast.If) and self.one_side_jumps(stmt, loop):
                sides = [
                    side if self.jumps(side, loop) else [*side, *rest]
                    for side in (stmt.body, stmt.orelse)
                ]
                then, orelse = (self.sequence(side, loop) for side in sides)
                return [*made, _if(stmt.test, then, orelse, stmt)]
            made += self.inside(stmt, loop)
            if rest:
                if loop is not None and loop.continued in flags:
                    loop.tested = True
                made.append(_if(none_of(flags, rest[0]), self.sequence(rest, loop), [], rest[0]))
            return made
        return made

    def jump(self, stmt: ast.stmt, loop: _Loop | None) -> list[ast.stmt] | None:
        """What takes the place of a jump; None for another statement."""
        if isinstance(stmt, ast.Raise):
            return [stmt]
        if isinstance(stmt, ast.Break) and loop is not None:
            return [_set(loop.broken, True, stmt)]
        if isinstance(stmt, ast.Continue) and loop is not None:
            return [_set(loop.continued, True, stmt)]
        if isinstance(stmt, ast.Return) and self.returns:
            value = stmt.value or ast.copy_location(ast.Constant(None), stmt)
            target = ast.copy_location(ast.Name(RESULT, ast.Store()), stmt)
            result = ast.copy_location(ast.Assign([target], value), stmt)
            return [result, _set(RETURNED, True, stmt)]
        return None

    def flags(self, stmts: Sequence[ast.AST], loop: _Loop | None) -> list[str]:
        """The flags that the statements may set."""
        found: list[str] = []
        own = list(_outside_loops(stmts))
        if loop is not None and any(isinstance(n, ast.Break) for n in own):
            found.append(loop.broken)
        if loop is not None and any(isinstance(n, ast.Continue) for n in own):
            found.append(loop.continued)
        if self.returns and any(isinstance(n, ast.Return) for n in own_statements(stmts)):
            found.append(RETURNED)
        return found

    def jumps(self, body: Sequence[ast.stmt], loop: _Loop | None) -> bool:
        """Whether control never reaches the end of the statements."""
        if not body:
            return False
        last = body[-1]
        if isinstance(last, ast.If):
            return self.jumps(last.body, loop) and self.jumps(last.orelse, loop)
        if isinstance(last, ast.Return):
            return self.returns
        return isinstance(last, ast.Raise | ast.Break | ast.Continue) or _never_ends(last)

    def one_side_jumps(self, stmt: ast.If, loop: _Loop | None) -> bool:
        """Whether what follows an `if` can join one of its sides."""
        return self.jumps(stmt.body, loop) or self.jumps(stmt.orelse, loop)

    def inside(self, stmt: ast.stmt, loop: _Loop | None) -> list[ast.stmt]:
        """A statement with the jumps in it lowered."""
        if isinstance(stmt, _LOOPS):
            return self.loop(stmt, loop)
        if isinstance(stmt, ast.If):
            then = self.sequence(stmt.body, loop)
            stmt.body = then or [ast.copy_location(ast.Pass(), stmt)]
            stmt.orelse = self.sequence(stmt.orelse, loop)
            return [stmt]
        if isinstance(stmt, ast.With):
            stmt.body = self.sequence(stmt.body, loop)
        elif isinstance(stmt, ast.Match):
            for case in stmt.cases:
                case.body = self.sequence(case.body, loop)
        elif isinstance(stmt, ast.Try) and not self.flags(stmt.finalbody, loop):
            flags = self.flags(stmt.body, loop)
            stmt.body = self.sequence(stmt.body, loop)
            for handler in stmt.handlers:
                handler.body = self.sequence(handler.body, loop)
            orelse: list[ast.stmt] = self.sequence(stmt.orelse, loop)
            if orelse and flags:
                stmt.orelse = [_if(none_of(flags, orelse[0]), orelse, [], orelse[0])]
            else:
                stmt.orelse = orelse
        return [stmt]

    def loop(self, stmt: ast.For | ast.While, around: _Loop | None) -> list[ast.stmt]:
        """A loop: its flags, and its `else` behind it."""
        stmt = _test_inside(stmt)
        own = list(_outside_loops(stmt.body))
        self.count += 1
        loop = _Loop(f"_parloom_break_{self.count}", f"_parloom_continue_{self.count}")
        jumps = any(isinstance(n, ast.Break | ast.Continue) for n in own)
        body = self.sequence(stmt.body, loop)
        orelse = self.sequence(stmt.orelse, around)
        if jumps:
            body = _without(body, loop) or [ast.copy_location(ast.Pass(), stmt)]
            if loop.tested:
                body = [_set(loop.continued, False, stmt), *body]
        flags = [loop.broken] if any(isinstance(n, ast.Break) for n in own) else []
        if self.returns and any(isinstance(n, ast.Return) for n in own_statements(stmt.body)):
            flags.append(RETURNED)
        if not flags:
            stmt.body, stmt.orelse = body, orelse
            return [stmt]
        made: StoppableFor | StoppableWhile
        if isinstance(stmt, ast.While):
            goes_on = ast.BoolOp(ast.And(), [none_of(flags, stmt), stmt.test])
            made = StoppableWhile(ast.copy_location(goes_on, stmt.test), body, [])
        else:
            made = StoppableFor(stmt.target, stmt.iter, body, [])
        made.flags = tuple(flags)
        found: list[ast.stmt] = [ast.copy_location(made, stmt)]
        if loop.broken in flags:
            found.insert(0, _set(loop.broken, False, stmt))
        if orelse:
            found.append(_if(none_of(flags, orelse[0]), orelse, [], orelse[0]))
        return found


def _never_ends(stmt: ast.stmt) -> bool:
    """Whether the statement is `while True:` without a `break`."""
    if not isinstance(stmt, ast.While) or not isinstance(stmt.test, ast.Constant):
        return False
    leaves = any(isinstance(n, ast.Break) for n in _outside_loops(stmt.body))
    return bool(stmt.test.value) and not leaves


def _test_inside(stmt: ast.For | ast.While) -> ast.For | ast.While:
    """`while (x := f()) > 0: A` as `while True: if not (x := f()) > 0: break; A`."""
    if not isinstance(stmt, ast.While) or stmt.orelse or not binds_in_expression(stmt.test):
        return stmt
    negated = ast.copy_location(ast.UnaryOp(ast.Not(), stmt.test), stmt.test)
    leave = _if(negated, [ast.copy_location(ast.Break(), stmt.test)], [], stmt.test)
    always = ast.copy_location(ast.Constant(True), stmt.test)
    return ast.copy_location(ast.While(always, [leave, *stmt.body], []), stmt)


def _outside_loops(nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """The statements, and those inside that belong to no loop, function or class there."""
    found: list[ast.AST] = []
    pending = list(nodes)
    while pending:
        node = pending.pop()
        found.append(node)
        pending += node.orelse if isinstance(node, _LOOPS) else inner_statements(node)
    return found


def _without(stmts: Sequence[ast.stmt], loop: _Loop) -> list[ast.stmt]:
    """The statements without assignments of the flag `continued` that nobody reads."""
    if loop.tested:
        return list(stmts)

    class Drop(Transformer):
        def visit_Assign(self, node: ast.Assign) -> ast.stmt:
            (target, *_) = node.targets
            if isinstance(target, ast.Name) and target.id == loop.continued:
                return ast.copy_location(ast.Pass(), node)
            return node

    found: list[ast.stmt] = []
    for stmt in stmts:
        node: object = Drop().visit(stmt)
        assert isinstance(node, ast.stmt)
        found.append(node)
    return found


def _name(name: str, at: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Name(name, ast.Load()), at)


def _set(name: str, value: bool, at: ast.AST) -> ast.stmt:
    target = ast.copy_location(ast.Name(name, ast.Store()), at)
    made = ast.Assign([target], ast.copy_location(ast.Constant(value), at))
    return ast.copy_location(made, at)


def none_of(flags: Sequence[str], at: ast.AST) -> ast.expr:
    """`not (a or b)`"""
    names = [_name(flag, at) for flag in flags]
    either = names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), names), at)
    return ast.copy_location(ast.UnaryOp(ast.Not(), either), at)


def _if(
    test: ast.expr, then: Sequence[ast.stmt], orelse: Sequence[ast.stmt], at: ast.AST
) -> ast.If:
    body = list(then) or [ast.copy_location(ast.Pass(), at)]
    return ast.copy_location(ast.If(test, body, list(orelse)), at)
