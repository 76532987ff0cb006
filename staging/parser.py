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

from collections.abc import Mapping

from . import syntax
from .cursor import Cursor
from .forms import INFIX, PREFIX
from .lexer import ParseError, Token
from .locations import Location
from .nodes import (
    Apply,
    Block,
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

__all__ = ["ParseError", "Parser", "parse"]


def parse(
    text: str, functions: Mapping[str, PythonFunction] | None = None, file: str = "<program>"
) -> Program:
    """The program; ParseError with line and column when the text is none.

    functions : the Python functions that the text calls, by printed name (`printer.functions`)
    file : what the statements' locations name as their file
    """
    return Parser(text, functions or {}, file).program()


class Parser(Cursor):
    """Reads nodes, statements and programs."""

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
        if not isinstance(node, Op):
            raise self.error(f"{type(node).__name__} is no statement")
        return node
