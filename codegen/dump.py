"""Everything that a back end made, as files: for looking at a kernel in an editor.

A script runs as it stands, with a CPU target that writes down each program that it compiles:

    report.txt      the program at every stage, the decisions
    kernels.py      the kernels as Python
    host.py         what runs between them
    kernels.ll      the LLVM IR that was printed
    optimised.ll    the same after LLVM's passes
    assembly.s      the assembly
    loops.txt       which loops are vectors

`kernels.ll` can be edited and compiled again by itself (`recompile`). A program that the back end
fails on is written down as far as it comes.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ..staging import targets
from ..staging.dataclass import dataclass
from ..staging.tracing import Traced
from ..transforms.lowering.program import lower_program
from . import objects
from .cpu.target import CpuProgram, CpuTarget
from .llvm import engine
from .llvm.printer import print_module
from .machine_code import MachineCode
from .report import Report


@dataclass(slots=True)
class Recorder:
    """The target `cpu`, writing down what it compiles.

    to : where each program gets a folder
    function : the name of the only program to write down; "" for all
    written : the folders that were made
    tell : called with each of them
    """

    to: Path
    function: str = ""
    tell: Callable[[Path], None] = lambda folder: None
    name: str = "cpu"
    written: list[Path] = field(default_factory=list[Path])

    def compile(self, traced: Traced, options: Mapping[str, object]) -> CpuProgram:
        """Compiles by the target `cpu`."""
        wanted = self.function in ("", traced.program.name)
        try:
            program = CpuTarget().compile(traced, options)
        except Exception:
            if wanted:
                self._write_texts(traced, options)
            raise
        if wanted:
            write(program.report(), self._folder(traced.program.name))
        return program

    def _write_texts(self, traced: Traced, options: Mapping[str, object]) -> None:
        """What there is before anything is compiled."""
        folder = self._folder(traced.program.name)
        rest = {name: value for name, value in options.items() if name != "printer"}
        program = CpuTarget("python").compile(traced, rest)
        write(program.report(), folder)
        kernels = lower_program(program.mapped.program)
        (folder / "kernels.ll").write_text(print_module(list(kernels.values())))

    def _folder(self, name: str) -> Path:
        stem = re.sub(r"\W+", "_", name).strip("_") or "program"
        taken = sum(re.fullmatch(rf"{stem}(_\d+)?", path.name) is not None for path in self.written)
        folder = self.to / (f"{stem}_{taken + 1}" if taken else stem)
        folder.mkdir(parents=True, exist_ok=True)
        self.written.append(folder)
        self.tell(folder)
        return folder


_FILES = {"python": "kernels.py", "llvm": "kernels.ll", "host": "host.py"}


def write(report: Report, folder: Path) -> None:
    """Writes down one program."""
    (folder / "report.txt").write_text(str(report))
    for name, text in report.sources.items():
        (folder / _FILES[name]).write_text(text)
    if report.machine is not None:
        write_machine_code(report.machine, folder)


def write_machine_code(machine: MachineCode, folder: Path) -> None:
    """Writes down what LLVM made."""
    (folder / "optimised.ll").write_text(machine.optimised())
    (folder / "assembly.s").write_text(machine.assembly())
    (folder / "loops.txt").write_text(f"{machine.vectorised()}\n")


def run_script(script: Path, arguments: Sequence[str], recorder: Recorder) -> None:
    """Runs a script as `python script arguments` does, with the recorder as the target `cpu`."""
    targets.register(recorder.name, lambda: recorder)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.parent.absolute()))
    runpy.run_path(str(script), run_name="__main__")


def recompile(text: Path, to: Path) -> None:
    """Compiles a file of LLVM IR, as `kernels.ll` is one, and writes down what LLVM made."""
    source = text.read_text()
    names = _kernels(source)
    to.mkdir(parents=True, exist_ok=True)
    write_machine_code(MachineCode("llvm", "", lambda: engine.module(source, names)), to)


def _kernels(text: str) -> tuple[str, ...]:
    return tuple(re.findall(rf"^define void @{objects.symbol('')}(\w+)\(", text, re.MULTILINE))
