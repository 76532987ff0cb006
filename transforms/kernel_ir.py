"""Kernel IR: small typed imperative programs over buffers, the last form before text.

    function  ::=  name "(" {Local | Buffer} ")" {statement}
    statement ::=  Let | Assign | Store | Fill | Merge | For | If | While | Fault | Note
    expr      ::=  Local | Literal | Prim | Convert | Load | Fma | Bits

Semantics
* Expressions are pure. `Prim` and `Convert` mean what `Apply` and `Cast` mean in the pattern IR.
* A `Local` is set by one `Let` on every path before it is read; `Assign` changes it.
* `For` counts index = start, start + 1, ... while index < stop; the kind says who runs it.
* `Fault` records (site, iteration, details) and returns from the function.
* Buffers do not overlap, and indices are inside: checks are ordinary statements.

A parallel loop becomes a `Kernel` of five functions. With `state` the buffers that hold partial
results, a target calls

    init(state)                         the identities
    chunk(start, stop, ..., state)      a run of the loop's first index
    combine(state, other)               `other` belongs to the later indices
    finish(state, ...)                  from the partial results to the outputs
    adjust(start, stop, ..., state)     a chunk's results, by what stands before the chunk; only
                                        where there are several chunks

Which chunks there are, and in which order they combine, is the loop's `Order`: not on this page.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ..patterns.reducers import Order
from ..staging.dataclass import dataclass
from ..staging.locations import Location
from ..staging.nodes import ErrorKind, Operand, Var
from ..staging.primitives import Primitive


class Space(enum.Enum):
    """Where a buffer lives, and so who allocates it.

    `REGISTERS` is scratch of a few elements that only loops over lanes touch, each of them at its
    own lane: a printer may keep it in vector registers.
    """

    INPUT = "input"
    OUTPUT = "output"
    STATE = "state"
    PRIVATE = "private"
    REGISTERS = "registers"
    FAULT = "fault"


Extent = Operand | int | tuple[Operand, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """A scalar variable of a function."""

    name: str
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """An array; `shape` has host operands (sizes of the program), fixed extents, or products.

    `contiguous` says that it is C-contiguous; otherwise any strides.
    """

    name: str
    dtype: np.dtype[np.generic]
    shape: tuple[Extent, ...]
    space: Space
    contiguous: bool = True

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of its NumPy type."""

    value: np.generic

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.value.dtype


@dataclass(frozen=True, slots=True)
class Prim:
    """A scalar primitive."""

    primitive: Primitive
    args: tuple[Expr, ...]
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class Convert:
    """A value in another dtype."""

    arg: Expr
    dtype: np.dtype[np.generic]


@dataclass(frozen=True, slots=True)
class Load:
    """One element of a buffer."""

    buffer: Buffer
    indices: tuple[Expr, ...]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.buffer.dtype


@dataclass(frozen=True, slots=True)
class Fma:
    """a * b + c, rounded once: only where a float sum adds a product to its accumulator."""

    a: Expr
    b: Expr
    c: Expr

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.c.dtype


@dataclass(frozen=True, slots=True)
class Bits:
    """The bits of a float64, as an unsigned integer."""

    arg: Expr

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(np.uint64)


Expr = Local | Literal | Prim | Convert | Load | Fma | Bits


@dataclass(frozen=True, slots=True)
class Let:
    """The first value of a local."""

    local: Local
    value: Expr


@dataclass(frozen=True, slots=True)
class Assign:
    """A new value of a local."""

    local: Local
    value: Expr


@dataclass(frozen=True, slots=True)
class Store:
    """Writes one element."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Fill:
    """Sets every element of a buffer."""

    buffer: Buffer
    value: Literal


@dataclass(frozen=True, slots=True)
class Merge:
    """`buffer = primitive(buffer, other)`, element by element; without a primitive, `other`
    converted to the buffer's dtype."""

    buffer: Buffer
    other: Buffer
    primitive: Primitive | None = None


class LoopKind(enum.Enum):
    """Who runs a loop's iterations."""

    SERIAL = "serial"
    CHUNK = "chunk"  # the part of a parallel loop that one call of a kernel runs
    LANES = "lanes"  # independent iterations over a strip: meant for vector lanes


@dataclass(frozen=True, slots=True)
class For:
    """A counted loop, with a step for strips."""

    index: Local
    start: Expr
    stop: Expr
    body: Sequence[Statement]
    kind: LoopKind = LoopKind.SERIAL
    step: int = 1


@dataclass(frozen=True, slots=True)
class If:
    """A branch."""

    cond: Expr
    then: Sequence[Statement]
    orelse: Sequence[Statement] = ()


@dataclass(frozen=True, slots=True)
class While:
    """`while True: test; if not cond: break; body`."""

    test: Sequence[Statement]
    cond: Expr
    body: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Fault:
    """Records the site, the iteration and the details, and returns.

    details : int64 values for the message: the index and the size that it does not fit, or what
        the message has places for
    """

    site: int
    iteration: Expr
    details: tuple[Expr, ...] = ()

    @property
    def record(self) -> tuple[Expr | int, ...]:
        """What the slots of the fault buffer get, at most `RECORD`; 0 is no fault."""
        return (self.site + 1, self.iteration, *self.details)


RECORD = 8


@dataclass(frozen=True, slots=True)
class Note:
    """The user's line that the statements after it come from."""

    source: Location


Statement = Let | Assign | Store | Fill | Merge | For | If | While | Fault | Note


@dataclass(frozen=True, slots=True)
class Function:
    """A function without result; its buffers are written in place."""

    name: str
    params: tuple[Local | Buffer, ...]
    body: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Site:
    """What a fault number means.

    axis : the axis that an index is outside of; the fault's details then complete the message
    filled : whether the details go into the places {0}, {1}, ... of the message
    """

    kind: ErrorKind
    message: str
    sources: tuple[Location, ...]
    axis: int | None = None
    filled: bool = False


class Finish(enum.Enum):
    """How a result comes out of the kernel."""

    DENSE = "dense"  # the chunks write the output itself
    STATE = "state"  # the combined state is the output
    CONVERTED = "converted"  # `finish` converts the state into the output
    COMPACTED = "compacted"  # each chunk fills the output's part from its start; the gaps go
    COUNTED = "counted"  # `finish` fills the outputs' beginnings; other results are their lengths


@dataclass(frozen=True, slots=True)
class Output:
    """One generator's result: the binders it sets and the buffers it uses.

    state : buffers with a copy for each chunk; `seen` among them when the reducer has no identity
    results : what the binders get, in order; for `STATE` they are among `state`; before them stand
        buffers that all chunks of a launch share, each chunk its own part
    start : the host's array that the one result begins as, a copy of it unless `taken`
    others : for `combine`, the parameter that stands for another chunk's copy of a state buffer
    """

    finish: Finish
    binders: tuple[Var, ...]
    results: tuple[Buffer, ...]
    state: tuple[Buffer, ...] = ()
    others: tuple[tuple[Buffer, Buffer], ...] = ()
    start: Var | None = None
    taken: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """A parallel loop as five functions and what a target needs to run them.

    extents : the domain's extents as host operands
    work : what the order is resolved by, see `work.work_per_index`
    inputs : the host variables that the functions read, with their parameter
    private : scratch buffers, one copy for each worker
    """

    name: str
    extents: tuple[Operand, ...]
    work: tuple[tuple[Operand, ...], ...]
    order: Order
    inputs: tuple[tuple[Var, Local | Buffer], ...]
    outputs: tuple[Output, ...]
    private: tuple[Buffer, ...]
    fault: Buffer
    sites: tuple[Site, ...]
    init: Function
    chunk: Function
    combine: Function
    finish: Function
    adjust: Function
    sources: tuple[Location, ...] = field(default=())

    @property
    def functions(self) -> tuple[Function, ...]:
        """The five functions, without those that have nothing to do."""
        found = (self.init, self.chunk, self.combine, self.finish, self.adjust)
        return tuple(f for f in found if f.body)

    @property
    def state(self) -> tuple[Buffer, ...]:
        """All partial results."""
        return tuple(b for output in self.outputs for b in output.state)
