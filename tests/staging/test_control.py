"""Control flow as functions: if_then_else, while_loop, for_range."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPossiblyUnboundVariable=false, reportUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from parloom.staging import errors
from parloom.staging.control import for_range, if_then_else, while_loop
from parloom.staging.nodes import ForLoop, If, While
from parloom.staging.tracing import trace_function

from .running import ops, run

X = np.array([3.0, -1.0, 2.5, 0.0])
NUMBERS = [(-2.0,), (0.0,), (1.0,), (3.5,)]


def test_functional_forms() -> None:
    def f(x: float, n: int) -> Any:
        a = if_then_else(x > 0, lambda: (x, 1), lambda: (0, x))
        b = while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 2), (0, x))
        c = for_range(n, lambda i, s: s + i, 0)
        return a, b, c

    traced = trace_function(f, (1.0, 3))
    assert len(ops(traced, If)) == len(ops(traced, While)) == len(ops(traced, ForLoop)) == 1
    assert run(f, 2.0, 3) == ((2.0, 1.0), (3, 16.0), 3)
    assert run(f, -2.0, 0) == ((0.0, -2.0), (0, -2.0), 0)


def test_functional_forms_decide_what_is_known() -> None:
    assert if_then_else(True, lambda: 1, lambda: 2) == 1
    assert while_loop(lambda s: s < 10, lambda s: s * 3, 1) == 27


def test_functional_forms_raise_where_the_results_do_not_fit() -> None:
    with pytest.raises(errors.UserError, match="the result has no value here"):
        run(lambda x: if_then_else(x > 0, lambda: (x, x), lambda: x), 1.0)
    with pytest.raises(errors.UserError, match="the state has no value here"):
        run(lambda x: while_loop(lambda s: s < x, lambda s: [s], 0.0), 1.0)  # type: ignore[arg-type, return-value]
