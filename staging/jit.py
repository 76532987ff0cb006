"""`pm.jit`: finds or makes the compiled function for a call's arguments, and runs it.

The first call with a new signature (arguments.py) stages the function and compiles the program;
later calls find it in a dict and check its guards (guards.py). Nothing is kept of a call that
raises before it runs.
"""

from __future__ import annotations

import functools
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from . import targets
from .arguments import Binder, Key, RunTime, signature_of
from .assumptions import NOTHING_YET, SLOWPATH, AssumptionFailed, Leaving, Plan
from .builtin_calls import callee
from .context import current
from .directives import on_macro
from .eager_calls import call_eagerly
from .eager_mode import jit_disabled
from .effects import tentative
from .errors import Limitation, ParloomError, UserError
from .examples import from_types
from .forking import Lock
from .garbage import uncollected
from .inout import Marked
from .nodes import Program
from .options import options_now
from .statistics import Signature, Stats, differences, signature
from .targets import Executable
from .tracebacks import trim
from .tracing import Traced, check_sizes, trace_values
from .versions import KEPT, Compiled, PlainPython, Version, Versions

P = ParamSpec("P")
R = TypeVar("R")

Signed = tuple[Key, Sequence[Any], list[RunTime]]
Given = tuple[tuple[Any, ...], dict[str, Any], object]


class Jitted(Generic[P, R]):
    """A function that is compiled when it is called; see `jit`."""

    def __init__(
        self,
        function: Callable[P, R],
        target: str = "cpu",
        options: Mapping[str, object] | None = None,
        static_argnames: Sequence[str] = (),
        pinned: bool = False,
        inout: Sequence[str] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.target = target
        self.options: dict[str, object] = dict(options or {})
        self.static_argnames = tuple(static_argnames)
        self.inout = tuple(inout)
        self._binder = Binder(function, static_argnames, inout)
        self._versions: dict[Key, Versions] = {}
        self._variants: dict[tuple[object, ...], Jitted[P, R]] = {}
        self._pinned = pinned
        self._signatures: list[Signature] = []
        self._stats = Stats()
        _all.add(self)

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
        if options_now() is not None:
            self = self._chosen()
        try:
            values = self._binder.bind(args, kwargs)
            marked = Marked.of(self._binder, values) if self._binder.inout else None
            key, arguments = signature_of(values, self._binder.names, self._binder.static)
            versions = self._versions.get(key)
            found = None if versions is None else versions.find(arguments)
            if found is None:
                found = self._make(key, values, arguments)
            self._stats.calls += 1
            if type(found) is Compiled and found.plan is None:
                return cast(R, found.run(arguments, out, None, marked))
            return self._tentatively(found, (key, values, arguments), (args, kwargs, out), marked)
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
        return cast(R, call_eagerly(self.function, self._binder, args, kwargs, out))

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

    def compile(self, *args: Any, **kwargs: Any) -> Executable:
        """What a call with arguments like these would run, compiled now if it is not yet.

        In place of an argument its type may stand: `pm.f64["n", 3]`, or anything else that has
        `shape` and `dtype`; a parameter that declares its type needs none. Warns where the function
        is compiled for a value of which nothing was said.
        """
        try:
            self = self._chosen()
            values, made, guessed = from_types(self._binder, args, kwargs)
            key, arguments = signature_of(values, self._binder.names, self._binder.static)
            found = self._make(key, values, arguments, checked=not made)
            if not isinstance(found, Compiled):
                raise _never_compiled(self)
        except BaseException as error:
            trim(error)
            raise
        if guessed and found.fixed:
            numbers = ", ".join(str(f.value) for f in found.fixed)
            warnings.warn(
                f"{self!r} is compiled for pm.static numbers that were made up: {numbers}; "
                "pass arguments with those that calls will have",
                stacklevel=2,
            )
        return found.executable

    def explain(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The target's report: the program at every stage, the decisions, the generated source."""
        return self.compile(*args, **kwargs).report()

    def on(self, target: str | None = None, **options: object) -> Jitted[P, R]:
        """The same function for another target or with other options; the same ones give the same
        object.
        """
        chosen = self.target if target is None else target
        merged = {**self.options, **options}
        return self._variant(chosen, merged, self._pinned or target is not None)

    def _variant(self, target: str, options: dict[str, object], pinned: bool) -> Jitted[P, R]:
        key = (pinned, target, *sorted((k, repr(v)) for k, v in options.items()))
        if key not in self._variants:
            self._variants[key] = Jitted(
                self.function, target, options, self.static_argnames, pinned, self.inout
            )
        return self._variants[key]

    def _chosen(self) -> Jitted[P, R]:
        """The function as `pm.options` around the call wants it; what `on` chose comes first."""
        given = options_now()
        if given is None:
            return self
        target = self.target if self._pinned or given.target is None else given.target
        return self._variant(target, {**given.choices, **self.options}, self._pinned)

    def forget(self) -> None:
        """Drops all compiled versions: the next call stages again."""
        self._versions.clear()
        self._signatures.clear()

    def stats(self) -> Stats:
        """How often and for how long this function was called, staged and compiled."""
        return self._stats

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else Bound(self, instance)

    def __repr__(self) -> str:
        return f"<pm.jit {getattr(self.function, '__qualname__', self.function)}>"

    def _tentatively(self, found: Version, call: Signed, given: Given, marked: Marked | None) -> R:
        """A call whose version may turn out to rest on what does not hold: then another one runs
        in its place, and only the last one's effects happen.
        """
        args, kwargs, out = given
        versions = self._versions.setdefault(call[0], Versions())
        versions.experience.calls += 1
        plan = versions.experience.plan
        while isinstance(found, Compiled):
            try:
                with tentative():
                    return cast(R, found.run(call[2], out, versions.experience, marked))
            except AssumptionFailed as failed:
                site = found.traced.assumed.sites[failed.what]
                self._stats.failed(site)
                if site.kind == SLOWPATH:
                    break
                plan = versions.failed(site, plan)
            except ParloomError as error:  # perhaps of what no other version would have run
                if not found.relies:
                    raise
                sites = found.traced.assumed.sites.values()
                if all(s.kind == SLOWPATH for s in sites):
                    return self._eager_or(error, *given)
                plan = plan.without(*sites)
            found = self._make(*call, plan)
        return self._eager(args, kwargs, out)

    def _eager_or(
        self, error: ParloomError, args: tuple[Any, ...], kwargs: dict[str, Any], out: object
    ) -> R:
        """The eager call; `error`, which says more, where that fails as well."""
        try:
            return self._eager(args, kwargs, out)
        except Exception:  # noqa: BLE001 - whatever it is, it is the same mistake
            raise error from None

    def _trace(self, values: Sequence[Any], plan: Plan = NOTHING_YET) -> Traced:
        start = time.perf_counter()
        traced = trace_values(self.function, self._binder, values, plan)
        self._stats.traces += 1
        self._stats.trace_seconds += time.perf_counter() - start
        return traced

    def _make(
        self,
        key: Key,
        values: Sequence[Any],
        arguments: list[RunTime],
        plan: Plan | None = None,
        checked: bool = True,
    ) -> Version:
        """The version for the arguments; staged and compiled if there is none, once for all threads
        that need it.
        """
        target = targets.find(self.target)
        with _registry:
            versions = self._versions.setdefault(key, Versions())
        with versions.lock, uncollected():
            wanted = versions.experience.plan if plan is None else plan
            found = versions.find(arguments, wanted)
            if found is not None:
                return found
            try:
                traced = self._trace(values, wanted)
            except Leaving as left:
                versions.add(PlainPython(left))
                return versions.entries[0]
            if checked:
                check_sizes(traced.program, arguments + [read() for read in traced.captured])
            reason = self._reason(versions, values, arguments, wanted)
            start = time.perf_counter()
            made = Compiled(traced, target.compile(traced, self.options))
            self._stats.made(time.perf_counter() - start, reason)
            versions.add(made)
            return made

    def _reason(
        self, versions: Versions, values: Sequence[Any], arguments: list[RunTime], plan: Plan
    ) -> str:
        """Why a version is made although there are some; "" for the first."""
        if versions.entries:
            return next(versions.entries[0].misfits(arguments, plan), "")
        found = signature(values, self._binder.names, self._binder.static)
        reason = differences(found, self._signatures)
        self._signatures = [*self._signatures, found][-KEPT:]
        return reason


_registry = Lock()
_all: weakref.WeakSet[Jitted[..., Any]] = weakref.WeakSet()


def _forget() -> None:
    for jitted in list(_all):
        jitted.forget()


on_macro(_forget)


def _never_compiled(jitted: Jitted[Any, Any]) -> UserError:
    return UserError(
        f"{jitted!r} is not compiled for arguments like these",
        why="it comes to pm.slowpath() whatever they are",
        instead="pm.slowpath() under a condition",
    )


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
    inout: str | Sequence[str] = ...,
) -> Jitted[P, R]: ...
@overload
def jit(
    function: None = ...,
    *,
    target: str = ...,
    static_argnames: str | Sequence[str] = ...,
    inout: str | Sequence[str] = ...,
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str = "cpu",
    static_argnames: str | Sequence[str] = (),
    inout: str | Sequence[str] = (),
) -> Any:
    """Compiles a function over arrays when it is called: `@pm.jit`, or `@pm.jit(target=...)`.

    function : takes and returns arrays, numbers, and tuples, lists, dicts and dataclasses of them
    target : the back end, "cpu" by default
    static_argnames : parameters whose value is known while staging; each value is compiled for
    itself
    inout : parameters whose arrays the function writes to

    The result takes and returns NumPy arrays. A compiled version serves every size; another dtype,
    rank, or value of a captured variable makes another version.
    """
    if function is None:
        return functools.partial(jit, target=target, static_argnames=static_argnames, inout=inout)
    return Jitted(function, target, None, _names(static_argnames), inout=_names(inout))


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
