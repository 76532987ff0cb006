"""Staging by hand, for tests of the layer below jit: a function's program and what it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from parloom.patterns import emit, reference
from parloom.patterns.generators import MultiLoop
from parloom.staging import pytree
from parloom.staging.builder import Builder
from parloom.staging.context import Trace, enter
from parloom.staging.nodes import Block, Op, Program, Var
from parloom.staging.replay import Replay
from parloom.staging.reps import rep_of
from parloom.staging.traversal import walk_stmts
from parloom.staging.types import (
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    Scalar,
    Type,
)

O = TypeVar("O", bound=Op)


def _array(value: Any) -> Any:
    return cast(Any, value) if isinstance(value, np.ndarray) else None


def _type(value: Any) -> Type:
    if isinstance(value, np.ndarray | np.generic):
        given = cast(Any, value)
        element = Scalar(given.dtype)
        return Array(element, (1,) * given.ndim) if _array(value) is not None else element
    return WEAK_INT if isinstance(value, int) else WEAK_FLOAT


def stage(f: Callable[..., Any], *args: Any) -> tuple[Program, list[Any], pytree.Tree]:
    """The program of `f`, its parameters' values (captured arrays last), the result's structure."""
    t = Trace()
    leave = enter(t)
    try:
        params = [t.new_param(_type(a), f"a{k}", _array(a)) for k, a in enumerate(args)]
        t.builder.open((*t.sizes, *params))
        leaves, tree = emit.flatten(f(*map(rep_of, params)))
        body = t.builder.close([leaf.operand for leaf in leaves])
    finally:
        leave()
    captured = [c.param for c in t.captured.values()]
    values = [*args, *(c.read() for c in t.captured.values())]
    return _merged(t, (*params, *captured), body), values, tree


def _merged(t: Trace, params: tuple[Var, ...], body: Block) -> Program:
    """The program with sizes that were found equal replaced by their representative."""
    builder = Builder()
    replay = Replay(builder)
    sizes = replay.fresh([s for s in t.sizes if s not in t.merged])
    for size in t.merged:
        replay.env[size] = replay.operand(t.canonical(size))
    fresh = replay.fresh(params)
    builder.open((*sizes, *fresh))
    replay.run(body)
    done = builder.close(replay.results(body))
    return Program("staged", sizes, fresh, Block((), done.stmts, done.results))


def interpret(f: Callable[..., Any], *args: Any) -> Any:
    """What the interpreter computes for `f`'s program."""
    program, values, tree = stage(f, *args)
    return pytree.unflatten(tree, reference.interpret(program, values))


def loops(program: Program) -> list[MultiLoop]:
    """All loops of the program, outer before inner, in order."""
    return [s.op for s in walk_stmts(program.body) if isinstance(s.op, MultiLoop)]


def ops(program: Program, kind: type[O]) -> list[O]:
    """All ops of one class, in order."""
    return [s.op for s in walk_stmts(program.body) if isinstance(s.op, kind)]


def agree(f: Callable[..., Any], *args: Any, reference: Callable[..., Any] | None = None) -> None:
    """Asserts that f interpreted gives what `reference`, by default f itself, gives in NumPy."""
    own: list[Any] = [a if _array(a) is None else a.copy() for a in args]
    with np.errstate(all="ignore"):
        expected = (reference or f)(*own)
    _assert_close(interpret(f, *args), expected)


def _assert_close(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        parts = cast(Any, expected)
        for one, other in zip(found, parts, strict=True):
            _assert_close(one, other)
        return
    actual, wanted = np.asarray(found), np.asarray(expected)
    assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(actual, wanted, rtol=1e-13, atol=1e-13)
