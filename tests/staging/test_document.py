"""Indented lines with notes."""

from __future__ import annotations

from parloom.staging.document import Document


def test_lines_are_indented_and_notes_aligned() -> None:
    doc = Document(indent="    ", comment="//", note_column=16)
    doc.line("for (;;) {", note="step.py:3")
    with doc.indented():
        doc.write("x[i]")
        doc.write(" += 1;")
        doc.note("step.py:4")
        doc.end_line()
        doc.line("a_line_longer_than_the_column;", note="far")
        doc.line()
    doc.line("}")
    assert str(doc).split("\n") == [
        "for (;;) {      // step.py:3",
        "    x[i] += 1;  // step.py:4",
        "    a_line_longer_than_the_column;  // far",
        "",
        "}",
    ]


def test_a_note_alone_is_indented_like_a_line() -> None:
    doc = Document()
    with doc.indented():
        doc.line(note="the update")
    assert str(doc) == "  # the update"


def test_a_note_can_neither_end_its_line_nor_continue_it() -> None:
    doc = Document(comment="//")
    doc.line("x;", note="a\nb \\")
    assert str(doc) == "x;  // a b"


def test_an_unfinished_line_is_part_of_the_text() -> None:
    doc = Document()
    doc.write("x = ")
    assert str(doc) == "x = "


def test_a_long_line_is_broken_where_it_may_and_filled() -> None:
    doc = Document(width=22)
    with doc.indented():
        doc.write("f(first,")
        for item in ("second,", "third,", "fourth"):
            doc.may_break()
            doc.write(item)
        doc.write(") {")
        doc.note("step.py:3")
        doc.end_line()
        doc.line("}")
    assert str(doc).split("\n") == [
        "  f(first, second,  # step.py:3",
        "      third, fourth) {",
        "  }",
    ]


def test_a_short_line_stays_whole() -> None:
    doc = Document()
    doc.write("f(a,")
    doc.may_break()
    doc.write("b)")
    assert str(doc) == "f(a, b)"
