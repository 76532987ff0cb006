"""What a back end answers before it prints anything: what it cannot do, with the user's line."""

from __future__ import annotations

from collections.abc import Iterator

from ..patterns.generators import MultiLoop
from ..patterns.library import Library
from ..staging import primitives as p
from ..staging.dataclass import dataclass
from ..staging.errors import Limitation
from ..staging.locations import Location
from ..staging.nodes import Apply, Block, Callback, Program, Stmt, Var
from ..staging.syntax import snake
from ..staging.traversal import blocks, result_blocks
from ..staging.types import Array, Scalar, Type

COMPLEX = (
    p.ADD,
    p.SUBTRACT,
    p.MULTIPLY,
    p.DIVIDE,
    p.SQUARE,
    p.NEGATIVE,
    p.POSITIVE,
    p.ABSOLUTE,
    p.EQUAL,
    p.NOT_EQUAL,
    p.LOGICAL_AND,
    p.LOGICAL_OR,
    p.LOGICAL_XOR,
    p.LOGICAL_NOT,
    p.ISNAN,
    p.ISINF,
    p.ISFINITE,
    p.SELECT,
)
"""What kernels can do with complex numbers."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """One thing that a target cannot do."""

    what: str
    why: str
    sources: tuple[Location, ...]
    instead: str = ""


def refuse(found: Iterator[Unsupported], target: str) -> None:
    """Raises Limitation for the first thing that the target cannot do."""
    for item in found:
        raise Limitation(
            f"{item.what} is not supported by the target {target}",
            where=item.sources,
            why=item.why,
            instead=item.instead,
        )


def in_parallel(
    block: Block, inside: bool = False, around: tuple[Location, ...] = ()
) -> Iterator[tuple[Stmt, bool, tuple[Location, ...]]]:
    """Every statement, whether it stands inside a parallel loop, and the user's lines.

    A statement that has none, as those of a reducer, has the lines of the one around it.
    """
    for stmt in block.stmts:
        places = stmt.sources or around
        yield stmt, inside, places
        within = inside or isinstance(stmt.op, MultiLoop)
        for inner in blocks(stmt.op):
            yield from in_parallel(inner, within, places)
    for inner in result_blocks(block):
        yield from in_parallel(inner, inside, around)


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
    for stmt, inside, places in in_parallel(program.body):
        for binder in stmt.binders:
            yield from variable_problems(binder, places)
        if inside and isinstance(stmt.op, Apply):
            yield from complex_problems(stmt.op, places)
        if inside and isinstance(stmt.op, Library):
            yield Unsupported(
                f"{snake(type(stmt.op.routine).__name__)}, a library's function, inside a "
                "parallel loop",
                "libraries work on whole arrays, between loops",
                places,
                stmt.op.routine.instead,
            )
        if inside and isinstance(stmt.op, Callback):
            yield Unsupported(
                "a call back into Python inside a parallel loop",
                "the iterations run on several threads, without the interpreter",
                places,
                "collect the values in an array, and call the function after the loop",
            )


def complex_problems(op: Apply, sources: tuple[Location, ...]) -> Iterator[Unsupported]:
    """Functions that kernels know for real numbers only."""
    types = [a.type for a in op.args if isinstance(a.type, Scalar)]
    if op.primitive not in COMPLEX and any(t.dtype.kind == "c" for t in types):
        yield Unsupported(
            f"{op.primitive.name} of complex numbers inside a parallel loop",
            f"kernels have these for them: {', '.join(known.name for known in COMPLEX)}",
            sources,
        )


def variable_problems(var: Var, sources: tuple[Location, ...]) -> Iterator[Unsupported]:
    """What is wrong with a variable's type."""
    why = dtype_problem(var.type)
    if why:
        what = f"the dtype of {var.name or 'a value'} ({var.type})"
        yield Unsupported(what, why, sources, "convert it: x.astype(np.float32), say")
