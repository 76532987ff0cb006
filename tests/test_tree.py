"""The shape of the tree: short files, short functions, passes that say what they do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    *("staging", "patterns", "transforms", "codegen", "dsls"),
    *("tests", "examples", "benchmarks", ".ci"),
)

FILE_LINES = 400
FUNCTION_LINES = 80
EXCUSED_LINES = 650

# What is longer, and why.
EXCUSED = {
    "codegen/llvm/scalars.py": "one rule a primitive; conversions could stand apart",
    "tests/patterns/test_reference.py": "to be split as the interpreter's rules are",
}

SECTIONS = ("Before:", "After:", "Requires:", "Does not:")

# A sequence of passes has no Before and After of its own.
SEQUENCES = {"simplify"}


def sources() -> Iterator[Path]:
    """Every Python file of ours, by its real path."""
    yield from sorted((ROOT / "parloom").glob("*.py"))
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


FILES = [str(path.relative_to(ROOT)) for path in sources()]


def line_count(name: str) -> int:
    """How many lines a file has."""
    return len((ROOT / name).read_text(encoding="utf-8").splitlines())


def tree_of(name: str) -> ast.Module:
    """The syntax of a file."""
    return ast.parse((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_file_can_be_read_in_a_sitting(name: str) -> None:
    most = EXCUSED_LINES if name in EXCUSED else FILE_LINES
    assert line_count(name) <= most, f"{line_count(name)} lines: split it by idea"


@pytest.mark.parametrize("name", sorted(EXCUSED))
def test_no_excuse_outlives_its_reason(name: str) -> None:
    assert line_count(name) > FILE_LINES, f"{name} is short now: take it off the list"


@pytest.mark.parametrize("name", FILES)
def test_functions_fit_on_a_screen(name: str) -> None:
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            assert lines <= FUNCTION_LINES, f"{node.name} has {lines} lines"


def passes() -> list[str]:
    """The files of transforms/ with a function `Program -> Program` of the file's name."""
    return [
        path.stem
        for path in sorted((ROOT / "transforms").glob("*.py"))
        for function in functions_of(f"transforms/{path.name}")
        if function.name == path.stem and signature_of(function) == "program: Program -> Program"
    ]


def signature_of(function: ast.FunctionDef) -> str:
    """The parameters and the result as they are written."""
    result = "None" if function.returns is None else ast.unparse(function.returns)
    return f"{ast.unparse(function.args)} -> {result}"


def functions_of(name: str) -> list[ast.FunctionDef]:
    """The functions at the top of a file."""
    return [node for node in tree_of(name).body if isinstance(node, ast.FunctionDef)]


def test_passes_are_found() -> None:
    assert {"fuse_vertical", "simplify", "cpu_levels"} <= set(passes())


@pytest.mark.parametrize("name", passes())
def test_pass_says_what_it_does(name: str) -> None:
    """In the docstring of its function, or in that of the file."""
    file = f"transforms/{name}.py"
    (function,) = (f for f in functions_of(file) if f.name == name)
    docs = [ast.get_docstring(function) or "", ast.get_docstring(tree_of(file)) or ""]
    wanted = SECTIONS[2:] if name in SEQUENCES else SECTIONS
    assert any(all(section in doc for section in wanted) for doc in docs), f"{file}: {wanted}"
