"""The syntax of the core's ops and of the field types that they declare: one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import primitives
from .nodes import (
    Block,
    Bounds,
    Callback,
    Cast,
    Check,
    Contiguous,
    ForLoop,
    If,
    Index,
    Operand,
    PythonFunction,
    Update,
    Var,
    While,
)
from .primitives import Primitive
from .records import record
from .syntax import Kind, form, kinds, register
from .types import Scalar

if TYPE_CHECKING:
    from .parser import Parser
    from .printer import Printer

INFIX: dict[str, Primitive] = {p.symbol: p for p in primitives.ALL if p.symbol and p.arity == 2}
PREFIX: dict[str, Primitive] = {p.symbol: p for p in primitives.ALL if p.symbol and p.arity == 1}

kinds[Operand] = Kind(lambda p, operand, _: p.operand(operand), lambda p, _: p.operand())
kinds[Operand | None] = Kind(
    lambda p, operand, word: _optional(p, operand, word),
    lambda p, word: p.operand() if p.accept(word) else None,
    lambda operand: operand is not None,
)
kinds[tuple[Operand, ...]] = Kind(lambda p, many, _: p.operands(many), lambda p, _: p.operands())
kinds[Scalar] = Kind(lambda p, scalar, _: p.type(scalar), lambda p, _: p.scalar())
kinds[str] = Kind(lambda p, text, _: p.string(text), lambda p, _: p.string())
kinds[int] = Kind(lambda p, number, _: p.text(str(number)), lambda p, _: p.integer())
kinds[bool] = Kind(
    lambda p, flag, word: p.text(word if flag else ""), lambda p, word: p.accept(word), bool
)
kinds[Block] = Kind(lambda p, block, style: p.block(block, style), lambda p, _: p.block())
kinds[PythonFunction] = Kind(lambda p, f, _: p.text(p.function(f)), lambda p, _: p.function())
kinds[Bounds] = Kind(
    lambda p, bounds, _: p.text("?" if bounds is Bounds.CHECKED else ""),
    lambda p, _: Bounds.CHECKED if p.accept("?") else Bounds.PROVEN,
)

record(Contiguous)
form(Cast, "{arg} as {to}")
form(Index, "{array}[{indices}]{bounds}")
form(Update, "{array} with [{indices}]{bounds} = {value}")
form(If, "if {cond} {then} else {orelse}")
form(Check, "check {cond} else {kind}({message})")
form(Callback, "call {function}({args})")


def _optional(printer: Printer, operand: Operand | None, word: str) -> None:
    if operand is not None:
        printer.text(f"{word} ")
        printer.operand(operand)


class _ForLoop:
    """`for (i < n; state = init) { ... }`."""

    lead = "for"
    begins_with_operand = False

    def write(self, printer: Printer, node: ForLoop) -> None:
        index, *state = node.body.params
        with printer.scope():
            printer.text(f"for ({printer.index(index)} < ")
            printer.operand(node.count)
            printer.text("; " if state else "")
            write_state(printer, tuple(state), node.init)
            printer.text(") ")
            printer.body(node.body)

    def read(self, parser: Parser, given: Operand | None) -> ForLoop:
        with parser.scope():
            parser.expect("for (")
            index = parser.index()
            parser.expect("<")
            count = parser.operand()
            state = read_state(parser) if parser.accept(";") else []
            parser.expect(")")
            body = parser.body((index, *(param for param, _ in state)))
        return ForLoop(count, tuple(start for _, start in state), body)


class _While:
    """`while (state = init) { ... yield condition } do (state) { ... yield state }`."""

    lead = "while"
    begins_with_operand = False

    def write(self, printer: Printer, node: While) -> None:
        with printer.scope():
            printer.text("while (")
            write_state(printer, node.cond.params, node.init)
            printer.text(") ")
            printer.body(node.cond)
        with printer.scope():
            printer.text(" do (")
            printer.params(node.body.params)
            printer.text(") ")
            printer.body(node.body)

    def read(self, parser: Parser, given: Operand | None) -> While:
        with parser.scope():
            parser.expect("while (")
            state = read_state(parser) if not parser.at(")") else []
            parser.expect(")")
            cond = parser.body(tuple(param for param, _ in state))
        with parser.scope():
            parser.expect("do (")
            params = parser.binders(")")
            parser.expect(")")
            body = parser.body(params)
        return While(tuple(start for _, start in state), cond, body)


register(ForLoop, _ForLoop())
register(While, _While())


def write_state(printer: Printer, params: tuple[Var, ...], init: tuple[Operand, ...]) -> None:
    """`acc: f64 = 0.0, k: i64 = n`: the state of a loop with its initial values."""
    for position, (param, start) in enumerate(zip(params, init, strict=True)):
        printer.separate(position)
        printer.binder(param)
        printer.text(" = ")
        printer.operand(start)


def read_state(parser: Parser) -> list[tuple[Var, Operand]]:
    """What `write_state` wrote; the parameters are visible afterwards."""
    state: list[tuple[Var, Operand]] = []
    while not state or parser.accept(","):
        param = parser.binder()
        parser.expect("=")
        state.append((param, parser.operand()))
    return state
