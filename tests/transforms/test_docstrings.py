"""The Before and After of every pass's docstring are what the pass does."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable

import pytest

from parloom.staging.checker import check
from parloom.staging.nodes import Program
from parloom.staging.parser import parse
from parloom.staging.printer import to_text
from parloom.transforms.convert_branches import convert_branches
from parloom.transforms.eliminate_dead_code import eliminate_dead_code
from parloom.transforms.fuse_horizontal import fuse_horizontal
from parloom.transforms.fuse_vertical import fuse_vertical
from parloom.transforms.hoist_invariants import hoist_invariants
from parloom.transforms.interchange_reduce import interchange_reduce
from parloom.transforms.prove_bounds import prove_bounds
from parloom.transforms.recompute_elements import recompute_elements
from parloom.transforms.reduce_conditionally import reduce_conditionally
from parloom.transforms.share_generators import share_generators

PASSES: tuple[Callable[[Program], Program], ...] = (
    convert_branches,
    eliminate_dead_code,
    fuse_horizontal,
    fuse_vertical,
    hoist_invariants,
    interchange_reduce,
    prove_bounds,
    recompute_elements,
    reduce_conditionally,
    share_generators,
)


def _section(doc: str, name: str) -> str:
    """The indented lines below `name:`."""
    lines = doc.splitlines()
    start = lines.index(f"{name}:") + 1
    stop = next(k for k in range(start, len(lines)) if lines[k] == "")
    return textwrap.dedent("\n".join(lines[start:stop])).strip()


@pytest.mark.parametrize("function", PASSES, ids=lambda f: f.__name__)
def test_before_becomes_after(function: Callable[[Program], Program]) -> None:
    doc = inspect.getdoc(function)
    assert doc is not None
    before, after = _section(doc, "Before"), _section(doc, "After")
    program = parse(before)
    check(program, "Before")
    assert to_text(program).strip() == before
    assert to_text(function(program)).strip() == after


@pytest.mark.parametrize("function", PASSES, ids=lambda f: f.__name__)
def test_docstring_says_what_it_requires(function: Callable[[Program], Program]) -> None:
    doc = inspect.getdoc(function)
    assert doc is not None
    assert "\nRequires:" in doc
    assert "\nDoes not:" in doc
