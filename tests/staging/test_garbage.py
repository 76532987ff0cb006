"""The garbage collector while a function is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.garbage import uncollected


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_it_rests_while_a_function_is_staged_and_works_again_after() -> None:
    def f(x: Any) -> Any:
        return x + gc.isenabled()

    jitted: Any = pm.jit(f).on("reference")
    assert jitted(np.zeros(1)).tolist() == [0.0]
    assert gc.isenabled()


def test_it_works_again_after_an_error() -> None:
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()


def test_a_collector_that_the_user_switched_off_stays_off() -> None:
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()
