"""Random user functions: NumPy, eager mode and every compiled form agree.

`make fuzz` has many more of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.fuzz.arguments import ArraySpec, written
from tests.fuzz.cases import Case, random_case
from tests.fuzz.check import arguments_of, as_test, check, shrunk, ways_of
from tests.fuzz.trees import Expr, Function, line
from tests.fuzz.ways import FEW, NUMBA, WITHOUT, Failure, Tally, leaf_disagreement


@pytest.mark.parametrize("first", range(0, 24, 4))
def test_random_functions_agree(first: int) -> None:
    for seed in range(first, first + 4):
        case = random_case(seed)
        failures = check(case, Tally(), ways_of(case), list(arguments_of(case)))
        assert not failures, f"python -m tests.fuzz --seed {seed} --count 1"


def test_random_functions_in_every_way() -> None:
    tally, ways = Tally(), (*FEW, NUMBA, *WITHOUT)
    for seed in (26, 39):
        case = random_case(seed)
        assert not check(case, tally, ways, list(arguments_of(case))[:1]), f"seed {seed}"
    assert tally.runs >= len(ways)


def test_most_functions_are_not_refused() -> None:
    tally = Tally()
    for seed in range(40, 70):
        case = random_case(seed)
        assert case == random_case(seed)
        check(case, tally, FEW[:1], list(arguments_of(case))[:1])
    assert tally.runs == 30
    assert tally.refused <= 8


# The fuzzer itself: what it must find, and what it must not.

WRONG = Case(
    1,
    Function(
        ("x", "y"),
        (
            line("a = {0}", Expr("({0} * 2)", (Expr("x"),))),
            line("b = {0}", Expr("({0} + {1})", (Expr("y"), Expr("np.frexp(x)[0]")))),
        ),
        (Expr("a"), Expr("b")),
    ),
    (ArraySpec("x", "float64", ("n",)), ArraySpec("y", "int64", ("n",))),
)


def test_a_failure_is_made_small() -> None:
    """What is refused stands for what is wrong: it, and only it, is left."""
    way = FEW[0]
    failure = Failure(way.name, "refused", "np.frexp")

    def refused(case: Case) -> bool:
        tally = Tally()
        check(case, tally, [way], list(arguments_of(case))[:1])
        return tally.refused == 1

    assert refused(WRONG)
    small, arguments = shrunk(WRONG, failure, way, failing=refused)
    assert small.function.source().count("\n") <= 3
    assert "np.frexp" in small.function.source()
    assert len(arguments) == len(small.specs)
    assert "def f(" in as_test(small, arguments, failure)


def test_a_value_that_is_off_is_found_and_one_that_is_free_is_not() -> None:
    x = np.array([1.0, 2.0])
    assert leaf_disagreement(x, x, []) == ("", "")
    assert leaf_disagreement(x, x * (1 + 1e-15), [])[0] == "value"
    assert leaf_disagreement(x, x * (1 + 1e-15), [x * (1 + 2e-15)]) == ("", "")
    assert leaf_disagreement(x + 1e-6, x, [x * (1 + 2e-15)])[0] == "value"
    assert leaf_disagreement(x, x.astype(np.float32), [])[0] == "dtype"


@pytest.mark.parametrize("layout", ["plain", "transposed", "reversed", "strided"])
def test_arguments_are_written_as_they_are(layout: str) -> None:
    value = ArraySpec("x", "float64", ("n", "m"), layout, "special").value({"n": 3, "m": 4}, 0)
    again = eval(written(value), {"np": np})
    np.testing.assert_array_equal(again, value, strict=True)
    assert again.flags.c_contiguous == value.flags.c_contiguous
