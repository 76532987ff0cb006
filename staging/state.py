"""What branches and loops carry: the user's variables, and how two versions of one become one.

A variable's value is a tree (pytree.py). Numbers, arrays and Reps among its leaves are *dynamic*:
they become operands with a common type. All others are *static* and must be the same in both
versions. A variable whose two versions cannot become one is `Undefined` afterwards: an error only
if the program uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

import numpy as np

from .arithmetic import Arithmetic
from .context import trace
from .errors import StagingTypeError, UserError
from .locations import Location
from .nodes import Const, Operand, size_operand
from .numpy_functions import numpy_function
from .primitives import join
from .pytree import flatten
from .reps import Rep, can_lift, lift, rep_of
from .scalars import PythonBool, ScalarRep, narrow
from .types import BOOL, Array, Scalar, Type
from .virtualize.returns import RESULT


class Undefined(Arithmetic):
    """A variable that has no value here; every use raises the reason.

    name : the user's name for it
    why : what happened to it
    where : the places that are involved
    """

    __slots__ = ("name", "where", "why")

    def __init__(self, name: str, why: str, where: Sequence[Location] = ()) -> None:
        self.name, self.why, self.where = name, why, tuple(where)

    def fail(self) -> NoReturn:
        """Raises the reason."""
        raise UserError(
            f"{shown(self.name)} has no value here",
            why=self.why,
            where=self.where or None,
            instead="give it a value of the same type and shape on every path, or another name",
        )

    @property
    def operand(self) -> Operand:
        self.fail()

    @property
    def type(self) -> Type:
        self.fail()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.fail()

    def __getitem__(self, key: object) -> NoReturn:
        self.fail()

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        self.fail()

    def __iter__(self) -> NoReturn:
        self.fail()

    def __bool__(self) -> NoReturn:
        self.fail()

    def __repr__(self) -> str:
        return f"<{self.name}: no value>"


def is_dynamic(leaf: object) -> bool:
    """Whether the leaf is a value of the program, rather than something that staging decides on."""
    return isinstance(leaf, Rep | np.ndarray) or (can_lift(leaf) and not isinstance(leaf, list))


def is_staged(value: object) -> bool:
    """Whether a Rep is anywhere in the value.

    >>> is_staged((1, {"a": 2.0}))
    False
    """
    return any(isinstance(leaf, Rep) for leaf in flatten(value)[0])


def truth(value: Rep) -> ScalarRep:
    """A staged condition as a bool; StagingTypeError for arrays, which are neither."""
    if not isinstance(value, ScalarRep):
        if isinstance(value, Undefined):
            value.fail()
        raise StagingTypeError(
            f"the truth value of a staged {value.type} is ambiguous",
            why="it has many elements",
            instead=".any() or .all()",
        )
    if value.dtype.kind == "b":
        return value
    found = value != 0
    assert isinstance(found, ScalarRep)
    return found


class Mismatch(Exception):
    """Two versions of a variable that cannot become one; the text says why."""


def common_type(a: Rep, b: Rep) -> Scalar:
    """The element type of the two versions together; Mismatch when their ranks differ."""
    if rank(a.type) != rank(b.type):
        raise Mismatch(f"one value is {describe(a.type)}, another {describe(b.type)}")
    return join(element(a.type), element(b.type))


def element(type_: Type) -> Scalar:
    """The scalar type of a number or of an array's elements."""
    return type_.element if isinstance(type_, Array) else type_


def rank(type_: Type) -> int:
    """The number of axes."""
    return type_.rank if isinstance(type_, Array) else 0


def describe(type_: Type) -> str:
    """A type in the user's words.

    >>> describe(Scalar(np.dtype("i8"), weak=True)), describe(Array(Scalar(np.dtype("f4")), (3, 4)))
    ('a number (i64)', 'an f32 array of rank 2')
    """
    if isinstance(type_, Array):
        return f"an {type_.element} array of rank {type_.rank}"
    return f"a number ({type_.strong})"


def converted(rep: Rep, to: Scalar) -> Operand:
    """The operand with elements of type `to`, which it can hold."""
    if isinstance(rep, ScalarRep):
        return narrow(rep, to).operand
    if element(rep.type) == to.strong:
        return rep.operand
    astype = getattr(rep, "astype")  # noqa: B009 - arrays have it, they live in patterns/
    found: Rep = astype(to.dtype)
    return found.operand


def same_static(a: object, b: object) -> bool:
    """Whether two leaves that are no program values count as one."""
    if a is b:
        return True
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # noqa: BLE001 - a user's __eq__ may do anything; then they are not known equal
        return False


def dims(type_: Type) -> tuple[Operand, ...]:
    """The sizes of an array type as operands, () for a scalar."""
    if not isinstance(type_, Array):
        return ()
    return tuple(size_operand(d) for d in type_.shape)


def named(operand: Operand, name: str, truth: bool = False) -> Rep:
    """The Rep for a result, with the user's name for it.

    truth : whether every version is a Python bool, and so is what it is one of
    """
    rep = PythonBool(operand) if truth and operand.type == BOOL else rep_of(operand)
    if visible(name):
        rep.hint(name)
    return rep


def visible(name: str) -> str:
    """The name for printing; "" for what only control.py or the rewriting names.

    >>> visible("total"), visible(".state")
    ('total', '')
    """
    return "" if name.startswith((".", "_parloom_")) else name


def shown(name: str) -> str:
    """A variable's name in a message.

    >>> shown("total"), shown(".condition"), shown(RESULT)
    ('total', 'the condition', 'the result of the function')
    """
    return "the result of the function" if name == RESULT else name.replace(".", "the ")


def blank(type_: Type) -> Operand:
    """A value of the type where nobody will read it; sizes that are not known here are 0."""
    if isinstance(type_, Scalar):
        return Const(0, type_)
    sees = trace().builder.sees
    shape = [rep_of(d) if sees(d) else 0 for d in map(trace().canonical, dims(type_))]
    zeros = numpy_function(np.zeros)(tuple(shape), type_.element.dtype)
    return lift(zeros).operand


def short(leaf: object) -> str:
    """A leaf in the user's words.

    >>> short(3), short("abc")
    ('the int 3', "the str 'abc'")
    """
    if isinstance(leaf, Rep):
        return describe(leaf.type)
    return f"the {type(leaf).__name__} {leaf!r:.40}"


class Missing:
    """The mark for a variable that has not been assigned."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
State = Mapping[str, object]
