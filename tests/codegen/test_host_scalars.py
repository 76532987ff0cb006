"""Scalars between launches: on every dtype exactly what the interpreter's primitives compute."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from parloom.codegen.host_scalars import constant, converted, is_silent, primitive
from parloom.codegen.plain import load
from parloom.staging import primitives as p
from parloom.staging.nodes import Apply, Cast, Var
from parloom.staging.primitives import POWER, Primitive
from parloom.staging.types import Scalar
from tests.codegen.test_scalars import COMPLEXES, REALS, special

pytestmark = pytest.mark.filterwarnings("error")


def function(parameters: str, expression: str) -> Callable[..., Any]:
    """The expression as a function."""
    text = f"import numpy as np\ndef f({parameters}):\n    return {expression}\n"
    namespace = load(text)
    namespace["power"] = POWER.evaluate
    found: Callable[..., Any] = namespace["f"]
    return found


def same(found: Any, expected: Any) -> bool:
    """Whether a scalar is of NumPy, of the same dtype, and the same (NaNs are alike)."""
    if type(found) is not type(expected):
        return False
    return found.tobytes() == expected.tobytes() or bool(found != found and expected != expected)


def operands(name: str, taken: Primitive) -> list[Scalar]:
    """Operands of the dtype, as the primitive's loop wants them; [] without such a loop."""
    given = [Scalar(np.dtype(name))] * taken.arity
    try:
        loop = taken.loop(tuple(given))
    except TypeError:
        return []
    return given if all(a == b for a, b in zip(loop[-2:], given[-2:], strict=True)) else []


@pytest.mark.parametrize("name", [*REALS, *COMPLEXES])
def test_primitives(name: str) -> None:
    values = list(special(name))
    tried = 0
    for taken in p.ALL:
        types = operands(name, taken)
        if not types or taken is p.SELECT:
            continue
        text = primitive(Apply(taken, tuple(Var(t, "a") for t in types)), ("a", "b")[: taken.arity])
        if text.startswith("np."):  # the ufunc itself
            continue
        f = function("a, b", text)
        for a, b in product(values, values if taken.arity == 2 else values[:1]):
            with np.errstate(all="ignore"):
                found = f(a, b)
            expected = taken.evaluate(*(a, b)[: taken.arity])
            assert same(found, expected), f"{taken}({a!r}, {b!r}) is {expected!r}, not {found!r}"
            tried += 1
    assert tried > 100 or name in ("bool", *COMPLEXES)


@pytest.mark.parametrize("name", [*REALS, *COMPLEXES])
def test_what_is_silent_never_warns(name: str) -> None:
    values = list(special(name))
    found = 0
    for taken in p.ALL:
        types = operands(name, taken)
        op = Apply(taken, tuple(Var(t, "a") for t in types))
        if not types or taken is p.SELECT or not is_silent(op):
            continue
        f = function("a, b", primitive(op, ("a", "b")[: taken.arity]))
        for a, b in product(values, values):
            f(a, b)
        found += 1
    assert found >= 6 or name in COMPLEXES


def test_select_takes_one_of_two() -> None:
    truth, number = Scalar(np.dtype(np.bool_)), Scalar(np.dtype(np.float32))
    op = Apply(p.SELECT, (Var(truth, "c"), Var(number, "a"), Var(number, "b")))
    f = function("c, a, b", primitive(op, ("c", "a", "b")))
    assert f(np.True_, np.float32(1), np.float32(2)) == 1
    assert f(np.False_, np.float32(1), np.float32(2)) == 2


def test_signed_and_unsigned_integers_compare_by_value() -> None:
    signed, unsigned = np.int64(-1), np.uint64(2**64 - 1)
    for taken in p.COMPARISONS:
        op = Apply(taken, tuple(Var(Scalar(v.dtype), "a") for v in (signed, unsigned)))
        f = function("a, b", primitive(op, ("a", "b")))
        assert same(f(signed, unsigned), taken.evaluate(signed, unsigned))


@pytest.mark.parametrize("source", [*REALS, *COMPLEXES])
def test_conversions(source: str) -> None:
    for target in (*REALS, *COMPLEXES):
        f = function("a", converted("a", np.dtype(source), np.dtype(target)))
        for value in special(source):
            with np.errstate(all="ignore"):
                found = f(value)
                whole = value.dtype.kind == "c" and np.dtype(target).kind not in "cb"
                expected = (value.real if whole else value).astype(target)
            assert same(found, expected), f"{value!r} as {target}"


def test_a_conversion_to_the_same_dtype_is_silent() -> None:
    number = Var(Scalar(np.dtype(np.int64), weak=True), "n")
    assert is_silent(Cast(number, Scalar(np.dtype(np.int64))))
    assert not is_silent(Cast(number, Scalar(np.dtype(np.int32))))


@pytest.mark.parametrize("name", [*REALS, *COMPLEXES])
def test_constants(name: str) -> None:
    for value in special(name):
        found = function("", constant(value))()
        assert same(found, value), constant(value)
