"""From the rewritten AST back to a function: same file, lines, globals, defaults and live closure
cells.
"""

from __future__ import annotations

import ast
from types import CellType, CodeType, FunctionType

from ..libraries import all_codes
from .rewrite import HOOKS, THUNK
from .sources import FUTURES, Source, find
from .statements import Statements
from .tree import copied, located

_rewritten: dict[CodeType, CodeType | None] = {}
_made: set[CodeType] = set()


def virtualize(f: FunctionType) -> FunctionType:
    """The rewritten version of a user's function; `f` itself when its source cannot be had.

    Globals, defaults and closure cells are those of `f`, not copies.
    """
    if f.__code__ in _made:
        return f
    code = _rewrite(f)
    return f if code is None else _function(f, code)


def is_rewritten(f: FunctionType) -> bool:
    """Whether the function is rewritten code, or part of it."""
    return f.__code__ in _made


def _rewrite(f: FunctionType) -> CodeType | None:
    if f.__code__ not in _rewritten:
        source = find(f)
        code = None if source is None else compile_source(source, f.__code__)
        if code is not None:
            _made.update(all_codes(code))
        _rewritten[f.__code__] = code
    return _rewritten[f.__code__]


def compile_source(source: Source, original: CodeType) -> CodeType:
    """The code of the rewritten function; its free variables are the original's and the hooks."""
    node = copied(source.node)
    rewriter = Statements(frozenset(original.co_freevars), source.class_name)
    made = rewriter.outermost(node)
    body: ast.stmt = made if isinstance(made, ast.stmt) else located(ast.Expr(made), made)
    if source.class_name is not None:  # private names are spelled by the class around them
        body = located(ast.ClassDef(source.class_name, [], [], [body], []), body)
    names = [HOOKS, *original.co_freevars]
    parameters = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    stmts: list[ast.stmt] = [body]
    if isinstance(body, ast.FunctionDef | ast.ClassDef) and body.name not in names:
        # what the function calls by that name (itself, its class) is the module's
        stmts = [located(ast.Global([body.name]), body), body]
    factory = located(ast.FunctionDef("_parloom_factory", parameters, stmts, []), body)
    module = compile(
        ast.Module([factory], []),
        original.co_filename,
        "exec",
        original.co_flags & FUTURES,
        dont_inherit=True,
    )
    (found,) = [c for c in all_codes(module) if c.co_name == original.co_name][:1]
    return _with_names(found, original)


def _with_names(code: CodeType, original: CodeType) -> CodeType:
    return _name_thunks(_renamed(code, code.co_qualname, original.co_qualname))


def _renamed(code: CodeType, before: str, after: str) -> CodeType:
    """The code, and those inside, with qualified names that begin with `after`: messages of Python
    show them.
    """
    constants = tuple(
        _renamed(constant, before, after) if isinstance(constant, CodeType) else constant
        for constant in code.co_consts
    )
    name = after + code.co_qualname.removeprefix(before)
    return code.replace(co_consts=constants, co_qualname=name)


def _name_thunks(code: CodeType) -> CodeType:
    """Gives the functions that rewriting introduced the name of the user's function around them."""
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if THUNK in constant.co_varnames:
                constant = constant.replace(co_name=code.co_name, co_qualname=code.co_qualname)
            constant = _name_thunks(constant)
        constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _function(f: FunctionType, code: CodeType) -> FunctionType:
    from ..hooks import Hooks

    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    hooks = Hooks(f.__globals__, cells, f.__code__.co_filename, f.__code__.co_name)
    closure = tuple(CellType(hooks) if n == HOOKS else cells[n] for n in code.co_freevars)
    made = FunctionType(code, f.__globals__, f.__name__, f.__defaults__, closure)
    made.__kwdefaults__ = f.__kwdefaults__
    made.__dict__.update(f.__dict__)
    made.__qualname__, made.__module__ = f.__qualname__, f.__module__
    return made
