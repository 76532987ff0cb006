"""Reps: what the user's function holds while it runs on staged values.

A Rep stands for a value of the program being recorded. Here is what all have, and what makes a
Python value one: the registries at the end, which numbers (scalars.py) and arrays (patterns/) fill.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from .descriptions import described, public_names
from .errors import StagingTypeError, UnknownNameError
from .locations import caller
from .nodes import Operand, Var
from .types import Type
from .unsupported import instead_of, is_method

if TYPE_CHECKING:
    from .scalars import ScalarRep


class Rep:
    """A staged value.

    Python's control flow works on Reps in rewritten code only; elsewhere it is trapped here, with
    the fix in words.
    """

    __slots__ = ()
    is_number: ClassVar[bool] = False

    @property
    def operand(self) -> Operand:
        """The value as an IR operand (a view is materialised)."""
        raise NotImplementedError

    @property
    def type(self) -> Type:
        """The IR type."""
        return self.operand.type

    @property
    def place(self) -> tuple[Any, object] | None:
        """The cell that a write goes to, and which part of it is shown; None for a number."""
        return None

    @property
    def storage(self) -> Operand:
        """The array that a write through this value replaces; what has none is its own."""
        return self.operand

    def __bool__(self) -> NoReturn:
        trap(
            "a staged value was used where Python needs True or False",
            "its value is known only when the compiled program runs; `if`, `while`, `and`, `or` "
            "and `not` on staged values work only in source that parloom can rewrite",
            "write the condition in a function that parloom stages, or use np.where, "
            "np.logical_and, np.logical_not",
        )

    def __contains__(self, item: object) -> NoReturn:
        trap(
            "`in` was used on a staged value",
            "membership is known only when the compiled program runs",
            "(x == item).any()",
        )

    def __hash__(self) -> int:
        trap(
            "a staged value was used as a dict key or a set member",
            "its value is known only when the compiled program runs",
            "an array of the values, or a static argument (static_argnames)",
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name)

    def __array_function__(
        self,
        function: Callable[..., object],
        types: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> object:
        from .numpy_functions import numpy_function

        return numpy_function(function)(*args, **kwargs)

    def strong(self) -> Rep:
        """The value as NumPy's functions give it: not Python's number, which yields."""
        return self

    def hint(self, name: str) -> None:
        """Tells the user's name of the value, for printing; the first one stays."""
        operand = getattr(self, "_operand", None)
        if isinstance(operand, Var) and not operand.name:
            operand.name = name

    def __format__(self, spec: str) -> NoReturn:
        trap(
            "a staged value was put into a text",
            "the text is made once, while staging, when the value is not known",
            "print(x), which prints at each run; or return the value and make the text outside",
        )

    def __str__(self) -> NoReturn:
        self.__format__("")

    def __repr__(self) -> str:
        return f"<staged {self.type}>"


def unknown_attribute(rep: object, name: str, *, like_ndarray: bool = False) -> AttributeError:
    """The error for an attribute that a staged value does not have; it names the nearest one."""
    if name.startswith("_"):
        return AttributeError(f"{type(rep).__name__} has no attribute {name!r}")
    known = public_names(type(rep))
    owner = described(rep)
    what = f"{owner} {'have' if owner.startswith('the ') else 'has'} no attribute {name!r}"
    if like_ndarray and is_method(name):
        what = f"ndarray.{name} is not supported on staged values"
    return UnknownNameError(what, instead=instead_of(name, known))


def trap(what: str, why: str, instead: str) -> NoReturn:
    """Raises what `not_rewritten` says."""
    raise not_rewritten(what, why, instead)


def not_rewritten(what: str, why: str, instead: str) -> StagingTypeError:
    """The error for a use that works only where parloom rewrites the source; it says where the
    source cannot be had.
    """
    place = caller()
    if not place.text:
        function = place.function or "the function"
        why = f"{why}; and the source of {function} is not to be had from {place.file}"
        instead = f"define {function} in a file or a notebook's cell; elsewhere: {instead}"
    return StagingTypeError(what, where=place, why=why, instead=instead)


def kind_of(value: object) -> str:
    """A value that is not staged, in the user's words."""
    return "None" if value is None else f"a Python {type(value).__name__}"


# What makes a value a Rep.

_lifters: dict[type, Callable[[Any], Rep]] = {}
_makers: dict[type, Callable[[Operand], Rep]] = {}


def register_lift(type_: type, lifter: Callable[[Any], Rep]) -> None:
    """Says how a Python value of `type_` becomes a Rep."""
    _lifters[type_] = lifter


def register_rep(type_: type, maker: Callable[[Operand], Rep]) -> None:
    """Says which Rep stands for operands whose IR type is of class `type_`."""
    _makers[type_] = maker


IndexMaker = Callable[[Operand, Operand], "ScalarRep"]
_indices: list[IndexMaker] = []


def register_index(maker: IndexMaker) -> None:
    """Says which Rep stands for a loop index below an extent; the last one holds."""
    _indices.append(maker)


def index_of(operand: Operand, extent: Operand) -> ScalarRep:
    """The Rep for a loop index: an integer with 0 <= index < extent."""
    return _indices[-1](operand, extent)


def can_lift(value: object) -> bool:
    """Whether the value is a Rep or can become one."""
    return isinstance(value, Rep) or any(t in _lifters for t in type(value).__mro__)


def lift(value: object) -> Rep:
    """The value as a Rep; StagingTypeError when it cannot be one."""
    if isinstance(value, Rep):
        return value
    for type_ in type(value).__mro__:
        if type_ in _lifters:
            return _lifters[type_](value)
    raise StagingTypeError(
        f"{kind_of(value)} cannot be part of a staged computation",
        instead="numbers, NumPy arrays and scalars, lists of numbers, and staged values",
    )


def rep_of(operand: Operand) -> Rep:
    """The Rep for an operand, by its type."""
    return _makers[type(operand.type)](operand)


def strong(value: object) -> Any:
    """A result as NumPy's functions give it (`Rep.strong`); what is no Rep is its own."""
    return value.strong() if isinstance(value, Rep) else value
