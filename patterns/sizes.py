"""Sizes and indices while staging: what is known about a staged integer, and arithmetic that lands
outside loops.

A size is an operand of type INDEX, a constant where it is static. The trace knows which integers
are not negative (sizes of arrays) and which are below a size (loop indices); about what the user
computes from them nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..staging import primitives as p
from ..staging.context import trace
from ..staging.errors import ShapeError, StagingTypeError
from ..staging.nodes import Apply, Cast, Check, Const, ErrorKind, Operand, Var, size_operand
from ..staging.primitives import Primitive
from ..staging.reps import lift, register_index
from ..staging.scalars import ScalarRep
from ..staging.types import INDEX

Size = Operand


def static(size: Size) -> int | None:
    """The size as a Python integer where it is known while staging."""
    return int(size.value.item()) if isinstance(size, Const) else None


def check_not_empty(size: Size, message: str) -> None:
    """Has the program raise ValueError where the size is 0."""
    check_size(p.NOT_EQUAL, size, 0, message)


def check_size(comparison: Primitive, size: Size, number: int, message: str) -> None:
    """Has the program raise ValueError unless the size compares so with the number."""
    fine = arithmetic(comparison, size, size_operand(number))
    if not static(fine):
        trace().emit(Check(fine, ErrorKind.VALUE, message))


def is_one(size: Size) -> bool:
    """Whether the size is statically 1, so that the axis broadcasts."""
    return static(size) == 1


def know(operand: Operand, *below: Size) -> None:
    """Notes that the integer is not negative, and below the sizes given."""
    if isinstance(operand, Var):
        trace().naturals.setdefault(operand, set()).update(below)


def index(operand: Operand, extent: Size) -> ScalarRep:
    """An integer with `0 <= i < extent`: a loop's index."""
    know(operand, extent)
    return ScalarRep(operand)


def dim(size: Size) -> int | ScalarRep:
    """What the user sees of a size: a Python integer if it is static."""
    known = static(size)
    if known is not None:
        return known
    know(size)
    return ScalarRep(size)


def same(a: Size, b: Size) -> bool:
    """Whether two sizes are known to be equal."""
    t = trace()
    return t.canonical(a) == t.canonical(b)


def not_negative(value: ScalarRep) -> bool:
    """Whether the integer is known not to be negative."""
    known = static(value.operand)
    if known is not None:
        return known >= 0
    t = trace()
    return value.dtype.kind == "u" or value.operand in t.naturals or value.operand in t.sizes


def in_range(value: ScalarRep, size: Size) -> bool:
    """Whether `0 <= value < size` is known while staging."""
    if isinstance(value.operand, Const):
        return _below(value.operand, size, inclusive=False) and not_negative(value)
    bounds = trace().naturals.get(value.operand, set())
    return any(same(bound, size) or _below(bound, size, inclusive=True) for bound in bounds)


def _below(a: Size, b: Size, *, inclusive: bool) -> bool:
    low, high = static(trace().canonical(a)), static(trace().canonical(b))
    return low is not None and high is not None and low < high + inclusive


# Arithmetic on sizes and on indices of views: as far out as the operands are known.


def arithmetic(primitive: Primitive, *args: Size) -> Size:
    """The primitive on size operands."""
    return trace().emit_size(Apply(primitive, args))


def add(a: Size, b: Size | int) -> Size:
    """a + b"""
    return arithmetic(p.ADD, a, as_operand(b))


def subtract(a: Size, b: Size | int) -> Size:
    """a - b"""
    return arithmetic(p.SUBTRACT, a, as_operand(b))


def multiply(a: Size, b: Size | int) -> Size:
    """a * b"""
    return arithmetic(p.MULTIPLY, a, as_operand(b))


def divide_up(a: Size, by: int) -> Size:
    """a / by, rounded up, for by > 0"""
    return a if by == 1 else arithmetic(p.FLOOR_DIVIDE, add(a, by - 1), as_operand(by))


def least(a: Size, b: Size | int) -> Size:
    """min(a, b)"""
    return arithmetic(p.MINIMUM, a, as_operand(b))


def greatest(a: Size, b: Size | int) -> Size:
    """max(a, b)"""
    return arithmetic(p.MAXIMUM, a, as_operand(b))


def wrapped(index: Operand, length: Size) -> Operand:
    """A run-time index counted from the end when it is negative."""
    from_end = arithmetic(p.ADD, index, length)
    negative = arithmetic(p.LESS, index, size_operand(0))
    return arithmetic(p.SELECT, negative, from_end, index)


def product(sizes: Sequence[Size]) -> Size:
    """The number of elements of a shape."""
    total = size_operand(1)
    for size in sizes:
        total = multiply(total, size)
    return total


def check_inside(index: Operand, size: Size, message: str) -> None:
    """Raises IndexError, when the program runs, unless 0 <= index < size."""
    low = arithmetic(p.GREATER_EQUAL, index, size_operand(0))
    high = arithmetic(p.LESS, index, size)
    trace().emit(Check(arithmetic(p.LOGICAL_AND, low, high), ErrorKind.INDEX, message))


def product_key(shape: Sequence[Size]) -> tuple[int, tuple[Size, ...]]:
    """The static part of a shape's product, and the sizes that are not static, in a fixed order."""
    known, rest = 1, list[Size]()
    for size in map(trace().canonical, shape):
        number = static(size)
        known = known * number if number is not None else known
        rest += [size] if number is None else []
    return known, tuple(sorted(rest, key=id))


def as_operand(value: Size | int) -> Size:
    """A Python integer as a size operand."""
    return size_operand(value) if isinstance(value, int) else value


def unraveled(flat: Operand, shape: Sequence[Size]) -> tuple[ScalarRep, ...]:
    """The indices, in a shape, of a position in C order."""
    indices: list[ScalarRep] = []
    for size in reversed(shape[1:]):
        indices.append(index(arithmetic(p.REMAINDER, flat, size), size))
        flat = arithmetic(p.FLOOR_DIVIDE, flat, size)
    indices.append(index(flat, shape[0]))
    return tuple(reversed(indices))


# From the user's integers.


def index_operand(value: ScalarRep) -> Operand:
    """A staged integer as an operand of type INDEX."""
    if value.dtype.kind not in "iu":
        raise StagingTypeError(
            f"{value.scalar} is used as an index or a size",
            why="indices and sizes are integers",
            instead="x.astype(np.int64)",
        )
    return value.operand if value.scalar == INDEX else trace().emit_size(Cast(value.operand, INDEX))


def scalar_of(value: object, what: str) -> ScalarRep:
    """The value as a staged number; StagingTypeError naming `what` when it is none."""
    rep = lift(value)
    if not isinstance(rep, ScalarRep):
        raise StagingTypeError(f"{what} must be a number, found {rep.type}")
    return rep


def count(value: object) -> Size:
    """A number of iterations as a size; a negative one is 0, as in Python's range."""
    rep = scalar_of(value, "a count")
    operand = trace().canonical(index_operand(rep))
    known = static(operand)
    if known is not None:
        return size_operand(max(known, 0))
    return operand if not_negative(rep) else greatest(operand, 0)


def extent(value: object) -> Size:
    """A user's array size; a negative one is an error, now if it is static, else when the program
    runs.
    """
    rep = scalar_of(value, "a size")
    operand = trace().canonical(index_operand(rep))
    known = static(operand)
    if known is not None and known < 0:
        raise ShapeError("negative dimensions are not allowed", why=f"a size is {known}")
    if known is None and not not_negative(rep):
        fine = trace().emit_size(Apply(p.GREATER_EQUAL, (operand, size_operand(0))))
        trace().emit(Check(fine, ErrorKind.VALUE, "negative dimensions are not allowed"))
    return operand


def shape_of(shape: object) -> tuple[Size, ...]:
    """A user's shape, one integer or a sequence of them, as sizes."""
    given: Any = shape
    items: Sequence[object] = given if isinstance(shape, tuple | list) else (shape,)
    return tuple(extent(item) for item in items)


def unify_shapes(a: Sequence[Size], b: Sequence[Size], what: str) -> tuple[Size, ...]:
    """Two shapes that must be equal, made one."""
    if len(a) != len(b):
        raise ShapeError(f"{what}: {len(a)} and {len(b)} axes do not fit together")
    return tuple(trace().unify(x, y, what) for x, y in zip(a, b, strict=True))


register_index(index)
