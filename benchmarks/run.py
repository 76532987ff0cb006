"""Time parloom against idiomatic NumPy and hand-written Numba; print tables, write JSON.

    python benchmarks/run.py [--only kmeans] [--pairs 21] [--small] [--json FILE]

Each implementation runs in its own process. Results are verified against NumPy first; then
parloom and each rival are timed in interleaved pairs (rounds.py says how neither pays for the
other), and the median of the ratios is reported with a 95 % interval. The rival to beat is the
fastest of the hand-written ones. Beside stands which part of the machine's limits, measured first
(limits.py), each one reaches. First calls are timed in fresh processes (first_call.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import environment, limits, report
from benchmarks.first_call import first_calls
from benchmarks.limits import Limits
from benchmarks.processes import WorkerFailed
from benchmarks.report import Measured
from benchmarks.rounds import WrongResult, compare
from benchmarks.workloads import NAMES, load


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks that the arguments ask for; 0 when all were measured, else 1."""
    options = arguments(argv)
    console = Console()
    errors = Console(stderr=True)
    facts = environment.facts(options.threads)
    found = limits.measure(options.threads)
    facts["limits"] = dataclasses.asdict(found)
    measured: list[Measured] = []
    try:
        with tempfile.TemporaryDirectory() as folder, errors.status("") as status:
            for name in options.only or NAMES:
                measured.append(measure(name, options, found, Path(folder), status.update))
                report.show(console, measured[-1])
    except (WorkerFailed, WrongResult) as error:
        errors.print(f"[red]error:[/red] {error}")
        return 1
    if options.json is not None:
        facts["load_1min_at_end"] = environment.load()
        text = json.dumps(report.document(facts, measured), indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The parsed command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=NAMES, help="one workload; repeatable")
    parser.add_argument("--pairs", type=positive, default=21, help="interleaved pairs (21)")
    parser.add_argument("--first-calls", type=int, default=3, help="fresh processes a case (3)")
    parser.add_argument("--threads", type=positive, default=2, help="threads of each (2)")
    parser.add_argument("--small", action="store_true", help="little data: to try the harness")
    parser.add_argument("--subject", default="parloom", help="whose time is compared (parloom)")
    parser.add_argument("--rival", action="append", help="compare with this alone; repeatable")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results here")
    options = parser.parse_args(argv)
    for name in options.only or NAMES:
        known = [i.name for i in load(name).implementations]
        for asked in (options.subject, *(options.rival or ())):
            if asked not in known:
                parser.error(f"{name} has no implementation {asked!r}: {', '.join(known)}")
    return options


def positive(text: str) -> int:
    """A whole number of at least 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def measure(
    name: str,
    options: argparse.Namespace,
    found: Limits,
    folder: Path,
    progress: Callable[[str], None],
) -> Measured:
    """Times, ratios and first calls of one workload."""
    workload = load(name)
    size = "small" if options.small else "full"
    settings = environment.thread_settings(options.threads)
    subject = options.subject
    others = [i.name for i in workload.implementations if i.name not in (subject, "parloom")]
    rivals = options.rival or others
    rows = compare(workload, size, subject, rivals, options.pairs, folder, settings, progress)
    names = [n for n in (subject, *rivals) if not n.startswith("numpy")]
    firsts = first_calls(workload, options.first_calls, folder, settings, progress, names)
    return Measured(workload, size, subject, options.pairs, rows, firsts, found)


if __name__ == "__main__":
    sys.exit(main())
