"""Dispatch: signatures, versions, variants, methods, threads, what is kept when a call fails."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

import parloom as pm
from parloom.patterns.reference import interpret
from parloom.staging import errors, targets
from parloom.staging.eager_mode import disable_jit
from parloom.staging.jit import Jitted, jit
from parloom.staging.tracing import Traced

X = np.arange(6.0).reshape(2, 3)


@dataclass
class Interpreted:
    """Runs the staged program by the interpreter."""

    traced: Traced
    options: Mapping[str, object]

    def __call__(self, arguments: Sequence[Any], into: Sequence[Any] = ()) -> list[Any]:
        return list(interpret(self.traced.program, arguments))

    def report(self) -> object:
        return ("report", dict(self.options))


@dataclass
class Recording:
    """A target that counts what it compiles."""

    name: str = "recording"
    programs: list[Traced] = field(default_factory=list[Traced])

    def compile(self, traced: Traced, options: Mapping[str, object]) -> Interpreted:
        self.programs.append(traced)
        return Interpreted(traced, options)


@pytest.fixture
def target() -> Iterator[Recording]:
    made = Recording()
    targets.register("recording", lambda: made)
    yield made
    targets.register("recording", Recording)


def double(x: Any, factor: Any = 2) -> Any:
    return x * factor


def on_recording(f: Any, **options: Any) -> Jitted[..., Any]:
    return cast("Jitted[..., Any]", jit(f, target="recording", **options))


def test_one_version_serves_every_size(target: Recording) -> None:
    f = on_recording(double)
    for n in (2, 5, 1000, 0):
        np.testing.assert_equal(f(np.ones(n)), np.full(n, 2.0))
    assert len(target.programs) == 1
    stats = f.stats()
    assert (stats.calls, stats.traces, stats.compiles) == (4, 1, 1)
    assert stats.trace_seconds > 0


@pytest.mark.parametrize(
    "other",
    [
        np.ones(3, np.float32),
        np.ones((3, 3)),
        np.ones(1),
        np.ones(6)[::2],
        np.float64(3),
        3.0,
        [1, 2],
        True,
    ],
)
def test_what_makes_another_version(target: Recording, other: Any) -> None:
    f = on_recording(double)
    f(np.ones(3))
    np.testing.assert_equal(f(other), np.multiply(other, 2))
    assert len(target.programs) == 2


def test_python_scalars_are_arguments_and_defaults_too(target: Recording) -> None:
    f = on_recording(double)
    assert [f(1.0, k) for k in (2, 3, -1)] == [2.0, 3.0, -1.0]
    assert f(5.0) == 10.0
    assert f(factor=4, x=1.0) == 4.0
    assert len(target.programs) == 1
    assert type(f(3, 2)) is int
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        f()


def test_static_arguments(target: Recording) -> None:
    f = on_recording(lambda x, n: [x * k for k in range(n)], static_argnames="n")
    assert f(2.0, 3) == [0.0, 2.0, 4.0]
    assert f(2.0, 2) == [0.0, 2.0]
    assert f(3.0, n=2) == [0.0, 3.0]
    assert len(target.programs) == 2
    with pytest.raises(errors.StagingTypeError, match="the argument n is a list"):
        f(2.0, [1])


def test_other_objects_are_static(target: Recording) -> None:
    f = on_recording(lambda x, how: how(x) if how else x)
    assert (f(4.0, np.sqrt), f(4.0, None), f(-4.0, np.abs)) == (2.0, 4.0, 4.0)
    assert len(target.programs) == 3


def test_changed_guards_make_another_version(target: Recording) -> None:
    k = 2
    f = on_recording(lambda x: x * k)
    assert f(1.0) == 2.0
    k = 3
    assert f(1.0) == 3.0
    assert len(target.programs) == 2
    k = 2
    assert f(1.0) == 2.0
    assert len(target.programs) == 2


def test_byte_order_alignment_and_views(target: Recording) -> None:
    f = on_recording(double)
    swapped = np.arange(3.0).astype(">f8")
    raw = np.zeros(25, np.uint8)
    unaligned = raw[1:].view(np.float64)
    unaligned[:] = [1, 2, 3]
    read_only = np.arange(3.0)
    read_only.flags.writeable = False
    for array in (swapped, unaligned, read_only, np.arange(3.0)):
        np.testing.assert_equal(f(array), array * 2)
    assert len(target.programs) == 1
    np.testing.assert_equal(f(X.T[::-1]), X.T[::-1] * 2)
    np.testing.assert_equal(f(np.array(3.0)), 6.0)


def test_sizes_that_differ_raise_before_anything_is_compiled(target: Recording) -> None:
    f = on_recording(lambda x, y: x + y)
    with pytest.raises(errors.ShapeError, match="axis 0 of x has size 2, axis 0 of y has size 3"):
        f(np.ones(2), np.ones(3))
    assert not target.programs
    assert f.stats().compiles == 0
    f(np.ones(2), np.ones(2))
    with pytest.raises(errors.ShapeError):
        f(np.ones(2), np.ones(3))


def test_nothing_is_kept_of_a_failed_trace(target: Recording) -> None:
    fails = True

    def f(x: Any) -> Any:
        return x.nonsense if fails else x

    jitted = on_recording(f)
    with pytest.raises(errors.UnknownNameError):
        jitted(X)
    assert not target.programs
    fails = False
    np.testing.assert_equal(jitted(X), X)


def test_variants(target: Recording) -> None:
    f = jit(double, target="nowhere")
    with pytest.raises(errors.UnknownNameError, match="there is no target 'nowhere'"):
        f(1.0)
    g = f.on("recording", tile=4)
    assert g is f.on("recording", tile=4)
    assert g is not f.on("recording", tile=8)
    assert g.on(tile=4).explain(1.0) == ("report", {"tile": 4})
    assert g(2.0) == 4.0
    with pytest.raises(errors.UnknownNameError, match="did you mean 'recording'"):
        f.on("recordin")(1.0)


def test_trace_and_compile(target: Recording) -> None:
    f = on_recording(double)
    program = f.trace(X, 3)
    assert (program.name, [p.name for p in program.params]) == ("double", ["x", "factor"])
    assert not target.programs
    assert f.compile(X, 3) is f.compile(X, 4)
    assert len(target.programs) == 1


def test_jitted_functions_inside_jitted_functions_are_inlined(target: Recording) -> None:
    inner = on_recording(double)
    outer = on_recording(lambda x: inner(x) + inner(x, 3))
    assert outer(1.0) == 5.0
    assert len(target.programs) == 1
    assert inner.stats().calls == 0


def test_wraps_its_function() -> None:
    @jit
    def documented(x: Any) -> Any:
        """Docs."""
        return x

    assert documented.__doc__ == "Docs."
    assert documented.__wrapped__ is documented.function  # type: ignore[attr-defined]
    assert repr(documented).startswith("<pm.jit test_wraps")


class Model:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.weights = np.array([1.0, 2.0])

    @jit(target="recording")
    def predict(self, x: Any) -> Any:
        return (x * self.weights).sum() * self.rate


def test_methods(target: Recording) -> None:
    model = Model(2.0)
    assert model.predict(np.ones(2)) == 6.0
    model.weights = np.array([5.0, 5.0])
    assert model.predict(np.ones(2)) == 20.0
    assert len(target.programs) == 1
    model.rate = 1.0
    assert model.predict(np.ones(2)) == 10.0
    assert len(target.programs) == 2
    assert Model(3.0).predict(np.ones(2)) == 9.0
    assert model.predict.eager(np.ones(2)) == 10.0
    assert model.predict.on("recording").explain(np.ones(2)) == ("report", {})
    assert Model.predict.stats().calls == 4


def test_eager_runs_the_users_own_function(target: Recording) -> None:
    frames: list[str] = []

    def f(x: Any) -> Any:
        frames.append(traceback.extract_stack()[-1].name)
        if x.sum() > 0:
            return x.tolist()
        return None

    jitted = on_recording(f)
    assert jitted.eager(X) == X.tolist()
    with disable_jit():
        assert jitted(X) == X.tolist()
    assert frames == ["f", "f"]
    assert not target.programs


def test_threads_compile_once(target: Recording) -> None:
    f = on_recording(lambda x: x * 2 + 1)
    barrier = threading.Barrier(8)
    found: list[Any] = []

    def work(k: int) -> None:
        barrier.wait()
        found.append((k, f(float(k))))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(k, 2.0 * k + 1) for k in range(8)]
    assert len(target.programs) == 1


def test_traces_in_other_threads_do_not_see_each_other(target: Recording) -> None:
    started, proceed = threading.Event(), threading.Event()
    found: list[Any] = []

    def slow(x: Any) -> Any:
        started.set()
        proceed.wait(10)
        return x + 1

    jitted = on_recording(lambda x, f: f(x))
    thread = threading.Thread(target=lambda: found.append(jitted(1.0, slow)))
    thread.start()
    assert started.wait(10)
    assert on_recording(double)(4.0) == 8.0
    proceed.set()
    thread.join()
    assert found == [2.0]


def test_numpy_numbers_before_an_operator_reach_kernels() -> None:
    """NumPy hands them on as arrays of rank 0."""

    def f(x: Any, n: Any) -> Any:
        return x.filter(lambda v: np.int32(7) != n).sum()

    jitted: Any = pm.jit(f)
    for g in (jitted, jitted.on("python"), jitted.on("reference")):
        assert (g(np.ones(3), 7), g(np.ones(3), 8)) == (0.0, 3.0)


def test_the_place_of_a_least_element_along_an_empty_axis_is_refused() -> None:
    jitted: Any = pm.jit(lambda x: x.argmin(axis=-1))
    for g in (jitted, jitted.on("python"), jitted.on("reference"), jitted.eager):
        with pytest.raises(ValueError, match="argmin of an empty sequence"):
            g(np.zeros((0, 3, 0)))
        assert g(np.zeros((0, 3))).shape == (0,)
