"""Which names a piece of source assigns, and what in it no recorded branch or loop can contain."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..dataclass import dataclass
from .sources import FunctionNode
from .tree import SCOPES, children, own_nodes

Place = tuple[int, int, int | None]

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def assigned(nodes: Iterable[ast.AST]) -> dict[str, Place]:
    """The names that the statements bind, in order, each with the place where it is bound last."""
    return {name: place(node) for node in own_nodes(nodes) for name in _binds(node)}


def binds(stmt: ast.stmt) -> dict[str, Place]:
    """The names that a statement binds itself, not by the statements inside it."""
    found = dict.fromkeys(_binds(stmt), place(stmt))
    if isinstance(stmt, SCOPES):
        return found
    for child in children(stmt):
        if isinstance(child, ast.ExceptHandler):
            found.update(dict.fromkeys(_binds(child), place(child)))
        elif isinstance(child, ast.match_case):
            found.update(assigned([child.pattern]))
        elif not isinstance(child, ast.stmt):
            found.update(assigned([child]))
    return found


def _binds(node: ast.AST) -> list[str]:
    binder = _BINDERS.get(type(node))
    return [] if binder is None else binder(node)


def _name(node: Any) -> list[str]:
    return [] if isinstance(node.ctx, ast.Load) else [node.id]


def _own_name(node: Any) -> list[str]:
    return [] if node.name is None else [node.name]


def _imported(node: Any) -> list[str]:
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _rest(node: Any) -> list[str]:
    return [] if node.rest is None else [node.rest]


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
_BINDERS: dict[type[ast.AST], Callable[[Any], list[str]]] = {
    ast.Name: _name,
    **dict.fromkeys((*_NAMED, ast.MatchAs, ast.MatchStar), _own_name),
    **dict.fromkeys((ast.Import, ast.ImportFrom), _imported),
    ast.MatchMapping: _rest,
}


def reads(nodes: Iterable[ast.AST]) -> Counter[str]:
    """How often each name is read, also in functions inside, but for the names of loops and
    comprehensions where these bind them."""
    found: Counter[str] = Counter()
    pending: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset()) for node in nodes]
    while pending:
        node, bound = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] += node.id not in bound
        if isinstance(node, ast.For):
            inside = bound | set(assigned([node.target]))
            pending += [(child, inside) for child in node.body]
            pending += [(child, bound) for child in (node.target, node.iter, *node.orelse)]
        else:
            inside = bound | targets(node)
            pending += [(child, inside) for child in children(node)]
    return found


def place(node: ast.AST) -> Place:
    """Line, column and end column (None when it ends on another line)."""
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    single = getattr(node, "end_lineno", line) == line
    return line, column, getattr(node, "end_col_offset", None) if single else None


def targets(node: ast.AST) -> set[str]:
    """The names that a comprehension's own scope binds."""
    generators: list[ast.comprehension] = getattr(node, "generators", [])
    return {
        n.id
        for generator in generators
        for n in ast.walk(generator.target)
        if isinstance(n, ast.Name)
    }


def parameters(node: FunctionNode) -> list[str]:
    """The names of a function's parameters."""
    args = node.args
    several = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    rest = [a for a in (args.vararg, args.kwarg) if a is not None]
    return [a.arg for a in (*several, *rest)]


def body_of(node: FunctionNode) -> Sequence[ast.AST]:
    """A function's body as a sequence of nodes."""
    return [node.body] if isinstance(node, ast.Lambda) else node.body


@dataclass(frozen=True, slots=True)
class Names:
    """What a function's own statements tell, by one walk over them.

    local : the names that are local to it
    globals : those that it declares global
    outer : those that it declares global or nonlocal
    generator : whether it contains `yield`
    loops : whether it contains a `for`, whose variables are read after it or not
    """

    local: frozenset[str]
    globals: frozenset[str]
    outer: frozenset[str]
    generator: bool
    loops: bool


def names_of(node: FunctionNode) -> Names:
    """The names of a function, those of functions inside excepted."""
    bound = set(parameters(node))
    declared: dict[type[ast.AST], set[str]] = {ast.Global: set(), ast.Nonlocal: set()}
    kinds: set[type[ast.AST]] = set()
    for own in own_nodes(body_of(node)):
        kinds.add(type(own))
        bound.update(_binds(own))
        if isinstance(own, ast.Global | ast.Nonlocal):
            declared[type(own)].update(own.names)
    outer = declared[ast.Global] | declared[ast.Nonlocal]
    return Names(
        frozenset(bound - outer),
        frozenset(declared[ast.Global]),
        frozenset(outer),
        not kinds.isdisjoint((ast.Yield, ast.YieldFrom)),
        ast.For in kinds,
    )


def binds_in_expression(*nodes: ast.AST) -> bool:
    """Whether an expression assigns (`:=`), yields or awaits: it cannot move into a function."""
    kinds = ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await
    return any(isinstance(n, kinds) for n in own_nodes(nodes))


def obstacle(body: Iterable[ast.AST], in_loop: bool = False) -> tuple[str, Place] | None:
    """What keeps statements out of a recorded branch or loop: its keyword and place, None if
    nothing.

    in_loop : the statements stand in a loop of their own, whose break and continue do not count
    """
    for node in body:
        found = _obstacle(node, in_loop)
        if found is not None:
            return found
    return None


_KEYWORDS: dict[type[ast.AST], str] = {
    ast.Break: "break",
    ast.Continue: "continue",
    ast.Return: "return",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Await: "await",
}


def _obstacle(node: ast.AST, in_loop: bool) -> tuple[str, Place] | None:
    if isinstance(node, SCOPES):
        return None
    keyword = _KEYWORDS.get(type(node))
    if keyword is not None and not (in_loop and keyword in ("break", "continue")):
        return keyword, place(node)
    if isinstance(node, _LOOPS):
        return obstacle(node.body, True) or obstacle(node.orelse, in_loop)
    return obstacle(children(node), in_loop)
