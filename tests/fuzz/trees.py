"""Programs as trees of text: rendered as Python source, and taken apart by the shrinker.

An expression is a template with expressions in its holes; a statement has expressions in its
heads, and blocks below them. Each has two texts: what the user writes, and what a noisy run
executes (noise.py), where the places whose rounding is free are marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.fuzz.noise import Kind


@dataclass(frozen=True, slots=True)
class Expr:
    """`template` with `args` in its holes {0}, {1}, ...

    kind : what about the value's rounding is free
    place : the hole whose value is added up, for sums
    """

    template: str
    args: tuple[Expr, ...] = ()
    kind: Kind = Kind.EXACT
    place: int = 0

    def text(self, noisy: bool = False) -> str:
        """The expression as source."""
        parts = [arg.text(noisy) for arg in self.args]
        if not noisy or self.kind is Kind.EXACT:
            return self.template.format(*parts)
        if self.kind.inside and parts:
            parts[self.place] = f"{self.kind.inside}({parts[self.place]})"
        return f"{self.kind.outside}({self.template.format(*parts)})"


@dataclass(frozen=True, slots=True)
class Part:
    """A line of a statement with the block below it, if it has one."""

    head: str
    args: tuple[Expr, ...] = ()
    block: tuple[Stmt, ...] | None = None


@dataclass(frozen=True, slots=True)
class Stmt:
    """A statement: one line, or lines with blocks."""

    parts: tuple[Part, ...]

    def lines(self, noisy: bool = False) -> Iterator[str]:
        """The statement as source, from column 0."""
        for part in self.parts:
            yield part.head.format(*(arg.text(noisy) for arg in part.args))
            for stmt in part.block or ():
                yield from (f"    {line}" for line in stmt.lines(noisy))


def line(head: str, *args: Expr) -> Stmt:
    """A statement of one line."""
    return Stmt((Part(head, args),))


@dataclass(frozen=True, slots=True)
class Function:
    """A user's module: what stands before the function, the function, what it returns."""

    params: tuple[str, ...]
    body: tuple[Stmt, ...]
    results: tuple[Expr, ...]
    form: str = "tuple"
    before: tuple[Stmt, ...] = ()

    def source(self, noisy: bool = False) -> str:
        """The module's text; the function is called f."""
        lines = [text for stmt in self.before for text in stmt.lines(noisy)]
        lines.append(f"def f({', '.join(self.params)}):")
        body = [text for stmt in self.body for text in stmt.lines(noisy)]
        lines += [f"    {text}" for text in (*body, f"return {self._returned(noisy)}")]
        return "\n".join(lines) + "\n"

    def _returned(self, noisy: bool) -> str:
        found = [result.text(noisy) for result in self.results]
        if len(found) == 1:
            return found[0]
        if self.form == "dict":
            return "{" + ", ".join(f"'r{k}': {text}" for k, text in enumerate(found)) + "}"
        if self.form == "list":
            return "[" + ", ".join(found) + "]"
        return ", ".join(found)


# Smaller trees, for the shrinker.


def smaller_exprs(expr: Expr) -> Iterator[Expr]:
    """What might stand in an expression's place: its parts, a number, itself with smaller parts."""
    yield from expr.args
    if expr.args or len(expr.template) > 2:
        yield Expr("1")
        yield Expr("1.5")
    for k, arg in enumerate(expr.args):
        for other in smaller_exprs(arg):
            yield replace(expr, args=(*expr.args[:k], other, *expr.args[k + 1 :]))


def smaller_parts(part: Part) -> Iterator[Part]:
    """A line with smaller expressions or a smaller block."""
    for k, arg in enumerate(part.args):
        for other in smaller_exprs(arg):
            yield replace(part, args=(*part.args[:k], other, *part.args[k + 1 :]))
    if part.block is not None:
        for block in smaller_blocks(part.block):
            yield replace(part, block=block)


def smaller_stmts(stmt: Stmt) -> Iterator[Stmt]:
    """A statement without one of its blocks, or with smaller lines."""
    for k in range(1, len(stmt.parts)):
        yield Stmt((*stmt.parts[:k], *stmt.parts[k + 1 :]))
    for k, part in enumerate(stmt.parts):
        for other in smaller_parts(part):
            yield Stmt((*stmt.parts[:k], other, *stmt.parts[k + 1 :]))


def smaller_blocks(block: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
    """A block without some statements, with the inside of one in its place, or with a smaller one.

    Large pieces are left out first.
    """
    size = len(block)
    while size > 0:
        for start in range(0, len(block) - size + 1, size):
            found = block[:start] + block[start + size :]
            yield found or (line("pass"),)
        size //= 2
    for k, stmt in enumerate(block):
        for part in stmt.parts:
            if part.block is not None:
                yield block[:k] + part.block + block[k + 1 :]
    for k, stmt in enumerate(block):
        for other in smaller_stmts(stmt):
            yield (*block[:k], other, *block[k + 1 :])


def smaller_functions(function: Function) -> Iterator[Function]:
    """The function with fewer results, less before it, a smaller body, smaller results."""
    for k in range(len(function.results)):
        if len(function.results) > 1:
            yield replace(function, results=function.results[:k] + function.results[k + 1 :])
    if function.form != "tuple":
        yield replace(function, form="tuple")
    for k in range(len(function.before)):
        yield replace(function, before=function.before[:k] + function.before[k + 1 :])
    for body in smaller_blocks(function.body):
        yield replace(function, body=body)
    for k, stmt in enumerate(function.before):
        for other in smaller_stmts(stmt):
            before = (*function.before[:k], other, *function.before[k + 1 :])
            yield replace(function, before=before)
    for k, result in enumerate(function.results):
        for smaller in smaller_exprs(result):
            results = (*function.results[:k], smaller, *function.results[k + 1 :])
            yield replace(function, results=results)


__all__ = ["Expr", "Function", "Part", "Stmt", "line", "smaller_functions"]
