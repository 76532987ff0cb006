"""Whole messages, and tracebacks that show only the user's frames."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

from parloom.patterns import reference
from parloom.staging import errors, targets
from parloom.staging.jit import jit

X = np.arange(6.0).reshape(2, 3)


def helper(x: Any) -> Any:
    return x.summ()


@jit
def misspelt(x: Any) -> Any:
    y = helper(x)
    return y


def frames(error: BaseException) -> list[str]:
    return [f"{f.name}: {f.line}" for f in traceback.extract_tb(error.__traceback__)]


def test_unknown_attributes_suggest_the_nearest() -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        misspelt.trace(X)
    assert str(caught.value).splitlines() == [
        "a staged f64[x_0, x_1] has no attribute 'summ'",
        f"  at {__file__}:{helper.__code__.co_firstlineno + 1}, in helper",
        "    return x.summ()",
        "           ^^^^^^",
        "  instead: did you mean 'sum'?",
    ]


def test_tracebacks_show_the_users_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        misspelt.trace(X)
    assert frames(caught.value)[1:] == ["misspelt: y = helper(x)", "helper: return x.summ()"]
    monkeypatch.setenv("PARLOOM_FULL_TRACEBACK", "1")
    with pytest.raises(errors.UnknownNameError) as caught:
        misspelt.trace(X)
    assert any("trace_values" in frame for frame in frames(caught.value))


def test_python_errors_of_the_user_keep_their_type_and_lines() -> None:
    @jit
    def f(x: Any) -> Any:
        return x + undefined  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError, match="undefined") as caught:
        f.trace(1.0)
    assert frames(caught.value)[1:] == [
        "f: return x + undefined  # type: ignore[name-defined]  # noqa: F821"
    ]


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (bool, "a staged value was used where Python needs True or False"),
        (int, "int() of a staged value"),
        (float, "float() of a staged value"),
        (hash, "a staged value was used as a dict key or a set member"),
        (iter, "iteration over a staged scalar"),
        ([1, 2].__getitem__, "a staged value was used as a Python index or size"),
        (np.asarray, "NumPy tried to make an array out of a staged value"),
    ],
)
def test_staged_values_outside_of_rewritten_code_are_trapped(use: Any, what: str) -> None:
    scope: dict[str, Any] = {"use": use}
    exec("def f(x):\n    return use(x)\n", scope)
    f: Any = jit(scope["f"])
    with pytest.raises(errors.StagingTypeError) as caught:
        f.trace(1.0)
    lines = str(caught.value).splitlines()
    assert lines[0] == what
    assert any(line.startswith("  instead: ") for line in lines)


@pytest.mark.parametrize("body", ["x if x[0] > 0 else -x", "[v for v in x]", "int(x[0, 0])"])
def test_a_function_typed_at_the_prompt_is_named_as_the_reason(body: str) -> None:
    scope: dict[str, Any] = {}
    exec(compile(f"def typed(x):\n    return {body}\n", "<stdin>", "exec"), scope)
    typed: Any = jit(scope["typed"])
    with pytest.raises(errors.StagingTypeError) as caught:
        typed.trace(X)
    text = str(caught.value)
    assert "the source of typed is not to be had from <stdin>" in text
    assert "instead: define typed in a file or a notebook's cell" in text


@pytest.mark.parametrize(
    ("use", "what", "instead"),
    [
        (lambda x: x.tolist(), "ndarray.tolist is not supported", "the array itself"),
        (lambda x: x.columns, "has no attribute 'columns'", "did you mean 'cols'?"),
        (lambda x: x.group_by(x, size=2).std(), "a staged grouping has no attribute 'std'", ""),
    ],
)
def test_methods_that_are_not_there(use: Any, what: str, instead: str) -> None:
    jitted: Any = jit(use)
    with pytest.raises(errors.UnknownNameError) as caught:
        jitted.trace(X)
    assert what in str(caught.value)
    assert instead in str(caught.value)


def test_errors_of_the_running_program_have_the_users_line() -> None:
    class Interpreted:
        def __init__(self, traced: Any) -> None:
            self.traced = traced

        def __call__(self, arguments: Any, into: Any = ()) -> list[Any]:
            return list(reference.interpret(self.traced.program, arguments))

        def report(self) -> object:
            return None

    class Target:
        name = "errors"

        def compile(self, traced: Any, options: Any) -> Interpreted:
            return Interpreted(traced)

    targets.register("errors", Target)

    @jit(target="errors")
    def f(x: Any, i: int) -> Any:
        y = x[i]
        return y

    assert f(np.ones(3), 2) == 1.0
    with pytest.raises(IndexError) as caught:
        f(np.ones(3), 7)
    assert f"{__file__}:{f.function.__code__.co_firstlineno + 2}" in str(caught.value)
    assert not any("parloom" in frame.filename for frame in traceback.extract_tb(caught.tb))


def endless(n: Any) -> Any:
    if n > 0:
        return endless(n - 1)
    return n


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x, n: f"{n}", "a staged value was put into a text"),
        (lambda x, n: str(x), "a staged value was put into a text"),
        (lambda x, n: [0, 1] * n, "a list was repeated a staged number of times"),
        (lambda x, n: n * (0, 1), "a tuple was repeated a staged number of times"),
        (lambda x, n: np.empty(2, object), "the array has dtype object"),
    ],
)
def test_what_would_be_something_else_is_refused(f: Any, what: str) -> None:
    jitted: Any = jit(f)
    with pytest.raises(errors.ParloomError) as caught:
        jitted.trace(X, 3)
    assert caught.value.what == what
    assert jit(lambda x, n: x * n, target="reference")([1, 2], 3).tolist() == [3, 6]


def test_a_recursion_without_end_is_shown_where_it_happens() -> None:
    recursive: Any = jit(endless)
    with pytest.raises(errors.UserError, match="calls itself without end") as caught:
        recursive.trace(3)
    (place,) = caught.value.where
    assert place.function == "endless"
