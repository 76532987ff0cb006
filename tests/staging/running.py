"""Staging a function and interpreting its program, for tests of the front end."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import parloom as pm
from parloom.patterns.reference import interpret
from parloom.staging.arguments import Binder, signature_of
from parloom.staging.nodes import Op
from parloom.staging.tracing import Traced, trace_function
from parloom.staging.traversal import walk_stmts

O = TypeVar("O", bound=Op)


def run(f: Callable[..., Any], *args: Any) -> Any:
    """What the interpreter computes for the staged function."""
    traced = trace_function(f, args)
    return run_traced(traced, f, *args)


def run_traced(
    traced: Traced, f: Callable[..., Any], *args: Any, static: tuple[str, ...] = ()
) -> Any:
    """What the interpreter computes for a function that is staged already."""
    binder = Binder(f, static)
    _, arguments = signature_of(binder.bind(args, {}), binder.names, binder.static)
    whole = [*arguments, *(read() for read in traced.captured)]
    return traced.result()(interpret(traced.program, whole))


def everywhere(f: Callable[..., Any], *argument_lists: tuple[Any, ...]) -> None:
    """Asserts that the function gives the same as plain Python, eagerly, in the interpreter and in
    kernels, and leaves its arguments as they were, for each list of arguments."""
    jitted: Any = pm.jit(f)
    runs = [jitted.eager, jitted.on("reference"), jitted.on("python"), jitted]
    for args in argument_lists:
        wanted = f(*copy.deepcopy(args))
        for run in runs:
            found = run(*args)
            np.testing.assert_equal(found, wanted, err_msg=f"{run} {args}")


def results(f: Callable[..., Any], *args: Any) -> list[Any]:
    """The results in eager mode and on each target, of the second call."""
    g: Any = pm.jit(f)
    found = [g.eager(*args)]
    for target in ("reference", "python", "cpu"):
        g.on(target)(*args)
        found.append(g.on(target)(*args))
    return found


def agree(f: Callable[..., Any], *argument_lists: tuple[Any, ...]) -> None:
    """Asserts that staged and plain Python give the same for each list of arguments."""
    for args in argument_lists:
        np.testing.assert_equal(run(f, *args), f(*args), err_msg=f"arguments {args}")


def ops(traced: Traced, kind: type[O]) -> list[O]:
    """The program's ops of one class, in order."""
    return [s.op for s in walk_stmts(traced.program.body) if isinstance(s.op, kind)]
