"""Lines of LLVM IR for one function: fresh values, instructions, basic blocks, stack slots."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from ...staging.dataclass import dataclass
from ...staging.errors import InternalError
from ..vector_math import Routine


def llvm_type(dtype: np.dtype[np.generic]) -> str:
    """The type of a value in a register.

    >>> llvm_type(np.dtype(np.float64)), llvm_type(np.dtype(np.uint8)), llvm_type(np.dtype(bool))
    ('double', 'i8', 'i1')
    """
    match dtype.kind:
        case "b":
            return "i1"
        case "i" | "u":
            return f"i{dtype.itemsize * 8}"
        case "f" if dtype.itemsize in (4, 8):
            return "float" if dtype.itemsize == 4 else "double"
        case _:
            raise InternalError(f"the LLVM printer has no type for {dtype}", where=())


def memory_type(dtype: np.dtype[np.generic]) -> str:
    """The type of an array's element: a bool takes a byte."""
    return "i8" if dtype.kind == "b" else llvm_type(dtype)


def constant(value: np.generic) -> str:
    """A constant operand; floats by their bits.

    >>> constant(np.float64(0.5)), constant(np.int64(-3)), constant(np.bool_(True))
    ('0x3FE0000000000000', '-3', 'true')
    """
    match value.dtype.kind:
        case "b":
            return "true" if value else "false"
        case "i" | "u":
            return str(int(value.item()))
        case _:
            wide = np.float64(value.item()) if value.dtype.itemsize == 4 else value
            return f"0x{int(np.asarray(wide).view(np.uint64)):016X}"


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a register, or a constant."""

    text: str
    dtype: np.dtype[np.generic]

    @property
    def type(self) -> str:
        """Its LLVM type."""
        return llvm_type(self.dtype)

    def __str__(self) -> str:
        return f"{self.type} {self.text}"


BOOL = np.dtype(np.bool_)
INT64 = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)


@dataclass(slots=True)
class Emitter:
    """Collects a function's instructions.

    slots : stack slots, at the function's entry, which LLVM turns into registers
    declared : outside functions that are called, with their declarations
    used : functions of helpers.py that are called, with the routines that they wrap
    loops : what is said about loops, as metadata
    """

    lines: list[str] = field(default_factory=list[str])
    slots: list[str] = field(default_factory=list[str])
    declared: dict[str, str] = field(default_factory=dict[str, str])
    used: dict[str, Routine | None] = field(default_factory=dict[str, Routine | None])
    loops: list[str] = field(default_factory=list[str])
    count: int = 0

    def fresh(self, hint: str = "v") -> str:
        """A new name."""
        self.count += 1
        return f"{hint}.{self.count}"

    def op(self, instruction: str, dtype: np.dtype[np.generic]) -> Value:
        """An instruction with a result."""
        name = f"%{self.fresh()}"
        self.lines.append(f"  {name} = {instruction}")
        return Value(name, dtype)

    def do(self, instruction: str) -> None:
        """An instruction without a result."""
        self.lines.append(f"  {instruction}")

    def label(self, name: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{name}:")

    def terminated(self) -> list[str]:
        """The lines; a basic block that nothing enters and that is empty is closed."""
        found: list[str] = []
        for k, line in enumerate(self.lines):
            found.append(line)
            last = k + 1 == len(self.lines)
            if line.endswith(":") and (last or self.lines[k + 1].endswith(":")):
                found.append("  unreachable")
        return found

    def branch(self, target: str, metadata: str = "") -> None:
        """Ends a basic block."""
        self.do(f"br label %{target}{metadata}")

    def loop(self, *hints: str) -> str:
        """Metadata for the branch back of a loop: `llvm.loop.` hints with their values."""
        number = len(self.loops)
        pairs = [hint.partition(",") for hint in hints]
        nodes = [f'!{{!"llvm.loop.{name}"{comma}{value}}}' for name, comma, value in pairs]
        self.loops.append(f"!{number} = distinct !{{{', '.join((f'!{number}', *nodes))}}}")
        return f", !llvm.loop !{number}"

    def branch_if(self, cond: Value, then: str, orelse: str, metadata: str = "") -> None:
        """Ends a basic block in one of two ways."""
        self.do(f"br {cond}, label %{then}, label %{orelse}{metadata}")

    def slot(self, dtype: np.dtype[np.generic]) -> str:
        """A stack slot for a mutable scalar."""
        name = f"%{self.fresh('slot')}"
        self.slots.append(f"  {name} = alloca {llvm_type(dtype)}")
        return name

    # Instructions that the primitives are made of.

    def binary(self, opcode: str, a: Value, b: Value) -> Value:
        """An arithmetic instruction."""
        return self.op(f"{opcode} {a}, {b.text}", a.dtype)

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        """A comparison; `predicate` with its class, "icmp slt" or "fcmp olt"."""
        return self.op(f"{predicate} {a}, {b.text}", BOOL)

    def select(self, cond: Value, a: Value, b: Value) -> Value:
        """a where cond holds, else b."""
        return self.op(f"select {cond}, {a}, {b}", a.dtype)

    def convert(self, opcode: str, a: Value, dtype: np.dtype[np.generic]) -> Value:
        """A conversion instruction."""
        return self.op(f"{opcode} {a} to {llvm_type(dtype)}", dtype)

    def call(self, name: str, args: tuple[Value, ...], dtype: np.dtype[np.generic]) -> Value:
        """A call of a function outside of the module (libm) or of an intrinsic."""
        result = llvm_type(dtype)
        types = ", ".join(a.type for a in args)
        known = name.startswith("llvm.")  # LLVM takes others as they are: pow(2.0, x) is no exp2(x)
        attributes = "" if known else " nobuiltin nounwind willreturn memory(none)"
        self.declared[name] = f"declare {result} @{name}({types}){attributes}"
        return self.op(f"call {result} @{name}({', '.join(map(str, args))})", dtype)

    def call_defined(
        self, name: str, args: tuple[Value, ...], dtype: np.dtype[np.generic], wraps: Routine | None
    ) -> Value:
        """A call of a function of helpers.py."""
        self.used[name] = wraps
        return self.op(f"call {llvm_type(dtype)} @{name}({', '.join(map(str, args))})", dtype)

    def const(self, value: object, dtype: np.dtype[np.generic]) -> Value:
        """A constant of the dtype."""
        found: Any = np.asarray(value).astype(dtype)[()]
        return Value(constant(found), dtype)
