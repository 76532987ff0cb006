"""Rewriting of statements: branches and loops run in place, driven by a region object (regions.py).

    if c:                  p = _parloom_.if_(c, names, count)
        A                  while p.enter():              once for a known condition, else once for
        each branch
    else:         ->           if p.restores: x, y = p.values()
        B                      if p.first: A
                               else: B
                           if p.restores: x, y = p.values()

    while c:               p = _parloom_.while_(names, obstacle)
        A                  while p.again():
    else:         ->           if p.restores: x, y = p.values()
        B                      if p.in_body or p.test(c): A
                           else:
                               if p.restores: x, y = p.values()
                               B

    for t in e:            p = _parloom_.for_(e, names, obstacle, targets)
        A                  for t in p.elements():
    else:         ->           if p.restores: x, y = p.values()
        B                      A
                               p.leave()
                           else:
                               if p.restores: x, y, t = p.values()
                               B

    global n               _parloom_.rebinds("n", place)
    n += a        ->       n += a

The user's code stays in the user's frame, so that a condition known while staging has Python's
meaning whatever the branch contains. What a recorded one cannot contain is found here and refused
by the region, with its line.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from .jumps import StoppableFor, StoppableWhile, lower_jumps, none_of
from .leaving import lower_leaving
from .returns import RESULT, LiftedIf
from .rewrite import HOOKS, Expressions, is_flat, names_tuple
from .scopes import (
    Names,
    Place,
    assigned,
    binds,
    binds_in_expression,
    body_of,
    names_of,
    obstacle,
    place,
    reads,
)
from .sources import FunctionNode
from .tree import located

# Python compiles at most 20 nested blocks; a rewritten `if` needs one.
_DEEPEST = 16


class Statements(Expressions):
    """Rewrites whole functions."""

    def __init__(self, free: frozenset[str], class_name: str | None) -> None:
        super().__init__(free, class_name)
        self.regions = 0
        self.depth = 0
        self.names: list[Names] = []
        self.reads: list[Counter[str]] = []

    # Functions.

    def outermost(self, node: FunctionNode) -> FunctionNode:
        """The function itself: its defaults, decorators and annotations are not evaluated again."""
        node.args.defaults = [located(ast.Constant(None), d) for d in node.args.defaults]
        node.args.kw_defaults = [
            d and located(ast.Constant(None), d) for d in node.args.kw_defaults
        ]
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
        self.body(node)
        return node

    def body(self, node: FunctionNode) -> None:
        """Rewrites the body of a function."""
        depth, self.depth = self.depth, 0
        names = names_of(node)
        self.names.append(names)
        with self.scope(names.local):
            if isinstance(node, ast.Lambda):
                node.body = self.expr(node.body)
            else:
                body = lower_leaving(node.body, HOOKS)
                body = lower_jumps(body, not names.generator)
                self.reads.append(reads(body) if names.loops else Counter())
                node.body = self.block(body)
                self.reads.pop()
        self.names.pop()
        self.depth = depth

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node)
        self.body(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = [self.expr(d) for d in node.decorator_list]
        self.defaults(node)
        self.body(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return node  # annotations mean nothing here

    def block(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements."""
        made: list[ast.stmt] = []
        for stmt in stmts:
            made.extend(self._rebinds(stmt))
            found: object = self.visit(stmt)
            made.extend(found if isinstance(found, list) else [found])  # type: ignore[list-item]
        return made

    def _rebinds(self, stmt: ast.stmt) -> list[ast.stmt]:
        """What refuses that the statement binds variables of the surroundings."""
        if not self.names[-1].outer:
            return []
        hooks = [
            self.hook("rebinds", stmt, ast.Constant(name), _constant(at, stmt))
            for name, at in binds(stmt).items()
            if name in self.names[-1].globals or self.is_captured(name)
        ]
        return [located(ast.Expr(hook), stmt) for hook in hooks]

    def nested(self, stmts: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a compound statement."""
        self.depth += 1
        made = self.block(stmts)
        self.depth -= 1
        return made

    # Regions.

    def _open(self, kind: str, at: ast.AST, *args: ast.expr) -> tuple[str, ast.stmt]:
        self.regions += 1
        name = f"_parloom_{self.regions}"
        made = self.hook(kind, at, *args)
        return name, located(ast.Assign([ast.Name(name, ast.Store())], made), at)

    def _restore(self, region: str, names: Sequence[str], at: ast.AST) -> list[ast.stmt]:
        if not names:
            return []
        restores = located(_member(region, "restores"), at)
        values = located(ast.Call(_member(region, "values"), [], []), at)
        assign = ast.Assign([names_tuple(names, ast.Store(), at)], values)
        return [located(ast.If(restores, [located(assign, at)], []), at)]

    def _names(self, found: dict[str, Place]) -> dict[str, Place]:
        return {n: p for n, p in found.items() if n not in self.names[-1].globals}

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        reason = self._reason_against(node)
        if reason is not None:
            test = self.hook("plain", node.test, self.expr(node.test), _constant(reason, node))
            made = ast.If(test, self.nested(node.body), self.nested(node.orelse))
            return [located(made, node)]
        then, orelse = self._names(assigned(node.body)), self._names(assigned(node.orelse))
        names = list({**then, **orelse})
        kept = names
        if isinstance(node, LiftedIf):  # the function ends here: only its result is needed
            kept = [RESULT]
            names = [RESULT, *(n for n in names if n != RESULT)]
        sites = [(self.private(n), *[s[n] for s in (then, orelse) if n in s]) for n in names]
        region, opening = self._open(
            "if_",
            node.test,
            self.expr(node.test),
            _constant(tuple(sites), node),
            _constant(len(kept), node),
        )
        body = self.nested(node.body)
        other = self.nested(node.orelse) or [located(ast.Pass(), node)]
        branch = located(ast.If(_member(region, "first"), body, other), node.test)
        enter = located(ast.Call(_member(region, "enter"), [], []), node.test)
        inside = [*self._restore(region, names, node.test), branch]
        loop = located(ast.While(enter, inside, []), node.test)
        return [opening, loop, *self._restore(region, kept, node.test)]

    def visit_LiftedIf(self, node: LiftedIf) -> list[ast.stmt]:
        return self.visit_If(node)

    def _reason_against(self, node: ast.If) -> tuple[str, Place] | None:
        if isinstance(node, LiftedIf):
            return ("blocks nested this deep", place(node)) if self.depth > _DEEPEST else None
        found = obstacle([*node.body, *node.orelse])
        if found is None and self.depth > _DEEPEST:
            return "blocks nested this deep", place(node)
        return found

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        reason = obstacle(node.body)
        if reason is None and binds_in_expression(node.test):
            reason = "an assignment in the condition", place(node.test)
        flags = node.flags if isinstance(node, StoppableWhile) else ()
        found = self._names(assigned([node.test, *node.body]))
        sites = tuple((self.private(n), p) for n, p in found.items())
        described = [_constant(x, node) for x in (sites, reason, flags)]
        region, opening = self._open("while_", node.test, *described)
        names = list(found)
        test = ast.Call(_member(region, "test"), [self.expr(node.test)], [])
        goes_on = located(ast.BoolOp(ast.Or(), [_member(region, "in_body"), test]), node.test)
        run = located(ast.If(goes_on, self.nested(node.body), []), node.test)
        again = located(ast.Call(_member(region, "again"), [], []), node.test)
        body = [*self._restore(region, names, node.test), run]
        orelse = [*self._restore(region, names, node.test), *self.block(node.orelse)]
        return [opening, located(ast.While(again, body, orelse), node)]

    def visit_StoppableWhile(self, node: StoppableWhile) -> list[ast.stmt]:
        return self.visit_While(node)

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        reason = obstacle(node.body)
        flags = node.flags if isinstance(node, StoppableFor) else ()
        bound = self._names(assigned([node.target]))
        needed = bool(flags) or any(self.reads[-1][n] > reads([node])[n] for n in bound)
        targets = [] if needed else list(bound)
        found = self._names(assigned([node.target, *node.body] if needed else node.body))
        names = [n for n in found if n not in targets]
        sites = tuple((self.private(n), found[n]) for n in names)
        iterable = self.expr(node.iter)
        described = [
            _constant(x, node) for x in (sites, reason, tuple(map(self.private, targets)), flags)
        ]
        region, opening = self._open("for_", node.iter, iterable, *described)
        elements = located(ast.Call(_member(region, "elements"), [], []), node.iter)
        leave = located(ast.Call(_member(region, "leave"), [], []), node.iter)
        body = self._restore(region, names, node.iter)
        after = self._restore(region, [*names, *targets], node.iter)
        if needed:
            element = located(ast.Name(f"{region}_element", ast.Store()), node.target)
            stop = ast.If(leave, [located(ast.Break(), node.iter)], [])
            body = [*body, *self._inside(node, flags, region), located(stop, node.iter)]
            orelse = [*after, *self.block(node.orelse)]
            return [opening, located(ast.For(element, elements, body, orelse), node)]
        target: object = self.visit(node.target)
        assert isinstance(target, ast.expr)
        body = [*body, *self.nested(node.body), located(ast.Expr(leave), node.iter)]
        orelse = [*after, *self.block(node.orelse)]
        return [opening, located(ast.For(target, elements, body, orelse), node)]

    def visit_StoppableFor(self, node: StoppableFor) -> list[ast.stmt]:
        return self.visit_For(node)

    def _inside(self, node: ast.For, flags: Sequence[str], region: str) -> list[ast.stmt]:
        """The target gets its element, and the body runs, if no flag holds: an unrolled loop goes
        on when a flag is staged."""
        value = located(ast.Name(f"{region}_element", ast.Load()), node.target)
        body = [located(ast.Assign([node.target], value), node.target), *node.body]
        if not flags:
            return self.nested(body)
        test = located(none_of(flags, node.iter), node.iter)
        return self.nested([located(ast.If(test, body, []), node.iter)])

    # Other statements.

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        message = self.thunk(self.expr(node.msg)) if node.msg is not None else ast.Constant(None)
        return located(ast.Expr(self.hook("assert_", node, self.expr(node.test), message)), node)

    def visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        node.cause = node.cause and self.expr(node.cause)
        if node.exc is None:
            return [node]
        error, opening = self._open("raising", node, self.expr(node.exc))
        node.exc = located(ast.Name(error, ast.Load()), node)
        return [opening, located(ast.If(_member(error, "now"), [_raised(node)], []), node)]

    def visit_Try(self, node: ast.Try) -> list[ast.stmt]:
        _, opening = self._open("try_", node)
        assert isinstance(opening, ast.Assign)
        (unwind,) = opening.targets
        assert isinstance(unwind, ast.Name)
        node.body = [*self.nested(node.body), _done(unwind.id, node)]
        for handler in node.handlers:
            handler.type = handler.type and self.expr(handler.type)
            handler.body = [_call(unwind.id, handler), *self.nested(handler.body)]
        node.orelse = self.nested(node.orelse)
        if node.finalbody:
            node.finalbody = [_call(unwind.id, node), *self.nested(node.finalbody)]
        return [opening, node]

    def visit_With(self, node: ast.With) -> ast.stmt:
        for item in node.items:
            item.context_expr = self.expr(item.context_expr)
            item.optional_vars = item.optional_vars and self.expr(item.optional_vars)
        node.body = self.nested(node.body)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[-1]
        if isinstance(target, ast.Name):
            node.value = self.named(target.id, node.value)
        elif is_flat(target):
            node.value = self._named_parts(target, node.value)
        else:
            node.value = self.expr(node.value)
        node.targets = [self.expr(t) for t in node.targets]
        return node

    def _named_parts(self, target: ast.Tuple | ast.List, value: ast.expr) -> ast.expr:
        names = [t.id for t in target.elts if isinstance(t, ast.Name)]
        if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            value.elts = [self.named(n, v) for n, v in zip(names, value.elts, strict=True)]
            return value
        return self.hook("named_parts", value, _constant(tuple(names), value), self.expr(value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is not None:
            name = node.target.id if isinstance(node.target, ast.Name) else ""
            node.value = self.named(name, node.value)
        node.target = self.expr(node.target)  # type: ignore[assignment]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        node.value = self.expr(node.value)
        if not isinstance(node.target, ast.Name):
            node.target = self.expr(node.target)  # type: ignore[assignment]
            return [node]
        name = node.target.id
        load = located(ast.Name(name, ast.Load()), node.target)
        told = self.hook("named", node.target, ast.Constant(name), load)
        return [node, located(ast.Expr(told), node)]


def _raised(node: ast.Raise) -> ast.Raise:
    assert node.exc is not None
    return located(ast.Raise(_attribute(node.exc, "error"), node.cause), node)


def _attribute(value: ast.expr, name: str) -> ast.expr:
    return located(ast.Attribute(value, name, ast.Load()), value)


def _member(region: str, name: str) -> ast.expr:
    return ast.Attribute(ast.Name(region, ast.Load()), name, ast.Load())


def _constant(value: object, at: ast.AST) -> ast.expr:
    return located(ast.Constant(value), at)  # type: ignore[arg-type]


def _done(attempt: str, at: ast.AST) -> ast.stmt:
    return located(ast.Expr(ast.Call(_member(attempt, "done"), [], [])), at)


def _call(function: str, at: ast.AST) -> ast.stmt:
    return located(ast.Expr(ast.Call(ast.Name(function, ast.Load()), [], [])), at)


__all__ = ["Statements", "body_of"]
