"""A case run in every way, and made smaller when two of them disagree."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tests.fuzz.arguments import ArraySpec, Spec, written
from tests.fuzz.cases import Case
from tests.fuzz.generate import WORLDS
from tests.fuzz.trees import smaller_functions
from tests.fuzz.ways import (
    FEW,
    NUMBA,
    WITHOUT,
    Eager,
    Failure,
    Outcome,
    Staged,
    Tally,
    Way,
    compiled,
    disagreement,
    outcome,
    same_bits,
)

OTHER = (
    *({"n": 1, "m": 3, "k": 2}, {"n": 4, "m": 1, "k": 1}, {"n": 0, "m": 2, "k": 3}),
    *({"n": 3, "m": 0, "k": 0}, {"n": 2, "m": 2, "k": 2}, {"n": 130, "m": 3, "k": 2}),
)

OFTEN = ("reference", "llvm")

Arguments = Sequence[Any]


def ways_of(case: Case, everything: bool = False) -> tuple[Way, ...]:
    """The ways in which a case is run: the usual ones, and some others for some cases."""
    rng = random.Random(case.seed)
    complexes = "complex" in f"{case.specs} {case.function.source()}"
    # Complex numbers go through Numba, which takes its time.
    possible = [way for way in FEW if not complexes or everything or way.target != "cpu"]
    others = [w for w in possible if everything or w.name in OFTEN or rng.random() < 0.35]
    if everything or rng.random() < 0.1:
        others.append(NUMBA)
    if everything:
        others += WITHOUT
    elif not complexes and rng.random() < 0.3:
        others.append(rng.choice(WITHOUT))
    return tuple(others)


def arguments_of(case: Case) -> Iterator[list[Any]]:
    """Arguments of the sizes with which the function was made, and of others."""
    rng = random.Random(case.seed)
    slow = any(word in case.function.source() for word in ("for ", "while ", "lambda"))
    sizes: list[Mapping[str, int]] = [*WORLDS, rng.choice(OTHER[:-1] if slow else OTHER)]
    for k, chosen in enumerate(sizes):
        yield [spec.value(chosen, k) for spec in case.specs]


def check(
    case: Case, tally: Tally, ways: Sequence[Way], runs: Sequence[Arguments]
) -> list[Failure]:
    """Every way in which the case fails, on the first arguments that show it."""
    eager = Eager(case.function)
    staged = {way.name: Staged(case.function, way) for way in ways}
    failures: dict[tuple[str, str], Failure] = {}
    for arguments in runs:
        expected = eager.run(arguments)
        undetermined = eager.nothing and case.patterns
        noisy = eager.runs_with_noise(arguments)
        if not case.patterns:
            plain = outcome(partial(compiled(case.function.source()), *map(own, arguments)))
            kind, message = disagreement(expected, plain, noisy)
            if kind:
                failures.setdefault(("eager", kind), Failure("eager", kind, message))
        found: dict[str, Outcome] = {}
        for way in ways:
            result = found[way.name] = staged[way.name].run(arguments)
            tally.runs += 1
            tally.refused += result.refused
            tally.raised += result.error is not None and not result.refused
            tally.free += bool(noisy)
            if result.refused:
                text = str(result.error).splitlines()[0]
                tally.refusals[text] = tally.refusals.get(text, 0) + 1
            wanted = expected
            if undetermined:
                wanted = found.get("reference", result)
            for kind, message in (
                disagreement(result, wanted, noisy, way.name),
                same_bits(result, found[way.bits]) if way.bits in found else ("", ""),
            ):
                if kind:
                    failures.setdefault((way.name, kind), Failure(way.name, kind, message))
            if result.refused and way is ways[0]:
                break
    return list(failures.values())


def own(value: Any) -> Any:
    """A copy of an argument, for a function that may write to it."""
    found: Any = value
    return found.copy() if isinstance(value, np.ndarray) and found.ndim else found


# Shrinking.


def smaller_specs(specs: tuple[Spec, ...]) -> Iterator[tuple[Spec, ...]]:
    """Simpler arguments."""
    for k, spec in enumerate(specs):
        if not isinstance(spec, ArraySpec):
            continue
        for other in (
            replace(spec, layout="plain"),
            replace(spec, values="whole"),
            replace(spec, dtype="float64"),
            replace(spec, dtype="int64"),
            *(
                replace(spec, dims=spec.dims[:j] + spec.dims[j + 1 :])
                for j in range(len(spec.dims))
            ),
        ):
            if other != spec:
                yield (*specs[:k], other, *specs[k + 1 :])


def without_argument(case: Case, k: int) -> Case:
    """The case with one argument less."""
    function = case.function
    params = function.params[:k] + function.params[k + 1 :]
    specs = case.specs[:k] + case.specs[k + 1 :]
    return replace(case, function=replace(function, params=params), specs=specs)


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases that are a step smaller."""
    for function in smaller_functions(case.function):
        yield replace(case, function=function)
    for k in range(len(case.specs)):
        yield without_argument(case, k)
    if len(case.function.params) > len(case.specs):
        params = case.function.params[: len(case.specs)]
        yield replace(case, function=replace(case.function, params=params))
    for specs in smaller_specs(case.specs):
        yield replace(case, specs=specs)


def shrunk(
    case: Case,
    failure: Failure,
    way: Way,
    steps: int = 3000,
    failing: Callable[[Case], object] | None = None,
) -> tuple[Case, list[Any]]:
    """The smallest case found that fails in the same way, with the arguments that show it.

    failing : whether a case fails, otherwise than by disagreement
    """
    test = failing or partial(arguments_that_show, failure, way)
    candidates = smaller_cases(case)
    while steps:
        steps -= 1
        smaller = next(candidates, None)
        if smaller is None:
            break
        if is_python(smaller) and test(smaller):
            case, candidates = smaller, smaller_cases(smaller)
    shown = arguments_that_show(failure, way, case)
    return case, shown or next(arguments_of(case))


def is_python(case: Case) -> bool:
    """Whether the text still is a module of Python, without a warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)
            compile(case.function.source(), "", "exec")
    except (SyntaxError, SyntaxWarning):
        return False
    return True


def arguments_that_show(failure: Failure, way: Way, case: Case) -> list[Any] | None:
    """Arguments with which a case fails in this way."""
    related = [w for w in (*FEW, NUMBA, *WITHOUT) if w.name == way.bits]
    for k, sizes in enumerate((*WORLDS, *OTHER[:5])):
        arguments = [spec.value(sizes, k) for spec in case.specs]
        try:
            found = check(case, Tally(), [*related, way], [arguments])
        except Exception:  # noqa: BLE001 - what does not even run is no smaller case
            return None
        if any(f.what == failure.what for f in found):
            return arguments
    return None


def as_test(case: Case, arguments: Sequence[Any], failure: Failure) -> str:
    """A test case to copy."""
    shown = ",\n    ".join(written(a) for a in arguments)
    options = f"  # {failure.way}: {failure.kind}: {failure.message.splitlines()[0]}"
    return f"{case.function.source()}\n{options}\narguments = (\n    {shown},\n)\n"


def way_named(name: str) -> Way:
    """A way by its name; eager mode is no way of its own: any will do."""
    known = {way.name: way for way in (*FEW, NUMBA, *WITHOUT)}
    return known.get(name, FEW[0])
