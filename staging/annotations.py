"""Types that the user writes at a function's parameters, and what they demand of a call.

    pm.f64                  a number: a NumPy float64, or a Python number that it holds
    pm.f64["n", "d"]        an array of rank 2; an axis "n" has one size wherever the letter stands
    pm.f32[..., 3]          any rank, the last axis of size 3
    pm.inout                an argument that the function writes to (inout.py)
    pm.inout[pm.f64["n"]]   one of that type

Written as the annotation itself, or, for type checkers, as `Annotated[pm.Array, pm.f64["n"]]`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import EllipsisType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np

from .dataclass import dataclass
from .errors import ParloomError, ShapeError, StagingTypeError
from .layouts import is_array, is_number_list
from .locations import Location, caller

Dim = str | int | EllipsisType
E = TypeVar("E", bound=ParloomError)


@dataclass(frozen=True, slots=True, repr=False)
class Spec:
    """A type: of a number where `dims` is None, else of an array."""

    name: str
    dtype: np.dtype[Any]
    dims: tuple[Dim, ...] | None = None

    def __getitem__(self, dims: Dim | tuple[Dim, ...]) -> Spec:
        """The type of arrays with these axes: names, sizes, and at most one `...`."""
        found = dims if isinstance(dims, tuple) else (dims,)
        for dim in found:
            named = isinstance(dim, str) and dim.isidentifier()
            if not (named or dim is ... or (type(dim) is int and dim >= 0)):
                raise StagingTypeError(
                    f"{dim!r} is no size of an axis",
                    instead='a name, an integer, or `...`: ["n", 3]',
                )
        if found.count(...) > 1:
            raise StagingTypeError("`...` stands twice among an array's axes", instead="once")
        return Spec(self.name, self.dtype, found)

    def __repr__(self) -> str:
        if self.dims is None:
            return f"pm.{self.name}"
        shown = ", ".join("..." if d is ... else repr(d).replace("'", '"') for d in self.dims)
        return f"pm.{self.name}[{shown}]"

    @property
    def is_complete(self) -> bool:
        """Whether all sizes of the array are known."""
        return self.dims is not None and all(isinstance(d, int) for d in self.dims)

    def axes(self, rank: int) -> Iterator[tuple[int, str | int]]:
        """The axes of an array of that rank of which something is said."""
        dims = self.dims or ()
        before = dims.index(...) if ... in dims else len(dims)
        for k, dim in enumerate(dims):
            if not isinstance(dim, EllipsisType):
                yield (k if k < before else rank - len(dims) + k), dim

    def fits_rank(self, rank: int) -> bool:
        """Whether an array may have so many axes."""
        dims = self.dims or ()
        return rank >= len(dims) - 1 if ... in dims else rank == len(dims)


@dataclass(frozen=True, slots=True)
class Inout:
    """The mark of a parameter that the function writes to, with its type if there is one."""

    spec: Spec | None = None

    def __getitem__(self, spec: Spec) -> Inout:
        if not isinstance(spec, Spec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise StagingTypeError(
                f"pm.inout[{spec!r}]: not the type of an array", instead='pm.inout[pm.f64["n"]]'
            )
        return Inout(spec)


INOUT = Inout()
_SIZES = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8), "c": (8, 16)}
SPECS = {
    f"{kind}{8 * size}": Spec(f"{kind}{8 * size}", np.dtype(f"{kind}{size}"))
    for kind, sizes in _SIZES.items()
    for size in sizes
} | {"bool_": Spec("bool_", np.dtype(bool))}


# Python's numbers as NumPy's smallest of their kind: they take the kind, not the size.
_PYTHONS: dict[type, str] = {bool: "?", int: "i1", float: "f4", complex: "c8"}


class Declared:
    """The types at a function's parameters.

    specs : by the parameter's position
    inout : the positions of those that the function writes to
    """

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        found = [_marks_of(function, name) for name in names]
        self.specs = {k: spec for k, (spec, _) in enumerate(found) if spec is not None}
        self.inout = frozenset(k for k, (_, inout) in enumerate(found) if inout)
        self.names = names
        self.where = _definition(inspect.unwrap(function))

    def check(self, values: Sequence[Any]) -> None:
        """StagingTypeError or ShapeError where an argument is not as its parameter says."""
        sizes: dict[str, tuple[str, int, int]] = {}
        for k, spec in self.specs.items():
            name, value = self.names[k], values[k]
            if spec.dims is None:
                self._check_number(name, spec, value)
                continue
            array = np.asarray(value) if is_number_list(value) else value
            if not is_array(array) or array.dtype != spec.dtype:
                raise self._other_type(name, spec, array)
            if not spec.fits_rank(array.ndim):
                raise self._other_rank(name, spec, array)
            for axis, dim in spec.axes(array.ndim):
                self._check_size(sizes, dim, (name, axis, array.shape[axis]))

    def _check_size(
        self, sizes: dict[str, tuple[str, int, int]], dim: str | int, found: tuple[str, int, int]
    ) -> None:
        name, axis, size = found
        if isinstance(dim, int):
            if size != dim:
                raise self._error(
                    ShapeError, f"axis {axis} of {name} has size {size}, where {dim} is declared"
                )
            return
        other = sizes.setdefault(dim, found)
        if other[2] != size:
            raise self._error(
                ShapeError,
                f'two sizes "{dim}": axis {other[1]} of {other[0]} has size {other[2]}, '
                f"axis {axis} of {name} has size {size}",
            )

    def _check_number(self, name: str, spec: Spec, value: Any) -> None:
        smallest = _PYTHONS.get(value.__class__)
        if smallest is not None:
            fits = np.can_cast(smallest, spec.dtype, "same_kind")
        else:
            fits = getattr(value, "dtype", None) == spec.dtype and value.ndim == 0
        if not fits:
            raise self._other_type(name, spec, value)

    def _other_type(self, name: str, spec: Spec, value: Any) -> StagingTypeError:
        dtype = getattr(value, "dtype", None)
        shown = type(value).__name__ if dtype is None else f"{type(value).__name__} of {dtype}"
        if spec.dims is None:
            instead = f"np.{spec.dtype}({name})"
        else:
            instead = f"np.asarray({name}, np.{spec.dtype})"
        return self._error(
            StagingTypeError,
            f"{name} is declared as {spec!r}, found: {shown}",
            "nothing is converted in silence: that would copy it at each call",
            f"{instead}; or another type at the parameter",
        )

    def _other_rank(self, name: str, spec: Spec, array: np.ndarray) -> ShapeError:
        return self._error(
            ShapeError, f"{name} is declared as {spec!r}, found: an array of shape {array.shape}"
        )

    def _error(self, kind: type[E], what: str, why: str = "", instead: str = "") -> E:
        places = (caller(),) if self.where is None else (caller(), self.where)
        return kind(
            what, where=places, why=why or "the function's parameters declare it", instead=instead
        )


def _definition(function: object) -> Location | None:
    """The line with the function's `def`, which stands below its decorators."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    first = Location(code.co_filename, code.co_firstlineno, function=code.co_name)
    below = (replace(first, line=first.line + k) for k in range(_DECORATORS))
    return next((p for p in below if p.text.lstrip().startswith(("def ", "async def "))), first)


_DECORATORS = 10  # lines that are looked at


def _marks_of(function: Callable[..., Any], name: str) -> tuple[Spec | None, bool]:
    """The type that a parameter's annotation gives, and whether it says that it is written to."""
    plain = inspect.unwrap(function)
    found: object = getattr(plain, "__annotations__", {}).get(name)
    if isinstance(found, str):
        found = _evaluated(found, plain)
    marks = get_args(found)[1:] if get_origin(found) is Annotated else (found,)
    inouts = [mark for mark in marks if isinstance(mark, Inout)]
    specs = [mark.spec if isinstance(mark, Inout) else mark for mark in marks]
    return next((s for s in specs if isinstance(s, Spec)), None), bool(inouts)


def _evaluated(text: str, function: Any) -> object:
    """What an annotation stands for that Python keeps as text; None if it cannot be told."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = dict(zip(names, getattr(function, "__closure__", None) or (), strict=False))
    try:
        local: dict[str, object] = {name: cell.cell_contents for name, cell in cells.items()}
        return eval(text, getattr(function, "__globals__", {}), local)
    except Exception:  # noqa: BLE001 - an annotation may be anything
        return None
