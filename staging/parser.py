"""Reads what the printer writes (the grammar is in printer.py): `parse(to_text(p))` equals p.

>>> program = parse('''
... program double(x: f64) {
...   y: f64 = x + x   # comments do not count
...   return y
... }''')
>>> [str(stmt.op.signature()[0]) for stmt in program.body.stmts]
['f64']
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from . import records, syntax
from .forms import INFIX, PREFIX
from .lexer import ParseError, Token, tokens
from .literals import SCALARS, read, read_complex
from .locations import Location
from .nodes import (
    Apply,
    Block,
    Const,
    Fact,
    Node,
    Op,
    Operand,
    Program,
    PythonFunction,
    SizeCheck,
    Stmt,
    Var,
)
from .primitives import BY_NAME, Primitive
from .types import INDEX, Array, Scalar, Type

__all__ = ["ParseError", "Parser", "parse"]

T = TypeVar("T")


def parse(
    text: str, functions: Mapping[str, PythonFunction] | None = None, file: str = "<program>"
) -> Program:
    """The program; ParseError with line and column when the text is none.

    functions : the Python functions that the text calls, by printed name (`printer.functions`)
    file : what the statements' locations name as their file
    """
    return Parser(text, functions or {}, file).program()


class Parser:
    """A cursor over the tokens, with the variables in scope; the methods are what forms use."""

    def __init__(self, text: str, functions: Mapping[str, PythonFunction], file: str) -> None:
        self._text = text
        self._functions = functions
        self._file = file
        self._tokens = tokens(text)
        self._position = 0
        self._scopes: list[dict[str, Var]] = [{}]

    # Tokens.

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._position]

    def error(self, what: str, token: Token | None = None) -> ParseError:
        """An error at a token, by default the next one."""
        return ParseError(what, self._text, (token or self.token).offset)

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of `texts`."""
        return self.token.text in texts and self.token.kind != "end"

    def accept(self, text: str) -> bool:
        """Takes the token if it comes next."""
        found = self.at(text)
        self._position += found
        return found

    def expect(self, text: str) -> None:
        """Takes the tokens of `text`, or raises ParseError."""
        for wanted in tokens(text)[:-1]:
            if not self.accept(wanted.text):
                raise self.error(f"expected {wanted.text}, found {self.token}")

    def _take(self, kind: str, what: str) -> str:
        if self.token.kind != kind:
            raise self.error(f"expected {what}, found {self.token}")
        self._position += 1
        return self._tokens[self._position - 1].text

    def _end_line(self) -> None:
        self._take("newline", "the end of the line")

    # What forms are made of.

    def name(self) -> str:
        """An identifier that is no word of the grammar."""
        if syntax.is_reserved(self.token.text):
            raise self.error(f"expected a name, found the word {self.token}")
        return self._take("name", "a name")

    def word(self) -> str:
        """An identifier, or a word of the grammar."""
        return self._take("name", "a word")

    def literal(self) -> str:
        """The token of a literal without its sign."""
        return self._take("literal", "a literal")

    def string(self) -> str:
        """A quoted string."""
        return str(json.loads(self._take("string", "a string")))

    def integer(self) -> int:
        """A plain integer."""
        negative = self.accept("-")
        text = self._take("literal", "an integer")
        if not text.isdecimal():
            raise self.error("expected an integer", self._tokens[self._position - 1])
        return -int(text) if negative else int(text)

    def one_of(self, words: Mapping[str, T]) -> T:
        """What the next word stands for."""
        if self.token.text not in words:
            raise self.error(f"expected one of {', '.join(words)}; found {self.token}")
        self._position += 1
        return words[self._tokens[self._position - 1].text]

    def operand(self) -> Operand:
        """A variable in scope or a literal."""
        start = self.token
        if start.kind == "name" and self._is_scalar_call():
            return self._literal(self._complex)
        if start.kind == "literal" or self.at("-"):
            negative = self.accept("-")
            token = self.literal()
            return self._literal(lambda: read(token, negative))
        return self._variable()

    def _variable(self) -> Var:
        start = self.token
        name = self.name()
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        raise self.error(f"{name} is not bound here", start)

    def _literal(self, make: Callable[[], Const]) -> Const:
        start = self._tokens[self._position - 1]
        try:
            return make()
        except ValueError as error:
            if isinstance(error, ParseError):
                raise
            raise self.error(str(error), start) from None

    def _is_scalar_call(self) -> bool:
        behind = [t.text for t in self._tokens[self._position + 1 : self._position + 3]]
        return self.token.text in SCALARS and ("(" in behind[:1] or behind == ["~", "("])

    def _complex(self) -> Const:
        scalar = self.scalar()
        parts: list[tuple[str, bool]] = []
        self.expect("(")
        while not parts or self.accept(","):
            negative = self.accept("-")
            parts.append((self.literal(), negative))
        self.expect(")")
        return read_complex(scalar, tuple(parts))

    def operands(self) -> tuple[Operand, ...]:
        """Operands between commas, up to a closing bracket or the end of the line."""
        found: list[Operand] = []
        while (found and self.accept(",")) or (not found and not self._closes()):
            found.append(self.operand())
        return tuple(found)

    def _closes(self) -> bool:
        return self.at(")", "]", "}") or self.token.kind in ("newline", "end")

    def scalar(self) -> Scalar:
        """A scalar type."""
        if self.token.text not in SCALARS:
            raise self.error(f"expected a scalar type, found {self.token}")
        name = self._take("name", "a scalar type")
        return SCALARS[f"{name}~" if self.accept("~") else name]

    def type(self) -> Type:
        """A type; its sizes are variables in scope."""
        element = self.scalar()
        if not self.accept("["):
            return element
        shape: list[int | Var] = []
        while not self.at("]") and (not shape or self.accept(",")):
            shape.append(self.integer() if self.token.kind == "literal" else self._variable())
        self.expect("]")
        return Array(element, tuple(shape))

    def function(self) -> PythonFunction:
        """A Python function by its printed name."""
        start = self.token
        name = self.name()
        if name not in self._functions:
            raise self.error(f"no Python function {name} was handed to the parser", start)
        return self._functions[name]

    def index(self) -> Var:
        """A loop index."""
        return self.declare(Var(INDEX, self.name()))

    def binder(self) -> Var:
        """A name with type and facts; it is in scope afterwards."""
        name = self.name()
        self.expect(":")
        type_ = self.type()
        facts: set[Fact] = set()
        while records.is_record(self.token.text, Fact):
            facts.add(records.read(self, Fact))
        return self.declare(Var(type_, name, frozenset(facts)))

    def binders(self, *closers: str) -> tuple[Var, ...]:
        """Binders between commas, none where a closer comes next."""
        found: list[Var] = []
        while not self.at(*closers) and (not found or self.accept(",")):
            found.append(self.binder())
        return tuple(found)

    def declare(self, var: Var) -> Var:
        """Brings a variable into scope."""
        if any(var.name in scope for scope in self._scopes):
            raise self.error(f"{var.name} is bound twice", self._tokens[self._position - 1])
        self._scopes[-1][var.name] = var
        return var

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Variables declared inside are gone behind it."""
        self._scopes.append({})
        yield
        self._scopes.pop()

    def block(self) -> Block:
        """A block without parameters, in braces, or its results alone, `(a, b)` or `a`."""
        if self.at("{"):
            with self.scope():
                return self.body(())
        if not self.accept("("):
            return Block((), (), (self.operand(),))
        results = self._results()
        self.expect(")")
        return Block((), (), results)

    def body(self, params: tuple[Var, ...]) -> Block:
        """A block in braces with parameters that are in scope."""
        self.expect("{")
        self._end_line()
        stmts, results = self._lines("yield")
        self.expect("}")
        return Block(params, tuple(stmts), results)

    def node(self, given: Operand | None = None) -> Node:
        """A node whose keyword comes next."""
        node_type = self.one_of(syntax.by_keyword)
        self._position -= 1
        return syntax.forms[node_type].read(self, given)

    # Lines.

    def program(self) -> Program:
        """The whole text."""
        if self.token.kind == "newline":
            self._position += 1
        self.expect("program")
        name = self.string() if self.token.kind == "string" else self._take("name", "a name")
        self.expect("(")
        sizes: list[Var] = []
        if any(t.text == ";" for t in self._header()):
            while not sizes or self.accept(","):
                sizes.append(self.index())
            self.expect(";")
        params = self.binders(")")
        self.expect(") {")
        self._end_line()
        checks: list[SizeCheck] = []
        while self.at("require"):
            checks.append(self._size_check(params))
        stmts, results = self._lines("return")
        self.expect("}")
        if self.token.kind == "newline":
            self._position += 1
        if self.token.kind != "end":
            raise self.error(f"expected the end, found {self.token}")
        body = Block((), tuple(stmts), results)
        return Program(name, tuple(sizes), params, body, tuple(checks))

    def _header(self) -> list[Token]:
        kinds = [t.kind for t in self._tokens]
        return self._tokens[: kinds.index("newline") if "newline" in kinds else None]

    def _size_check(self, params: tuple[Var, ...]) -> SizeCheck:
        source = self._location()
        self.expect("require")
        dropped = self._axis(params)
        self.expect("==")
        kept = self.integer() if self.token.kind == "literal" else self._axis(params)
        self._end_line()
        return SizeCheck(kept, dropped, source)

    def _axis(self, params: tuple[Var, ...]) -> tuple[int, int]:
        param = self._variable()
        self.expect(".")
        return params.index(param), self.integer()

    def _location(self) -> Location:
        return Location(self._file, self._text.count("\n", 0, self.token.offset) + 1)

    def _lines(self, word: str) -> tuple[list[Stmt], tuple[Operand | Node, ...]]:
        stmts: list[Stmt] = []
        while not self._at_results(word):
            stmts.append(self.stmt())
        if self.accept(word):
            results: tuple[Operand | Node, ...] = self._results()
            self._end_line()
            return stmts, results
        nodes: list[Node] = []
        while not self.at("}"):
            nodes.append(self._generator())
        return stmts, tuple(nodes)

    def _at_results(self, word: str) -> bool:
        node_type = syntax.by_keyword.get(self.token.text)
        is_node = node_type is not None and not issubclass(node_type, Op)
        return self.at("}", "where", word) or is_node

    def _generator(self) -> Node:
        guard = None
        if self.accept("where"):
            guard = self.operand()
            self.expect(":")
        node = self.node(guard)
        self._end_line()
        return node

    def _results(self) -> tuple[Operand, ...]:
        results = [self.operand()]
        while self.accept(",") or self.accept(":"):
            results.append(self.operand())
        return tuple(results)

    def stmt(self) -> Stmt:
        """One line, or several when it has blocks."""
        source = self._location()
        binders: tuple[Var, ...] = ()
        if self._tokens[self._position + 1].text == ":":
            with self.scope():
                binders = self.binders("=")
            self.expect("=")
        op = self.op()
        self._end_line()
        for binder in binders:
            self.declare(binder)
        return Stmt(binders, op, (source,))

    def op(self) -> Op:
        """The right side of a statement."""
        if self.token.text in syntax.by_keyword:
            return self._as_op(self.node())
        behind = self._tokens[self._position + 1]
        if self.token.text in PREFIX and behind.kind == "name":
            return Apply(self.one_of(PREFIX), (self.operand(),))
        if self.token.text in BY_NAME and behind.text == "(":
            return self._call(self.one_of(BY_NAME))
        first = self.operand()
        if self.token.text in syntax.by_postfix:
            return self._as_op(syntax.forms[syntax.by_postfix[self.token.text]].read(self, first))
        if self.token.text in INFIX:
            return Apply(self.one_of(INFIX), (first, self.operand()))
        raise self.error(f"expected an operation, found {self.token}")

    def _call(self, primitive: Primitive) -> Apply:
        self.expect("(")
        args = self.operands()
        self.expect(")")
        if len(args) != primitive.arity:
            raise self.error(f"{primitive.name} takes {primitive.arity} operands")
        return Apply(primitive, args)

    def _as_op(self, node: Node) -> Op:
        if isinstance(node, Op):
            return node
        self._not_an_op(node)

    def _not_an_op(self, node: Node) -> NoReturn:
        raise self.error(f"{type(node).__name__} is no statement")
