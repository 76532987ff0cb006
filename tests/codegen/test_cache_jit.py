"""The disk cache as a user meets it: second processes, edited helpers, calls that fail."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.runtime import threads

ROOT = Path(__file__).parents[2]

SCRIPT = """\
import json, sys
import numpy as np
import parloom as pm
from parloom.codegen import cache
from helper import step

@pm.jit
def f(x):
    y = x.map(lambda v: v + step())
    return y, y.sum()

f = f.on(printer=sys.argv[1])
y, total = f(np.array([0.0, 1.0]))
lookups = {k: n for k, n in cache.info().lookups.items() if k[0] == sys.argv[1]}
hits = sum(n for (_, outcome), n in lookups.items() if outcome == "hit")
found = {
    "y": y.tolist(), "total": float(total), "hits": hits, "misses": sum(lookups.values()) - hits,
    "numba": "numba" in sys.modules,
}
print(json.dumps(found))
"""


class Project:
    """A user's folder with a script, a helper module, and a disk cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "script.py").write_text(SCRIPT)
        self.write_helper("1.0")

    def write_helper(self, value: str, above: str = "") -> None:
        """The helper returns the value."""
        (self.folder / "helper.py").write_text(f"{above}def step():\n    return {value}\n")

    def run(self, printer: str = "llvm", **settings: str) -> dict[str, Any]:
        """What the script finds, in a process of its own."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(self.folder))),
            "PARLOOM_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **settings,
        }
        environment.pop("PARLOOM_CACHE", None) if "PARLOOM_CACHE" not in settings else None
        done = subprocess.run(
            [sys.executable, "script.py", printer],
            cwd=self.folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize("printer", ["llvm", "numba"])
def test_a_second_process_hits_and_imports_no_numba(project: Project, printer: str) -> None:
    first, second = project.run(printer), project.run(printer)
    assert (first["hits"], first["misses"]) == (0, 1)
    assert (second["hits"], second["misses"]) == (1, 0)
    assert (second["y"], second["total"]) == (first["y"], first["total"]) == ([1.0, 2.0], 3.0)
    assert first["numba"] is (printer == "numba")
    assert second["numba"] is False


def test_an_edited_helper_gives_its_new_result(project: Project) -> None:
    assert project.run()["y"] == [1.0, 2.0]
    project.write_helper("2.0")
    edited = project.run()
    assert edited["y"] == [2.0, 3.0]
    assert edited["misses"] == 1
    project.write_helper("1.0")
    assert project.run()["hits"] == 1


def test_lines_that_only_move_are_no_change(project: Project) -> None:
    project.run()
    project.write_helper("1.0", above="# a comment\n\n")
    assert project.run()["hits"] == 1


def test_without_a_cache_everything_is_compiled(project: Project) -> None:
    project.run()
    again = project.run(PARLOOM_CACHE="0")
    assert (again["hits"], again["misses"], again["y"]) == (0, 1, [1.0, 2.0])


# Calls that fail.


def entries(folder: Path) -> int:
    return len(list(folder.iterdir())) if folder.exists() else 0


def raising(x: Any, y: Any) -> Any:
    return x.no_such_method(y)


def adding(x: Any, y: Any) -> Any:
    return x + y


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (raising, (np.ones(3), np.ones(3))),  # while staging
        (adding, (np.ones(3), np.ones(4))),  # sizes that do not fit
        (adding, (np.ones(3), "text")),  # a type
        (lambda x, y: np.exp(x + y), (np.ones(3) * 1j, np.ones(3))),  # what the target cannot do
    ],
)
def test_nothing_is_kept_of_a_call_that_raises_before_it_runs(
    function: Any, args: tuple[Any, ...], folder: Path
) -> None:
    f: Any = pm.jit(function)
    for _ in range(2):
        with pytest.raises(Exception):  # noqa: B017, PT011 - which one is another test's matter
            f(*args)
    assert entries(folder) == 0
    assert f.stats().compiles == 0


def test_the_next_call_is_not_harmed(folder: Path) -> None:
    threads.the_pool(1)  # whose code is an entry of its own
    shutil.rmtree(folder, ignore_errors=True)
    f: Any = pm.jit(adding)
    with pytest.raises(ValueError, match="size"):
        f(np.ones(3), np.ones(4))
    assert f(np.ones(4), np.ones(4)).tolist() == [2.0] * 4
    assert entries(folder) == 2  # the mapped program, the machine code
