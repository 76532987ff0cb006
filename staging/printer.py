"""Programs as text that people read and the parser reads back.

    program   ::=  "program" name "(" [sizes ";"] binders ")" block
    block     ::=  "{" {"require" size "==" size} {stmt} [results] "}"      one line a statement
    stmt      ::=  [binders "="] op
    binders   ::=  name ":" type {fact} {"," ...}         a fact is a record, records.py
    op        ::=  operand infix operand | prefix operand | primitive "(" operands ")"
               |  operand "as" scalar                     Cast
               |  operand "[" operands "]" ["?"]          Index; "?": checked, may raise IndexError
               |  "if" operand block "else" block
               |  "for" "(" index "<" operand [";" state] ")" block
               |  "while" "(" state ")" block "do" "(" binders ")" block
               |  "check" operand "else" exception "(" string ")"
               |  "call" name "(" operands ")"            Callback
    state     ::=  name ":" type "=" operand {"," ...}
    results   ::=  "yield" operands                       of a nested block
               |  "return" operands                       of the program
               |  {["where" operand ":"] generator}       of a multiloop, see patterns/syntax.py
    operand   ::=  name | literal                         literals.py
    size      ::=  name "." axis | integer                an axis of an argument, from 0

A Python number's type ends in "~" (`i64~`), its literals have no suffix (`1`, `0.5`), all others
have (`1_i64`, `0.5_f32`). Comments run from "#" to the end of the line. The parser ignores them,
and the ends of lines inside of parentheses and brackets.

>>> from .nodes import Apply, Block, Program, Stmt
>>> from .primitives import ADD
>>> from .types import F64
>>> x, y = Var(F64, "x"), Var(F64)
>>> body = Block((), (Stmt((y,), Apply(ADD, (x, x))),), (y,))
>>> print(to_text(Program("double", (), (x,), body)))
program double(x: f64) {
  t1: f64 = x + x
  return t1
}
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import PurePath

from .document import Document
from .forms import INFIX, PREFIX
from .literals import text_of
from .locations import Location
from .names import Names
from .nodes import Apply, Block, Const, Node, Op, Operand, Program, PythonFunction, Stmt, Var
from .records import text_of as record_text
from .syntax import form_of
from .traversal import free_vars
from .types import Array, Exists, Type

NOTE_COLUMN = 64


def to_text(program: Program, *, locations: bool = False) -> str:
    """The program in the grammar above; with `locations`, the user's lines stand in comments."""
    printer = Printer(locations)
    printer.program(program)
    return str(printer.out)


def statement_text(stmt: Stmt) -> str:
    """One statement with all that is inside it; free variables have their own names."""
    printer = Printer()
    for var in free_vars(Block((), (stmt,), ())):
        printer.names.declare(var)
    printer.stmt(stmt)
    return str(printer.out)


def functions(program: Program) -> dict[str, PythonFunction]:
    """The Python functions that the program calls, by printed name: the table to parse it with."""
    printer = Printer()
    printer.program(program)
    return {name: function for function, name in printer.functions.items()}


class Printer:
    """Writes a program from the forms of its nodes (syntax.py); the methods are what forms use."""

    def __init__(self, locations: bool = False) -> None:
        self.out = Document(note_column=NOTE_COLUMN)
        self.names = Names()
        self.functions: dict[PythonFunction, str] = {}
        self._locations = locations
        self._results = "yield"

    # What forms are made of.

    def text(self, text: str) -> None:
        """Literal text on the current line."""
        self.out.write(text)

    def string(self, text: str) -> None:
        """A quoted string."""
        self.text(json.dumps(text))

    def operand(self, operand: Operand) -> None:
        """A variable's name or a literal."""
        self.text(text_of(operand) if isinstance(operand, Const) else self.names.of(operand))

    def operands(self, operands: Sequence[Operand]) -> None:
        """Operands between commas."""
        for position, operand in enumerate(operands):
            self.text(", " if position else "")
            self.operand(operand)

    def type(self, type_: Type) -> None:
        """A type, its sizes by name."""
        if isinstance(type_, Array):
            dims = ", ".join(self._dim(d) for d in type_.shape)
            self.text(f"{type_.element}[{dims}]")
        else:
            self.text(str(type_))

    def _dim(self, dim: int | Var | Exists) -> str:
        return self.names.of(dim) if isinstance(dim, Var) else str(dim)

    def index(self, var: Var) -> str:
        """Declares a loop index; indices have no type in the text."""
        return self.names.declare(var, is_index=True)

    def binder(self, var: Var) -> None:
        """Declares a variable and writes its name, type and facts."""
        self.text(f"{self.names.declare(var)}: ")
        self.type(var.type)
        for fact in sorted(map(record_text, var.facts)):
            self.text(f" {fact}")

    def binders(self, variables: Sequence[Var]) -> None:
        """Binders between commas."""
        for position, var in enumerate(variables):
            self.text(", " if position else "")
            self.binder(var)

    def params(self, variables: Sequence[Var]) -> None:
        """Binders in parentheses: a line may end between two of them."""
        for position, var in enumerate(variables):
            self.separate(position)
            self.binder(var)

    def separate(self, position: int) -> None:
        """A comma before all but the first item of a list in parentheses."""
        if position:
            self.text(",")
            self.out.may_break()

    def function(self, function: PythonFunction) -> str:
        """The unique printed name of a Python function."""
        if function not in self.functions:
            base = repr(function).rpartition(".")[2]
            stem = base if base.isidentifier() else "function"
            taken = sum(n == stem or n.startswith(f"{stem}_") for n in self.functions.values())
            self.functions[function] = f"{stem}_{taken + 1}" if taken else stem
        return self.functions[function]

    @contextmanager
    def scope(self) -> Generator[None, None, None]:
        """Variables declared inside are not visible behind it."""
        with self.names.scope():
            yield

    def block(self, block: Block, style: str = "") -> None:
        """A block without parameters.

        style "list" or "keyed" : without statements, `(a, b)` or `(a: b)`; "bare": `a`
        """
        if style and block.results and not block.stmts:
            self.text("" if style == "bare" else "(")
            self._results_of(block, keyed=style == "keyed")
            self.text("" if style == "bare" else ")")
            return
        with self.scope():
            self.body(block, keyed=style == "keyed")

    def body(self, block: Block, keyed: bool = False) -> None:
        """A block in braces; its parameters have been declared in the open scope."""
        self.text("{")
        self.out.end_line()
        with self.out.indented():
            self._lines_of(block, "yield", keyed)
        self.text("}")

    # Lines.

    def program(self, program: Program) -> None:
        """The whole text."""
        name = program.name if program.name.isidentifier() else json.dumps(program.name)
        self.text(f"program {name}(")
        self.text(", ".join(map(self.names.declare, program.sizes)))
        self.text(";" if program.sizes else "")
        if program.sizes and program.params:
            self.out.may_break()
        self.params(program.params)
        self.text(") {")
        self.out.end_line()
        with self.out.indented():
            for check in program.checks:
                kept, dropped = (self._size(program, s) for s in (check.kept, check.dropped))
                self._note((check.source,))
                self.out.line(f"require {dropped} == {kept}")
            self._lines_of(program.body, "return", False)
        self.out.line("}")

    def _size(self, program: Program, size: tuple[int, int] | int) -> str:
        if isinstance(size, int):
            return str(size)
        return f"{self.names.of(program.params[size[0]])}.{size[1]}"

    def _lines_of(self, block: Block, word: str, keyed: bool) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)
        nodes = [r for r in block.results if isinstance(r, Node)]
        for node in nodes:
            form_of(node).write(self, node)
            self.out.end_line()
        if block.results and not nodes:
            self.text(f"{word} ")
            self._results_of(block, keyed)
            self.out.end_line()

    def _results_of(self, block: Block, keyed: bool) -> None:
        *keys, value = block.operands
        self.operands(keys)
        self.text("" if not keys else ": " if keyed else ", ")
        self.operand(value)

    def stmt(self, stmt: Stmt) -> None:
        """One statement, with the blocks inside it, on lines of its own."""
        self._note(stmt.sources)
        self.binders(stmt.binders)
        self.text(" = " if stmt.binders else "")
        self.op(stmt.op)
        self.out.end_line()

    def op(self, op: Op) -> None:
        """The right side of a statement."""
        if isinstance(op, Apply):
            self._apply(op)
        else:
            form_of(op).write(self, op)

    def _apply(self, op: Apply) -> None:
        primitive, args = op.primitive, op.args
        if INFIX.get(primitive.symbol) is primitive:
            self.operand(args[0])
            self.text(f" {primitive.symbol} ")
            self.operand(args[1])
        elif PREFIX.get(primitive.symbol) is primitive and isinstance(args[0], Var):
            self.text(primitive.symbol + (" " if primitive.symbol.isalpha() else ""))
            self.operand(args[0])
        else:
            self.text(f"{primitive.name}(")
            self.operands(args)
            self.text(")")

    def _note(self, sources: tuple[Location, ...]) -> None:
        if self._locations and sources:
            places = dict.fromkeys(f"{PurePath(s.file).name}:{s.line}" for s in sources)
            self.out.note(", ".join(places))
