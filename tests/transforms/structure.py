"""What tests of passes look at: which loops and arrays a program has, and what it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from parloom.patterns.generators import Collect, Fold, Generator, MultiLoop, Reduce, Scan
from parloom.patterns.reference import interpret
from parloom.staging.checker import check
from parloom.staging.decisions import recording
from parloom.staging.errors import UserError
from parloom.staging.nodes import Block, Program, Stmt, Var
from parloom.staging.parser import parse
from parloom.staging.passes import Pass, Step, run
from parloom.staging.traversal import walk_stmts
from parloom.staging.types import Array
from parloom.transforms.pipelines import FUSED

Transform = Callable[[Program], Program]


def program(text: str) -> Program:
    """A well-formed program from its text."""
    parsed = parse(text)
    check(parsed, "the test's program")
    return parsed


def loops(block: Block) -> list[Stmt]:
    """The loops that stand directly in the block."""
    return [s for s in block.stmts if isinstance(s.op, MultiLoop)]


def loop_of(stmt: Stmt) -> MultiLoop:
    """The statement's loop."""
    assert isinstance(stmt.op, MultiLoop)
    return stmt.op


def loops_over(block: Block, size: object) -> list[Stmt]:
    """The loops, at any depth, whose first extent is `size`."""
    found = [s for s in walk_stmts(block) if isinstance(s.op, MultiLoop)]
    return [s for s in found if loop_of(s).domain[0] is size]


def arrays_over(block: Block, size: object) -> list[Var]:
    """The arrays that statements make, at any depth, with `size` among their dimensions."""
    binders = [b for s in walk_stmts(block) for b in s.binders]
    return [b for b in binders if isinstance(b.type, Array) and size in b.type.shape]


def shape_of(stmt: Stmt) -> list[type[Generator]]:
    """The generators' classes in order."""
    return [type(g) for g in loop_of(stmt).generators]


def count(block: Block, kind: type[Generator]) -> int:
    """How many generators of the class there are, at any depth."""
    found = [s for s in walk_stmts(block) if isinstance(s.op, MultiLoop)]
    return sum(isinstance(g, kind) for s in found for g in loop_of(s).generators)


def fused(staged: Program, arguments: Sequence[Any] | None = None) -> Program:
    """The program at the milestone "fused"; with arguments, every step on the way agrees."""
    if arguments is None:
        return run(staged, FUSED).program
    before = outcome(staged, arguments)

    def agrees(step: Step) -> None:
        assert_same(before, outcome(step.after, arguments), step.name)

    return run(staged, FUSED, observers=[agrees]).program


def apply(transform: Transform, before: Program, *arguments: Any) -> Program:
    """The program after one pass, well formed; with arguments, both compute the same."""
    after = run(before, (Pass("it", transform, ""),)).program
    if arguments:
        assert_same(outcome(before, arguments), outcome(after, arguments), "the pass")
    return after


def declined(transform: Transform, before: Program) -> list[str]:
    """The reasons for which rules did not apply."""
    with recording() as recorder:
        transform(before)
    return [d.reason for d in recorder.decisions if d.declined]


def outcome(staged: Program, arguments: Sequence[Any]) -> list[Any] | type[UserError]:
    """The results, or the class of the error."""
    try:
        return interpret(staged, arguments)
    except UserError as error:
        return type(error)


def assert_same(
    before: list[Any] | type[UserError], after: list[Any] | type[UserError], where: str
) -> None:
    """The same bits (all NaNs are one); an error may get lost (and another show), none appear."""
    if isinstance(before, type):
        return
    assert not isinstance(after, type), f"{where} raises {after}"
    for a, b in zip(before, after, strict=True):
        assert a.dtype == b.dtype, where
        np.testing.assert_array_equal(a, b, err_msg=where, strict=True)
        assert np.array_equal(np.signbit(a), np.signbit(b)) or a.dtype.kind != "f", where


__all__ = [
    "Collect",
    "Fold",
    "Reduce",
    "Scan",
    "apply",
    "arrays_over",
    "assert_same",
    "count",
    "declined",
    "fused",
    "loop_of",
    "loops",
    "loops_over",
    "outcome",
    "program",
    "shape_of",
]
