"""Running a compiled program: its sequential part by the interpreter, its loops by kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from ...patterns.machine import Machine, bind_arguments
from ...staging.nodes import Op, Operand, Program, Stmt
from ...transforms.kernel_ir import Kernel
from .launch import Code, launch


class HostMachine(Machine):
    """The reference interpreter's machine, on which compiled loops are launches."""

    def __init__(self, kernels: Mapping[Op, Kernel], code: Code) -> None:
        super().__init__()
        self.kernels = kernels
        self.code = code

    def execute(self, stmts: Sequence[Stmt]) -> None:
        """The statements, in order; a loop that has a kernel runs it."""
        for stmt in stmts:
            kernel = self.kernels.get(stmt.op)
            if kernel is None:
                super().execute((stmt,))
            else:
                self.bind(stmt.binders, launch(kernel, self.code, self.host), stmt.sources)

    def host(self, operand: Operand) -> Any:
        """The value of a host operand."""
        return self.value(operand)


def run_program(
    program: Program, kernels: Mapping[Op, Kernel], code: Code, arguments: Sequence[Any]
) -> list[Any]:
    """The program's results: new arrays, and NumPy scalars."""
    machine = HostMachine(kernels, code)
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
