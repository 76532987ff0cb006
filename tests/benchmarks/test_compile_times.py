"""First calls in fresh processes; times are printed, never asserted."""

import subprocess
import sys
from pathlib import Path

from benchmarks.compile_times import straight_line

ROOT = Path(__file__).resolve().parents[2]


def test_first_calls_of_a_loop_are_timed() -> None:
    options = ("--case", "x * y + 1", "--repeats", "1")
    done = subprocess.run(
        [sys.executable, "benchmarks/compile_times.py", *options],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name in ("parloom", "numba"):
        (row,) = [line for line in done.stdout.splitlines() if name in line]
        assert row.count(".") == 2, row  # two times, no message


def test_the_operations_of_a_straight_line_are_counted_and_differ() -> None:
    lines = straight_line(30).splitlines()
    assert len(lines) == 31
    assert lines[4] != lines[14]
