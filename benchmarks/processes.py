"""Worker processes: started, spoken to, ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import numpy as np

from .workloads.workload import Arrays

ROOT = Path(__file__).resolve().parent.parent


class WorkerFailed(RuntimeError):
    """An implementation could not be run; its own traceback stands above on standard error."""


class Worker:
    """An implementation in a process of its own, ready for timed calls. Use it in a with."""

    def __init__(
        self,
        workload: str,
        implementation: str,
        size: str,
        folder: Path,
        environment: Mapping[str, str],
        flags: tuple[str, ...] = (),
    ) -> None:
        self.name = f"{workload}: {implementation}"
        self.result = folder / f"{workload}-{implementation}.npz"
        arguments = (workload, implementation, size, str(self.result), *flags)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", *arguments],
            cwd=ROOT,
            env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first: dict[str, float] = {}

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.process.kill()
        self.process.communicate()

    def wait_until_ready(self) -> dict[str, float]:
        """The times of the first call, once it has been made."""
        self.first = json.loads(self._answer())
        return self.first

    def results(self) -> Arrays:
        """What the first call returned."""
        with np.load(self.result) as stored:
            return tuple(stored[name] for name in stored.files)

    def time_one_call(self) -> float:
        """Seconds of one call."""
        assert self.process.stdin is not None
        self.process.stdin.write("time\n")
        self.process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise WorkerFailed(f"{self.name}: ended with exit status {self.process.wait()}")
        return line
