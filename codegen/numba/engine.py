"""From the text of kernels to an LLVM module: Numba's front end, our own back end.

Numba types the functions of a text and lowers them to LLVM. Everything after that is ours: one
module for the whole text, one run of the passes, object code that refers to nothing of Numba.
Numba is imported on first use.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from .. import objects
from ..native import Signature

FILENAME = "<parloom kernels>"


class KernelTextError(RuntimeError):
    """A kernel text that does not compile: a bug of the printer that wrote it."""


def plain(text: str) -> dict[str, Callable[..., Any]]:
    """The functions of a kernel text as plain Python: Numba switched off.

    Raises KernelTextError if the text has something that kernels may not have.
    """
    return dict(_functions(_namespace(text)))


def module(text: str, signatures: Mapping[str, Signature]) -> Any:
    """The optimised LLVM module of a kernel text, with one native function for each of
    `signatures`: for `objects.emit`, or for reading (`str`, `objects.assembly`).

    The other functions of the text are helpers, which are inlined where they are called.

    Raises KernelTextError if the text is not typed by the signatures alone, or has something that
    kernels may not have.
    """
    from .lowering import lower

    namespace = _namespace(text)
    functions = _functions(namespace)
    for name in signatures:
        if name not in functions:
            raise KernelTextError(f"the text defines no function {name}")
    return objects.optimise(lower(namespace, functions, signatures), tuple(signatures))


def _namespace(text: str) -> dict[str, Any]:
    tree = ast.parse(text, FILENAME)
    for node in ast.walk(tree):
        if isinstance(node, _FORBIDDEN) or _is_negative_index(node):
            line = ast.get_source_segment(text, node)
            raise KernelTextError(f"a kernel may not have {type(node).__name__}: {line}")
    namespace: dict[str, Any] = {}
    exec(compile(tree, FILENAME, "exec"), namespace)
    return namespace


# What raises, allocates, or makes a closure.
_FORBIDDEN = (
    ast.Raise,
    ast.Assert,
    ast.Try,
    ast.With,
    ast.Lambda,
    ast.ClassDef,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.JoinedStr,
    ast.Slice,
)


def _is_negative_index(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(p, ast.UnaryOp) and isinstance(p.op, ast.USub) for p in parts)


def _functions(namespace: Mapping[str, Any]) -> dict[str, FunctionType]:
    return {
        name: value
        for name, value in namespace.items()
        if isinstance(value, FunctionType) and value.__code__.co_filename == FILENAME
    }
