"""The command line: `python -m parloom kernels SCRIPT`."""

from __future__ import annotations

import argparse
from pathlib import Path


def main(arguments: list[str] | None = None) -> None:
    """Runs a command."""
    parser = argparse.ArgumentParser(prog="python -m parloom")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    kernels = commands.add_parser(
        "kernels",
        help="run a script, and write down what it compiles: texts, LLVM IR, assembly, loops",
        description="Runs a script as it stands, and gives each program that it compiles on the"
        " CPU a folder: the report, the kernels as Python and as LLVM IR, the IR after LLVM's"
        " passes, the assembly, and which loops are vectors. A file of LLVM IR (kernels.ll of"
        " such a folder, perhaps edited) is compiled by itself.",
    )
    kernels.add_argument("script", type=Path, help="a Python script, or a file of LLVM IR (.ll)")
    kernels.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    kernels.add_argument("--to", type=Path, metavar="FOLDER", help="where to write; ./kernels")
    kernels.add_argument("--function", default="", metavar="NAME", help="only this function")
    kernels.set_defaults(run=_kernels)
    chosen = parser.parse_args(arguments)
    chosen.run(chosen)


def _kernels(chosen: argparse.Namespace) -> None:
    from .codegen import dump

    if chosen.script.suffix == ".ll":
        dump.recompile(chosen.script, chosen.to or chosen.script.parent)
        return
    to = (chosen.to or Path("kernels")).absolute()
    recorder = dump.Recorder(to, chosen.function, tell=print)
    dump.run_script(chosen.script, chosen.arguments, recorder)
    if not recorder.written:
        print(f"no program {chosen.function} was compiled for the CPU".replace("  ", " "))


if __name__ == "__main__":
    main()
