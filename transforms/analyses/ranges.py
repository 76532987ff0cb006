"""An operand is provably inside [0, size): what a proof of bounds, or of a key's range, rests on.

Proofs follow definitions: loop indices are below their extents, argmin's index is one of the
indices that went in, an element of a computed array is what its loop collected, `min`, `select` and
casts that keep every value pass a range on. Index arithmetic is taken not to overflow: sizes are
lengths of arrays in memory.
"""

from __future__ import annotations

import numpy as np

from ...patterns.generators import Collect, Generator, MultiLoop, Reduce
from ...patterns.reducers import Reducer
from ...staging import primitives as p
from ...staging.dataclass import dataclass
from ...staging.nodes import Apply, Cast, Const, If, Index, Operand, Var, size_operand
from ...staging.traversal import walk_stmts
from ...staging.types import Array, Scalar
from .definitions import Definitions, Source

_DEPTH = 12  # definitions followed before a proof gives up


@dataclass(frozen=True, slots=True)
class Ranges:
    """Proofs about the variables of one program."""

    definitions: Definitions

    def inside(self, operand: Operand, size: Operand) -> bool:
        """Whether 0 <= operand < size wherever the operand is bound."""
        return self.nonnegative(operand) and self.below(operand, size)

    def index_inside(self, op: Index) -> bool:
        """Whether every index of a read is inside the array."""
        assert isinstance(op.array.type, Array)
        sizes = (size_operand(d) for d in op.array.type.shape)
        return all(self.inside(i, s) for i, s in zip(op.indices, sizes, strict=True))

    def nonnegative(self, operand: Operand) -> bool:
        """Whether 0 <= operand."""
        return self._holds(operand, None, 0)

    def below(self, operand: Operand, size: Operand) -> bool:
        """Whether operand < size."""
        return self._holds(operand, size, 0)

    def at_most(self, a: Operand, b: Operand, depth: int = 0) -> bool:
        """Whether size a <= size b."""
        if isinstance(a, Const) and isinstance(b, Const):
            return _int(a) <= _int(b)
        if self.definitions.same_size(a, b):
            return True
        stmt = self.definitions.stmt(a)
        if stmt is None or depth >= _DEPTH:
            return False
        if isinstance(stmt.op, MultiLoop) and self._is_length(a):
            # a filter keeps at most as many as there are
            return len(stmt.op.domain) == 1 and self.at_most(stmt.op.domain[0], b, depth + 1)
        if not isinstance(stmt.op, Apply):
            return False
        match stmt.op.primitive:
            case p.SUBTRACT:
                lower = self.nonnegative(stmt.op.args[1])
                return lower and self.at_most(stmt.op.args[0], b, depth + 1)
            case p.MINIMUM:
                return any(self.at_most(x, b, depth + 1) for x in stmt.op.args)
            case p.MAXIMUM:
                return all(self.at_most(x, b, depth + 1) for x in stmt.op.args)
            case _:
                return False

    # One proof follows definitions: of 0 <= operand when `size` is None, else of operand < size.

    def _holds(self, operand: Operand, size: Operand | None, depth: int) -> bool:
        if self._by_itself(operand, size):
            return True
        stmt = self.definitions.stmt(operand)
        if stmt is None or depth >= _DEPTH:
            return False
        depth += 1
        match stmt.op:
            case Apply() as op:
                return self._of_primitive(op, size, depth)
            case Cast() as op:
                return keeps_values(op) and self._holds(op.arg, size, depth)
            case If() as op:
                k = stmt.binders.index(operand)
                branches = (op.then.operands[k], op.orelse.operands[k])
                return all(self._holds(branch, size, depth) for branch in branches)
            case Index() as op:
                source = self.definitions.source(op.array)
                return source is not None and self._of_elements(source.generator, size, depth)
            case MultiLoop():
                source = self.definitions.source(operand)
                return source is not None and self._of_reduction(source, size, depth)
            case _:
                return False

    def _by_itself(self, operand: Operand, size: Operand | None) -> bool:
        """What constants, dtypes, loop indices and sizes say without their definitions."""
        assert isinstance(operand.type, Scalar)
        if size is not None:
            if isinstance(size, Const) and _greatest(operand) < _int(size):
                return True
            extent = self.definitions.extents.get(operand) if isinstance(operand, Var) else None
            return extent is not None and self.at_most(extent, size)
        if isinstance(operand, Const):
            return operand.type.dtype.kind in "biu" and _int(operand) >= 0
        return operand.type.dtype.kind in "bu" or self._is_length(operand)

    def _is_length(self, operand: Operand) -> bool:
        """Whether the operand is a size of the program, a loop index or a filter's length."""
        d = self.definitions
        if isinstance(operand, Var) and (operand in d.extents or operand in d.sizes):
            return True
        source = d.source(operand)
        return (
            source is not None
            and isinstance(source.generator, Collect)
            and isinstance(operand.type, Scalar)
        )

    def _of_primitive(self, op: Apply, size: Operand | None, depth: int) -> bool:
        upper = size is not None
        if size is not None and self._shifted(op, size):
            return True
        proofs = (self._holds(x, size, depth) for x in op.args)
        match op.primitive:
            case p.SELECT:
                return all(self._holds(x, size, depth) for x in op.args[1:])
            case p.MINIMUM:
                return any(proofs) if upper else all(proofs)
            case p.MAXIMUM:
                return all(proofs) if upper else any(proofs)
            case p.ADD if not upper:
                # Sums of lengths do not overflow; sums of data may.
                return all(self._is_length(x) or isinstance(x, Const) for x in op.args) and all(
                    proofs
                )
            case p.FLOOR_DIVIDE if not upper:
                return all(proofs)
            case p.FLOOR_DIVIDE:
                shrinks = _positive(op.args[1]) and self.nonnegative(op.args[0])
                return shrinks and self._holds(op.args[0], size, depth)
            case p.REMAINDER if _positive(op.args[1]):
                # Of the divisor's sign, and smaller; only a constant divisor is surely not zero.
                return size is None or self.at_most(op.args[1], size)
            case _:
                return False

    def _shifted(self, op: Apply, size: Operand) -> bool:
        """i + c < size where i < size - c; size - c < size where c > 0."""
        if op.primitive is p.SUBTRACT:
            return _positive(op.args[1]) and self.definitions.same_size(op.args[0], size)
        if op.primitive is not p.ADD:
            return False
        for index, offset in (op.args, op.args[::-1]):
            extent = self.definitions.extents.get(index) if isinstance(index, Var) else None
            if extent is None:
                continue
            if isinstance(extent, Const) and isinstance(size, Const) and isinstance(offset, Const):
                return _int(extent) + _int(offset) <= _int(size)
            stmt = self.definitions.stmt(extent)
            if stmt is not None and isinstance(stmt.op, Apply):
                if stmt.op.primitive is p.SUBTRACT and stmt.op.args == (size, offset):
                    return True
        return False

    def _of_elements(self, generator: Generator, size: Operand | None, depth: int) -> bool:
        if not isinstance(generator, Collect):
            return False
        (value,) = generator.value.operands
        if isinstance(value.type, Array):
            inner = self.definitions.source(value)
            return inner is not None and self._of_elements(inner.generator, size, depth)
        return self._holds(value, size, depth)

    def _of_reduction(self, source: Source, size: Operand | None, depth: int) -> bool:
        g, k = source.generator, source.component
        if not isinstance(g, Reduce) or not chooses(g.reducer, k):
            return False
        identity = g.reducer.identity
        if identity is not None and not self._holds(identity[k], size, depth):
            return False
        return self._holds(g.value.operands[k], size, depth)


def chooses(reducer: Reducer, component: int) -> bool:
    """Whether the component's result always is one of the two that went in (argmin's index)."""
    params = reducer.block.params
    allowed = {params[component], params[reducer.width + component]}
    result = reducer.block.results[component]
    for stmt in walk_stmts(reducer.block):
        if result in stmt.binders and isinstance(stmt.op, Apply):
            args = stmt.op.args[1:] if stmt.op.primitive is p.SELECT else stmt.op.args
            picks = stmt.op.primitive in (p.SELECT, p.MINIMUM, p.MAXIMUM)
            return picks and set(args) <= allowed
    return result in allowed


def keeps_values(op: Cast) -> bool:
    """Whether a cast between integers (or from bool) can change no value.

    >>> from ...staging.types import BOOL, I64, INDEX
    >>> keeps_values(Cast(Var(I64), INDEX)), keeps_values(Cast(Var(BOOL), I64))
    (True, True)
    """
    assert isinstance(op.arg.type, Scalar)
    source, target = op.arg.type.dtype, op.to.dtype
    return target.kind in "iu" and source.kind in "biu" and np.can_cast(source, target, "safe")


def _greatest(operand: Operand) -> float:
    """The greatest value that the operand can have by itself: a constant's, or its dtype's."""
    assert isinstance(operand.type, Scalar)
    dtype = operand.type.dtype
    if isinstance(operand, Const) and dtype.kind in "biu":
        return _int(operand)
    if dtype.kind == "b":
        return 1
    return float(np.iinfo(dtype.name).max) if dtype.kind in "iu" else float("inf")


def _int(constant: Const) -> int:
    return int(constant.value.item())


def _positive(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.type.dtype.kind in "iu" and _int(operand) > 0
