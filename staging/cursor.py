"""The parts of program text below a line: tokens, names, operands, types, binders."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from . import records, syntax
from .lexer import ParseError, Token, tokens
from .literals import SCALARS, read, read_complex
from .nodes import Const, Fact, Operand, PythonFunction, Var
from .types import INDEX, Array, Scalar, Type

T = TypeVar("T")


class Cursor:
    """A position in the tokens, and the variables in scope; the methods are what forms use."""

    def __init__(self, text: str, functions: Mapping[str, PythonFunction], file: str) -> None:
        self._text = text
        self._functions = functions
        self._file = file
        self._tokens = tokens(text)
        self._position: int = 0
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
