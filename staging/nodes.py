"""The pattern IR: every node on one page.

    program  ::=  "program" name "(" {size | param} ")" block
    block    ::=  {stmt} results            A-normal form: an operand is a variable or a constant
    stmt     ::=  binders "=" op            with the user's locations
    op       ::=  Apply | Cast | Index | Update | If | While | ForLoop | Check | Callback   here
               |  MultiLoop                 in patterns/generators.py
               |  Library                   in patterns/library.py
    results  ::=  operands | generators     generators only as the results of a MultiLoop's body

Semantics
* Arrays are values: no op writes to an operand. Sizes are i64 values that array types refer to.
* A block sees everything bound before it in the enclosing blocks. A variable is bound once.
* `Apply` and `Cast` never fault: integer overflow wraps, integer division by zero gives 0, an
  integer to a negative power is its truncated inverse (0, for 0 as well; the front end checks
  before), floats follow IEEE 754.
* `Index` with bounds CHECKED raises IndexError for an index outside 0 <= i < size (negative indices
  have been normalised before); with PROVEN the staging code vouches for it.
* `Update` gives a new array that differs from its operand in one element; its bounds are as those
  of `Index`. Whether it may reuse the operand's storage is found out late
  (transforms/analyses/storage.py).
* `If` evaluates one branch. `While` and `ForLoop` carry state; a loop that runs zero times returns
  its initial state.
* Effects (see `Effects`) are declared by the op; a block's effects are the union. Statements with
  ordered effects keep their order. A statement whose result nobody reads may be dropped unless it
  has an ordered effect; it loses its fault.

Nodes are plain data. Traversal, rebuilding, free variables, structural keys and printing are
derived from their fields (traversal.py), by the kind of the field's value: `Var`/`Const` is an
operand, `Block` a nested block, `Node` a nested node, a tuple any of these; everything else is
static data.
"""

from __future__ import annotations

import enum
from dataclasses import field
from typing import ClassVar

import numpy as np

from .dataclass import dataclass
from .effects import PythonFunction as PythonFunction
from .locations import Location
from .primitives import Primitive
from .types import INDEX, Array, Exists, Scalar, Type


class Effects(enum.Flag):
    """What a statement does beside binding its results."""

    NONE = 0
    # may raise: never moves out of a branch or of a loop that may run zero times
    FAULT = enum.auto()
    # raises unless its condition holds: kept, in order, though it binds nothing
    CHECK = enum.auto()
    # calls back into Python
    CALLBACK = enum.auto()
    PRINT = enum.auto()
    # calls a library: between kernels only
    LIBRARY = enum.auto()


ORDERED = Effects.CHECK | Effects.CALLBACK | Effects.PRINT


@dataclass(frozen=True, slots=True)
class Fact:
    """Base of the facts that a binder may carry: open for every layer, no part of type equality."""


@dataclass(frozen=True, slots=True)
class Contiguous(Fact):
    """The array argument is C-contiguous and aligned."""


class Var:
    """A name bound once: compared by identity; `name` is only a hint for printing."""

    __slots__ = ("facts", "name", "type")

    def __init__(self, type: Type, name: str = "", facts: frozenset[Fact] = frozenset()) -> None:
        self.type = type
        self.name = name
        self.facts = facts

    def __repr__(self) -> str:
        return self.name or "_"


class Const:
    """A scalar constant, compared by dtype, weakness and bits.

    So -0.0 is not 0.0, and a NaN equals itself.
    """

    __slots__ = ("_bits", "type", "value")

    def __init__(self, value: object, type: Scalar) -> None:
        self.type = type
        self.value: np.generic = type.dtype.type(value)
        self._bits = (type, self.value.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and self._bits == other._bits

    def __hash__(self) -> int:
        return hash(self._bits)

    def __repr__(self) -> str:
        return f"{self.value!s}"


Operand = Var | Const


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with declared fields that traversal may enter."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Block:
    """Parameters, statements and results; compared up to renaming by `equality.equal`."""

    params: tuple[Var, ...]
    stmts: tuple[Stmt, ...]
    results: tuple[Operand | Node, ...]

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The results of an ordinary block (not a MultiLoop body)."""
        assert all(isinstance(r, Var | Const) for r in self.results)
        return tuple(r for r in self.results if isinstance(r, Var | Const))


@dataclass(frozen=True, slots=True, eq=False)
class Stmt:
    """`binders = op`; `sources` are the user's lines it came from (several after a merge)."""

    binders: tuple[Var, ...]
    op: Op
    sources: tuple[Location, ...] = ()


@dataclass(frozen=True, slots=True)
class Op(Node):
    """Base of all operations."""

    own_effects: ClassVar[Effects] = Effects.NONE
    makes_arrays: ClassVar[bool] = False  # its array results have storage of their own

    @property
    def effects(self) -> Effects:
        """The op's own effects, without those of its blocks (`traversal.effects` adds them)."""
        return self.own_effects

    def signature(self) -> tuple[Type, ...]:
        """The types of the binders; a dimension may be `Exists(k)`: what binder k holds."""
        raise NotImplementedError(type(self).__name__)


@dataclass(frozen=True, slots=True)
class Apply(Op):
    """A scalar primitive; the operands have the types of the primitive's NumPy loop."""

    primitive: Primitive
    args: tuple[Operand, ...]

    def signature(self) -> tuple[Type, ...]:
        scalars = tuple(a.type for a in self.args if isinstance(a.type, Scalar))
        assert len(scalars) == len(self.args), "primitives take scalars"
        return (self.primitive.result(scalars),)


@dataclass(frozen=True, slots=True)
class Cast(Op):
    """A scalar converted as NumPy's astype: float to int truncates, out of range is unspecified."""

    arg: Operand
    to: Scalar

    def signature(self) -> tuple[Type, ...]:
        return (self.to,)


class Bounds(enum.Enum):
    """Who vouches that an index is inside."""

    PROVEN = "proven"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class Index(Op):
    """One element `array[indices]`, one i64 index an axis."""

    array: Operand
    indices: tuple[Operand, ...]
    bounds: Bounds = Bounds.CHECKED

    @property
    def effects(self) -> Effects:
        return Effects.FAULT if self.bounds is Bounds.CHECKED else Effects.NONE

    def signature(self) -> tuple[Type, ...]:
        assert isinstance(self.array.type, Array)
        return (self.array.type.element,)


@dataclass(frozen=True, slots=True)
class Update(Op):
    """The array with `value` as its element at `indices`, one i64 index an axis."""

    array: Operand
    indices: tuple[Operand, ...]
    value: Operand
    bounds: Bounds = Bounds.CHECKED

    @property
    def effects(self) -> Effects:
        return Effects.FAULT if self.bounds is Bounds.CHECKED else Effects.NONE

    def signature(self) -> tuple[Type, ...]:
        assert isinstance(self.array.type, Array)
        return (self.array.type,)


@dataclass(frozen=True, slots=True)
class If(Op):
    """Both blocks have no parameters and equally many results.

    Result k has the type of both branches' results. Where the branches' sizes differ, both blocks
    also return the size itself, as result j < k, and the dimension is `Exists(j)`.
    """

    cond: Operand
    then: Block
    orelse: Block

    def signature(self) -> tuple[Type, ...]:
        return packed_types(self.then.operands, self.orelse.operands)


@dataclass(frozen=True, slots=True)
class While(Op):
    """`state = init; while cond(*state): state = body(*state)`.

    A state array's size that may change is itself state, at a lower position, and the parameter
    types refer to it.
    """

    init: tuple[Operand, ...]
    cond: Block
    body: Block

    def signature(self) -> tuple[Type, ...]:
        return state_types(self.body.params)


@dataclass(frozen=True, slots=True)
class ForLoop(Op):
    """`state = init; for i in range(count): state = body(i, *state)`; runs in order."""

    count: Operand
    init: tuple[Operand, ...]
    body: Block

    def signature(self) -> tuple[Type, ...]:
        return state_types(self.body.params[1:])


class ErrorKind(enum.Enum):
    """The Python exception that a failed check raises."""

    VALUE = "ValueError"
    INDEX = "IndexError"
    ASSERTION = "AssertionError"
    OVERFLOW = "OverflowError"
    TYPE = "TypeError"
    ZERO_DIVISION = "ZeroDivisionError"
    RUNTIME = "RuntimeError"
    NOT_IMPLEMENTED = "NotImplementedError"
    ASSUMPTION = "AssumptionFailed"  # no exception of the user's: another version runs


@dataclass(frozen=True, slots=True)
class Check(Op):
    """Raises `kind` with `message`, at the user's line, unless `cond` holds. Binds nothing."""

    cond: Operand
    kind: ErrorKind
    message: str
    own_effects: ClassVar[Effects] = Effects.CHECK | Effects.FAULT

    def signature(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Callback(Op):
    """Calls a Python function with the arguments' values, on the calling thread. Binds nothing."""

    function: PythonFunction
    args: tuple[Operand, ...]
    own_effects: ClassVar[Effects] = Effects.CALLBACK

    def signature(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class SizeCheck:
    """On entry: `kept` and `dropped`, sizes of arguments, must be equal: they meet at `source`.

    `kept` and `dropped` name an argument's axis (argument position, axis) or a fixed size.
    """

    kept: tuple[int, int] | int
    dropped: tuple[int, int]
    source: Location


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Program:
    """A staged function: sizes, then parameters whose types refer to them, a body, entry checks.

    Each size is bound by the first parameter axis whose type names it. Parameters from `len(params)
    - captured` on are captured arrays, hidden from the caller.
    """

    name: str
    sizes: tuple[Var, ...]
    params: tuple[Var, ...]
    body: Block
    checks: tuple[SizeCheck, ...] = field(default=())


def state_types(params: tuple[Var, ...]) -> tuple[Type, ...]:
    """The types of loop state: a dimension that is an earlier parameter becomes its `Exists`."""
    position = {p: k for k, p in enumerate(params)}

    def dim(d: int | Var | Exists) -> int | Var | Exists:
        return Exists(position[d]) if isinstance(d, Var) and d in position else d

    return tuple(
        Array(p.type.element, tuple(map(dim, p.type.shape)))
        if isinstance(p.type, Array)
        else p.type
        for p in params
    )


def packed_types(first: tuple[Operand, ...], second: tuple[Operand, ...]) -> tuple[Type, ...]:
    """The common types of two branches' results, see `If`."""
    types: list[Type] = []
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        if not (isinstance(a.type, Array) and isinstance(b.type, Array)):
            types.append(a.type)
            continue
        shape: list[int | Var | Exists] = []
        for da, db in zip(a.type.shape, b.type.shape, strict=True):
            found = [j for j in range(k) if _holds(first[j], da) and _holds(second[j], db)]
            shape.append(da if da == db else Exists(found[0]))
        types.append(Array(a.type.element, tuple(shape)))
    return tuple(types)


def _holds(operand: Operand, dim: int | Var | Exists) -> bool:
    if isinstance(operand, Const):
        is_integer = operand.type.dtype.kind == "i"
        return isinstance(dim, int) and is_integer and operand.value.item() == dim
    return operand is dim


def size_operand(dim: int | Var | Exists) -> Operand:
    """A dimension as an operand.

    >>> size_operand(3)
    3
    """
    if isinstance(dim, Var):
        return dim
    assert isinstance(dim, int), "an existential size has no operand before it is bound"
    return Const(dim, INDEX)


def operand_dim(operand: Operand) -> int | Var:
    """A size operand as a dimension: constants become static.

    >>> operand_dim(size_operand(3))
    3
    """
    return operand if isinstance(operand, Var) else int(operand.value.item())
