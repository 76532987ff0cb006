"""The AST of a function that exists, found by its code's file, line and columns."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType

from ..dataclass import dataclass
from ..libraries import all_codes
from .tree import children

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Source:
    """A function's AST, and the class that it stands in (private names depend on it)."""

    node: FunctionNode
    class_name: str | None


@dataclass(frozen=True, slots=True)
class File:
    """A parsed file: its text, its functions by first line, the code that it compiles to."""

    text: str
    functions: dict[int, list[Source]]
    codes: frozenset[CodeType]


_files: dict[tuple[str, int], File | None] = {}

FUTURES = 0x1FF0000  # `from __future__ import ...` in a code object's flags


def find(f: FunctionType) -> Source | None:
    """The source of `f`; None when it cannot be had, or is not what `f` was compiled from."""
    code = f.__code__
    file = _file(code.co_filename, code.co_flags & FUTURES)
    if file is None or not (code in file.codes or _assertions_rewritten(f)):
        return None
    for source in file.functions.get(code.co_firstlineno, ()):
        if _matches(source.node, code):
            return source
    return None


def _assertions_rewritten(f: FunctionType) -> bool:
    """pytest compiles test modules with other asserts than they have in their source."""
    return type(f.__globals__.get("__loader__")).__name__ == "AssertionRewritingHook"


def _file(filename: str, futures: int) -> File | None:
    text = "".join(linecache.getlines(filename))
    known = _files.get((filename, futures))
    if known is None or known.text != text:
        known = _files[filename, futures] = _parse(text, filename, futures)
    return known


def _parse(text: str, filename: str, futures: int) -> File | None:
    if not text:
        return None
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | futures
    try:
        tree = compile(text, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        code = compile(text, filename, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    functions: dict[int, list[Source]] = {}
    for source in _functions(tree, None):
        functions.setdefault(first_line(source.node), []).append(source)
    return File(text, functions, frozenset(all_codes(code)))


def _functions(node: ast.AST, class_name: str | None) -> Iterator[Source]:
    for child in children(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            yield Source(child, class_name)
        yield from _functions(child, child.name if isinstance(child, ast.ClassDef) else class_name)


def first_line(node: FunctionNode) -> int:
    """The line that the function's code calls its first: the first decorator's, if it has one."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *[d.lineno for d in decorators]])


def _matches(node: FunctionNode, code: CodeType) -> bool:
    if isinstance(node, ast.FunctionDef):
        return node.name == code.co_name
    if code.co_name != "<lambda>":
        return False
    positions = set(code.co_positions())
    return any(_place(value) in positions for value in _values(node.body))


def _values(body: ast.expr) -> Iterator[ast.expr]:
    """What gives a lambda's value: of a conditional expression either branch, for no instruction
    spans the whole.
    """
    if isinstance(body, ast.IfExp):
        yield from _values(body.body)
        yield from _values(body.orelse)
    else:
        yield body


def _place(node: ast.expr) -> tuple[int | None, int | None, int | None, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
