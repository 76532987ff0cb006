"""What is recommended instead of a NumPy function gives that function's values."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging import numpy_functions
from parloom.staging.unsupported import INSTEAD, instead_of

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, -6.0]])

# Name, the recommendation with its free names bound, the function itself.
CASES: list[tuple[str, Any, Any, Any]] = [
    ("vectorize", lambda x: x.map(lambda v: v + 1), lambda x: np.vectorize(lambda v: v + 1)(x), X),
]


@pytest.mark.parametrize(("name", "recommended", "function", "x"), CASES)
def test_recommendations_do_the_same(name: str, recommended: Any, function: Any, x: Any) -> None:
    assert name in INSTEAD
    jitted: Any = pm.jit(recommended, target="reference")
    np.testing.assert_allclose(jitted(x), function(x), rtol=1e-12)


def test_what_is_supported_is_not_in_the_table() -> None:
    staged = {numpy_functions.full_name(f) for f in numpy_functions._functions}  # pyright: ignore[reportPrivateUsage]
    assert not staged & {f"np.{name}" for name in INSTEAD}


def test_the_nearest_name_is_guessed() -> None:
    assert instead_of("normal", ["np.linalg.norm", "np.sum"]) == "did you mean 'np.linalg.norm'?"
    assert instead_of("fft", ["np.sum"]) == ""
