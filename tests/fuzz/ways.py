"""The ways to run a function, and whether they agree.

Eager mode, which is the user's own Python on NumPy's arrays, says what is expected. Where rounding
is free, noisy runs say by how much (noise.py).
"""

from __future__ import annotations

import linecache
import math
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

import parloom as pm
from parloom.codegen.cpu import target as cpu_target
from parloom.codegen.runtime import threads
from parloom.patterns import semantics
from parloom.staging import pytree
from parloom.staging.errors import (
    CheckFailed,
    InternalError,
    Limitation,
    ParloomError,
    ShapeError,
    StagingTypeError,
    UnknownNameError,
    UserError,
)
from parloom.staging.passes import Pass
from parloom.transforms import cpu_levels
from parloom.transforms.pipelines import CPU
from tests.compare import EXACT, Spread, assert_agree
from tests.fuzz.noise import Noise, quiet
from tests.fuzz.trees import Function

SECONDS = 60  # a run that takes longer hangs
REFUSED = (Limitation, StagingTypeError, UnknownNameError)
# Python's errors of floats and conversions; views of nothing; the least of nothing for no place.
NO_FAULT = ("math", "range error", "convert float", "too large", "size 0", "zero-size", "overflow")
KINDS = (IndexError, OverflowError, ZeroDivisionError, ValueError, AssertionError)


@dataclass(frozen=True, slots=True)
class Way:
    """A target with options; `small` chunks let a few elements be several chunks.

    without : the name of a pass that does not run
    bits : results have the bits of the way of this name
    """

    name: str
    target: str = "cpu"
    options: tuple[tuple[str, object], ...] = ()
    threads: int = 2
    small: bool = False
    without: str = ""
    bits: str = ""


PASSES = tuple(dict.fromkeys(step.name for step in CPU if isinstance(step, Pass)))
OPTIONAL = tuple(name for name in PASSES if name != "cpu_levels")

FEW = (
    Way("reference", "reference"),
    Way("llvm"),
    Way("python", "python", bits="llvm"),
    Way("one thread", threads=1, bits="llvm"),
    Way("seven threads", threads=7, bits="llvm"),
    Way("no fusion", options=(("limit", 0),)),
    Way("small chunks", small=True, threads=1),
    Way("small chunks, seven threads", small=True, threads=7, bits="small chunks"),
)
NUMBA = Way("numba", options=(("printer", "numba"),), bits="llvm")
WITHOUT = tuple(Way(f"without {name}", without=name) for name in OPTIONAL)


@dataclass(frozen=True, slots=True)
class Failure:
    """Where two ways disagree; `kind` is what the shrinker keeps."""

    way: str
    kind: str
    message: str

    @property
    def what(self) -> tuple[str, str]:
        """What a smaller program must still show."""
        return self.way, self.kind


@dataclass(slots=True)
class Outcome:
    """What a run gave: a value, or an error."""

    value: Any = None
    error: BaseException | None = None

    @property
    def refused(self) -> bool:
        """Whether parloom says that it does not do this, or that a size which is 1 at run time
        does not stretch."""
        refused = isinstance(self.error, REFUSED) or type(self.error) is UserError
        return refused or (
            isinstance(self.error, CheckFailed | ShapeError) and "fit together" in str(self.error)
        )


@dataclass(slots=True)
class Tally:
    """What was found in how many runs."""

    runs: int = 0
    refused: int = 0
    raised: int = 0
    free: int = 0
    exact: int = 0
    refusals: dict[str, int] = field(default_factory=dict[str, int])
    failures: list[Failure] = field(default_factory=list[Failure])


# Functions out of text.

_count = 0


def compiled(text: str, names: dict[str, Any] | None = None) -> Any:
    """The function f of a module's text, whose source can be found."""
    global _count
    _count += 1
    file = f"<random function {_count}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "pm": pm, "math": math, **(names or {})}
    exec(compile(text, file, "exec"), scope)
    return scope["f"]


# Runs.


@contextmanager
def deadline(seconds: int = SECONDS) -> Generator[None]:
    """Raises TimeoutError when the time is over."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no result after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(call: Callable[[], Any]) -> Outcome:
    """What a call gives or raises."""
    try:
        with quiet(), deadline():
            return Outcome(call())
    except Exception as error:  # noqa: BLE001 - every error is an answer to compare
        return Outcome(error=error)


class Eager:
    """A function's eager runs, plain and noisy."""

    def __init__(self, function: Function) -> None:
        self.plain: Any = pm.jit(compiled(function.source()))
        self.noisy = function.source(noisy=True)
        self.nothing = False  # a pattern ran over no elements: its type is not known here

    def run(self, arguments: Sequence[Any]) -> Outcome:
        """The plain run."""
        self.nothing = False
        collect = semantics.collect

        def watched(extents: Any, *args: Any, **options: Any) -> Any:
            self.nothing = self.nothing or 0 in extents
            found = collect(extents, *args, **options)
            self.nothing = self.nothing or found.size == 0
            return found

        with mock.patch.object(semantics, "collect", watched):
            return outcome(lambda: self.plain.eager(*arguments))

    def runs_with_noise(self, arguments: Sequence[Any]) -> list[Outcome]:
        """Noisy runs; none where nothing is free."""
        found: list[Outcome] = []
        for run in range(4):
            noise = Noise(run)
            f: Any = pm.jit(compiled(self.noisy, noise.names()))
            found.append(outcome(partial(f.eager, *arguments)))
            if not noise.met and found[-1].error is None:
                return []
        return found


class Staged:
    """A function compiled in one way, for any number of calls."""

    def __init__(self, function: Function, way: Way) -> None:
        self.way = way
        self.jitted: Any = pm.jit(compiled(function.source()), target=way.target)
        if way.options:
            self.jitted = self.jitted.on(**dict(way.options))

    def run(self, arguments: Sequence[Any]) -> Outcome:
        """A call."""
        with self._settings():
            return outcome(lambda: self.jitted(*arguments))

    @contextmanager
    def _settings(self) -> Generator[None]:
        way = self.way
        with mock.patch.object(threads, "_wanted", way.threads):
            if way.without:
                kept = tuple(s for s in CPU if not isinstance(s, Pass) or s.name != way.without)
                with mock.patch.object(cpu_target, "CPU", kept):
                    yield
            elif way.small:
                with mock.patch.multiple(
                    cpu_levels, CHUNK=2, CHUNKS=5, FOLD_CHUNKS=3, BLOCK=2, STRIP=2
                ):
                    yield
            else:
                yield


# Agreement.


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a result."""
    return pytree.flatten(value)[0]


def disagreement(
    found: Outcome, expected: Outcome, noisy: Sequence[Outcome], way: str = ""
) -> tuple[str, str]:
    """The kind of a disagreement and a message; "" where the two agree."""
    if isinstance(found.error, TimeoutError):
        return "hang", str(found.error)
    if found.error is not None and not isinstance(found.error, ParloomError | MemoryError):
        if type(found.error) is not type(expected.error):
            return f"crash {type(found.error).__name__}", repr(found.error)
    if isinstance(found.error, InternalError):
        return "internal error", str(found.error)
    if expected.error is not None:
        return _errors(found, expected.error, way)
    if found.refused:
        return "", ""
    if found.error is not None:
        unstable = any(isinstance(other.error, KINDS) for other in noisy)
        return ("", "") if unstable else (f"error {type(found.error).__name__}", str(found.error))
    return _values(found.value, expected.value, noisy)


def _errors(found: Outcome, expected: BaseException, way: str) -> tuple[str, str]:
    """NumPy raises: so must parloom, of several errors any.

    Python's own arithmetic does not fault here. What nobody reads may lose its fault, but not on
    the reference target.
    """
    if found.error is not None or isinstance(expected, ParloomError):
        return "", ""
    if not isinstance(expected, KINDS) or isinstance(expected, ZeroDivisionError):
        return "", ""
    if way != "reference" or any(words in str(expected) for words in NO_FAULT):
        return "", ""
    return f"no error {type(expected).__name__}", repr(expected)


def _values(found: Any, expected: Any, noisy: Sequence[Outcome]) -> tuple[str, str]:
    if any(other.error is not None for other in noisy):
        return "", ""
    ours, theirs = leaves(found), leaves(expected)
    if len(ours) != len(theirs):
        return "structure", f"{len(ours)} results, expected {len(theirs)}"
    others = [leaves(other.value) for other in noisy]
    if any(len(other) != len(theirs) for other in others):
        return "", ""
    for k, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        kind, message = leaf_disagreement(a, b, [other[k] for other in others])
        if kind:
            return kind, f"result {k}: {message}"
    return "", ""


def leaf_disagreement(found: Any, expected: Any, noisy: Sequence[Any]) -> tuple[str, str]:
    """As `disagreement`, for one array or number."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.dtype != b.dtype:
        return "dtype", f"dtype {a.dtype}, expected {b.dtype}"
    if isinstance(expected, int | float | complex) and not isinstance(expected, np.generic):
        if type(found) is not type(expected):
            return "type", f"{type(found).__name__}, expected {type(expected).__name__}"
    others = [np.asarray(other) for other in noisy]
    if any(other.shape != b.shape or other.dtype != b.dtype for other in others):
        return "", ""
    if others and b.dtype.kind == "c" and not np.all(np.isfinite(b)):
        return "", ""  # which part of a product with an infinity is no number, is free
    if a.shape != b.shape:
        return "shape", f"shape {a.shape}, expected {b.shape}"
    try:
        if others:
            assert_agree(a, b, Spread(tuple(others)))
        else:
            assert_agree(a, b, EXACT)
    except AssertionError as error:
        return "value", str(error)
    return "", ""


def same_bits(found: Outcome, expected: Outcome) -> tuple[str, str]:
    """The kind of a disagreement of two ways that print the same kernels."""
    if (found.error is None) != (expected.error is None):
        if found.refused or expected.refused:
            return "", ""
        return "bits", f"{found.error!r}, expected {expected.error!r}"
    if found.error is not None:
        return "", ""
    for k, (a, b) in enumerate(zip(leaves(found.value), leaves(expected.value), strict=True)):
        x, y = np.asarray(a), np.asarray(b)
        if x.dtype != y.dtype or x.shape != y.shape:
            return "bits", f"result {k}: {x.dtype} {x.shape}, expected {y.dtype} {y.shape}"
        try:
            assert_agree(x, y, EXACT)
        except AssertionError as error:
            return "bits", f"result {k}: {error}"
    return "", ""
