"""Reducers: a block (a, b) -> c, with facts proven from the block or declared, never assumed.

A reducer of k components has 2k parameters, a1..ak then b1..bk. `a` is what stands before `b` in
index order. Associativity of float + and * is meant within the bounded tier: the order in which a
reduction combines is data, `order`, set by a target's mapping and followed by every printer and by
the interpreter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..staging import primitives as p
from ..staging.builder import Builder
from ..staging.dataclass import dataclass
from ..staging.equality import key
from ..staging.nodes import Apply, Block, Const, Index, Node, Operand, Stmt, Var
from ..staging.primitives import Primitive
from ..staging.types import BOOL, I64, INDEX, Array, Scalar, Type


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a chunked reduction: a function of the extent alone, never of threads.

    The domain's first index is cut into chunks of `max(minimum, ceil(extent / chunks))`, where
    `minimum` counts iterations of the innermost loop: `resolved` divides it by what one first
    index has of them (`work.work_per_index`). With
    `block` > 0 each chunk is cut into blocks of that many first indices; each block combines in
    index order from the identity, and the blocks' results combine, in order, from the identity
    into the chunk's. With `block` = 0 a chunk combines in index order from the identity (without
    one: from its first value). The chunks' results combine in chunk order, beginning with the
    first chunk's; without an identity, a chunk that had no value is passed over.

    With `lanes` > 0, a power of two, a block (a chunk without blocks) is dealt to that many lanes:
    its k-th first index goes to lane k mod lanes. Each lane combines in index order; then the
    second half of the lanes combines into the first, lane by lane, until one is left.
    """

    minimum: int
    chunks: int
    block: int = 0
    lanes: int = 0

    def resolved(self, work: int) -> Order:
        """The order for indices that have `work` innermost iterations each.

        >>> Order(minimum=1000, chunks=8).resolved(30).minimum
        34
        """
        return replace(self, minimum=-(-self.minimum // max(work, 1)))

    def chunk_length(self, extent: int) -> int:
        """The length of every chunk but the last.

        >>> Order(minimum=4, chunks=8).chunk_length(100)
        13
        """
        return max(self.minimum, -(-extent // self.chunks), 1)


@dataclass(frozen=True, slots=True)
class Reducer(Node):
    """How two values combine.

    `name` is for messages and printing ("sum", "argmin", "reduce"). `identity` has one constant a
    component (it fills an array component); None when there is none. `order=None` is plain index
    order.
    """

    block: Block
    name: str
    identity: tuple[Const, ...] | None = None
    associative: bool = False
    commutative: bool = False
    order: Order | None = None

    @property
    def width(self) -> int:
        """The number of components."""
        return len(self.block.params) // 2


@dataclass(frozen=True, slots=True)
class Facts:
    """What a block proves about itself."""

    associative: bool
    commutative: bool
    identity: tuple[Const, ...] | None


NO_FACTS = Facts(False, False, None)


def prove(block: Block) -> Facts:
    """The facts of a reducer block: of +, *, min, max, and, or, bit operations, elementwise over
    arrays, of tuples of independent ones, and of argmin and argmax; nothing for any other block.
    """
    for make in (argmin_block, argmax_block):
        if len(block.params) == 4 and isinstance(block.params[0].type, Scalar):
            if key(make(block.params[0].type)) == key(block):
                return Facts(associative=True, commutative=False, identity=None)
    width = len(block.params) // 2
    found = [_component(block, k, width) for k in range(width)]
    primitives = [f for f in found if f is not None]
    if len(primitives) < width:
        return NO_FACTS
    identities = [_identity(f, block.params[k].type) for k, f in enumerate(primitives)]
    known = tuple(i for i in identities if i is not None)
    return Facts(
        all(f.associative for f in primitives),
        all(f.commutative for f in primitives),
        known if len(known) == width else None,
    )


def scalar_primitive(reducer: Reducer, component: int | None = None) -> Primitive | None:
    """The primitive that combines a component, alone or elementwise; None for anything else, and
    where there are several components but none is named.
    """
    if component is None and reducer.width > 1:
        return None
    return _component(reducer.block, component or 0, reducer.width)


def neutral(reducer: Reducer) -> tuple[Const | None, ...]:
    """Each component's identity, where its primitive has one."""
    params = reducer.block.params
    found = [_component(reducer.block, k, reducer.width) for k in range(reducer.width)]
    return tuple(None if f is None else _identity(f, params[k].type) for k, f in enumerate(found))


def _component(block: Block, k: int, width: int) -> Primitive | None:
    a, b = block.params[k], block.params[width + k]
    stmt = _definition(block, block.results[k])
    if stmt is None:
        return None
    if isinstance(stmt.op, Apply):
        return _combines(stmt.op, a, b)
    inner = elementwise_body(stmt, a, b)
    if inner is None:
        return None
    last = _definition(inner, inner.results[0])
    if last is None or not isinstance(last.op, Apply):
        return None
    reads = {
        s.binders[0]: s.op.array
        for s in inner.stmts
        if isinstance(s.op, Index) and s.op.array in (a, b)
    }
    args = tuple(reads.get(x) if isinstance(x, Var) else None for x in last.op.args)
    return _combines(last.op, a, b, args)


def _combines(
    op: Apply, a: Var, b: Var, args: tuple[Operand | None, ...] | None = None
) -> Primitive | None:
    """The op's primitive if it associates and applies to a and b (in any order, if it commutes)."""
    seen = op.args if args is None else args
    straight = seen == (a, b)
    swapped = seen == (b, a) and op.primitive.commutative
    return op.primitive if (straight or swapped) and op.primitive.associative else None


def elementwise_body(stmt: Stmt, a: Var, b: Var) -> Block | None:
    """For `c = loop (i.. < shape) { collect f(a[i..], b[i..]) }` the scalar computation.

    One block, prelude and value together, the indices its parameters; None for anything else.
    """
    from .generators import Collect, MultiLoop

    if not isinstance(stmt.op, MultiLoop) or len(stmt.op.generators) != 1:
        return None
    (generator,) = stmt.op.generators
    indices = stmt.op.body.params
    if not isinstance(generator, Collect) or generator.cond is not None:
        return None
    if not isinstance(a.type, Array) or a.type.rank != len(indices):
        return None
    inner = Block(indices, (*stmt.op.body.stmts, *generator.value.stmts), generator.value.results)
    if isinstance(inner.operands[0].type, Array):
        return None
    for s in inner.stmts:
        if isinstance(s.op, Index):
            if s.op.array in (a, b) and s.op.indices != indices:
                return None
        elif not isinstance(s.op, Apply):
            return None
    return inner


def _definition(block: Block, result: Operand | Node) -> Stmt | None:
    for stmt in block.stmts:
        if result in stmt.binders:
            return stmt
    return None


def _identity(primitive: Primitive, type_: Type) -> Const | None:
    scalar = type_.element if isinstance(type_, Array) else type_
    return None if primitive.identity is None else Const(primitive.identity, scalar)


# Building the usual reducers.


def binary(primitive: Primitive, type_: Type, name: str) -> Reducer:
    """The reducer of a primitive, elementwise when `type_` is an array.

    >>> from ..staging.types import F64
    >>> r = binary(p.ADD, F64, "sum"); r.associative, r.commutative, r.identity
    (True, True, (0.0,))
    """
    return proven(pairwise_block(primitive, type_), name)


def proven(block: Block, name: str) -> Reducer:
    """A reducer with the facts that its block proves."""
    facts = prove(block)
    return Reducer(block, name, facts.identity, facts.associative, facts.commutative)


def declared(
    reducer: Reducer,
    *,
    associative: bool | None = None,
    commutative: bool | None = None,
    identity: tuple[Const, ...] | None = None,
) -> Reducer:
    """The reducer with facts that the user vouches for."""
    return replace(
        reducer,
        associative=reducer.associative if associative is None else associative,
        commutative=reducer.commutative if commutative is None else commutative,
        identity=reducer.identity if identity is None else identity,
    )


def pairwise_block(primitive: Primitive, type_: Type) -> Block:
    """(a, b) -> primitive(a, b), elementwise over arrays of one shape."""
    from .generators import Collect, MultiLoop

    builder = Builder()
    a, b = Var(type_, "a"), Var(type_, "b")
    builder.open((a, b))
    if isinstance(type_, Scalar):
        return builder.close(builder.emit(Apply(primitive, (a, b))))
    from ..staging.nodes import Bounds, size_operand

    indices = tuple(Var(INDEX, f"e{axis}") for axis in range(type_.rank))
    builder.open(indices)
    (x,) = builder.emit(Index(a, indices, Bounds.PROVEN))
    (y,) = builder.emit(Index(b, indices, Bounds.PROVEN))
    value = Block((), (), builder.emit(Apply(primitive, (x, y))))
    body = builder.close((Collect(None, value),))
    domain = tuple(size_operand(d) for d in type_.shape)
    return builder.close(builder.emit(MultiLoop(domain, body)))


def argmin_block(type_: Scalar) -> Block:
    """((value, index), (value, index)) -> the smaller; NaN first, then the earlier of equals."""
    return _arg_block(p.LESS, p.GREATER_EQUAL, type_)


def argmax_block(type_: Scalar) -> Block:
    """((value, index), (value, index)) -> the greater; NaN first, then the earlier of equals."""
    return _arg_block(p.GREATER, p.LESS_EQUAL, type_)


def _arg_block(better: Primitive, no_better: Primitive, type_: Scalar) -> Block:
    builder = Builder()
    a, i, b, j = Var(type_, "a"), Var(I64, "i"), Var(type_, "b"), Var(I64, "j")
    builder.open((a, i, b, j))

    def emit(primitive: Primitive, *args: Operand) -> Operand:
        return builder.emit(Apply(primitive, args))[0]

    if type_.dtype.kind in "fc":
        # a NaN is never replaced; a NaN in b is not "no better", so it replaces all others
        number = emit(p.LOGICAL_NOT, emit(p.ISNAN, a))
        take = emit(p.LOGICAL_AND, number, emit(p.LOGICAL_NOT, emit(no_better, b, a)))
    else:
        take = emit(better, b, a)
    assert take.type == BOOL
    return builder.close((emit(p.SELECT, take, b, a), emit(p.SELECT, take, j, i)))


def arg_start(reducer: Reducer) -> tuple[Const, Const] | None:
    """For argmin and argmax over indices from 0 up: the value that everything beats or equals, and
    index 0. Starting from it gives the result for any domain that is not empty; None otherwise."""
    if reducer.width != 2 or not isinstance(type_ := reducer.block.params[0].type, Scalar):
        return None
    if type_.dtype.kind not in "fiu" or reducer.block.params[1].type != I64:
        return None
    for make, sign in ((argmin_block, 1), (argmax_block, -1)):
        if key(make(type_)) == key(reducer.block):
            return Const(_extreme(type_.dtype, sign), type_), Const(0, I64)
    return None


def lane_start(reducer: Reducer) -> tuple[Const, ...] | None:
    """What a lane may start from without changing any value that meets it: the identity, or for
    min and max the value that no other is worse than. None unless every component combines by a
    primitive that commutes."""
    found: list[Const] = []
    for k in range(reducer.width):
        primitive, type_ = scalar_primitive(reducer, k), reducer.block.params[k].type
        if primitive is None or not primitive.commutative or not isinstance(type_, Scalar):
            return None
        if type_.dtype.kind not in "fiub":
            return None
        start: float | int | None = primitive.identity
        if primitive in (p.MINIMUM, p.MAXIMUM):
            start = _extreme(type_.dtype, 1 if primitive is p.MINIMUM else -1)
        if start is None:
            return None
        found.append(Const(start, type_))
    return tuple(found)


def _extreme(dtype: np.dtype[np.generic], sign: int) -> float | int:
    if dtype.kind == "f":
        return sign * np.inf
    if dtype.kind == "b":
        return int(sign > 0)
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    return int(limits.max if sign > 0 else limits.min)


def sum_type(type_: Scalar) -> Scalar:
    """The dtype in which NumPy sums: small integers and bools widen to 64 bits.

    >>> str(sum_type(BOOL)), str(sum_type(Scalar(np.dtype("uint8"))))
    ('i64', 'u64')
    """
    if type_.dtype.kind in "bi":
        return I64
    if type_.dtype.kind == "u":
        return Scalar(np.dtype(np.uint64))
    return type_.strong
