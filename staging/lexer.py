"""Program text as tokens."""

from __future__ import annotations

import re

from .dataclass import dataclass
from .errors import UserError
from .literals import LITERAL

_PUNCTUATION = r"\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%<>=&|^~()\[\]{},:;?.]"
_TOKEN = re.compile(
    rf"""(?P<blank>[ \t]+|\#[^\n]*)|(?P<newline>\n)|(?P<literal>{LITERAL.pattern})
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<mark>{_PUNCTUATION})""",
    re.VERBOSE,
)
_DEPTH = {"(": 1, "[": 1, ")": -1, "]": -1}


class ParseError(UserError, ValueError):
    """Program text that is not in the grammar; `line` and `column` count from 1."""

    def __init__(self, what: str, text: str, offset: int) -> None:
        before = text[:offset]
        self.line = before.count("\n") + 1
        start = before.rfind("\n") + 1
        self.column = offset - start + 1
        shown = text[start:].partition("\n")[0]
        place = f"line {self.line}, column {self.column}"
        super().__init__(f"{place}: {what}\n    {shown}\n    {' ' * (offset - start)}^", where=())


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `kind` is the group's name above, or "end"."""

    kind: str
    text: str
    offset: int

    def __str__(self) -> str:
        return {"newline": "the end of the line", "end": "the end"}.get(self.kind, self.text)


def tokens(text: str) -> list[Token]:
    """All tokens, without blanks and comments; one newline where there are several, none inside of
    parentheses and brackets.

    >>> [t.text for t in tokens("x: f64 = a[i]?  # line 3")]
    ['x', ':', 'f64', '=', 'a', '[', 'i', ']', '?', '']
    """
    found: list[Token] = []
    offset = depth = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            raise ParseError(f"unexpected {text[offset]!r}", text, offset)
        kind = match.lastgroup or ""
        repeated = kind == "newline" and (depth > 0 or not found or found[-1].kind == "newline")
        depth = max(depth + _DEPTH.get(match.group(), 0), 0)
        if kind != "blank" and not repeated:
            found.append(Token(kind, match.group(), offset))
        offset = match.end()
    return [*found, Token("end", "", len(text))]
