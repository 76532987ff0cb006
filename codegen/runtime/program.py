"""Running a compiled program: its sequential part by the interpreter, its loops by kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...patterns.machine import Machine, bind_arguments
from ...staging.nodes import Op, Program, Stmt
from .launch import Launcher


class HostMachine(Machine):
    """The reference interpreter's machine, on which compiled loops are launches."""

    def __init__(self, launchers: Mapping[Op, Launcher]) -> None:
        super().__init__()
        self.launchers = launchers

    def execute(self, stmts: Sequence[Stmt]) -> None:
        """The statements, in order; a loop that has a kernel runs it."""
        for stmt in stmts:
            launcher = self.launchers.get(stmt.op)
            if launcher is None:
                super().execute((stmt,))
            else:
                values = [self.values[operand] for operand in launcher.operands]
                self.bind(stmt.binders, launcher(*values), stmt.sources)


def run_program(
    program: Program, launchers: Mapping[Op, Launcher], arguments: Sequence[Any]
) -> list[Any]:
    """The program's results: new arrays, and NumPy scalars."""
    machine = HostMachine(launchers)
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
    return array.copy() if any(np.may_share_memory(array, other) for other in arrays) else array
