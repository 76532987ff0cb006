"""The machine on which the reference interpreter runs: variables and their values.

What an op or a generator means is registered by its class, with `@evaluates` and `@generates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ..staging.errors import InternalError, ShapeError
from ..staging.locations import Location
from ..staging.nodes import Block, ForLoop, Node, Op, Operand, Program, Stmt, Var, While
from ..staging.tracing import check_sizes
from ..staging.types import Array, Scalar, Type
from .generators import Generator
from .semantics import Extents, Index

Value = np.generic | np.ndarray
Values = tuple[Value, ...]
Places = tuple[Location, ...]

O = TypeVar("O", bound=Op)
G = TypeVar("G", bound=Generator)
Evaluator = Callable[["Machine", O, Places], Values]
At = Callable[[Index], None]
Interpretation = Callable[["Machine", G, Extents, At, Places], Values]

_evaluators: dict[type[Op], Evaluator[Any]] = {}
_generators: dict[type[Generator], Interpretation[Any]] = {}


def evaluates(op_type: type[O]) -> Callable[[Evaluator[O]], Evaluator[O]]:
    """Registers what an op means: (machine, op, places) -> the values of its binders."""

    def register(function: Evaluator[O]) -> Evaluator[O]:
        _evaluators[op_type] = function
        return function

    return register


def generates(generator_type: type[G]) -> Callable[[Interpretation[G]], Interpretation[G]]:
    """Registers what a generator means: (machine, generator, extents, at, places) -> its values.

    `at(index)` sets the loop's variables to those of the index; then the value block can run.
    """

    def register(function: Interpretation[G]) -> Interpretation[G]:
        _generators[generator_type] = function
        return function

    return register


class Machine:
    """The variables' values while a program runs.

    A variable is bound once in the program; in a loop its value is replaced at every iteration.
    """

    def __init__(self) -> None:
        self.values: dict[Var, Value] = {}

    def value(self, operand: Operand) -> Value:
        """What the operand holds now."""
        return self.values[operand] if isinstance(operand, Var) else operand.value

    def first_state(self, op: ForLoop | While) -> Values:
        """The values that a loop's state begins with."""
        return tuple([self.value(v) for v in op.init])

    def array(self, operand: Operand) -> np.ndarray:
        """An array's value."""
        return cast(np.ndarray, self.value(operand))

    def integer(self, operand: Operand) -> int:
        """A size or an index."""
        return int(cast(np.integer[Any], self.value(operand)))

    def shape(self, type_: Type) -> tuple[int, ...]:
        """The type's dimensions as they are now; () for a scalar."""
        dims = type_.shape if isinstance(type_, Array) else ()
        return tuple([self.integer(d) if isinstance(d, Var) else cast(int, d) for d in dims])

    def run(self, block: Block, args: Sequence[Value] = ()) -> Values:
        """The results of an ordinary block."""
        if block.params:
            self.bind(block.params, args, ())
        if block.stmts:
            self.execute(block.stmts)
        return tuple([self.value(cast(Operand, r)) for r in block.results])

    def execute(self, stmts: Sequence[Stmt]) -> None:
        """The statements, in order."""
        for stmt in stmts:
            evaluate = _evaluators.get(type(stmt.op))
            if evaluate is None:
                raise _no_rule(stmt.op, stmt.sources)
            self.bind(stmt.binders, evaluate(self, stmt.op, stmt.sources), stmt.sources)

    def generate(self, generator: Generator, extents: Extents, at: At, where: Places) -> Values:
        """The values of a generator's binders."""
        interpret = _generators.get(type(generator))
        if interpret is None:
            raise _no_rule(generator, where)
        return interpret(self, generator, extents, at, where)

    def bind(self, binders: Sequence[Var], values: Sequence[Value], where: Places) -> None:
        """Gives each variable its value, after the check that it has the variable's type."""
        for binder, value in zip(binders, values, strict=True):
            self.values[binder] = value  # first: a size may be part of a later type
            if not self.fits(value, binder.type):
                found = f"{value.dtype}{list(value.shape)}"
                raise InternalError(
                    f"{binder!r} of type {binder.type} was given {found}", where=where
                )

    def fits(self, value: Value, type_: Type) -> bool:
        """Whether the value has exactly the type's dtype and shape."""
        if isinstance(type_, Scalar):
            return isinstance(value, np.generic) and value.dtype == type_.dtype
        return value.dtype == type_.element.dtype and value.shape == self.shape(type_)


def _no_rule(node: Node, where: Places) -> InternalError:
    name = type(node).__name__
    return InternalError(f"the reference interpreter has no rule for {name}", where=where)


# Arguments.


def bind_arguments(program: Program, arguments: Sequence[Any]) -> dict[Var, Value]:
    """The values of parameters and sizes; raises ShapeError where sizes do not fit together."""
    values = [_argument(p, a) for p, a in zip(program.params, arguments, strict=True)]
    check_sizes(program, values)
    bound: dict[Var, Value] = dict(zip(program.params, values, strict=True))
    for param in program.params:
        _bind_sizes(param, bound)
    unbound = [s for s in program.sizes if s not in bound]
    if unbound:
        raise InternalError(f"no argument binds the sizes {unbound}", where=())
    return bound


def _argument(param: Var, argument: Any) -> Value:
    if isinstance(param.type, Scalar):
        return param.type.dtype.type(argument)
    array = np.asarray(argument)
    if array.dtype != param.type.element.dtype or array.ndim != param.type.rank:
        raise InternalError(
            f"parameter {param!r} of type {param.type} was given {array.dtype}, rank {array.ndim}",
            where=(),
        )
    return array


def _bind_sizes(param: Var, bound: dict[Var, Value]) -> None:
    """The first axis that names a size binds it; all others must have it."""
    if isinstance(param.type, Scalar):
        return
    for axis, (dim, found) in enumerate(zip(param.type.shape, bound[param].shape, strict=True)):
        expected = bound.setdefault(dim, np.int64(found)) if isinstance(dim, Var) else dim
        if expected != found:
            raise ShapeError(f"axis {axis} of {param!r} has size {found}, not {expected}")
