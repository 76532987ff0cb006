"""The examples in the docstrings of every module run, each file's in its module's own names."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import parloom

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(parloom.__path__, "parloom.")
    if not module.name.endswith("__main__")
)


def test_walk_follows_the_links() -> None:
    folders = {name.split(".")[1] for name in MODULES}
    assert {"staging", "patterns", "transforms", "codegen", "dsls"} <= folders


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples; see the output"
