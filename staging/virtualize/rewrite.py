"""Rewriting of expressions: what Python decides by itself becomes a call of a hook.

    a and b        _parloom_.and_(a, lambda: b)
    not a          _parloom_.not_(a)
    a if c else b  _parloom_.if_expression(c, lambda: a, lambda: b)
    a < b < c      _parloom_.compare(a, ("Lt", lambda: b), ("Lt", lambda: c))
    a in b         _parloom_.compare(a, ("In", lambda: b))
    f(x)           _parloom_.callee(f)(x)
    freeze(x)      _parloom_.freeze(freeze, lambda: x)
    captured       _parloom_.load_global("captured", captured)
    a.b            _parloom_.attribute(a, "b")
    (x := a)       (x := _parloom_.named("x", a))
    [a for x in b] _parloom_.comprehension(b, lambda e: [a for x in e])
    a.b = c        _parloom_.written(a, "a.b").b = c
    a[i] = c       _parloom_.written(a, "a[i]")[i] = c

Every new node has the location of the one that it replaces.
"""

from __future__ import annotations

import ast
from collections.abc import Generator, Sequence, Set
from contextlib import contextmanager
from typing import Any, TypeGuard, TypeVar

from .scopes import binds_in_expression, names_of, parameters, place, targets
from .sources import FunctionNode
from .tree import Transformer, copied, located

HOOKS = "_parloom_"
THUNK = "_parloom_thunk"
ELEMENTS = "_parloom_elements"

# They look at the frame that calls them.
_FRAME_DEPENDENT = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


_PART = TypeVar("_PART", ast.Attribute, ast.Subscript)


def _is_freeze(node: ast.Call) -> bool:
    """Whether it looks like a call of `pm.freeze`, whose argument is not to be staged."""
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    alone = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
    return name == "freeze" and alone and not node.keywords


class Expressions(Transformer):
    """Rewrites expressions; `Statements` adds the statements.

    free : the free variables of the outermost function, whose cells are captured
    class_name : the class around it, for private names
    """

    def __init__(self, free: frozenset[str], class_name: str | None) -> None:
        self.free = free
        self.class_name = class_name
        self.locals: list[Set[str]] = []

    # Helpers.

    def hook(self, name: str, at: ast.AST, *args: ast.expr) -> ast.Call:
        """A call of a hook, located at `at`."""
        function = ast.Attribute(ast.Name(HOOKS, ast.Load()), name, ast.Load())
        return located(ast.Call(function, list(args), []), at)

    def thunk(self, body: ast.expr) -> ast.expr:
        """`lambda: body`; build.py knows it by its parameter and gives it its function's name."""
        arguments = ast.arguments([], [], None, [ast.arg(THUNK)], [ast.Constant(None)], None, [])
        return located(ast.Lambda(arguments, body), body)

    def expr(self, node: ast.expr) -> ast.expr:
        """The rewritten expression."""
        found: object = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def plain(self, node: ast.expr, what: str, where: ast.AST) -> ast.expr:
        """The value of `node`, refused when it is staged because of `what`."""
        reason = ast.Constant((what, place(where)))  # type: ignore[arg-type]
        return self.hook("plain", node, self.expr(node), reason)

    def private(self, name: str) -> str:
        """The name as Python stores it: private ones carry their class."""
        if self.class_name and name.startswith("__") and not name.endswith("__"):
            return f"_{self.class_name.lstrip('_')}{name}"
        return name

    def is_captured(self, name: str) -> bool:
        """Whether the name belongs to the surroundings of the outermost function."""
        return not name.startswith(HOOKS) and not any(name in names for names in self.locals)

    @contextmanager
    def scope(self, names: Set[str]) -> Generator[None]:
        """While it is open, `names` are local."""
        self.locals.append(names)
        yield
        self.locals.pop()

    # Names, attributes, calls.

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or not self.is_captured(node.id):
            return node
        kind = "load_cell" if node.id in self.free else "load_global"
        return self.hook(kind, node, ast.Constant(self.private(node.id)), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return self.written(node)
        value = self.expr(node.value)
        return self.hook("attribute", node, value, ast.Constant(self.private(node.attr)))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            node = self.written(node)
        else:
            node.value = self.expr(node.value)
        node.slice = self.expr(node.slice)
        return node

    def written(self, node: _PART) -> _PART:
        """An attribute or an item that is assigned or deleted: in an object that may be."""
        name = ast.Constant(ast.unparse(node))
        node.value = self.hook("written", node, self.expr(node.value), name)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if _is_freeze(node) and not binds_in_expression(node.args[0]):
            frozen = self.thunk(self.expr(node.args[0]))
            return self.hook("freeze", node, self.expr(node.func), frozen)
        frame_dependent = isinstance(node.func, ast.Name) and node.func.id in _FRAME_DEPENDENT
        if not frame_dependent:
            node.func = self.hook("callee", node.func, self.expr(node.func))
        node.args = [self.expr(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.expr(keyword.value)
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.named(node.target.id, node.value)
        return node

    def named(self, name: str, value: ast.expr) -> ast.expr:
        """The value, told the user's name for it."""
        if isinstance(value, ast.Constant | ast.Lambda):
            return self.expr(value)
        return self.hook("named", value, ast.Constant(name), self.expr(value))

    # Logic.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, *rest = node.values
        if binds_in_expression(*rest):
            what = "an assignment, yield or await inside `and` or `or`"
            before = [self.plain(v, what, node) for v in node.values[:-1]]
            node.values = [*before, self.expr(node.values[-1])]
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return self.hook(name, node, self.expr(first), *[self.thunk(self.expr(v)) for v in rest])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.expr(node.operand)
        if isinstance(node.op, ast.Not):
            return self.hook("not_", node, operand)
        node.operand = operand
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if binds_in_expression(node.body, node.orelse):
            what = "an assignment, yield or await inside a conditional expression"
            node.test = self.plain(node.test, what, node)
            node.body, node.orelse = self.expr(node.body), self.expr(node.orelse)
            return node
        then, orelse = self.thunk(self.expr(node.body)), self.thunk(self.expr(node.orelse))
        return self.hook("if_expression", node, self.expr(node.test), then, orelse)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        names = [type(op).__name__ for op in node.ops]
        simple = len(names) == 1 and names[0] not in ("In", "NotIn")
        if names[0] in ("Is", "IsNot") and isinstance(node.comparators[0], ast.Constant):
            simple = not isinstance(node.comparators[0].value, bool)
        if simple or binds_in_expression(*node.comparators):
            self.generic_visit(node)
            return node
        links = [
            located(ast.Tuple([ast.Constant(name), self.thunk(self.expr(c))], ast.Load()), c)
            for name, c in zip(names, node.comparators, strict=True)
        ]
        return self.hook("compare", node, self.expr(node.left), *links)

    # Functions and comprehensions.

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.defaults(node)
        with self.scope(names_of(node).local):
            node.body = self.expr(node.body)
        return node

    def defaults(self, node: FunctionNode) -> None:
        """A function's default values belong to the scope around it."""
        node.args.defaults = [self.expr(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.expr(d) for d in node.args.kw_defaults]

    def _listed(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """`_parloom_.comprehension(it, lambda e: [f(x) for x in e])`, with the condition as a third
        argument; what assigns or yields, or has several `for`, cannot move into a function."""
        if len(node.generators) > 1 or binds_in_expression(node):
            return self._comprehension(node)
        (generator,) = node.generators
        iterable, generator.iter = self.expr(generator.iter), _elements(node)
        parts = [self._over_elements(node, node.elt, generator.ifs)]
        if generator.ifs:
            every = generator.ifs[0]
            if len(generator.ifs) > 1:
                every = located(ast.BoolOp(ast.And(), list(generator.ifs)), every)
            parts += [self._over_elements(node, e, []) for e in (node.elt, every)]
        return self.hook("comprehension", node, iterable, *parts)

    def _over_elements(
        self, node: ast.ListComp | ast.GeneratorExp, value: ast.expr, ifs: list[ast.expr]
    ) -> ast.expr:
        """`lambda e: [value for target in e if ...]`"""
        (generator,) = node.generators
        target, tests = copied(generator.target), [copied(test) for test in ifs]
        elements = _elements(node)
        if is_flat(target):
            elements = self.hook("unpacked", node, elements, ast.Constant(len(target.elts)))
        again = ast.comprehension(target, elements, tests, generator.is_async)
        made = self._comprehension(located(type(node)(copied(value), [again]), node), False)
        parameters = [ast.arg(ELEMENTS), ast.arg(THUNK)]
        arguments = ast.arguments([], parameters, None, [], [], None, [ast.Constant(None)])
        return located(ast.Lambda(arguments, made), node)

    def _comprehension(self, node: _Comprehension, iterates: bool = True) -> ast.expr:
        first = node.generators[0]
        if iterates:
            first.iter = self.hook("iterate", first.iter, self.expr(first.iter))
        with self.scope(targets(node)):
            for generator in node.generators[1:]:
                generator.iter = self.hook("iterate", generator.iter, self.expr(generator.iter))
            for generator in node.generators:
                generator.ifs = [
                    self.plain(c, "the condition of a comprehension", c) for c in generator.ifs
                ]
            for name in ("elt", "key", "value"):
                if hasattr(node, name):
                    setattr(node, name, self.expr(getattr(node, name)))
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        return self._listed(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        return self._listed(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node  # its methods are rewritten when they are called


def is_flat(target: ast.expr) -> TypeGuard[ast.Tuple | ast.List]:
    """Whether it is a tuple or a list of names, to unpack into."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    return bool(parts) and all(isinstance(part, ast.Name) for part in parts)


def _elements(at: ast.AST) -> ast.expr:
    return located(ast.Name(ELEMENTS, ast.Load()), at)


def names_tuple(names: Sequence[str], context: ast.expr_context, at: ast.AST) -> ast.expr:
    """`(a, b)`, to assign or to read."""
    made: list[Any] = [ast.Name(n, type(context)()) for n in names]
    return located(ast.Tuple(made, context), at)


__all__ = ["Expressions", "HOOKS", "THUNK", "is_flat", "names_tuple", "parameters"]
