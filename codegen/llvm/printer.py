"""Kernel IR without whole-array statements, printed as LLVM IR.

Every function becomes two: the entry with the native ABI (`void f(i64* table)`, native.py), which
loads its parameters from the table, and the body, whose array parameters are `noalias`: buffers do
not overlap. Where arrays may have any strides there are two bodies, and the entry calls the one for
last axes without gaps if the strides are such. Scalars, and buffers for registers, live in stack
slots, which LLVM makes registers of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from ...staging.dataclass import dataclass
from ...staging.errors import InternalError
from ...transforms.kernel_ir import (
    Assign,
    Bits,
    Buffer,
    Convert,
    Expr,
    Fault,
    Fma,
    For,
    Function,
    If,
    Kernel,
    Let,
    Literal,
    Load,
    Local,
    LoopKind,
    Note,
    Prim,
    Space,
    Statement,
    Store,
    While,
)
from ...transforms.kernel_walk import leaves
from . import helpers, scalars
from .emitter import BOOL, INT64, Emitter, Value, constant, llvm_type, memory_type

PREFIX = "parloom_"
VECTOR = 32  # bytes of a vector register
CALL = re.compile(r"call [\w ]+ @(?!llvm\.)([\w.]+)\(")


@dataclass(slots=True)
class FunctionPrinter:
    """Prints the body of one function.

    unit : whether the last stride of every array is that of neighbours
    """

    e: Emitter
    unit: bool = False
    locals: dict[Local, str] = field(default_factory=dict[Local, str])
    names: dict[str, Local] = field(default_factory=dict[str, Local])

    # Statements.

    def statements(self, body: Sequence[Statement]) -> bool:
        """Prints a statement list; whether its end is reached."""
        return all(self.statement(statement) for statement in body)

    def statement(self, statement: Statement) -> bool:
        """Prints one statement; False when nothing after it runs."""
        if isinstance(statement, Let | Assign):
            self.set(statement.local, self.value(statement.value))
        elif isinstance(statement, Store):
            self.store(statement)
        elif isinstance(statement, For):
            self.loop(statement)
        elif isinstance(statement, If):
            return self.branch(statement)
        elif isinstance(statement, While):
            self.while_loop(statement)
        elif isinstance(statement, Fault):
            self.fault(statement)
            return False
        elif not isinstance(statement, Note):
            name = type(statement).__name__
            raise InternalError(f"the LLVM printer has no statement {name}", where=())
        return True

    def slot(self, local: Local) -> str:
        """The stack slot of a local."""
        known = self.locals.get(local)
        if known is None:
            known = self.locals[local] = self.e.slot(local.dtype)
        return known

    def set(self, local: Local, value: Value) -> None:
        """Sets a local."""
        self.e.do(f"store {value}, ptr {self.slot(local)}")

    def store(self, statement: Store) -> None:
        """Writes an element."""
        buffer = statement.buffer
        value = self.value(statement.value)
        pointer = self.pointer(buffer, statement.indices)
        if buffer.dtype.kind == "b":
            value = scalars.convert(self.e, value, np.dtype(np.uint8))
        self.e.do(f"store {value}, ptr {pointer}{self.align(buffer)}")

    def align(self, buffer: Buffer) -> str:
        """The alignment of an element."""
        return f", align {buffer.dtype.itemsize}"

    def fault(self, statement: Fault) -> None:
        """Records the fault and returns."""
        e = self.e
        for slot, found in enumerate(statement.record):
            value = f"i64 {found}" if isinstance(found, int) else str(self.value(found))
            place = e.fresh("p")
            e.do(f"%{place} = getelementptr inbounds i64, ptr %fault.data, i64 {slot}")
            e.do(f"store {value}, ptr %{place}")
        e.do("ret void")

    def loop(self, loop: For) -> None:
        """A counted loop, tested at its head."""
        e = self.e
        head, body, done = e.fresh("head"), e.fresh("body"), e.fresh("done")
        stop = self.value(loop.stop)
        first = len(e.lines)
        self.set(loop.index, self.value(loop.start))
        e.branch(head)
        e.label(head)
        index = self.local(loop.index)
        e.branch_if(e.compare("icmp slt", index, stop), body, done)
        e.label(body)
        if self.statements(loop.body):
            following = e.op(f"add nsw i64 {self.local(loop.index).text}, {loop.step}", INT64)
            self.set(loop.index, following)
            e.branch(head, self.vectors(loop, e.lines[first:]))
        e.label(done)

    def vectors(self, loop: For, lines: Sequence[str]) -> str:
        """For a loop over registers, that it becomes vector instructions, all lanes at once.

        Vectors are as long as those of the routines that it calls; LLVM has no vector form of any
        other function, nor of routines of different lengths.
        """
        used = [b for b in leaves(list(loop.body)) if isinstance(b, Buffer)]
        sizes = [b.dtype.itemsize for b in used if b.space is Space.REGISTERS]
        if loop.kind is not LoopKind.LANES or not sizes:
            return ""
        assert isinstance(loop.stop, Literal)
        lanes = int(loop.stop.value)
        called = {name for line in lines for name in CALL.findall(line)}
        routines = [self.e.used.get(name) for name in called]
        lengths = {0 if routine is None else routine.lanes for routine in routines}
        width = lengths.pop() if lengths else min(VECTOR // max(sizes), lanes)
        if lengths or not 0 < width <= lanes:
            return ""
        return self.e.loop(  # without "vectorize.enable": LLVM would complain where it cannot
            f"vectorize.width, i32 {width}",
            f"interleave.count, i32 {lanes // width}",
            "unroll.disable",
        )

    def branch(self, statement: If) -> bool:
        """A branch; whether one of its ends is reached."""
        e = self.e
        then, orelse, done = e.fresh("then"), e.fresh("else"), e.fresh("endif")
        e.branch_if(self.value(statement.cond), then, orelse)
        reached = False
        for label, body in ((then, statement.then), (orelse, statement.orelse)):
            e.label(label)
            if self.statements(body):
                reached = True
                e.branch(done)
        if reached:
            e.label(done)
        return reached

    def while_loop(self, loop: While) -> None:
        """`while True: test; if not cond: break; body`."""
        e = self.e
        head, body, done = e.fresh("head"), e.fresh("body"), e.fresh("done")
        e.branch(head)
        e.label(head)
        self.statements(loop.test)
        e.branch_if(self.value(loop.cond), body, done)
        e.label(body)
        if self.statements(loop.body):
            e.branch(head)
        e.label(done)

    # Expressions.

    def local(self, local: Local) -> Value:
        """The value of a local."""
        return self.e.op(f"load {llvm_type(local.dtype)}, ptr {self.slot(local)}", local.dtype)

    def value(self, expr: Expr) -> Value:
        """An expression's value."""
        if isinstance(expr, Literal):
            return Value(constant(expr.value), expr.dtype)
        if isinstance(expr, Local):
            return self.local(expr)
        if isinstance(expr, Load):
            return self.load(expr)
        if isinstance(expr, Convert):
            return scalars.convert(self.e, self.value(expr.arg), expr.dtype)
        if isinstance(expr, Fma):
            args = tuple(self.value(x) for x in (expr.a, expr.b, expr.c))
            return self.e.call(f"llvm.fma.f{expr.dtype.itemsize * 8}", args, expr.dtype)
        if isinstance(expr, Bits):
            return self.e.convert("bitcast", self.value(expr.arg), expr.dtype)
        assert isinstance(expr, Prim)
        return scalars.apply(self.e, expr.primitive, tuple(map(self.value, expr.args)), expr.dtype)

    def load(self, expr: Load) -> Value:
        """Reads an element."""
        buffer = expr.buffer
        pointer = self.pointer(buffer, expr.indices)
        found = self.e.op(
            f"load {memory_type(buffer.dtype)}, ptr {pointer}{self.align(buffer)}",
            np.dtype(np.uint8) if buffer.dtype.kind == "b" else buffer.dtype,
        )
        return scalars.convert(self.e, found, BOOL) if buffer.dtype.kind == "b" else found

    def pointer(self, buffer: Buffer, indices: tuple[Expr, ...]) -> str:
        """The address of an element."""
        e = self.e
        values = [self.value(i) for i in indices]
        pointer = f"%{e.fresh('p')}"
        if buffer.contiguous and values:
            offset = values[0]
            for axis, value in enumerate(values[1:], 1):
                row = e.op(f"mul nsw i64 {offset.text}, %{buffer.name}.shape{axis}", INT64)
                offset = e.op(f"add nsw {row}, {value.text}", INT64)
            kind = memory_type(buffer.dtype)
            e.do(f"{pointer} = getelementptr inbounds {kind}, ptr %{buffer.name}.data, {offset}")
            return pointer
        offset = e.const(0, INT64)
        for axis, value in enumerate(values):
            near = self.unit and axis + 1 == buffer.rank
            stride = str(buffer.dtype.itemsize) if near else f"%{buffer.name}.stride{axis}"
            step = e.op(f"mul nsw {value}, {stride}", INT64)
            offset = e.op(f"add nsw {offset}, {step.text}", INT64)
        e.do(f"{pointer} = getelementptr inbounds i8, ptr %{buffer.name}.data, {offset}")
        return pointer


def print_function(function: Function, symbol: str, shared: Emitter) -> list[str]:
    """The lines of a function and of its entry.

    A function of arrays with any strides has a second body, for last strides of neighbours.
    """
    body = f"{PREFIX}{symbol}.body"
    lines = body_lines(function, body, shared, unit=False)
    arrays = [q for q in function.params if isinstance(q, Buffer)]
    if any(q.rank and not q.contiguous for q in arrays):
        lines += body_lines(function, f"{body}.unit", shared, unit=True)
    return [*lines, *entry_lines(function, symbol, body)]


def body_lines(function: Function, body: str, shared: Emitter, unit: bool) -> list[str]:
    """The lines of a body."""
    e = Emitter(declared=shared.declared, used=shared.used, loops=shared.loops)
    printer = FunctionPrinter(e, unit)
    for param in function.params:
        if isinstance(param, Local):
            printer.set(param, Value(f"%{param.name}.arg", param.dtype))
        elif param.space is Space.REGISTERS:
            e.slots.append(registers(param))
    if printer.statements(function.body):
        e.do("ret void")
    parameters = [text for q in function.params for text in body_parameters(q)]
    size = "" if function.name == "chunk" else " minsize"  # the others are quickly compiled
    return [
        f"define internal void @{body}({', '.join(parameters)}) noinline nounwind{size} {{",
        "entry:",
        *e.slots,
        *e.terminated(),
        "}",
        "",
    ]


def registers(buffer: Buffer) -> str:
    """A buffer on the stack, which LLVM makes vector registers of."""
    (lanes,) = buffer.shape
    return f"  %{buffer.name}.data = alloca [{lanes} x {memory_type(buffer.dtype)}], align {VECTOR}"


def body_parameters(param: Local | Buffer) -> list[str]:
    """A parameter of the body as LLVM parameters."""
    if isinstance(param, Local):
        return [f"{llvm_type(param.dtype)} %{param.name}.arg"]
    if param.space is Space.REGISTERS:
        return []
    written = "" if param.space is not Space.INPUT else " readonly"
    shapes = [f"i64 %{param.name}.shape{axis}" for axis in range(param.rank)]
    strides = [f"i64 %{param.name}.stride{axis}" for axis in range(param.rank)]
    align = param.dtype.itemsize
    return [f"ptr noalias{written} align {align} %{param.name}.data", *shapes, *strides]


def entry_lines(function: Function, symbol: str, body: str) -> list[str]:
    """The entry: loads the parameters from the table and calls the body."""
    lines: list[str] = []
    args: list[str] = []
    tests: list[tuple[str, int]] = []
    at = 0

    def slot(type_: str, name: str) -> None:
        nonlocal at
        lines.append(f"  %{name}.p = getelementptr inbounds i64, ptr %table, i64 {at}")
        lines.append(f"  %{name} = load {type_}, ptr %{name}.p")
        args.append(f"{type_} %{name}")
        at += 1

    for k, param in enumerate(function.params):
        if isinstance(param, Local) and param.dtype.kind == "b":
            slot("i8", f"a{k}.byte")
            lines.append(f"  %a{k} = trunc i8 %a{k}.byte to i1")
            args[-1] = f"i1 %a{k}"
        elif isinstance(param, Local):
            slot(llvm_type(param.dtype), f"a{k}")
        elif param.space is Space.REGISTERS:
            at += 1 + 2 * param.rank
        else:
            slot("ptr", f"a{k}")
            for axis in range(2 * param.rank):
                slot("i64", f"a{k}.{axis}")
            if not param.contiguous and param.rank:
                tests.append((f"a{k}.{2 * param.rank - 1}", param.dtype.itemsize))
    call = f"void @{body}({', '.join(args)})"
    return [
        f"define void @{PREFIX}{symbol}(ptr %table) nounwind {{",
        *lines,
        *calls(call, tests),
        "  ret void",
        "}",
        "",
    ]


def calls(call: str, tests: Sequence[tuple[str, int]]) -> list[str]:
    """The call of the body, or of its version for strides that are what `tests` says."""
    if not tests:
        return [f"  call {call}"]
    lines: list[str] = []
    unit = "true"
    for k, (stride, size) in enumerate(tests):
        lines.append(f"  %near.{k} = icmp eq i64 %{stride}, {size}")
        lines.append(f"  %unit.{k} = and i1 {unit}, %near.{k}")
        unit = f"%unit.{k}"
    return [
        *lines,
        f"  br i1 {unit}, label %unit, label %any",
        "unit:",
        f"  call {call.replace('.body(', '.body.unit(')}",
        "  ret void",
        "any:",
        f"  call {call}",
    ]


def print_module(kernels: Sequence[Kernel]) -> str:
    """One module for all functions of kernels without whole-array statements."""
    lines: list[str] = []
    shared = Emitter()
    for kernel in kernels:
        for function in kernel.functions:
            lines.extend(print_function(function, f"{kernel.name}_{function.name}", shared))
    lines.extend(helpers.definitions(shared.used))
    declarations = sorted(shared.declared.values())
    return "\n".join((*lines, *declarations, *shared.loops)) + "\n"
