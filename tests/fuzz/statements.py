"""Statements of random functions: assignments, writes through views, branches, loops, helpers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from tests.fuzz import vocabulary as v
from tests.fuzz.generate import World, Writer, is_array, is_number, kind_of
from tests.fuzz.trees import Expr, Function, Part, Stmt, line

OPERATORS = ("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "**=")


def write_function(w: Writer) -> Function | None:
    """A function of the writer's arguments; None if it does not run on them."""
    author = Author(w)
    before = author.surroundings()
    params = [spec.name for spec in w.specs]
    if w.rng.random() < 0.2:
        value = w.rng.choice((2, 0.5, -1))
        params.append(f"p={value!r}")
        for world in w.worlds:
            world["p"] = value
    body = author.statements(w.rng.randint(1, 5), depth=2)
    given = {spec.name for spec in w.specs} | {"p"}
    names = [
        name
        for name, value in w.worlds[0].items()
        if name not in given and name not in w.globals and (is_array(value) or is_number(value))
    ]
    results = [Expr(name) for name in names if name in w.worlds[1]]
    if not results or w.rng.random() < 0.2:
        results.append(w.array(2))
    form = w.rng.choice(("tuple",) * 6 + ("dict", "list"))
    return Function(tuple(params), tuple(body), tuple(results), form, tuple(before))


class Author:
    """Writes statements, each of which has run in both worlds."""

    def __init__(self, writer: Writer) -> None:
        self.w = writer
        self.rng: random.Random = writer.rng
        self.own: list[str] = []  # arrays made in the block at hand, which it may write to
        self.outer: list[str] = []  # and those made outside of it
        self.helpers: list[tuple[str, int]] = []
        self.nested = 0

    # Running.

    def execute(self, stmt: Stmt, *, rebound: bool = False) -> bool:
        """Runs a statement in both worlds, and keeps what it assigns if all of it is usable.

        rebound : names that exist must keep their kind
        """
        code = "\n".join(stmt.lines())
        found: list[World] = []
        for world in self.w.worlds:
            scope = {**self.w.globals, **world}
            try:
                exec(code, scope)
            except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
                return False
            except UnboundLocalError:
                return False
            found.append({k: x for k, x in scope.items() if k not in self.w.globals})
        changed = [
            name
            for name in found[0]
            if name != "__builtins__" and found[0][name] is not self.w.worlds[0].get(name)
        ]
        for name in changed:
            values = [world.get(name) for world in found]
            if callable(values[0]) and callable(values[1]):
                continue
            if not self.w.usable(values):
                return False
            old = self.w.worlds[0].get(name)
            if rebound and old is not None and kind_of(old) != kind_of(values[0]):
                return False
        compound = any(part.block is not None for part in stmt.parts) and not _defines(stmt)
        kept = _merged(stmt) if compound else set(changed)
        for world, after in zip(self.w.worlds, found, strict=True):
            names = [n for n in after if n in world or n in kept]
            after = {n: after[n] for n in names if n != "__builtins__"}
            world.clear()
            world.update(after)
        return True

    def statements(self, count: int, depth: int) -> list[Stmt]:
        """Some statements, one after the other."""
        made: list[Stmt] = []
        for _ in range(count):
            for _ in range(6):
                stmt = self.statement(depth)
                if stmt is not None and self.execute(stmt, rebound=self.nested > 0):
                    made.append(stmt)
                    break
        return made

    def statement(self, depth: int) -> Stmt | None:
        """A statement, not yet run."""
        kinds: list[tuple[int, Callable[[int], Stmt | None]]] = [
            (8, self.assign), (4, self.again), (3, self.own_array), (6, self.write),
            (1, self.several), (2, self.call), (1, self.closure),
        ]  # fmt: skip
        if depth > 0:
            kinds += [(3, self.branch), (2, self.loop), (1, self.repeat)]
        make = self.rng.choices([m for _, m in kinds], [weight for weight, _ in kinds])[0]
        return make(depth)

    # Lines.

    def assign(self, depth: int) -> Stmt:
        """A new name."""
        expr = self.value()
        return line(f"{self.w.name()} = {{0}}", expr)

    def value(self) -> Expr:
        """An array, or a number."""
        return (
            self.w.array(self.rng.randint(1, 3)) if self.rng.random() < 0.75 else self.w.number(2)
        )

    def again(self, depth: int) -> Stmt | None:
        """A name assigned again, from itself, with a value of its kind."""
        names = [n for n in self.w.names(lambda x: is_array(x) or is_number(x)) if n[0] == "v"]
        if not names:
            return None
        name = self.rng.choice(names)
        old = kind_of(self.w.worlds[0][name])
        for _ in range(8):
            partner = self.w.partner(Expr(name), 2)
            form = self.rng.choice(
                (
                    "({0} + {1})",
                    "({0} * {1})",
                    "({1} - {0})",
                    "{1}",
                    "np.where({0} > {1}, {0}, {1})",
                )
            )
            expr = Expr(form, (Expr(name), partner))
            found = self.w.values(expr)
            if found is not None and all(kind_of(value) == old for value in found):
                if (
                    self.rng.random() < 0.3
                    and name not in (*self.own, *self.outer)
                    and form == "({0} + {1})"
                ):
                    if not is_array(found[0]):
                        return line(f"{name} += {{0}}", partner)
                return line(f"{name} = {{0}}", expr)
        return None

    def several(self, depth: int) -> Stmt:
        """Two names at once."""
        first, second = self.value(), self.value()
        return line(f"{self.w.name()}, {self.w.name()} = {{0}}, {{1}}", first, second)

    def own_array(self, depth: int) -> Stmt:
        """An array that may be written to."""
        name = self.w.name("a")
        form = self.rng.choice(
            ("{0}.copy()", "{0}.copy()", "np.zeros_like({0})", "({0} * 1)", "np.copy({0})")
        )
        self.own.append(name)
        return line(f"{name} = {{0}}", Expr(form, (self.w.array(2),)))

    def write(self, depth: int) -> Stmt | None:
        """A write to an array of one's own, or another name for a part of it."""
        own = [n for n in self.own if n in self.w.worlds[0]]
        if self.rng.random() < 0.15:
            own += [n for n in self.outer if n in self.w.worlds[0]]
        if not own:
            return self.own_array(depth)
        name = Expr(self.rng.choice(own))
        choice = self.rng.random()
        if choice < 0.15:
            view = self.w.name("a")
            template, holes, _ = self.rng.choice(v.VIEWS)
            found = self.filled(template, holes, name)
            if found is None or "broadcast_to" in template or template == "{0}[True]":
                return None
            self.own.append(view)
            return line(f"{view} = {{0}}", found)
        if choice < 0.35:
            mask = self.w.mask(name, 1)
            target = Expr("{0}[{1}]", (name, mask))
            return line(
                f"{{0}} {self.rng.choice(('=', '=', '+=', '*='))} {{1}}", target, self.w.number(2)
            )
        if choice < 0.5:
            return line(f"{{0}} {self.rng.choice(OPERATORS)} {{1}}", name, self.w.partner(name, 2))
        template, holes, _ = self.rng.choice([t for t in v.VIEWS if t[0].startswith("{0}[")])
        part = self.filled(template, holes, name)
        if part is None:
            return None
        operator = self.rng.choice(("=", "=", "=", *OPERATORS))
        return line(f"{{0}} {operator} {{1}}", part, self.w.partner(part, 2))

    def filled(self, template: str, holes: str, name: Expr) -> Expr | None:
        """A view's template of an array."""
        args = [name]
        for hole in holes[1:]:
            args.append(self.w.hole(hole, args, 1))
        expr = Expr(template, tuple(args))
        return expr if self.w.values(expr) is not None else None

    # Blocks.

    def block(self, count: int, depth: int, *bound: World) -> tuple[Stmt, ...]:
        """Statements in a scope of their own, where names keep their kind."""
        own, outer = self.own, self.outer
        self.own, self.outer = [], own + outer
        self.nested += 1
        try:
            with self.w.scope(bound or [{} for _ in self.w.worlds]):
                made = self.statements(count, depth - 1)
                updates = self.again(depth)
                if updates is not None and self.execute(updates, rebound=True):
                    made.append(updates)
        finally:
            self.nested -= 1
            self.own, self.outer = own, outer
        return tuple(made) or (line("pass"),)

    def branch(self, depth: int) -> Stmt:
        """if, elif, else."""
        count = self.rng.randint(1, 2)
        parts = [Part("if {0}:", (self.w.condition(2),), self.block(count, depth))]
        if self.rng.random() < 0.25:
            parts.append(Part("elif {0}:", (self.w.condition(1),), self.block(1, depth)))
        if self.rng.random() < 0.6:
            parts.append(Part("else:", (), self.block(count, depth)))
            parts = self.with_common(parts)
        return Stmt(tuple(parts))

    def with_common(self, parts: list[Part]) -> list[Part]:
        """A new name, which each of the branches gives a value of one kind."""
        first = self.value()
        found = self.w.values(first)
        name = self.w.name()
        ends = [line(f"{name} = {{0}}", first)]
        for _ in parts[1:]:
            other = self.rng.choice(
                (self.value(), Expr("({0} + {0})", (first,)), Expr("{0}[::-1]", (first,)))
            )
            values = self.w.values(other)
            if found is None or values is None or kind_of(found[0]) != kind_of(values[0]):
                return parts
            ends.append(line(f"{name} = {{0}}", other))
        return [
            Part(part.head, part.args, (*(part.block or ()), end))
            for part, end in zip(parts, ends, strict=True)
        ]

    def loop(self, depth: int) -> Stmt | None:
        """for over a range, an array, several, or a list."""
        w = self.w
        first, second = w.name("e"), w.name("e")
        arrays = w.names(is_array)
        array = Expr(self.rng.choice(arrays)) if arrays else Expr("np.arange(3)")
        other = w.partner(array, 0)
        forms: list[tuple[str, tuple[Expr, ...]]] = [
            (f"for {first} in range({{0}}):", (w.size(1),)),
            (f"for {first} in range(3):", ()),
            (f"for {first} in range({{0}}, 0, -2):", (w.size(1),)),
            (f"for {first} in {{0}}:", (array,)),
            (f"for {first}, {second} in enumerate({{0}}):", (array,)),
            (f"for {first}, {second} in zip({{0}}, {{1}}):", (array, other)),
            (f"for {first} in [1, 2, 3]:", ()),
            (f"for {first} in (0.5, -1.5):", ()),
            (f"for {first}, {second} in [(1, 2.0), (3, 0.5)]:", ()),
        ]
        head, args = self.rng.choice(forms)
        bound: list[World] = []
        for world in w.worlds:
            scope = {**w.globals, **world}
            code = head.format(*(arg.text() for arg in args)) + " break"
            try:
                exec(code, scope)
            except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
                return None
            bound.append({n: scope[n] for n in (first, second) if n in scope})
        if not bound[0] or not bound[1]:
            return None
        body = self.block(self.rng.randint(1, 2), depth, *bound)
        return Stmt((Part(head, args, self.with_exit(body, bound)),))

    def with_exit(self, body: tuple[Stmt, ...], bound: list[World]) -> tuple[Stmt, ...]:
        """A loop's body, sometimes with a way out in it."""
        if self.rng.random() > 0.15:
            return body
        with self.w.scope(bound):
            cond = self.w.condition(1)
        leave = Stmt((Part("if {0}:", (cond,), (line(self.rng.choice(("break", "continue"))),)),))
        at = self.rng.randrange(len(body) + 1)
        return body[:at] + (leave,) + body[at:] if self.execute_scoped(cond, bound) else body

    def execute_scoped(self, cond: Expr, bound: list[World]) -> bool:
        """Whether a condition of a loop's body needs nothing that the body makes."""
        with self.w.scope(bound):
            return self.w.values(cond) is not None

    def repeat(self, depth: int) -> Stmt:
        """while, with a counter that ends it."""
        name = self.w.name("t")
        bound: list[World] = [{name: 0} for _ in self.w.worlds]
        with self.w.scope(bound):
            cond = self.w.condition(1)
        body = self.block(self.rng.randint(1, 2), depth, *bound)
        most = self.rng.randint(1, 4)
        step = line(f"{name} = {name} + 1")
        head = self.rng.choice(
            (
                f"while {name} < {most} and {{0}}:",
                f"while {{0}} and {name} < {most}:",
                f"while {name} < {most}:",
            )
        )
        args = (cond,) if "{0}" in head else ()
        return Stmt((Part(f"{name} = 0"), Part(head, args, (*body, step))))

    # Functions.

    def surroundings(self) -> list[Stmt]:
        """Arrays, numbers and functions of the module."""
        made: list[Stmt] = []
        if self.rng.random() < 0.2:
            made.append(line(self.rng.choice(("g1 = 2.5", "g1 = 3", "g1 = np.float32(0.5)"))))
        if self.rng.random() < 0.15:
            made.append(
                line(self.rng.choice(("g2 = np.array([1.5, -2.0, 0.5])", "g2 = np.arange(4)")))
            )
        for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
            made.append(self.function(self.w.name("h"), captured=False))
        kept: list[Stmt] = []
        for stmt in made:
            if self.execute(stmt):
                kept.append(stmt)
        return kept

    def function(self, name: str, *, captured: bool) -> Stmt:
        """A function of an array and a number, which may look at the names around it."""
        arrays = self.w.names(is_array)
        first, second = self.w.name("q"), self.w.name("q")
        sample = self.rng.choice(arrays) if arrays else None
        values = [world[sample] if sample else np.arange(3.0) for world in self.w.worlds]
        bound: list[World] = [{first: value, second: 2} for value in values]
        outer = self.w.worlds
        if not captured:
            self.w.worlds = [{} for _ in outer]
        try:
            with self.w.scope(bound):
                result = self.w.array(2) if self.rng.random() < 0.7 else self.w.number(2)
                early = self.w.condition(1)
                found = self.w.values(result)
                other = Expr("{0} * 2", (result,)) if found is not None else result
                other_found = self.w.values(other)
        finally:
            self.w.worlds = outer
        body: tuple[Stmt, ...] = (line("return {0}", result),)
        same = found is not None and other_found is not None
        if same and self.rng.random() < 0.4 and kind_of(found[0]) == kind_of(other_found[0]):  # type: ignore[index]
            body = (Stmt((Part("if {0}:", (early,), (line("return {0}", other),)),)), *body)
        self.helpers.append((name, 2))
        return Stmt((Part(f"def {name}({first}, {second}=2):", (), body),))

    def closure(self, depth: int) -> Stmt | None:
        """A function inside of the function."""
        if self.nested:
            return None
        return self.function(self.w.name("c"), captured=True)

    def call(self, depth: int) -> Stmt | None:
        """A call of a function that stands before."""
        known = [n for n, _ in self.helpers if n in self.w.worlds[0] or n in self.w.globals]
        if not known:
            return None
        name = self.rng.choice(known)
        form = self.rng.choice((f"{name}({{0}})", f"{name}({{0}}, {{1}})"))
        args = (self.w.array(1), self.w.number(1))[: 2 if "{1}" in form else 1]
        return line(f"{self.w.name()} = {{0}}", Expr(form, args))


def _defines(stmt: Stmt) -> bool:
    return stmt.parts[0].head.startswith("def ")


def _merged(stmt: Stmt) -> set[str]:
    """The names that every branch of an `if` with an `else` ends with, and a loop's counter."""
    if stmt.parts[-1].head != "else:":
        return set()
    last = [part.block[-1] for part in stmt.parts if part.block]
    ends = [end.parts[0].head.split(" = ")[0] for end in last]
    return set(ends[:1]) if len(set(ends)) == 1 else set()
