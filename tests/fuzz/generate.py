"""Random expressions of what is in scope.

A function is made piece by piece. Each piece is run eagerly as soon as it is there, on two sets of
arguments whose sizes differ; one that fails in either, or gives values of different kinds, is made
anew. So what is left fits together for every size, not by accident of a size.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import parloom as pm
from parloom.patterns.eager import wrap
from tests.fuzz import vocabulary as v
from tests.fuzz.arguments import random_specs
from tests.fuzz.noise import Kind
from tests.fuzz.trees import Expr

World = dict[str, Any]
WORLDS = ({"n": 5, "m": 3, "k": 4}, {"n": 7, "m": 4, "k": 6})
MOST = 2000  # elements of an array

# Python gives the one or the other, of its own type; a compiled program has one type for both.
ALTERNATIVES = (
    *("({0} if {2} else {1})", "({0} and {1})", "({0} or {1})"),
    *("min({0}, {1})", "max({0}, {1})"),
)


def is_array(value: Any) -> bool:
    """Whether an array with axes."""
    return isinstance(value, np.ndarray) and value.ndim > 0


def is_number(value: Any) -> bool:
    """Whether a number, of Python or of NumPy."""
    return isinstance(value, int | float | complex | np.generic)


def is_integer(value: Any) -> bool:
    """Whether an integer number."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def kind_of(value: Any) -> Any:
    """What must not depend on a size, nor on which way a branch goes."""
    is_ndarray = issubclass(type(value), np.ndarray)
    return (value.dtype, value.ndim) if is_ndarray else value.__class__


class Writer:
    """The state of a function that is being written: the names in scope, with values."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.specs = random_specs(rng)
        self.globals: World = {"np": np, "pm": pm, "math": math}
        self.worlds: list[World] = [
            {s.name: wrap(s.value(sizes, k)) for s in self.specs} for k, sizes in enumerate(WORLDS)
        ]
        self.fresh = 0
        self.lambdas = 0
        self.tame = rng.random() < 0.5

    # Names and values.

    def name(self, stem: str = "v") -> str:
        """A new name."""
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def names(self, of: Callable[[Any], bool]) -> list[str]:
        """The names in scope whose value is of a sort, later ones more often."""
        return [n for n, value in self.worlds[0].items() if of(value) and n in self.worlds[1]]

    def values(self, expr: Expr) -> list[Any] | None:
        """An expression's value in each world; None if it does not fit."""
        code = expr.text()
        try:
            found = [eval(code, {**self.globals, **world}) for world in self.worlds]
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
            return None
        return found if self.usable(found) else None

    def usable(self, values: Sequence[Any]) -> bool:
        """Whether values are ones that a program may keep: of one kind, and small."""
        first, second = values
        if issubclass(type(first), tuple):
            pairs: list[Any] = list(zip(first, second, strict=False))
            return len(first) == len(second) and all(map(self.usable, pairs))
        if not is_number(first) and not is_array(first):
            return False
        if kind_of(first) != kind_of(second) or max(np.size(first), np.size(second)) > MOST:
            return False
        if isinstance(first, int) and max(abs(first), abs(second)) > 2**40:
            return False
        dtype = np.asarray(first).dtype
        return dtype.kind in "biufc" and dtype != np.float16

    @contextmanager
    def scope(self, bound: Sequence[World]) -> Generator[None]:
        """A scope in which some names have other values."""
        outer, self.worlds = self.worlds, [
            {**world, **more} for world, more in zip(self.worlds, bound, strict=True)
        ]  # fmt: skip
        try:
            yield
        finally:
            self.worlds = outer

    # Expressions. Each gives an expression with its values.

    def made(
        self, accept: Callable[[Any], bool], tries: Sequence[Callable[[], Expr | None]]
    ) -> Expr:
        """The first of the attempts that fits; the last ones always do."""
        for attempt in tries:
            expr = attempt()
            if expr is None:
                continue
            found = self.values(expr)
            if found is not None and all(accept(value) for value in found):
                return expr
        return Expr("1")

    def array(self, depth: int) -> Expr:
        """An array."""
        tables = (v.ELEMENTWISE, v.ELEMENTWISE, v.VIEWS, v.COPIES, v.COPIES, v.REDUCTIONS)
        attempts = [lambda: self.filled(self.rng.choice(tables), depth)] * (4 if depth > 0 else 0)
        return self.made(is_array, [*attempts, self.array_name, lambda: Expr("np.arange(3)")])

    def array_name(self) -> Expr | None:
        """An array in scope."""
        found = self.names(is_array)
        return Expr(found[int(len(found) * self.rng.random() ** 0.7)]) if found else None

    def number(self, depth: int) -> Expr:
        """A number."""
        attempts: list[Callable[[], Expr | None]] = []
        if depth > 0 and self.rng.random() < 0.7:
            attempts = [lambda: self.filled(v.NUMBERS, depth)] * 4
        elif self.rng.random() < 0.7:
            attempts = [
                lambda: Expr(self.rng.choice(self.names(is_number) or ["1"])),
                self.of_an_array,
            ]
            self.rng.shuffle(attempts)
        return self.made(is_number, [*attempts, self.literal])

    def of_an_array(self) -> Expr | None:
        """A number out of an array in scope."""
        name = self.array_name()
        forms = (
            ("{0}[0]", v.X),
            ("{0}[-1]", v.X),
            ("{0}.sum()", v.S),
            ("{0}.max()", v.Z),
            ("{0}.shape[0]", v.X),
        )
        form, kind = self.rng.choice(forms)
        return None if name is None else Expr(form, (name,), kind)

    def literal(self) -> Expr:
        """A number as such."""
        return Expr(self.rng.choice(v.TAME if self.tame else v.LITERALS))

    def integer(self, depth: int) -> Expr:
        """An integer number."""
        found = self.names(is_integer)
        choices: list[Callable[[], Expr | None]] = [
            lambda: Expr(self.rng.choice(found)) if found else None,
            lambda: Expr(self.rng.choice(("0", "1", "2", "-1", "-2", "3"))),
        ]
        if depth > 0:
            choices.insert(0, lambda: self.filled(v.NUMBERS, depth))
        if self.rng.random() < 0.4:
            choices.reverse()
        return self.made(is_integer, choices)

    def size(self, depth: int) -> Expr:
        """A number of elements."""

        def accept(value: Any) -> bool:
            return is_integer(value) and 0 <= value <= 40

        def attempt() -> Expr | None:
            arrays = self.names(is_array)
            if not arrays or self.rng.random() < 0.2:
                return Expr(self.rng.choice(("2", "3", "4", "1", "0")))
            name = self.rng.choice(arrays)
            form = self.rng.choice(
                ("{0}.shape[0]", "{0}.shape[-1]", "len({0})", "{0}.shape[0] + 1")
            )
            return Expr(form, (Expr(name),))

        return self.made(accept, [attempt, attempt])

    def condition(self, depth: int) -> Expr:
        """A condition."""

        def accept(value: Any) -> bool:
            return isinstance(value, bool | np.bool_)

        return self.made(accept, [lambda: self.filled(v.CONDITIONS, depth)] * 5)

    def partner(self, other: Expr, depth: int) -> Expr:
        """What meets another array element by element."""
        met = self.values(other)

        def fits() -> Expr | None:
            names = self.names(is_array)
            self.rng.shuffle(names)
            for name in names:
                pairs = zip(met or (), (world[name] for world in self.worlds), strict=True)
                if met is not None and all(broadcasts(a, b) for a, b in pairs):
                    return Expr(name)
            return None

        def derived() -> Expr | None:
            table = self.rng.choice((v.ELEMENTWISE, v.VIEWS))
            template, holes, kind = self.rng.choice(table)
            return Expr(template, (other,), kind) if holes == "a" else None

        number, array = partial(self.number, depth - 1), partial(self.array, depth - 1)
        choices: list[Callable[[], Expr | None]] = [fits, fits, number, derived, array]
        return self.rng.choice(choices)() or number()

    def mask(self, other: Expr, depth: int) -> Expr:
        """A mask of an array's shape."""
        test = self.rng.choice(("< <= > >= == !=").split())
        partner = self.partner(other, 0)
        return Expr(f"({{0}} {test} {{1}})", (other, partner))

    def integers(self, depth: int) -> Expr:
        """An array of integers."""

        def accept(value: Any) -> bool:
            return is_array(value) and value.dtype.kind in "iu" and value.ndim == 1

        found = self.names(accept)
        if found and self.rng.random() < 0.7:
            return Expr(self.rng.choice(found))
        return Expr("np.arange({0})", (self.size(0),))

    # Templates.

    def filled(self, table: Sequence[v.Template], depth: int) -> Expr | None:
        """A template of a table with its holes filled; what a lambda computes comes last."""
        template, holes, kind = self.rng.choice(table)
        if "lambda" in template:
            return self.with_lambda(template, holes, kind, depth)
        args: list[Expr] = []
        for hole in holes:
            args.append(self.hole(hole, args, depth - 1))
        if template in ALTERNATIVES and not self.alike(args[0], args[1]):
            return None
        return Expr(template, tuple(args), kind)

    def alike(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions give values of one kind."""
        first, second = self.values(a), self.values(b)
        return first is not None and second is not None and kind_of(first[0]) == kind_of(second[0])

    def hole(self, hole: str, args: list[Expr], depth: int) -> Expr:
        """What fills a hole, after the holes before it."""
        if hole == "p":
            return self.partner(args[0], depth)
        if hole == "m":
            return self.mask(args[0], depth)
        make: dict[str, Callable[[int], Expr]] = {
            "a": self.array, "n": self.number, "i": self.integer, "s": self.size,
            "c": self.condition, "k": self.integers,
        }  # fmt: skip
        return make[hole](depth)

    def with_lambda(self, template: str, holes: str, kind: Kind, depth: int) -> Expr | None:
        """A pattern with its function."""
        if self.lambdas >= 3:
            return None
        outside = [h for h in holes if h in "apsk"]
        args: list[Expr] = []
        for hole in outside:
            args.append(self.hole(hole, args, depth - 1))
        names = {key: self.name(key) for key in "vwij"}
        named = template.replace("{v}", names["v"]).replace("{w}", names["w"])
        named = named.replace("{i}", names["i"]).replace("{j}", names["j"])
        bound = self.bound(template, args, names)
        if bound is None:
            return None
        self.lambdas += 1
        try:
            with self.scope(bound):
                for hole in holes[len(outside) :]:
                    args.append(self.body(hole, depth - 1, list(bound[0])))
        finally:
            self.lambdas -= 1
        expr = Expr(named, tuple(args), kind, place=len(args) - 1)
        return replace(expr, place=0) if kind is v.S else expr

    def bound(self, template: str, args: list[Expr], names: dict[str, str]) -> list[World] | None:
        """The parameters of a pattern's function, with the last element for a value."""
        head = template[: template.index("lambda")]
        collection = head[: head.rindex(".")].format(*(arg.text() for arg in args))
        params = [k for k in "vwij" if f"{{{k}}}" in template]
        if head.startswith("pm.collect"):
            return [{names["i"]: 0, names["j"]: 0} for _ in self.worlds]
        found: list[World] = []
        for world in self.worlds:
            try:
                elements = eval(collection, {**self.globals, **world})
                last = elements.at(*(extent - 1 for extent in elements.extents))
            except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError):
                return None
            if ".reduce" in head:
                found.append({names["v"]: last, names["w"]: last})
            else:
                parts: Any = last if issubclass(type(last), tuple) else (last,)
                found.append({names[k]: part for k, part in zip(params, parts, strict=False)})
        return found

    def body(self, hole: str, depth: int, params: list[str]) -> Expr:
        """What a pattern's function computes, from its parameters more often than not."""
        makers: dict[str, Callable[[], Expr]] = {
            "r": lambda: self.of_params(params, depth, is_number),
            "e": lambda: self.of_params(params, depth, lambda x: is_number(x) or is_array(x)),
            "b": lambda: self.condition(max(depth, 1)),
            "g": lambda: self.key(params, depth),
        }
        return makers[hole]()

    def of_params(self, params: list[str], depth: int, accept: Callable[[Any], bool]) -> Expr:
        """A value that mentions a parameter, if one is found soon."""

        def attempt() -> Expr:
            wanted = self.array if accept(np.zeros(1)) and self.rng.random() < 0.4 else self.number
            return wanted(max(depth, 1))

        def direct() -> Expr:
            name = Expr(self.rng.choice(params))
            other = self.number(depth - 1)
            return Expr(
                self.rng.choice(("({0} + {1})", "({0} * {1})", "({1} - {0})")), (name, other)
            )

        def indexed() -> Expr | None:
            arrays = self.names(is_array)
            return (
                Expr("{0}[{1}]", (Expr(self.rng.choice(arrays)), Expr(params[-1])))
                if arrays
                else None
            )

        def reduced() -> Expr:
            array = is_array(self.worlds[0][params[0]])
            return Expr("{0}.sum()", (Expr(params[0]),), v.S) if array else Expr(params[0])

        choices: list[Callable[[], Expr | None]] = [attempt, direct, indexed, reduced]
        self.rng.shuffle(choices)
        for choice in choices:
            expr = choice()
            if expr is None or not any(name in expr.text() for name in params):
                continue
            found = self.values(expr)
            if found is not None and all(map(accept, found)):
                return expr
        return self.made(accept, [direct, reduced, lambda: Expr("2")])

    def key(self, params: list[str], depth: int) -> Expr:
        """A key of groups, 0 or 1."""
        if self.rng.random() < 0.3:
            return Expr("int({0})", (self.condition(max(depth, 1)),))
        name = self.rng.choice(params)
        value = self.worlds[0][name]
        return self.made(
            is_integer,
            [
                lambda: Expr(f"({name}.argmax() % 2)" if is_array(value) else f"({name} % 2)"),
                lambda: Expr(f"int({name} > 0)"),
                lambda: Expr("1"),
            ],
        )


def broadcasts(a: Any, b: Any) -> bool:
    """Whether two shapes are one after stretching what is 1."""
    try:
        np.broadcast_shapes(np.shape(a), np.shape(b))
    except ValueError:
        return False
    return True
