"""`pm.jit`: finds or makes the compiled function for a call's arguments, and runs it.

The first call with a new signature (arguments.py) stages the function and compiles the program;
later calls find it in a dict and check its guards (guards.py). Nothing is kept of a call that
raises before it runs.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from . import targets
from .arguments import Binder, Key, RunTime, signature_of
from .builtin_calls import callee
from .context import current
from .dataclass import dataclass
from .eager_mode import eager_call, in_eager_call, jit_disabled
from .errors import Limitation
from .guards import all_hold
from .nodes import Program
from .outputs import Outputs, deliver
from .pytree import flatten
from .targets import Executable
from .tracebacks import trim
from .tracing import RESULT, Traced, check_sizes, trace_values

P = ParamSpec("P")
R = TypeVar("R")

_KEPT = 16  # versions of one signature, whose guards differ


@dataclass(slots=True)
class Stats:
    """Counts and seconds since the function was decorated."""

    calls: int = 0
    traces: int = 0
    compiles: int = 0
    trace_seconds: float = 0.0
    compile_seconds: float = 0.0


class Compiled:
    """A compiled version of the function.

    holds : whether everything taken from the surroundings is still as it was
    """

    __slots__ = ("_captured", "_result", "_traced", "executable", "holds")

    def __init__(self, traced: Traced, executable: Executable) -> None:
        self.executable = executable
        self.holds = all_hold(traced.guards)
        self._traced = traced
        self._captured = traced.captured
        self._result = traced.result()

    def run(self, arguments: list[RunTime], out: object = None) -> Any:
        """The user's result, written to the arrays of `out` if there are any."""
        if self._captured:
            arguments = arguments + [read() for read in self._captured]
        if out is None:
            return self._result(self.executable(arguments))
        traced = self._traced
        check_sizes(traced.program, arguments)
        outputs = Outputs.of(out, traced.out_tree)
        expected = traced.expected(arguments)
        outputs.check(expected)
        written = outputs.direct(expected, arguments)
        into = [w for w, leaf in zip(written, traced.out_leaves, strict=True) if leaf is RESULT]
        values, _ = flatten(self._result(self.executable(arguments, into)))
        return outputs.deliver(values, written)


@dataclass(slots=True)
class Versions:
    """The compiled versions for one signature, newest first, and the lock under which they are
    made.
    """

    entries: list[Compiled] = field(default_factory=list[Compiled])
    lock: threading.RLock = field(default_factory=threading.RLock)

    def find(self) -> Compiled | None:
        """The version whose guards hold."""
        for entry in self.entries:
            if entry.holds():
                return entry
        return None


class Jitted(Generic[P, R]):
    """A function that is compiled when it is called; see `jit`."""

    def __init__(
        self,
        function: Callable[P, R],
        target: str = "cpu",
        options: Mapping[str, object] | None = None,
        static_argnames: Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.target = target
        self.options: dict[str, object] = dict(options or {})
        self.static_argnames = tuple(static_argnames)
        self._binder = Binder(function, static_argnames)
        self._versions: dict[Key, Versions] = {}
        self._variants: dict[tuple[object, ...], Jitted[P, R]] = {}
        self._stats = Stats()

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, *args: Any, out: object, **kwargs: Any) -> R: ...
    def __call__(self, *args: Any, **kwargs: Any) -> R:
        """The function's result; with `out`, in the arrays that are given there (outputs.py)."""
        out = self._taken_out(kwargs) if kwargs else None
        if current() is not None:  # inside another staged function: part of it
            if out is not None:
                raise _out_inside(self)
            return cast(R, callee(self.function)(*args, **kwargs))
        if jit_disabled():
            return self._eager(args, kwargs, out)
        try:
            values = self._binder.bind(args, kwargs)
            key, arguments = signature_of(values, self._binder.names, self._binder.static)
            versions = self._versions.get(key)
            found = None if versions is None else versions.find()
            if found is None:
                found = self._make(key, values, arguments)
            self._stats.calls += 1
            return cast(R, found.run(arguments, out))
        except BaseException as error:
            trim(error)
            raise

    @overload
    def eager(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def eager(self, *args: Any, out: object, **kwargs: Any) -> R: ...
    def eager(self, *args: Any, **kwargs: Any) -> R:
        """The user's own function, unrewritten, on arrays that carry the pattern vocabulary."""
        return self._eager(args, kwargs, self._taken_out(kwargs))

    def _eager(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: object) -> R:
        if in_eager_call():  # inside another function's eager call: part of it
            result: Any = self.function(*args, **kwargs)
        else:
            bound = enumerate(self._binder.bind(args, kwargs))
            values = [v if k in self._binder.static else _wrap(v) for k, v in bound]
            with eager_call():
                result = _unwrap(self._binder.call(self.function, values))
        return cast(R, result if out is None else deliver(out, result))

    def _taken_out(self, kwargs: dict[str, Any]) -> object:
        """Takes `out` from a call's keywords, unless it is a parameter of the function."""
        return None if self._binder.takes_out else kwargs.pop("out", None)

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Program:
        """The staged program for arguments like these; nothing is compiled or kept."""
        try:
            return self._trace(self._binder.bind(args, kwargs)).program
        except BaseException as error:
            trim(error)
            raise

    def compile(self, *args: P.args, **kwargs: P.kwargs) -> Executable:
        """What a call with arguments like these would run, compiled now if it is not yet."""
        try:
            values = self._binder.bind(args, kwargs)
            key, arguments = signature_of(values, self._binder.names, self._binder.static)
            versions = self._versions.get(key)
            found = None if versions is None else versions.find()
            return (found or self._make(key, values, arguments)).executable
        except BaseException as error:
            trim(error)
            raise

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The target's report: the program at every stage, the decisions, the generated source."""
        return self.compile(*args, **kwargs).report()

    def on(self, target: str | None = None, **options: object) -> Jitted[P, R]:
        """The same function for another target or with other options; the same ones give the same
        object.
        """
        chosen = self.target if target is None else target
        merged = {**self.options, **options}
        key = (chosen, *sorted((k, repr(v)) for k, v in merged.items()))
        if key not in self._variants:
            self._variants[key] = Jitted(self.function, chosen, merged, self.static_argnames)
        return self._variants[key]

    def stats(self) -> Stats:
        """How often and for how long this function was called, staged and compiled."""
        return self._stats

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else Bound(self, instance)

    def __repr__(self) -> str:
        return f"<pm.jit {getattr(self.function, '__qualname__', self.function)}>"

    def _trace(self, values: Sequence[Any]) -> Traced:
        start = time.perf_counter()
        traced = trace_values(self.function, self._binder, values)
        self._stats.traces += 1
        self._stats.trace_seconds += time.perf_counter() - start
        return traced

    def _make(self, key: Key, values: Sequence[Any], arguments: list[RunTime]) -> Compiled:
        """Stages and compiles, once for all threads that need the same signature."""
        target = targets.find(self.target)
        with _registry:
            versions = self._versions.setdefault(key, Versions())
        with versions.lock:
            found = versions.find()
            if found is not None:
                return found
            traced = self._trace(values)
            check_sizes(traced.program, arguments + [read() for read in traced.captured])
            start = time.perf_counter()
            made = Compiled(traced, target.compile(traced, self.options))
            self._stats.compiles += 1
            self._stats.compile_seconds += time.perf_counter() - start
            versions.entries = [made, *versions.entries][:_KEPT]
            return made


_registry = threading.Lock()


def _out_inside(jitted: Jitted[Any, Any]) -> Limitation:
    return Limitation(
        f"out= in a call of {jitted!r} inside of a staged function",
        why="arrays are values there: nothing is written in place",
        instead="y[...] = f(x)",
    )


class Bound:
    """A jitted method of an instance: `obj.f(x)`, `obj.f.explain(x)`."""

    def __init__(self, jitted: Jitted[Any, Any], instance: object) -> None:
        self.jitted = jitted
        self.instance = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.jitted(self.instance, *args, **kwargs)

    def on(self, target: str | None = None, **options: object) -> Bound:
        """The same method for another target or with other options."""
        return Bound(self.jitted.on(target, **options), self.instance)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.jitted, name)
        takes_arguments = name in ("eager", "trace", "compile", "explain")
        return functools.partial(found, self.instance) if takes_arguments else found


@overload
def jit(
    function: Callable[P, R],
    *,
    target: str = ...,
    static_argnames: str | Sequence[str] = ...,
) -> Jitted[P, R]: ...
@overload
def jit(
    function: None = ...,
    *,
    target: str = ...,
    static_argnames: str | Sequence[str] = ...,
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str = "cpu",
    static_argnames: str | Sequence[str] = (),
) -> Any:
    """Compiles a function over arrays when it is called: `@pm.jit`, or `@pm.jit(target=...)`.

    function : takes and returns arrays, numbers, and tuples, lists, dicts and dataclasses of them
    target : the back end, "cpu" by default
    static_argnames : parameters whose value is known while staging; each value is compiled for
    itself

    The result takes and returns NumPy arrays. A compiled version serves every size; another dtype,
    rank, or value of a captured variable makes another version.
    """
    if function is None:
        return functools.partial(jit, target=target, static_argnames=static_argnames)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(function, target, None, names)


# Eager mode: arrays with the pattern vocabulary come from patterns/, which registers here.

Convert = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


_wrap: Convert = _same
_unwrap: Convert = _same


def register_eager(wrap: Convert, unwrap: Convert) -> None:
    """Says how an argument becomes an eager value, and a result what the user sees."""
    global _wrap, _unwrap
    _wrap, _unwrap = wrap, unwrap
