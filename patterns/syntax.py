"""The syntax of multiloops, generators and reducers.

    op         ::=  "loop" "(" index "<" operand {"," ...} ")" ["mapped" record] block
    generator  ::=  "collect" value | "reduce" reducer value
                 |  "fold" reducer "into" "[" operands "]" ["?"] ["from" operand] value
                 |  "scan" ["exclusive"] reducer value
                 |  "group by" number value | "bucket" reducer "by" number value    number: of keys
                 |  "scatter" conflict "into" operand ["?"] value   "?": checked locations
    conflict   ::=  "proven" | "unique" | "first" | "last"
    value      ::=  block | operand | "(" operands [":" operand] ")"     fold: (location: value)
    reducer    ::=  standard ["as" string] [order]
                 |  "reducer" string {fact} [order] "(" binders ")" block
    fact       ::=  "associative" | "commutative" | "identity" "(" operands ")"
    standard   ::=  "sum" | "prod" | "min" | "max" | "all" | "any" | "argmin" | "argmax" | ...

A reducer goes by its standard name when its block and facts are the standard ones for its types. It
may have another name in messages: `sum as "count"`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..staging import primitives as p
from ..staging.equality import key
from ..staging.nodes import Const, Operand
from ..staging.records import read as read_record
from ..staging.records import record, text_of
from ..staging.syntax import Deferred, Kind, form, kinds, register
from ..staging.types import Scalar, Type
from .generators import (
    BucketCollect,
    BucketReduce,
    Collect,
    Fold,
    Mapping,
    MultiLoop,
    Reduce,
    Scan,
    Scatter,
)
from .reducers import (
    Order,
    Reducer,
    argmax_block,
    argmin_block,
    binary,
    proven,
    scalar_primitive,
)

if TYPE_CHECKING:
    from ..staging.parser import Parser
    from ..staging.printer import Printer

_PRIMITIVES = {
    "sum": p.ADD,
    "prod": p.MULTIPLY,
    "min": p.MINIMUM,
    "max": p.MAXIMUM,
    "all": p.LOGICAL_AND,
    "any": p.LOGICAL_OR,
    "xor": p.LOGICAL_XOR,
    "bitwise_and": p.BITWISE_AND,
    "bitwise_or": p.BITWISE_OR,
    "bitwise_xor": p.BITWISE_XOR,
}
_ARGS = {"argmin": argmin_block, "argmax": argmax_block}
STANDARD: dict[str, int] = {**dict.fromkeys(_PRIMITIVES, 1), **dict.fromkeys(_ARGS, 2)}
"""The names of the standard reducers, with their numbers of components."""


def standard(name: str, types: tuple[Type, ...]) -> Reducer:
    """The standard reducer of this name for components of these types.

    >>> from ..staging.types import F64, I64
    >>> standard("argmin", (F64, I64)).associative
    True
    """
    if name in _PRIMITIVES:
        return binary(_PRIMITIVES[name], types[0], name)
    assert isinstance(types[0], Scalar)
    return proven(_ARGS[name](types[0]), name)


def standard_name(reducer: Reducer) -> str | None:
    """The standard name of a reducer with the standard block and facts, whatever it is called."""
    types = tuple(param.type for param in reducer.block.params[: reducer.width])
    primitive = scalar_primitive(reducer) if reducer.width == 1 else None
    if primitive is not None:
        names = [name for name, known in _PRIMITIVES.items() if known is primitive]
    else:
        scalar = reducer.width == 2 and isinstance(types[0], Scalar)
        names = list(_ARGS) if scalar else []
    wanted = key(replace(reducer, name="", order=None))
    for name in names:
        if key(replace(standard(name, types), name="")) == wanted:
            return name
    return None


def _write_reducer(printer: Printer, reducer: Reducer, style: str) -> None:
    name = standard_name(reducer)
    if name is not None:
        printer.text(name)
        if reducer.name != name:
            printer.text(" as ")
            printer.string(reducer.name)
        printer.text(f" {text_of(reducer.order)}" if reducer.order else "")
        return
    printer.text("reducer ")
    printer.string(reducer.name)
    printer.text(" associative" if reducer.associative else "")
    printer.text(" commutative" if reducer.commutative else "")
    if reducer.identity is not None:
        printer.text(" identity (")
        printer.operands(reducer.identity)
        printer.text(")")
    printer.text(f" {text_of(reducer.order)}" if reducer.order else "")
    with printer.scope():
        printer.text(" (")
        printer.params(reducer.block.params)
        printer.text(") ")
        printer.body(reducer.block)


def _read_reducer(parser: Parser, style: str) -> Reducer | Deferred:
    if parser.accept("reducer"):
        return _read_general(parser)
    name, width = parser.one_of({word: (word, width) for word, width in STANDARD.items()})
    called = parser.string() if parser.accept("as") else name
    order = read_record(parser, Order) if parser.at("order") else None
    start = parser.token

    def resolve(fields: dict[str, Any]) -> Reducer:
        values: tuple[Operand, ...] = fields["value"].operands[-width:]
        if len(values) < width:
            raise parser.error(f"{name} takes {width} values", start)
        made = standard(name, tuple(value.type for value in values))
        return replace(made, name=called, order=order)

    return Deferred(resolve)


def _read_general(parser: Parser) -> Reducer:
    name = parser.string()
    associative = parser.accept("associative")
    commutative = parser.accept("commutative")
    identity: tuple[Const, ...] | None = None
    if parser.accept("identity"):
        parser.expect("(")
        identity = tuple(c for c in parser.operands() if isinstance(c, Const))
        parser.expect(")")
    order = read_record(parser, Order) if parser.at("order") else None
    with parser.scope():
        parser.expect("(")
        params = parser.binders(")")
        parser.expect(")")
        block = parser.body(params)
    return Reducer(block, name, identity, associative, commutative, order)


class _MultiLoop:
    """`loop (i < n, j < m) { prelude; generators }`."""

    lead = "loop"
    begins_with_operand = False

    def write(self, printer: Printer, node: MultiLoop) -> None:
        with printer.scope():
            for position, index in enumerate(node.body.params):
                printer.text(", " if position else "loop (")
                printer.text(f"{printer.index(index)} < ")
                printer.operand(node.domain[position])
            mapping = "" if node.mapping is None else f"mapped {text_of(node.mapping)} "
            printer.text(f") {mapping}")
            printer.body(node.body)

    def read(self, parser: Parser, given: Operand | None) -> MultiLoop:
        with parser.scope():
            parser.expect("loop (")
            indices, domain = [parser.index()], list[Operand]()
            while len(domain) < len(indices):
                parser.expect("<")
                domain.append(parser.operand())
                if parser.accept(","):
                    indices.append(parser.index())
            parser.expect(")")
            mapping = read_record(parser, Mapping) if parser.accept("mapped") else None
            body = parser.body(tuple(indices))
        return MultiLoop(tuple(domain), body, mapping)


record(Order)
kinds[Reducer] = Kind(_write_reducer, _read_reducer)
register(MultiLoop, _MultiLoop())
form(Collect, "collect {value:bare}")
form(Reduce, "reduce {reducer} {value:list}")
form(Scan, "scan {exclusive} {reducer} {value:list}")
form(Fold, "fold {reducer} into [{shape}]{bounds} {value:keyed}")
form(BucketCollect, "group by {keys} {value:list}")
form(BucketReduce, "bucket {reducer} by {keys} {value:list}")
form(Fold, "fold {reducer} into [{shape}]{bounds} {init:from} {value:keyed}")
form(Scatter, "scatter {conflict} into {init}{bounds} {value:keyed}")
