"""What staged values, and their attributes, are called in messages."""

from __future__ import annotations

_INTERNAL = frozenset(
    {
        "array", "at", "axis", "broadcast", "call", "cell", "combined", "count_nonzero", "domain",
        "element", "fixed", "hint", "holds", "is_number", "of", "operand", "place", "scalar",
        "seen", "sizes", "staged_element", "staged_length", "storage", "strong", "type", "view",
    }
)  # fmt: skip


def public_names(kind: type) -> list[str]:
    """The attributes of a class of staged values that are for the user."""
    return sorted(n for n in dir(kind) if not n.startswith("_") and n not in _INTERNAL)


def described(rep: object) -> str:
    """A staged value in a message, by its repr: "a staged f64[x_0]", "the rows of a staged ..."."""
    text = f"{rep!r}"[1:-1]
    return text if text.startswith("the ") else f"a {text}"
