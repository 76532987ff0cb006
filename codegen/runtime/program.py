"""Running a compiled program: its sequential part by the interpreter, its loops by kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...patterns.machine import Machine, Values, bind_arguments
from ...patterns.semantics import check_inside
from ...staging.nodes import ForLoop, Op, Program, Stmt, Update, While
from ...transforms.storage import NOTHING, Reuse
from .launch import Launcher
from .memory import copied


class HostMachine(Machine):
    """The reference interpreter's machine, on which compiled loops are launches."""

    def __init__(self, launchers: Mapping[Op, Launcher], reuse: Reuse) -> None:
        super().__init__()
        self.launchers = launchers
        self.reuse = reuse

    def execute(self, stmts: Sequence[Stmt]) -> None:
        """The statements, in order; a loop that has a kernel runs it."""
        for stmt in stmts:
            launcher = self.launchers.get(stmt.op)
            if launcher is not None:
                values = [self.values[operand] for operand in launcher.operands]
                self.bind(stmt.binders, launcher(*values), stmt.sources)
            elif stmt in self.reuse.updates:
                self.update(stmt)
            else:
                super().execute((stmt,))

    def update(self, stmt: Stmt) -> None:
        """A store into the old array, which nothing reads any more."""
        op = stmt.op
        assert isinstance(op, Update)
        array = cast("np.ndarray", self.value(op.array))
        index = tuple(map(self.integer, op.indices))
        check_inside(index, array.shape, op.bounds, stmt.sources)
        array[index] = self.value(op.value)
        self.bind(stmt.binders, (array,), stmt.sources)

    def first_state(self, op: ForLoop | While) -> Values:
        """Copies where the loop writes to an array that is not its own."""
        values = super().first_state(op)
        copied = (
            cast(Any, v).copy() if (op, k) in self.reuse.copied else v for k, v in enumerate(values)
        )
        return tuple(copied) if self.reuse.copied else values


def run_program(
    program: Program,
    launchers: Mapping[Op, Launcher],
    arguments: Sequence[Any],
    reuse: Reuse = NOTHING,
) -> list[Any]:
    """The program's results: new arrays, and NumPy scalars.

    reuse : what may happen in place, as the kernels were lowered with
    """
    machine = HostMachine(launchers, reuse)
    machine.values.update(bind_arguments(program, arguments))
    results: list[Any] = []
    for result in machine.run(program.body):
        results.append(owned(result, [*arguments, *results]))
    return results


def owned(result: Any, others: Sequence[Any]) -> Any:
    """The result, copied where it shares memory with an argument or with another result."""
    if not isinstance(result, np.ndarray):
        return result
    array = cast("np.ndarray", result)
    arrays: list[np.ndarray] = [other for other in others if isinstance(other, np.ndarray)]
    shared = any(np.may_share_memory(array, other) for other in arrays)
    return copied(array, "a result") if shared else array
