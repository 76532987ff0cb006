"""The three kinds of errors: the user's mistake, a known limitation, and our bug.

A message says what happened, where (file, line, the source line and a caret; two places if two are
involved), why, and what to write instead. Every class also is the built-in exception that a NumPy
user expects.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .locations import Location, caller


class ParloomError(Exception):
    """Base of all errors that parloom raises by itself.

    what : one sentence, no final full stop needed
    where : the places in the user's program; by default the caller's
    why : the reason, in the user's terms
    instead : what to write instead
    """

    def __init__(
        self,
        what: str,
        *,
        where: Location | Sequence[Location] | None = None,
        why: str = "",
        instead: str = "",
    ) -> None:
        places = (
            (caller(),)
            if where is None
            else (where,)
            if isinstance(where, Location)
            else tuple(where)
        )
        self.what = what
        self.where: tuple[Location, ...] = places
        self.why = why
        self.instead = instead
        super().__init__(self.render())

    def render(self) -> str:
        """The whole message as text."""
        lines = [self.what]
        for place in self.where:
            lines.extend(render_place(place))
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.instead:
            lines.append(f"  instead: {self.instead}")
        return "\n".join(lines)


class UserError(ParloomError):
    """A mistake in the program that was staged."""


class Limitation(ParloomError, NotImplementedError):
    """Right code that parloom cannot do (yet, or on this target)."""


class InternalError(ParloomError):
    """A bug in parloom: please report it, with the message."""


class StagingTypeError(UserError, TypeError):
    """An operation on values of the wrong kind.

    A staged value where Python needs a number, or types for which a ufunc has no loop.
    """


class ShapeError(UserError, ValueError):
    """Sizes that do not fit together."""


class StagedIndexError(UserError, IndexError):
    """An index outside an array's bounds."""


class UnknownNameError(UserError, AttributeError):
    """An attribute that staged values do not have; says which one is meant, if one is near."""


class ReadOnlyError(UserError, ValueError):
    """An array that is to be written to (`out=`, `inout`), but may not be."""


class CheckFailed(UserError, ValueError):
    """A check that the program makes while it runs: an empty reduction, sizes that must agree."""


class OutOfBounds(UserError, OverflowError):
    """A Python integer that the dtype which it meets does not hold."""


class TypeFailed(UserError, TypeError):
    """A `raise TypeError(...)` of the user's program that was reached while it ran."""


class LinearAlgebraFailed(UserError, np.linalg.LinAlgError):
    """What a function of np.linalg raised while the program ran: a singular matrix, say."""


class DivisionFailed(UserError, ZeroDivisionError):
    """A `raise ZeroDivisionError(...)` of the user's program that was reached while it ran."""


class RunFailed(UserError, RuntimeError):
    """A `raise RuntimeError(...)` of the user's program that was reached while it ran."""


class NotImplementedFailed(UserError, NotImplementedError):
    """A `raise NotImplementedError(...)` of the user's program that was reached while it ran."""


class AssertionFailed(UserError, AssertionError):
    """An `assert` of the user's program that did not hold while it ran."""


def render_place(place: Location) -> list[str]:
    """The lines that show a place: file and line, the source text, a caret below the columns."""
    lines = [
        f"  at {place.file}:{place.line}" + (f", in {place.function}" if place.function else "")
    ]
    text = place.text
    if not text:
        return lines
    stripped = text.lstrip()
    lines.append(f"    {stripped}")
    if place.column is not None:
        indent = len(text) - len(stripped)
        start = max(place.column - indent, 0)
        stop = place.end_column - indent if place.end_column is not None else len(stripped)
        lines.append("    " + " " * start + "^" * max(stop - start, 1))
    return lines
