"""Text made of indented lines, for the program printer and for the emitters of kernel text.

>>> doc = Document()
>>> doc.line("for i in range(n):", note="mine.py:3")
>>> with doc.indented():
...     doc.write("total += "); doc.write("x[i]"); doc.end_line()
>>> print(doc)
for i in range(n):  # mine.py:3
  total += x[i]
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

_BREAK = "\v"


class Document:
    """Lines written one after another.

    indent : what each level of nesting puts in front of a line
    comment : what begins a comment, up to the end of the line
    note_column : notes start at this column, or two spaces behind a line that reaches it
    width : a longer line is broken where `may_break` allowed it, and goes on two levels deeper
    """

    def __init__(
        self, indent: str = "  ", comment: str = "#", note_column: int = 0, width: int = 100
    ) -> None:
        self._indent = indent
        self._comment = comment
        self._note_column = note_column
        self._width = width
        self._level = 0
        self._lines: list[str] = []
        self._line = ""
        self._note = ""

    def write(self, text: str) -> None:
        """Adds to the line that is being written; `text` has no line breaks."""
        self._line += text

    def may_break(self) -> None:
        """A blank, or the end of the line if the line is too long."""
        self._line += _BREAK

    def note(self, text: str) -> None:
        """A comment for the line that is being written, which it can neither end nor continue."""
        self._note = " ".join(text.split()).rstrip(" \\")

    def end_line(self) -> None:
        """Ends the line; an empty line has no trailing blanks."""
        line, *more = self._broken(self._indent * self._level + self._line)
        if self._note:
            gap = max(self._note_column - len(line), 2) if self._line else 0
            line += f"{' ' * gap}{self._comment} {self._note}"
        self._lines += [line if self._line or self._note else "", *more]
        self._line = self._note = ""

    def _broken(self, line: str) -> list[str]:
        """The line, filled up to the width and continued below."""
        if len(line) <= self._width:
            return [line.replace(_BREAK, " ")]
        first, *parts = line.split(_BREAK)
        lines = [first]
        for part in parts:
            if len(lines[-1]) + 1 + len(part) <= self._width:
                lines[-1] += f" {part}"
            else:
                lines.append(self._indent * (self._level + 2) + part)
        return lines

    def line(self, text: str = "", note: str = "") -> None:
        """One whole line, with a comment behind it if there is a `note`."""
        self.write(text)
        if note:
            self.note(note)
        self.end_line()

    @contextmanager
    def indented(self) -> Generator[None, None, None]:
        """Lines ended inside stand one level deeper."""
        self._level += 1
        yield
        self._level -= 1

    def __str__(self) -> str:
        rest = self._broken(self._indent * self._level + self._line) if self._line else []
        return "\n".join([*self._lines, *rest])
