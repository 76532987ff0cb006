"""A program's sequential part as one readable Python function: what runs between launches.

    def kmeans(x, centroids, tol, max_iter):
        x_0, x_1 = x.shape
        centroids_0, centroids_1 = centroids.shape
        if centroids_1 != x_1:
            check_arguments(x, centroids, tol, max_iter)
        ...
        while True:
            t_3 = abs(t_2)
            ...
            total, count = launch_total_count(x_1, x, centroids_0, t, x_0)

Scalars are NumPy's, of exactly the IR's dtypes, and numbers of the text become so when it is loaded
(plain.py). Sizes stay Python's where only launches use them as extents. What a text refers to
stands beside it in `HostText` (host_program.py); runtime/host.py runs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby

from ..patterns.library import Library
from ..staging.dataclass import dataclass
from ..staging.document import Document
from ..staging.errors import Limitation
from ..staging.locations import Location
from ..staging.nodes import (
    Apply,
    Block,
    Bounds,
    Callback,
    Cast,
    Check,
    Const,
    ForLoop,
    If,
    Index,
    Op,
    Operand,
    Program,
    PythonFunction,
    Stmt,
    Update,
    Var,
    While,
)
from ..staging.syntax import snake
from ..staging.traversal import blocks
from ..staging.types import Array, Exists, Scalar
from ..transforms.analyses.storage import NOTHING, Reuse
from ..transforms.lowering.names import KernelNames
from .host_lifetimes import last_uses, reads_inside
from .host_program import HELPERS, HostText, LibraryCall, Site, calls_back
from .host_scalars import constant, converted, is_silent, primitive
from .host_sizes import scalar_sizes
from .ownership import Shared, shared_results
from .python_literals import comment
from .runtime.launch import Launcher


def print_host(
    program: Program, launchers: Mapping[Op, Launcher], reuse: Reuse = NOTHING
) -> HostText:
    """The text of a program whose loops `launchers` run.

    reuse : what may happen in place, as the kernels were lowered with
    Raises Limitation for an op that has no text.
    """
    printer = HostPrinter(program, launchers, reuse)
    printer.function()
    return HostText(
        f"import numpy as np\n\n\n{printer.out}\n",
        printer.name,
        {name: launchers[op] for op, name in printer.launches.items()},
        {name: function for function, name in printer.callbacks.items()},
        printer.libraries,
        printer.sites,
    )


@dataclass(slots=True)
class HostPrinter:
    """Prints one function.

    known : the text of each variable
    scalars : the sizes that are used as NumPy's scalars
    quiet : whether the lines are inside of `with np.errstate(...)`
    dead : the arrays that are let go after a statement
    """

    program: Program
    launchers: Mapping[Op, Launcher]
    reuse: Reuse
    out: Document = field(default_factory=lambda: Document(indent="    "))
    names: KernelNames = field(default_factory=KernelNames)
    name: str = ""
    known: dict[Var, str] = field(default_factory=dict[Var, str])
    launches: dict[Op, str] = field(default_factory=dict[Op, str])
    callbacks: dict[PythonFunction, str] = field(default_factory=dict[PythonFunction, str])
    libraries: dict[str, LibraryCall] = field(default_factory=dict[str, LibraryCall])
    sites: list[Site] = field(default_factory=list[Site])
    quiet: bool = False
    dead: Mapping[Stmt, tuple[Var, ...]] = field(default_factory=dict[Stmt, tuple[Var, ...]])
    last: tuple[Location, ...] = ()

    def function(self) -> None:
        """The whole text."""
        self.names.used.update(HELPERS)
        self.dead = last_uses(self.program, self.launchers)
        self.name = self.names.fresh(self.program.name, "program")
        for op, launcher in self.launchers.items():
            self.launches[op] = self.names.fresh(f"launch_{launcher.kernel.name}")
        params = [self.declare(q) for q in self.program.params]
        self.call(f"def {self.name}", params, ":")
        with self.out.indented():
            self.entry(params)
            self.statements(self.program.body.stmts)
            self.results()

    # Entry.

    def entry(self, params: Sequence[str]) -> None:
        """Takes the sizes from the arguments; those that meet must be equal."""
        axes: dict[tuple[int, int], str] = {}
        unequal: dict[str, None] = {}
        for position, param in enumerate(self.program.params):
            if not isinstance(param.type, Array) or not param.type.shape:
                continue
            for axis, dim in enumerate(param.type.shape):
                known = self.dim(dim)
                if isinstance(dim, Var) and not known:
                    axes[position, axis] = self.declare(dim)
                    continue
                name = axes[position, axis] = self.names.fresh(f"{param.name}_{axis}")
                unequal[f"{name} != {known}"] = None
            here = unpacked([axes[position, axis] for axis in range(param.type.rank)])
            self.out.line(f"{here} = {self.known[param]}.shape")
        for check in self.program.checks:
            kept = str(check.kept) if isinstance(check.kept, int) else axes[check.kept]
            unequal.setdefault(f"{axes[check.dropped]} != {kept}")
        if unequal:
            self.out.line(f"if {' or '.join(unequal)}:")
            with self.out.indented():
                self.call("check_arguments", params)
        used = scalar_sizes(self.program, self.launchers)
        for size in self.program.sizes:
            if size in used:
                self.out.line(f"{self.known[size]} = np.int64({self.known[size]})")

    def results(self) -> None:
        """The last line: every array is the caller's own."""
        found = shared_results(self.program, self.launchers)
        shared = zip(self.program.body.operands, found, strict=True)
        self.call("return ", [self.result(operand, how) for operand, how in shared], tuple_=True)

    def result(self, operand: Operand, how: Shared) -> str:
        """One result, copied where it is an argument or another result."""
        if how.certain:
            return f"copied({self.text(operand)})"
        if how.others:
            return f"owned({', '.join(map(self.text, (operand, *how.others)))})"
        return self.text(operand)

    # Statements.

    def statements(self, stmts: Iterable[Stmt]) -> None:
        """Statements in order; NumPy's warnings are off, but for calls of the user's functions."""
        for calls, group in groupby(stmts, calls_back):
            found = list(group)
            if self.quiet or calls or not self.are_noisy(found):
                for stmt in found:
                    self.statement(stmt)
                continue
            self.out.line('with np.errstate(all="ignore"):')
            self.quiet = True
            with self.out.indented():
                for stmt in found:
                    self.statement(stmt)
            self.quiet = False

    def are_noisy(self, stmts: Iterable[Stmt]) -> bool:
        """Whether NumPy may warn while it computes scalars of these statements."""
        for stmt in stmts:
            if stmt.op in self.launchers:
                continue
            if isinstance(stmt.op, Apply | Cast):
                if not is_silent(stmt.op):
                    return True
            elif any(self.are_noisy(block.stmts) for block in blocks(stmt.op)):
                return True
        return False

    def statement(self, stmt: Stmt) -> None:
        """One statement, below the user's lines."""
        op = stmt.op
        self.note(stmt.sources)
        if op in self.launchers:
            given = [self.text(v) for v in self.launchers[op].operands]
            binders = [self.declare(b) for b in stmt.binders]
            target = f"{unpacked(binders)} = " if binders else ""
            self.call(f"{target}{self.launches[op]}", given)
        elif isinstance(op, Apply):
            value = primitive(op, [self.text(a) for a in op.args])
            self.out.line(f"{self.declare(stmt.binders[0])} = {value}")
        elif isinstance(op, Cast):
            self.cast(stmt.binders[0], op)
        elif isinstance(op, Index):
            element = self.element(op, stmt.sources)
            self.out.line(f"{self.declare(stmt.binders[0])} = {element}")
        elif isinstance(op, Update):
            self.update(stmt, op)
        elif isinstance(op, If):
            self.branch(stmt, op)
        elif isinstance(op, While):
            self.loop(stmt, op)
        elif isinstance(op, ForLoop):
            self.counted(stmt, op)
        elif isinstance(op, Check):
            self.out.line(f"if not {self.text(op.cond)}:")
            with self.out.indented():
                self.out.line(f"fault({self.site(op, stmt.sources)})")
        elif isinstance(op, Callback):
            self.callback(op)
        elif isinstance(op, Library):
            self.library(stmt, op)
        else:
            raise Limitation(
                f"{type(op).__name__} has no text between launches", where=stmt.sources
            )
        self.let_go(stmt, inside=True)

    def note(self, sources: tuple[Location, ...]) -> None:
        """The user's lines, once as long as they stay the same."""
        if sources and sources != self.last:
            for source in dict.fromkeys(s for s in sources if s.text):
                self.out.line(f"# {comment(source)}")
            self.last = sources

    def cast(self, binder: Var, op: Cast) -> None:
        """A conversion; one to the same dtype is but another name."""
        source = op.arg.type
        assert isinstance(source, Scalar)
        if source.dtype == op.to.dtype:
            self.known[binder] = self.text(op.arg)
        else:
            value = converted(self.text(op.arg), source.dtype, op.to.dtype)
            self.out.line(f"{self.declare(binder)} = {value}")

    def element(self, op: Index | Update, sources: tuple[Location, ...]) -> str:
        """An element of an array; a line before checks its index, unless it is proven inside."""
        array, index = self.text(op.array), [self.text(i) for i in op.indices]
        assert isinstance(op.array.type, Array)
        if op.bounds is Bounds.CHECKED and index:
            sizes = map(self.dim, op.array.type.shape)
            inside = [f"0 <= {i} < {size}" for i, size in zip(index, sizes, strict=True)]
            self.out.line(f"if not ({' and '.join(inside)}):")
            with self.out.indented():
                self.call("fault", [str(self.site(op, sources)), f"{array}.shape", *index])
        return f"{array}[{', '.join(index) or '()'}]"

    def update(self, stmt: Stmt, op: Update) -> None:
        """A store, in place where nothing reads the old array any more."""
        element, array = self.element(op, stmt.sources), self.text(op.array)
        if stmt in self.reuse.updates:
            self.known[stmt.binders[0]] = array
        else:
            new = self.declare(stmt.binders[0])
            self.out.line(f"{new} = copied({array})")
            element = new + element.removeprefix(array)
        self.out.line(f"{element} = {self.text(op.value)}")

    def branch(self, stmt: Stmt, op: If) -> None:
        """Both branches set the binders."""
        binders = [self.declare(b) for b in stmt.binders]
        self.out.line(f"if {self.text(op.cond)}:")
        self.block(op.then, binders)
        if op.orelse.stmts or binders:
            self.out.line("else:")
            self.block(op.orelse, binders)

    def loop(self, stmt: Stmt, op: While) -> None:
        """The state has one name each, in the condition, in the body and behind the loop."""
        state = self.state(stmt, op, op.cond.params, op.body.params)
        self.out.line("while True:")
        with self.out.indented():
            self.statements(op.cond.stmts)
            self.out.line(f"if not {self.text(op.cond.operands[0])}:")
            with self.out.indented():
                self.out.line("break")
        self.block(op.body, state)

    def counted(self, stmt: Stmt, op: ForLoop) -> None:
        """A loop over `range`, which gives int64."""
        index, *params = op.body.params
        state = self.state(stmt, op, params)
        self.out.line(f"for {self.declare(index)} in range({self.text(op.count)}):")
        self.block(op.body, state)

    def state(self, stmt: Stmt, op: While | ForLoop, *params: Sequence[Var]) -> list[str]:
        """Sets a loop's state; the names. Where the loop writes to an array, it is its own."""
        start = [
            f"copied({self.text(v)})" if (op, k) in self.reuse.copied else self.text(v)
            for k, v in enumerate(op.init)
        ]
        names = [self.declare(b) for b in stmt.binders]
        for variables in params:
            self.known.update(zip(variables, names, strict=True))
        self.assign(names, start)
        self.let_go(stmt, inside=False)
        return names

    def let_go(self, stmt: Stmt, inside: bool) -> None:
        """Forgets the arrays that are dead after a statement; a loop's first state is before it,
        if it is not read inside."""
        found = [
            self.text(var)
            for var in self.dead.get(stmt, ())
            if inside is (not self.is_loop(stmt) or reads_inside(stmt.op, var))
        ]
        if found:
            self.out.line(f"del {', '.join(found)}")

    def is_loop(self, stmt: Stmt) -> bool:
        """Whether the statement is a loop of the text."""
        return isinstance(stmt.op, While | ForLoop) and stmt.op not in self.launchers

    def block(self, block: Block, binders: Sequence[str]) -> None:
        """The statements, indented, and the assignment of the results."""
        with self.out.indented():
            self.statements(block.stmts)
            self.assign(binders, [self.text(r) for r in block.operands])
            if not block.stmts and not binders:
                self.out.line("pass")

    def assign(self, names: Sequence[str], values: Sequence[str]) -> None:
        """All at once, for values may be other names' old ones."""
        changed = [(n, v) for n, v in zip(names, values, strict=True) if n != v]
        if changed:
            self.out.line(" = ".join(", ".join(side) for side in zip(*changed, strict=True)))

    def callback(self, op: Callback) -> None:
        """Python's numbers for weak scalars; copies of arrays, for the function may write."""
        name = self.callbacks.get(op.function)
        if name is None:
            name = self.names.fresh(repr(op.function).rpartition(".")[2], "function")
            self.callbacks[op.function] = name
        self.call(name, [self.handed(a) for a in op.args])

    def library(self, stmt: Stmt, op: Library) -> None:
        """A call of a library's function."""
        name = self.names.fresh(f"library_{snake(type(op.routine).__name__)}")
        self.libraries[name] = op.routine, stmt.sources
        binders = [self.declare(b) for b in stmt.binders]
        self.call(f"{unpacked(binders)} = {name}", [self.text(a) for a in op.args])

    def handed(self, operand: Operand) -> str:
        """An argument of a user's function."""
        weak = isinstance(operand.type, Scalar) and operand.type.weak
        text = f"({self.text(operand)})" if isinstance(operand, Const) else self.text(operand)
        return f"{text}.item()" if weak else f"{text}.copy()"

    # Words.

    def declare(self, var: Var) -> str:
        """Gives a variable its name."""
        found = self.known[var] = self.names.fresh(var.name)
        return found

    def text(self, operand: Operand) -> str:
        """A variable's name, or a constant."""
        return constant(operand.value) if isinstance(operand, Const) else self.known[operand]

    def dim(self, dim: int | Var | Exists) -> str:
        """A dimension; "" for a size that has no name yet."""
        return self.known.get(dim, "") if isinstance(dim, Var) else str(dim)

    def site(self, op: Check | Index | Update, sources: tuple[Location, ...]) -> int:
        """The number of a statement that may raise."""
        self.sites.append((op, sources))
        return len(self.sites) - 1

    def call(self, head: str, args: Sequence[str], tail: str = "", tuple_: bool = False) -> None:
        """A line with something in parentheses, where it may be broken."""
        self.out.write(f"{head}(")
        for position, arg in enumerate(args):
            if position:
                self.out.write(",")
                self.out.may_break()
            self.out.write(arg)
        self.out.line(f"{',' if tuple_ and len(args) == 1 else ''}){tail}")


def unpacked(names: Sequence[str]) -> str:
    """Names to unpack a tuple into."""
    return ", ".join(names) if len(names) > 1 else f"({names[0]},)"
