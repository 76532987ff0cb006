"""Constants and comments of printed Python."""

from __future__ import annotations

import numpy as np

from ..staging.locations import Location

# How tightly a name, a number or a call binds.
ATOM = 20


def literal(value: np.generic) -> tuple[str, int]:
    """A constant of its type: bare for bool, int64 and float64, with its dtype otherwise."""
    match value.dtype:
        case d if d.kind == "b":
            return str(bool(value)), ATOM
        case d if d == np.int64:
            number = int(value)
            return (str(number), ATOM) if number >= 0 else (f"np.int64({number})", ATOM)
        case d if d == np.float64:
            return float_literal(float(value)), ATOM
        case d if d.kind == "f":
            return f"np.{d.name}({float_literal(float(value))})", ATOM
        case d if d.kind == "c":
            z = complex(value)
            parts = f"{float_literal(z.real)}, {float_literal(z.imag)}"
            return f"np.{d.name}(complex({parts}))", ATOM
        case d:
            return f"np.{d.name}({value.item()})", ATOM


def float_literal(value: float) -> str:
    """A float64 constant; negative ones keep their sign inside a call, so that nothing folds it."""
    if np.isnan(value):
        return "np.nan"
    if np.isinf(value):
        return "np.inf" if value > 0 else "np.float64(-np.inf)"
    text = repr(value)
    return f"np.float64({text})" if text.startswith("-") else text


def comment(source: Location) -> str:
    """The user's line for a comment: one line, which nothing in it can end or continue."""
    text = source.text.strip()
    name = source.file.rsplit("/", 1)[-1]
    line = f"{text}  [{name}:{source.line}]"
    return "".join(c if c.isprintable() else " " for c in line)
