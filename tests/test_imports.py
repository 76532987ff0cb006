"""How the package may be imported, checked in fresh interpreters."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("staging", "patterns", "transforms", "codegen", "dsls")


def run_python(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the repository root, where the five folders are within reach."""
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, text=True, capture_output=True, check=False
    )


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_refuses_to_be_imported_top_level(folder: str) -> None:
    done = run_python(f"import {folder}")
    assert done.returncode == 1
    last_line = done.stderr.splitlines()[-1]
    assert last_line == f"ImportError: import this as parloom.{folder}, not {folder}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_is_a_relative_link_in_the_package(folder: str) -> None:
    assert (ROOT / "parloom" / folder).readlink() == Path("..") / folder


@pytest.mark.parametrize("folder", FOLDERS)
def test_folder_imports_alone(folder: str) -> None:
    done = run_python(f"import parloom.{folder}")
    assert done.returncode == 0, done.stderr


def test_facade_imports_no_compiler() -> None:
    done = run_python(
        "import sys, parloom; print({'numba', 'llvmlite'} & {m.split('.')[0] for m in sys.modules})"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "set()"
