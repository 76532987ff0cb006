"""Temporaries are let go where they are dead, and nothing else is."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parloom as pm
from parloom.codegen.runtime import memory
from parloom.codegen.runtime.memory import Store

N = memory.SMALL // 4
X = np.arange(float(N)) - 5.0


def scaled(x: Any) -> Any:
    """Each line needs all elements of the one before, twice."""
    a = x[x > 0.0]
    b = a[::-1] / a.max()
    c = b[b > 0.1]
    d = c[::-1] / c.sum()
    return d[d > 0.0]


def settled(x: Any, k: Any) -> Any:
    a = x[x > 0.0]
    b = a[a > 1.0]
    while k > 0:
        c = b[b > 2.0]
        b = c[::-1] + c.sum()
        k = k - 1
    return b[b > 0.0]


def lines(f: Any, *args: Any) -> list[str]:
    """The lines of the sequential part that let go, and the launches and loops between them."""
    jitted: Any = pm.jit(f)
    text: str = jitted.explain(*args).source("host")
    words = (line.strip() for line in text.splitlines())
    found = [w for w in words if w.startswith(("del ", "while ")) or " = launch" in w]
    return [w.split("(")[0] if " = launch" in w else w for w in found]


def test_a_temporary_goes_behind_its_last_use() -> None:
    found = lines(scaled, X)
    names = [w.removeprefix("del ") for w in found if w.startswith("del ")]
    assert names[:1] == ["a"]
    for name in names:
        at = found.index(f"del {name}")
        made = [k for k, w in enumerate(found) if name in w.split(" = ")[0].split(", ")]
        assert made[0] < at < len(found)


def test_what_only_a_loop_begins_with_goes_before_it() -> None:
    found = lines(settled, X, 3)
    loop = found.index("while True:")
    assert "del b" in found[:loop]
    assert "del c" in found[loop:]


@pytest.mark.parametrize("on", [{}, {"target": "python"}])
def test_less_memory_is_held_at_once(monkeypatch: pytest.MonkeyPatch, on: Any) -> None:
    store = Store(1 << 30)
    monkeypatch.setattr(memory, "_store", store)
    most = 0
    allocate = store.array

    def counted(*args: Any) -> np.ndarray:
        nonlocal most
        made = allocate(*args)
        most = max(most, store.held)
        return made

    monkeypatch.setattr(store, "array", counted)
    jitted: Any = pm.jit(scaled).on(**on)
    found = jitted(X)
    reference: Any = pm.jit(scaled).on("reference")
    few = X[:50]
    assert jitted(few).tolist() == reference(few).tolist()
    assert found.size > N // 2
    assert most <= 4 * memory.rounded(8 * N)


def test_results_and_updated_arrays_are_kept() -> None:
    @pm.jit
    def changed(x: Any, k: Any) -> Any:
        a = x * 2.0
        total = a.sum()
        b = a.copy()
        b[k] = total
        c = b[b > 0.0]
        return a, b, c.sum()

    first, second, total = changed(np.arange(5.0), 2)
    assert first.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]
    assert second.tolist() == [0.0, 2.0, 20.0, 6.0, 8.0]
    assert total == 36.0
