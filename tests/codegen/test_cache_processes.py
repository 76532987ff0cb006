"""The disk cache between processes and threads: one result, whoever dies, and no waiting for it."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from parloom.codegen import cache, cache_folder, objects
from parloom.codegen.native import Signature
from tests.codegen.caches import CODE, Builder, as_it_is, fetch

ROOT = Path(__file__).parents[2]

# A process that asks for "k"; it says "building" when it builds, and does then what it is told.
ASKING = """
import os, signal, sys
from parloom.codegen import cache, cache_folder

cache_folder.PATIENCE = 1e9

def build():
    print("building", flush=True)
    {build}
    return b"by the other"

{before}
found = cache.fetch("code", "k", build, bytes)
print(found.value.decode(), found.outcome)
"""
KILLED = "os.kill(os.getpid(), signal.SIGKILL)"
WAITING = "sys.stdin.readline()"
KILLED_WHILE_WRITING = f"os.replace = lambda *_, **__: {KILLED}"


def start(build: str = "pass", before: str = "") -> subprocess.Popen[str]:
    """A process that asks."""
    return subprocess.Popen(
        [sys.executable, "-c", ASKING.format(build=build, before=before)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".plc"]


def test_who_comes_second_waits_for_the_first(folder: Path) -> None:
    with start(build=WAITING) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "building\n"
        build = Builder()
        with ThreadPoolExecutor(1) as pool:
            mine = pool.submit(fetch, "k", build)
            said, _ = other.communicate("go on\n", timeout=60)
            found = mine.result(timeout=60)
    assert said == "by the other new\n"
    assert (found.value, found.hit, build.built) == (b"by the other", True, 0)
    assert len(list(folder.iterdir())) == 1


def test_nobody_waits_for_the_dead(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folder, "PATIENCE", 1e9)
    with start(build=KILLED) as other:
        assert other.wait(timeout=60) != 0
    assert entries(folder) == []
    assert fetch("k").value == CODE
    assert fetch("k").hit


def test_who_is_killed_while_writing_leaves_no_entry(folder: Path) -> None:
    with start(before=KILLED_WHILE_WRITING) as other:
        assert other.wait(timeout=60) != 0
    [written] = (path for path in folder.iterdir() if path.suffix == ".tmp")
    assert b"by the other" in written.read_bytes()
    assert fetch("k").outcome == "new"
    assert fetch("k").value == CODE
    assert cache.info().entries == 1


def test_a_write_that_fails_half_way_leaves_nothing(folder: Path) -> None:
    """The system itself ends it: a file may have 100 bytes."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    with start(before=f"{limit}; import warnings; warnings.simplefilter('ignore')") as other:
        said, _ = other.communicate(timeout=60)
    assert said == "building\nby the other new\n"
    assert list(folder.iterdir()) == []
    assert fetch("k").value == CODE


def test_patience_has_an_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds the lock may have been stopped."""
    monkeypatch.setattr(cache_folder, "PATIENCE", 0.01)
    with start(build=WAITING) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "building\n"
        build = Builder()
        assert fetch("k", build).value == CODE
        assert build.built == 1
        other.communicate("go on\n", timeout=60)
    assert fetch("k").value == b"by the other"  # the last one to write


def test_threads_build_once(folder: Path) -> None:
    build, together = Builder(), threading.Barrier(8)

    def ask(_: int) -> bytes:
        together.wait()
        return fetch("k", build).value

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [CODE] * 8
    assert build.built == 1
    assert (cache.info().hits, cache.info().misses) == (7, 1)


def test_without_locks_everybody_builds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On some network file systems there are none."""

    def none(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert fetch("k").value == CODE
    assert fetch("k").hit


# Entries of machine code that this process cannot use.

NEEDY = """
declare void @parloom_no_such_function()
define void @parloom_f(ptr %table) {
  call void @parloom_no_such_function()
  ret void
}
"""
GOOD = "define void @parloom_f(ptr %table) {\n  ret void\n}\n"
F: dict[str, Signature] = {"f": ()}


def object_code(text: str) -> bytes:
    """Object code that nobody has looked at."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(objects.host().triple)
    machine = target.create_target_machine(reloc="static", codemodel="jitdefault")
    code: bytes = machine.emit_object(llvm.parse_assembly(text))
    return code


def load(code: bytes) -> list[str]:
    return list(objects.load(objects.ObjectCode(("f",), code), F))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NEEDY, "native code needs parloom_no_such_function"),
        (GOOD.replace("_f(", "_g("), "native code lacks parloom_f"),
    ],
)
def test_code_that_does_not_link_is_built_anew(folder: Path, text: str, reason: str) -> None:
    """LLVM would end the process."""
    cache.fetch("code", "k", lambda: object_code(text), as_it_is)
    found = cache.fetch("code", "k", lambda: object_code(GOOD), load)
    assert (found.value, found.outcome) == (["f"], reason)
    assert cache.fetch("code", "k", Builder(), load).hit


# Where functions come from.

FUNCTION = """
import numpy as np, parloom as pm
f = pm.jit(lambda x: x * 2.0 + 0.5)
print(f(np.ones(3)).tolist(), f.explain(np.ones(3)).machine.outcome)
"""


def test_functions_without_a_file(folder: Path) -> None:
    """From the command line, from a prompt's standard input, and from exec."""
    said: list[str] = []
    for arguments, fed in (
        (["-c", FUNCTION], ""),
        (["-"], FUNCTION),
        (["-c", f"exec({FUNCTION!r}, {{}})"], ""),
    ):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT, input=fed, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said == [f"[2.5, 2.5, 2.5] {outcome}\n" for outcome in ("new", "hit", "hit")]
