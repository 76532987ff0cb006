"""What docs/numpy.md says is so: every function that works gives NumPy's values and dtypes."""

from __future__ import annotations

import copy
import inspect
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import parloom as pm
from tests.patterns import numpy_table
from tests.patterns.numpy_cases import FUNCTIONS, INPUTS, METHODS, Case

CASES = {**{f"np.{n}": f for n, f in FUNCTIONS.items()}, **{f".{n}": f for n, f in METHODS.items()}}

NATIVE = (
    "np.copysign np.nextafter np.fmod np.spacing np.signbit np.modf np.reciprocal np.heaviside "
    "np.logaddexp np.gcd np.bitwise_count np.float_power np.bincount np.nanvar np.reshape np.pad"
).split()
"""What is tried as machine code too: the primitives of their own, and what they are composed to."""


def _leaves(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple | list):
        return [leaf for part in cast(Any, value) for leaf in _leaves(part)]
    return [np.asarray(value)]


def _agrees(f: Case, target: str) -> None:
    given: list[Any] = [INPUTS[name] for name in inspect.signature(f).parameters]
    with np.errstate(all="ignore"):
        expected = _leaves(f(*copy.deepcopy(given)))
    jitted: Any = pm.jit(f, target=target)
    found = _leaves(jitted(*given))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        tolerance = 1e-6 if a.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_numpys_values(name: str) -> None:
    _agrees(CASES[name], "reference")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NATIVE)
def test_machine_code_gives_them_too(name: str) -> None:
    _agrees(CASES[name], "cpu")


def test_every_definition_has_a_case() -> None:
    for prefix, module in numpy_table.MODULES.items():
        for name, function in numpy_table.public(module):
            path = f"{prefix}.{name}".removeprefix("np.")
            if numpy_table.defined(function):
                assert path in FUNCTIONS, f"a case for np.{path} in tests/patterns/numpy_cases.py"
    for name in numpy_table.methods():
        if numpy_table.has_method(name):
            assert name in METHODS, f"a case for .{name} in tests/patterns/numpy_cases.py"


def test_the_page_is_what_the_tests_make() -> None:
    """Else: python -m tests.patterns.numpy_table > docs/numpy.md"""
    page = Path(__file__).parents[2] / "docs" / "numpy.md"
    assert page.read_text() == numpy_table.page()
