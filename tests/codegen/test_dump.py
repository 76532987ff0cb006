"""Everything that a back end made, as files."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen import dump, objects
from parloom.codegen.cpu import code
from parloom.codegen.cpu.target import CpuTarget
from parloom.codegen.dump import Recorder
from parloom.staging import targets

ROOT = Path(__file__).parents[2]
MACHINE = ["assembly.s", "loops.txt", "optimised.ll"]
TEXTS = ["host.py", "kernels.ll", "kernels.py", "report.txt"]

SCRIPT = """\
import sys
import numpy as np
import parloom as pm

@pm.jit
def twice(x):
    return x * 2.0

twice(np.ones(3))
twice(np.ones(3, np.float32))
pm.jit(lambda x: x.sum())(np.ones(3))
sys.exit("done with " + sys.argv[1])
"""


def test_a_script_is_run_and_its_kernels_written_down(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "parloom", "kernels", "--function", "twice", "script.py", "it"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), "PARLOOM_PRINTER": "llvm"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stderr == "done with it\n"
    folders = [tmp_path / "kernels" / name for name in ("twice", "twice_2")]
    assert done.stdout.splitlines() == list(map(str, folders))
    for folder in folders:
        assert sorted(path.name for path in folder.iterdir()) == sorted([*MACHINE, *TEXTS])
    assert "double" in (folders[0] / "kernels.ll").read_text()
    assert "double" not in (folders[1] / "kernels.ll").read_text()


@pytest.fixture
def cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """The target `cpu`, writing down."""
    monkeypatch.delenv("PARLOOM_PRINTER", raising=False)
    recorder = Recorder(tmp_path)
    targets.register("cpu", lambda: recorder)
    yield recorder
    targets.register("cpu", CpuTarget)


def halved(x: Any) -> Any:
    return x / 2.0


def test_the_text_compiles_again_to_the_same(cpu: Recorder, tmp_path: Path) -> None:
    pm.jit(halved)(np.ones(3))
    again = tmp_path / "again"
    dump.recompile(tmp_path / "halved" / "kernels.ll", again)
    assert sorted(path.name for path in again.iterdir()) == MACHINE
    for name in MACHINE:
        assert (again / name).read_text() == (tmp_path / "halved" / name).read_text()


def test_an_edited_text_gives_other_code(cpu: Recorder, tmp_path: Path) -> None:
    pm.jit(halved)(np.ones(3))
    text = tmp_path / "halved" / "kernels.ll"
    text.write_text(text.read_text().replace("fdiv", "fmul"))
    before = (tmp_path / "halved" / "assembly.s").read_text()
    dump.recompile(text, text.parent)
    assert (tmp_path / "halved" / "assembly.s").read_text() != before


def test_the_other_printer_has_no_text_for_llvm(cpu: Recorder, tmp_path: Path) -> None:
    pm.jit(halved).on(printer="numba")(np.ones(3))
    found = {path.name for path in (tmp_path / "halved").iterdir()}
    assert found == {*MACHINE, *TEXTS} - {"kernels.ll"}


def test_of_what_fails_to_compile_the_texts_are_there(
    cpu: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Any:
        raise objects.UnresolvedSymbol("nothing to call")

    monkeypatch.setattr(code, "by_llvm", fails)
    with pytest.raises(objects.UnresolvedSymbol):
        pm.jit(halved)(np.ones(3))
    assert sorted(path.name for path in (tmp_path / "halved").iterdir()) == TEXTS
    assert "fdiv" in (tmp_path / "halved" / "kernels.ll").read_text()


def test_other_targets_are_not_written_down(cpu: Recorder, tmp_path: Path) -> None:
    pm.jit(halved).on("python")(np.ones(3))
    assert list(tmp_path.iterdir()) == []
