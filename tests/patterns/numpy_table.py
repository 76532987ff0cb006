"""docs/numpy.md: every public function of NumPy, and every method of its arrays, with its state.

    python -m tests.patterns.numpy_table > docs/numpy.md

What "works" has a case in numpy_cases.py, which test_numpy_table.py runs against NumPy.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from parloom.patterns.arrays import ArrayRep
from parloom.staging.descriptions import public_names
from parloom.staging.numpy_functions import staged_function
from parloom.staging.unsupported import INSTEAD
from tests.patterns.numpy_cases import FUNCTIONS, METHODS

MODULES: Mapping[str, ModuleType] = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.random": np.random,
}

HEADER = """# NumPy's functions

What a staged function may call, and how far it goes. The tests make this page, and try on
every function that *works* whether it gives NumPy's values and dtypes.

| state | meaning |
|---|---|
| works | as in NumPy, with all of its arguments |
| works without | as in NumPy; an argument that is named here is refused, by its name |
| Python's | it takes no arrays: it runs while the function is staged, its result is a constant |
| refused | a `Limitation` says so, and names the nearest thing, if there is one |

Arrays hold bools, integers and floats, complex numbers in part; objects, strings, dates and
`longdouble` are refused. Ufuncs take `out=`, `where=` (with `out=`) and `dtype=`, and have `outer`,
`reduce` and `accumulate`. `reshape` and `ravel` are views where NumPy has views.
"""


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The functions of a module that its users call."""
    for name in sorted(getattr(module, "__all__", dir(module))):
        found = getattr(module, name, None)
        if callable(found) and not isinstance(found, type) and not name.startswith("_"):
            yield name, found


def methods() -> Iterator[str]:
    """The methods and attributes of NumPy's arrays."""
    yield from (n for n in dir(np.ndarray) if not n.startswith("_"))


def defined(function: Any) -> bool:
    """Whether a function has a meaning on staged values."""
    return staged_function(function) is not None


def missing_arguments(function: Any) -> list[str]:
    """The arguments that NumPy's function takes and the staged one does not."""
    definition = staged_function(function)
    if definition is None:
        return []
    try:
        theirs = inspect.signature(function).parameters
    except ValueError:
        return []
    ours = inspect.signature(definition).parameters
    if any(p.kind is p.VAR_KEYWORD for p in ours.values()):
        return []
    places = [n for n, p in theirs.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    taken = set(ours) | set(places[: sum(p.default is p.empty for p in ours.values())])
    return [
        n
        for n, p in theirs.items()
        if n not in taken and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL, p.POSITIONAL_ONLY)
    ]


@cache
def _tried() -> frozenset[Any]:
    """The functions that have a case under some name: np.acos is np.arccos."""
    return frozenset(attrgetter(name)(np) for name in FUNCTIONS)


def state(path: str, function: Any) -> tuple[str, str]:
    """The state of a function, and what is said beside it."""
    name = path.removeprefix("np.")
    if function in _tried():
        lacking = missing_arguments(function)
        return (
            ("works without", ", ".join(f"`{n}=`" for n in lacking)) if lacking else ("works", "")
        )
    if path.startswith("np.random."):
        return "refused", "draw the numbers before the call and pass them as an array"
    dispatched = hasattr(function, "__wrapped__") or isinstance(function, np.ufunc)
    if not dispatched and name not in INSTEAD:
        return "Python's", ""
    return "refused", INSTEAD.get(name.rpartition(".")[2], "")


def method_state(name: str) -> tuple[str, str]:
    """The state of a method."""
    if name in METHODS:
        return "works", ""
    return "refused", INSTEAD.get(name, f"np.{name}" if name in FUNCTIONS else "")


def page() -> str:
    """The whole page."""
    lines = [HEADER]
    for prefix, module in MODULES.items():
        rows = [(f"{prefix}.{n}", *state(f"{prefix}.{n}", f)) for n, f in public(module)]
        lines += _section(prefix, rows)
    lines += _section("Methods of arrays", [(f".{n}", *method_state(n)) for n in methods()])
    return "\n".join(lines)


def _section(title: str, rows: list[tuple[str, str, str]]) -> list[str]:
    works = sum(state.startswith("works") for _, state, _ in rows)
    lines = [
        f"## {title}",
        "",
        f"{works} of {len(rows)} work.",
        "",
        "| name | state | |",
        "|---|---|---|",
    ]
    lines += [f"| `{name}` | {state} | {_cell(note)} |" for name, state, note in rows]
    return [*lines, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def has_method(name: str) -> bool:
    """Whether staged arrays have a method or attribute of that name."""
    return name in public_names(ArrayRep)


if __name__ == "__main__":
    print(page(), end="")
