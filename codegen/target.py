"""What a back end answers before it prints anything: what it cannot do, with the user's line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..patterns.generators import MultiLoop
from ..staging.errors import Limitation
from ..staging.locations import Location
from ..staging.nodes import Block, Callback, Program, Stmt, Var
from ..staging.traversal import blocks, result_blocks
from ..staging.types import Array, Type


@dataclass(frozen=True, slots=True)
class Unsupported:
    """One thing that a target cannot do."""

    what: str
    why: str
    sources: tuple[Location, ...]


def refuse(found: Iterator[Unsupported], target: str) -> None:
    """Raises Limitation for the first thing that the target cannot do."""
    for item in found:
        raise Limitation(
            f"{item.what} is not supported by the target {target}",
            where=item.sources,
            why=item.why,
        )


def in_parallel(block: Block, inside: bool = False) -> Iterator[tuple[Stmt, bool]]:
    """Every statement, and whether it stands inside a parallel loop."""
    for stmt in block.stmts:
        yield stmt, inside
        within = inside or isinstance(stmt.op, MultiLoop)
        for inner in blocks(stmt.op):
            yield from in_parallel(inner, within)
    for inner in result_blocks(block):
        yield from in_parallel(inner, inside)


def dtype_problem(type_: Type) -> str:
    """Why the CPU cannot hold the type; "" if it can."""
    dtype = (type_.element if isinstance(type_, Array) else type_).dtype
    if dtype.kind in "biu" or (
        dtype.kind in "fc" and dtype.itemsize // (1 + (dtype.kind == "c")) in (4, 8)
    ):
        return ""
    return f"kernels know bool, integers, float32, float64 and complex, not {dtype}"


def cpu_problems(program: Program) -> Iterator[Unsupported]:
    """What compiled CPU kernels cannot do."""
    for param in program.params:
        yield from variable_problems(param, ())
    for stmt, inside in in_parallel(program.body):
        for binder in stmt.binders:
            yield from variable_problems(binder, stmt.sources)
        if inside and isinstance(stmt.op, Callback):
            yield Unsupported(
                "a call back into Python inside a parallel loop",
                "the iterations run on several threads, without the interpreter",
                stmt.sources,
            )


def variable_problems(var: Var, sources: tuple[Location, ...]) -> Iterator[Unsupported]:
    """What is wrong with a variable's type."""
    why = dtype_problem(var.type)
    if why:
        yield Unsupported(f"the dtype of {var.name or 'a value'} ({var.type})", why, sources)
