"""The CPU targets: `cpu` compiles kernels, `python` runs their text as it is.

Two printers compile the same Kernel IR and give the same bits: `llvm`, the default, prints LLVM IR;
`numba` gives the readable Python text to Numba's front end.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...staging.dataclass import dataclass
from ...staging.decisions import Decision
from ...staging.errors import Limitation, UserError
from ...staging.nodes import Op
from ...staging.passes import Options
from ...staging.tracing import Traced
from ...transforms.analyses.storage import Reuse, find_reuse
from ...transforms.kernel_ir import Buffer, Kernel
from ...transforms.kernel_walk import nodes
from ...transforms.lowering.program import lower_program
from ...transforms.lowering.whole import spelled
from ...transforms.pipelines import CPU
from ..direct_results import direct_results
from ..host_text import print_host
from ..llvm.printer import print_module
from ..machine_code import MachineCode
from ..mapped import Mapped, map_program
from ..python_text import print_kernels
from ..report import Report
from ..runtime.host import Run, load_host, with_launches
from ..runtime.launch import Code, Launcher
from ..target import cpu_problems, refuse
from . import code


@dataclass(frozen=True, slots=True)
class Direct:
    """A launch, by its name in the sequential part, and the buffer of a result."""

    name: str
    launcher: Launcher
    buffer: Buffer


@dataclass(frozen=True, slots=True)
class CpuProgram:
    """A compiled program: call it with arguments in the order of the program's parameters.

    run : its sequential part, which launches the kernels
    direct : results that a launch may write to the user's arrays, by their position
    mapped : the program that was lowered
    kernels : what it was lowered to, before whole-array statements were spelled out
    sources : the text that ran, by printer; "host" is the sequential part's
    machine : what was compiled, for reading; None where nothing was
    printer : the decision for one, None where Python runs the text
    """

    run: Run
    direct: Mapping[int, Direct]
    mapped: Mapped
    kernels: Sequence[Kernel]
    sources: Mapping[str, str]
    machine: MachineCode | None = None
    printer: Decision | None = None

    def __call__(self, arguments: Sequence[Any], into: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The results: new arrays and NumPy scalars, or arrays of `into` (staging/targets.py).

        Raises what the program's checks raise, ShapeError where the arguments' sizes do not fit.
        """
        return (self.writing(into) if into else self.run)(*arguments)

    def writing(self, into: Sequence[Any]) -> Run:
        """The sequential part, with launches that write to these arrays where they may."""
        given: dict[str, dict[Buffer, Any]] = {}
        for k, place in self.direct.items():
            if into[k] is not None:
                given.setdefault(place.name, {})[place.buffer] = into[k]
        launches = {p.name: p.launcher for p in self.direct.values() if p.name in given}
        return with_launches(
            self.run, {name: partial(f, into=given[name]) for name, f in launches.items()}
        )

    def report(self) -> Report:
        """The program at every stage, the decisions, the text that runs."""
        result = self.mapped.result()
        if self.printer is not None:
            result = replace(result, decisions=(*result.decisions, self.printer))
        # to read, whichever printer's text was compiled
        sources = {"python": print_kernels(self.kernels), **self.sources}
        return Report(result, sources, self.machine)


PRINTERS = ("llvm", "numba")


@dataclass(frozen=True, slots=True)
class CpuTarget:
    """Parallel kernels on the CPU's cores.

    name : "cpu", compiled; "python", the same text run by Python, for reading and tests

    Options: `printer`, "llvm" or "numba"; `limit` and decisions by their id (staging/decisions.py).
    """

    name: str = "cpu"

    def compile(self, traced: Traced, options: Mapping[str, object]) -> CpuProgram:
        """Maps, lowers, prints and compiles a traced program.

        Raises Limitation, before anything is printed, for what the target cannot do.
        """
        refuse(cpu_problems(traced.program), self.name)
        choices = dict(options)
        limit = choices.pop("limit", None)
        wanted = choices.pop("printer", None)
        assert limit is None or isinstance(limit, int)
        mapped = map_program(traced.program, CPU, Options(choices, limit))
        reuse = find_reuse(mapped.program)
        kernels = lower_program(mapped.program, reuse)
        readable = list(kernels.values())
        if self.name == "python":
            plain = launchers(kernels, code.plain(print_kernels(readable)))
            return program(mapped, reuse, plain, readable, {})
        kernels = {op: spelled(kernel) for op, kernel in kernels.items()}
        ordered = list(kernels.values())
        decision = choose_printer(ordered, wanted)
        sources: dict[str, str] = {}
        if decision.chosen == "numba":
            compiled = code.by_numba(ordered)
        else:
            sources["llvm"] = print_module(ordered)
            compiled = code.by_llvm(ordered, sources["llvm"])
        made = program(mapped, reuse, launchers(kernels, compiled), readable, sources)
        return replace(made, machine=compiled.machine, printer=decision)


def program(
    mapped: Mapped,
    reuse: Reuse,
    launchers: Mapping[Op, Launcher],
    readable: Sequence[Kernel],
    sources: Mapping[str, str],
) -> CpuProgram:
    """The compiled kernels with the sequential part around them."""
    host = print_host(mapped.program, launchers, reuse)
    texts = {"host": host.text, **sources}
    kernels = {op: launcher.kernel for op, launcher in launchers.items()}
    names = {launcher: name for name, launcher in host.launches.items()}
    direct = {
        k: Direct(names[launchers[op]], launchers[op], buffer)
        for k, (op, buffer) in direct_results(mapped.program, kernels).items()
    }
    run = load_host(host, mapped.program)
    return CpuProgram(run, direct, mapped, readable, texts)


def launchers(kernels: Mapping[Op, Kernel], compiled: Code) -> dict[Op, Launcher]:
    """The compiled kernels, by the loops that they run."""
    return {op: Launcher(kernel, compiled) for op, kernel in kernels.items()}


def choose_printer(kernels: Sequence[Kernel], wanted: object) -> Decision:
    """LLVM, unless the user chose or a kernel has a type that only Numba's printer knows.

    Who does not choose gets what PARLOOM_PRINTER says, if that is set.
    """
    name = "codegen.printer"
    default = os.environ.get("PARLOOM_PRINTER") or None
    for printer in (wanted, default):
        if printer is not None and printer not in PRINTERS:
            known = f"one of {', '.join(PRINTERS)}"
            raise UserError(f"there is no printer {printer!r}", where=(), instead=known)
    if has_complex(kernels):
        if wanted == "llvm":
            raise Limitation(
                "the LLVM printer does not know complex numbers",
                where=(),
                instead='printer="numba"',
            )
        return Decision(name, "", "numba", PRINTERS, "a kernel has complex numbers")
    if wanted is not None:
        return Decision(name, "", wanted, PRINTERS, "the option printer")
    if default is not None:
        return Decision(name, "", default, PRINTERS, "the variable PARLOOM_PRINTER")
    return Decision(name, "", "llvm", PRINTERS, "it compiles fastest, to the same bits")


def has_complex(kernels: Sequence[Kernel]) -> bool:
    """Whether any value of the kernels is complex."""
    return any(
        getattr(node, "dtype", None) is not None and node.dtype.kind == "c"  # type: ignore[attr-defined]
        for kernel in kernels
        for function in kernel.functions
        for node in (*nodes(list(function.body)), *function.params)
    )
