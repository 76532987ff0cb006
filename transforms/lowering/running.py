"""A generator of a loop inside a parallel loop's body, while that loop runs."""

from __future__ import annotations

from collections.abc import Callable

from ...patterns.semantics import EMPTY_REDUCTION
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import ErrorKind, Operand, Stmt, Var
from ..kernel_ir import Expr
from .block import BlockLowering
from .scope import integer, prim


@dataclass(slots=True)
class Running:
    """One generator while its loop runs: what each iteration does, what stands after the loop,
    and, for a float sum in blocks, what stands around each block."""

    step: Callable[[tuple[Expr, ...]], None]
    after: Callable[[], None]
    block: int = 0
    open_block: Callable[[], None] = lambda: None
    close_block: Callable[[], None] = lambda: None


def check_not_empty(b: BlockLowering, stmt: Stmt, domain: tuple[Operand, ...], name: str) -> None:
    """Faults for a reduction without identity over an empty domain."""
    for extent in domain:
        if isinstance(extent, Var) or int(extent.value.item()) <= 0:
            empty = prim(p.LESS_EQUAL, b.expr(extent), integer(0))
            b.fault_if(empty, stmt, *empty_error(name))


def empty_error(name: str) -> tuple[ErrorKind, str]:
    """NumPy's error for a reduction of nothing."""
    return ErrorKind.VALUE, EMPTY_REDUCTION.format(name=name)
