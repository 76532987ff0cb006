"""Arguments that a function writes to, on every target, and what is left as it was."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest

import parloom as pm
from parloom.staging.errors import (
    Limitation,
    StagedIndexError,
    StagingTypeError,
)
from parloom.transforms import cpu_levels
from tests.compare import assert_agree

On = Callable[[Any], Any]
WAYS: dict[str, On] = {
    "llvm": lambda jitted: jitted,
    "numba": lambda jitted: jitted.on(printer="numba"),
    "python": lambda jitted: jitted.on("python"),
    "reference": lambda jitted: jitted.on("reference"),
    "eager": lambda jitted: jitted.eager,
}


@pytest.fixture(params=WAYS)
def on(request: pytest.FixtureRequest) -> On:
    """A jitted function on each target, with each printer, and eagerly."""
    return WAYS[request.param]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_levels, "CHUNK", 7)


def smooth(u: Any, v: Any) -> Any:
    """Writes to a part, through a view, in a branch and in a loop."""
    u[1:-1] += v[1:-1]
    back = u[::-1]
    back[0] = -1.0
    for i in range(2, 4):
        u[i] = u[i - 1] * 2.0
    if u[0] > 100.0:
        u *= 0.5
    return u.sum()


def ones(u: Any) -> None:
    u[...] = 1.0


X = np.arange(30.0)


@pytest.mark.parametrize(
    "view",
    [
        lambda base: base[:30],
        lambda base: base[::2],
        lambda base: base[::-2],
        lambda base: base.reshape(30, 2).T[1],
        lambda base: base[3:33],
        lambda base: base[:30].view(pm.Array),
    ],
    ids=["whole", "every second", "backwards", "column", "offset", "eager array"],
)
def test_the_argument_s_own_memory_is_written(on: On, view: Callable[[Any], Any]) -> None:
    expected, base = np.arange(60.0), np.arange(60.0)
    total = smooth(view(expected), X)
    assert_agree(on(pm.jit(smooth, inout="u"))(view(base), X), total)
    assert_agree(base, expected)
    assert X.tolist() == list(range(30))


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_in_both_orders(on: On, order: Any) -> None:
    def f(m: Any) -> None:
        m.T[1:] += m[:, 0]
        m[0] = 7.0

    expected = np.asarray(np.arange(16.0).reshape(4, 4), order=order)
    m = expected.copy(order=order)
    f(expected)
    on(pm.jit(f, inout="m"))(m)
    assert_agree(m, expected)


def test_results_are_arrays_apart_from_the_argument(on: On) -> None:
    def f(a: Any) -> Any:
        a += 1.0
        return a, a[1:], {"a": a}

    a = np.zeros(4)
    whole, part, named = on(pm.jit(f, inout="a"))(a)
    for found in (whole, part, named["a"]):
        assert (found == 1.0).all()
        assert not np.shares_memory(found, a)


def test_several_arrays_exchange_what_they_hold(on: On) -> None:
    def f(a: Any, b: Any) -> None:
        kept = a.copy()
        a[:] = b
        b[:] = kept

    base = np.arange(10.0)
    on(pm.jit(f, inout=("a", "b")))(base[::2], base[1::2])
    assert base.tolist() == [1, 0, 3, 2, 5, 4, 7, 6, 9, 8]


@dataclass
class Body:
    at: Any
    speed: Any
    mass: float


def test_arrays_inside_of_a_structure(on: On) -> None:
    def step(body: Any, dt: Any) -> None:
        body.at += dt * body.speed / body.mass

    body = Body(np.zeros(3), np.ones(3), 2.0)
    on(pm.jit(step, inout="body"))(body, 1.0)
    assert body.at.tolist() == [0.5] * 3
    assert body.speed.tolist() == [1.0] * 3


def test_an_array_that_may_be_left_out(on: On) -> None:
    def f(x: Any, seen: Any = None) -> Any:
        if seen is not None:
            seen[:] = x
        return x.sum()

    jitted, seen = on(pm.jit(f, inout="seen")), np.zeros(3)
    assert jitted(np.ones(3)) == jitted(np.ones(3), seen) == 3.0
    assert seen.tolist() == [1.0] * 3


def test_any_number_of_arrays(on: On) -> None:
    def f(k: Any, *arrays: Any, **named: Any) -> None:
        for a in (*arrays, *named.values()):
            a *= k

    a, b, c = np.ones(2), np.ones(3), np.ones((2, 2))
    on(pm.jit(f, inout=("arrays", "named")))(2.0, a, b, c=c)
    assert [x.sum() for x in (a, b, c)] == [4.0, 6.0, 8.0]


def test_what_is_not_written_to_is_no_result() -> None:
    def f(a: Any, b: Any) -> Any:
        b[0] = 1.0
        return a.sum()

    program = pm.jit(f, inout=("a", "b")).trace(np.zeros(3), np.zeros(3))
    assert len(program.body.operands) == 2


VECTOR = pm.f64["n"]


def marked(a: pm.inout, k: float) -> None:  # type: ignore[valid-type]
    a *= k


def typed(a: pm.inout[VECTOR], k: float) -> None:  # type: ignore[valid-type]
    a *= k


def annotated(a: Annotated[pm.Array, pm.inout], k: float) -> None:
    a *= k


def both(a: Annotated[pm.Array, VECTOR, pm.inout], k: float) -> None:
    a *= k


@pytest.mark.parametrize("f", [marked, typed, annotated, both], ids=lambda f: f.__name__)
def test_an_annotation_marks_a_parameter(on: On, f: Any) -> None:
    a = np.ones(3)
    on(pm.jit(f))(a, 3.0)
    assert a.tolist() == [3.0] * 3


def test_a_type_beside_the_mark_is_compared() -> None:
    for f in (typed, both):
        with pytest.raises(StagingTypeError, match="a is declared as"):
            pm.jit(f)(np.ones(3, np.float32), 3.0)
    with pytest.raises(StagingTypeError, match="not the type of an array"):
        pm.inout["n"]  # type: ignore[index]


def test_a_value_of_another_dtype_is_converted_as_by_numpy(on: On) -> None:
    def f(a: Any) -> None:
        a[1:] = 2.75

    a = np.zeros(3, np.int32)
    on(pm.jit(f, inout="a"))(a)
    assert_agree(a, np.array([0, 2, 2], np.int32))


def test_an_update_that_does_not_fit_the_dtype_raises(on: On) -> None:
    def f(a: Any) -> None:
        a += 1.5

    a = np.zeros(3, np.int32)
    with pytest.raises(TypeError):
        on(pm.jit(f, inout="a"))(a)
    assert a.tolist() == [0] * 3


@pytest.mark.parametrize("target", ["cpu", "python", "reference"])
def test_a_fault_leaves_the_argument_as_it_was(target: str) -> None:
    def f(a: Any, i: Any) -> Any:
        a[:] = 1.0
        return a[i]

    a = np.zeros(3)
    with pytest.raises(StagedIndexError):
        pm.jit(f, inout="a", target=target)(a, 7)
    assert a.tolist() == [0.0] * 3


def test_a_call_that_is_done_again_writes_once() -> None:
    def guess(a: Any) -> None:
        a += 1.0
        if pm.speculate(a[0] < 2.0):
            a += 10.0

    def steady(a: Any, k: Any) -> None:
        a += pm.stable(k)

    def slow(a: Any, k: Any) -> None:
        a += 1.0
        if k > 1:
            pm.slowpath()
            a += 10.0

    a = np.zeros(2)
    for _ in range(3):
        pm.jit(guess, inout="a")(a)
    assert a.tolist() == [13.0, 13.0]
    b, f = np.zeros(2), pm.jit(steady, inout="a")
    for k in (1, 1, 1, 2, 2, 1):
        f(b, k)
    assert b.tolist() == [8.0, 8.0]
    c, g = np.zeros(2), pm.jit(slow, inout="a")
    for k in (1, 2, 1):
        g(c, k)
    assert c.tolist() == [13.0, 13.0]


def test_beside_out(on: On) -> None:
    def f(a: Any, b: Any) -> Any:
        a += b
        return a * 2.0

    jitted = on(pm.jit(f, inout="a"))
    a, y = np.ones(20), np.arange(20.0)
    assert jitted(a, y, out=y) is y
    assert a.tolist() == [1.0 + k for k in range(20)]
    assert y.tolist() == [2.0 + 2 * k for k in range(20)]
    with pytest.raises(StagingTypeError, match=r"a, .* shares memory with out"):
        jitted(a, y, out=a[::-1])


def test_the_caller_s_array_where_one_staged_function_calls_another(on: On) -> None:
    inner = pm.jit(ones, inout="u")

    def outer(a: Any) -> None:
        inner(a[1:3])

    a = np.zeros(4)
    on(pm.jit(outer, inout="a"))(a)
    assert a.tolist() == [0.0, 1.0, 1.0, 0.0]


def test_an_inner_function_writes_to_no_argument_that_the_outer_one_does_not_mark() -> None:
    inner = pm.jit(ones, inout="u")
    with pytest.raises(Limitation, match="a write to an argument"):
        pm.jit(lambda a: inner(a))(np.zeros(4))


def test_without_compilation_the_array_is_the_user_s() -> None:
    a = np.zeros(3)
    with pm.disable_jit():
        pm.jit(ones, inout="u")(a)
    assert a.tolist() == [1.0] * 3


def test_a_method_on_other_targets() -> None:
    class Model:
        @pm.jit(inout="a")
        def add(self, a: Any) -> None:
            a += 1.0

    a, model = np.zeros(3), Model()
    model.add(a)
    model.add.on("python")(a)
    with pm.options(target="reference"):
        model.add(a)
    assert a.tolist() == [3.0] * 3


def test_compiled_ahead() -> None:
    f = pm.jit(ones, inout="u")
    f.compile(pm.f64["n"])
    a = np.zeros(3)
    f(a)
    assert a.tolist() == [1.0] * 3
    assert f.stats().traces == 1


def test_reshaped_views_write_through(on: On) -> None:
    def f(m: Any) -> None:
        flat = m.reshape(-1)
        flat[::2] = 9.0
        m.ravel()[1] = 5.0
        m.flatten()[1] = 6.0

    expected, m = np.zeros((2, 3)), np.zeros((2, 3))
    f(expected)
    on(pm.jit(f, inout="m"))(m)
    assert_agree(m, expected)


def test_a_strided_array_is_raveled_into_a_copy(on: On) -> None:
    def f(a: Any) -> None:
        a.ravel()[0] = 1.0
        np.ascontiguousarray(a)[1] = 1.0

    a = np.zeros(6)[::2]
    on(pm.jit(f, inout="a"))(a)
    assert a.tolist() == [0.0] * 3


def test_a_reshape_that_is_a_view_for_some_strides_is_read_only(on: On) -> None:
    def f(m: Any) -> Any:
        return m.reshape(-1) * 2.0

    def g(m: Any) -> None:
        m.reshape(-1)[0] = 1.0

    assert on(pm.jit(f, inout="m"))(np.ones((2, 3)).T).tolist() == [2.0] * 6
    with pytest.raises(Limitation, match="what m holds in the end"):
        pm.jit(g, inout="m")(np.zeros((2, 3)).T)
