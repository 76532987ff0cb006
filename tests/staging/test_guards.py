"""Captured variables: what is guarded, and what is read again at each call."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from parloom.staging import errors
from parloom.staging.guards import all_hold
from parloom.staging.tracing import Traced, trace_function

from .running import run_traced

RATE: Any = 2.0
TABLE: Any = {"rates": [1.0, 2.0], "name": "a"}
WEIGHTS: Any = np.array([1.0, 2.0, 3.0])
SAME: Any = WEIGHTS
X = np.ones(3)


class Config:
    def __init__(self) -> None:
        self.rate: Any = 3.0
        self.weights: Any = np.array([1.0, 1.0, 5.0])
        self.inner: Any = None

    @property
    def fresh(self) -> Any:
        return [self.rate]

    def scaled(self, x: Any) -> Any:
        return x * self.rate


CONFIG: Any = Config()


def helper(x: Any) -> Any:
    return x + 1


def other(x: Any) -> Any:
    return x + 2


def guarded(traced: Traced) -> list[str]:
    return [g.source.name for g in traced.guards]


def changed(monkeypatch: pytest.MonkeyPatch, traced: Traced, name: str, value: object) -> bool:
    """Whether the guards see another value of a global variable."""
    at_once = all_hold(traced.guards)
    assert traced.holds()
    assert at_once()
    with monkeypatch.context() as patch:
        patch.setitem(globals(), name, value)
        found = not traced.holds()
        assert at_once() is not found
        patch.delitem(globals(), name)
        assert not traced.holds()
        assert not at_once()
    assert traced.holds()
    assert at_once()
    return found


def test_scalars_are_guarded_by_value_and_type(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = trace_function(lambda x: x * RATE, (1.0,))
    assert guarded(traced) == ["RATE"]
    assert not changed(monkeypatch, traced, "RATE", float("2.0"))
    assert changed(monkeypatch, traced, "RATE", 2)
    assert changed(monkeypatch, traced, "RATE", 2.5)


def test_zeros_and_nans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "RATE", 0.0)
    traced = trace_function(lambda x: x * RATE, (1.0,))
    assert changed(monkeypatch, traced, "RATE", -0.0)
    monkeypatch.setitem(globals(), "RATE", math.nan)
    traced = trace_function(lambda x: x * RATE, (1.0,))
    assert not changed(monkeypatch, traced, "RATE", float("nan"))


def test_functions_are_guarded_by_code(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = trace_function(lambda x: helper(x), (1.0,))
    assert changed(monkeypatch, traced, "helper", other)


def test_what_called_functions_capture_is_guarded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def scale(x: Any) -> Any:
        return x * RATE

    traced = trace_function(lambda x: scale(x), (1.0,))
    assert changed(monkeypatch, traced, "RATE", 7.0)


def test_containers_are_guarded_by_contents() -> None:
    traced = trace_function(lambda x: x * TABLE["rates"][0], (1.0,))
    at_once = all_hold(traced.guards)
    TABLE["rates"].append(3.0)
    try:
        assert not traced.holds()
        assert not at_once()
    finally:
        TABLE["rates"].pop()
    assert traced.holds()
    assert at_once()


def test_attributes_of_captured_objects_are_guarded() -> None:
    traced = trace_function(lambda x: CONFIG.scaled(x) + CONFIG.fresh[0], (1.0,))
    assert traced.holds()
    CONFIG.rate = 4.0
    try:
        assert not traced.holds()
    finally:
        CONFIG.rate = 3.0


def test_attributes_of_static_arguments_are_guarded() -> None:
    config = Config()

    def f(c: Any, x: Any) -> Any:
        return c.scaled(x)

    traced = trace_function(f, (config, 2.0))
    assert run_traced(traced, f, config, 2.0) == 6.0
    config.rate = 5.0
    assert not traced.holds()


def test_objects_of_the_trace_are_not_guarded() -> None:
    def f(x: Any) -> Any:
        local = Config()
        local.rate = 10.0
        first = local.rate * x
        local.rate = 20.0
        return first + local.rate

    traced = trace_function(f, (1.0,))
    assert guarded(traced) == ["Config"]
    assert run_traced(traced, f, 1.0) == 30.0


def test_arrays_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f = lambda x: (x * WEIGHTS).sum()
    traced = trace_function(f, (X,))
    assert [p.name for p in traced.program.params] == ["x", "WEIGHTS"]
    assert run_traced(traced, f, X) == 6.0
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([1.0, 1.0, 1.0]))
    assert traced.holds()
    assert run_traced(traced, f, X) == 3.0
    WEIGHTS[0] = 10.0
    assert run_traced(traced, f, X) == 12.0
    assert changed(monkeypatch, traced, "WEIGHTS", np.ones(3, np.float32))
    assert changed(monkeypatch, traced, "WEIGHTS", np.ones((3, 1)))
    assert changed(monkeypatch, traced, "WEIGHTS", np.ones(6)[::2])
    assert changed(monkeypatch, traced, "WEIGHTS", [1.0])


@pytest.mark.parametrize(
    "weights",
    [
        np.arange(3.0).astype(">f8"),
        np.zeros(25, np.uint8)[1:].view(np.float64),
        np.zeros(49, np.uint8)[1:].view(np.float64)[::2],
        np.array(2.0),
    ],
    ids=["byte order", "alignment", "strides", "no axis"],
)
def test_captured_arrays_are_normalised(monkeypatch: pytest.MonkeyPatch, weights: Any) -> None:
    monkeypatch.setitem(globals(), "WEIGHTS", weights)
    f = lambda x: x * WEIGHTS
    traced = trace_function(f, (X,))
    np.testing.assert_array_equal(run_traced(traced, f, X), X * weights)
    assert not changed(monkeypatch, traced, "WEIGHTS", weights.copy())
    assert changed(monkeypatch, traced, "WEIGHTS", weights.astype(np.float32))
    assert changed(monkeypatch, traced, "WEIGHTS", weights.astype(object))


def test_cells_and_attributes_that_hold_arrays() -> None:
    bias = np.array([1.0, 0.0, 0.0])

    def f(x: Any) -> Any:
        return (x * CONFIG.weights + bias).sum()

    traced = trace_function(f, (X,))
    assert run_traced(traced, f, X) == 8.0
    bias = np.array([1.0, 1.0, 1.0])
    assert run_traced(traced, f, X) == 10.0
    at_once = all_hold(traced.guards)
    CONFIG.weights, weights = None, CONFIG.weights
    assert not at_once()
    CONFIG.weights = weights
    assert at_once()
    bias = np.ones(4)
    with pytest.raises(errors.ShapeError, match="axis 0 of bias has size 4"):
        run_traced(traced, f, X)


def test_one_array_under_two_names(monkeypatch: pytest.MonkeyPatch) -> None:
    f = lambda x: (x * WEIGHTS - SAME).sum()
    traced = trace_function(f, (X,))
    assert len(traced.captured) == 1
    assert changed(monkeypatch, traced, "SAME", np.ones(3))
    assert changed(monkeypatch, traced, "WEIGHTS", np.ones(3))


def test_functions_without_source_are_guarded_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    scope: dict[str, Any] = {"K": 3.0}
    exec("def f(x):\n    return x * K\n", scope)
    traced = trace_function(scope["f"], (1.0,))
    assert traced.holds()
    scope["K"] = 4.0
    assert not traced.holds()


calls = 0


def test_changing_what_was_captured_is_refused() -> None:
    def f(x: Any) -> Any:
        global calls
        calls = calls + 1
        return x

    with pytest.raises(errors.UserError, match="calls changes while the function is staged"):
        trace_function(f, (1.0,))


def test_large_containers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "TABLE", list(range(20_000)))
    with pytest.raises(errors.Limitation, match="a captured list of 20000 elements"):
        trace_function(lambda x: x * TABLE[0], (1.0,))
