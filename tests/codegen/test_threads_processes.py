"""The pool in forked children, and at the end of the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from parloom.staging.errors import InternalError
from tests.codegen.jobs import interrupt_when, run, run_counted, spinning_job

ROOT = Path(__file__).parents[2]

FORKS = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def child_says(check: Callable[[], bool]) -> bool:
    """What the check finds in a forked child."""
    child = os.fork()
    if child == 0:
        good = False
        try:
            good = check()
        finally:
            os._exit(0 if good else 1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


@FORKS
def test_a_forked_child_has_a_pool_of_its_own() -> None:
    run_counted(30, 4)
    assert child_says(lambda: run_counted(30, 4) == Counter(range(30)))
    assert run_counted(30, 4) == Counter(range(30))


@FORKS
def test_a_fork_while_another_thread_launches() -> None:
    job = spinning_job(20_000, 3, 10_000)
    launching = threading.Thread(target=run, args=(job,))
    launching.start()
    while job.job.next < 10:
        pass
    assert child_says(lambda: run_counted(30, 4) == Counter(range(30)))
    launching.join()
    assert list(job.done) == [1] * 20_000


@FORKS
def test_a_fork_by_a_signal_handler_ends_the_childs_launch() -> None:
    parent = os.getpid()
    children: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: children.append(os.fork()))
    job = spinning_job(20_000, 2, 10_000)
    try:
        thread = interrupt_when(lambda: job.job.next > 3)
        try:
            run(job)
        except InternalError:
            os._exit(3 if os.getpid() != parent else 4)
        if os.getpid() != parent:
            os._exit(5)
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert list(job.done) == [1] * 20_000
    (child,) = children
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


LAST = """
import atexit, sys, threading
import numpy as np
import parloom as pm
from parloom.transforms import cpu_levels

cpu_levels.CHUNK = 1
pm.set_num_threads(3)
total = pm.jit(lambda x: x.sum())
x = np.ones(50)

def last():
    print(total(x) + 1, flush=True)

atexit.register(last)
assert total(x) == 50
if "daemon" in sys.argv:
    def forever():
        while True:
            total(x)
    threading.Thread(target=forever, daemon=True).start()
"""


@pytest.mark.parametrize("mode", ["plain", "daemon"])
def test_the_process_ends_in_peace(mode: str) -> None:
    """Also while a daemon thread launches; functions called at exit still run."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LAST, mode]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "51.0\n", "")
