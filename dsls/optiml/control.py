"""Iteration until convergence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...patterns.public import asarray
from ...staging.context import current, trace
from ...staging.control import while_loop
from ...staging.errors import StagingTypeError
from ...staging.nodes import Callback, PythonFunction
from ...staging.reps import lift
from .distances import sum_of_squares

State = tuple[Any, Any, Any]


def until_converged(
    x: Any,
    step: Callable[[Any], Any],
    tol: Any = 1e-3,
    max_iter: Any = 1000,
    min_iter: Any = 1,
    difference: Callable[[Any, Any], Any] = sum_of_squares,
    on_iteration: Callable[[Any, Any], object] | None = None,
) -> Any:
    """`x = step(x)`, again and again while the difference that a step makes is above `tol`.

    x : an array, a number, or a tuple of these (then give a `difference`)
    step : of x; returns the next x, of the same form
    tol : the loop ends when abs(difference(previous, next)) <= tol, or when it is NaN
    max_iter, min_iter : the most steps, and the fewest, whatever the difference
    difference : of the previous x and the next; by default the sum of squared differences
    on_iteration : called with the number of steps so far and the last difference, after each step;
        it runs unstaged, and its result is ignored
    -> the last x

    Raises TypeError for a tuple without a `difference`.

    The defaults of tol, min_iter and max_iter are OptiML's.

    >>> root = until_converged(1.0, lambda x: (x + 2 / x) / 2, tol=1e-12)
    >>> round(root, 6)
    1.414214
    """

    given: object = x
    if isinstance(given, tuple) and difference is sum_of_squares:
        raise StagingTypeError(
            "until_converged of a tuple without a difference",
            why="how far a step moves a tuple is for you to say",
            instead="difference=lambda previous, following: ..., a number",
        )

    def more(state: State) -> Any:
        _, steps, change = state
        moving = np.logical_and(np.abs(change) > tol, steps < max_iter)
        return np.logical_or(moving, steps < min_iter)

    def once(state: State) -> State:
        previous, steps, _ = state
        following = step(previous)
        change = difference(previous, following)
        if on_iteration is not None:
            _report(on_iteration, steps + 1, change)
        return following, steps + 1, change

    start = asarray(x) if isinstance(x, list | np.ndarray) else x
    return _loop(more, once, (start, 0, float("inf")))[0]


def _loop(more: Callable[[State], Any], once: Callable[[State], State], state: State) -> State:
    if current() is not None:
        return while_loop(more, once, state, unroll=False)
    while more(state):
        state = once(state)
    return state


def _report(function: Callable[..., object], *values: Any) -> None:
    """Calls an unstaged function, now or, in a trace, whenever the program gets here."""
    if current() is None:
        function(*values)
        return
    operands = tuple(lift(value).operand for value in values)
    trace().emit(Callback(PythonFunction(function), operands))
