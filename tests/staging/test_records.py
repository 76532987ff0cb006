"""Plain data of programs as text."""

from __future__ import annotations

import enum

import pytest

from parloom.staging import records
from parloom.staging.dataclass import dataclass
from parloom.staging.errors import InternalError
from parloom.staging.nodes import Contiguous, Fact
from parloom.staging.parser import ParseError, Parser


class Axis(enum.Enum):
    """An enum in a field."""

    ROWS = 1
    COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Sharded(Fact):
    """A fact with all kinds of fields."""

    axis: Axis
    parts: tuple[int, ...] = ()
    share: float = 1.0
    name: str | None = None
    inner: Contiguous | None = None
    even: bool = True


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two classes above are records."""
    monkeypatch.setattr(records, "_classes", {"contiguous": Contiguous})
    records.record(Axis)
    records.record(Sharded)


def read(text: str) -> Fact:
    """The fact that a text says."""
    return records.read(Parser(text, {}, "records"), Fact)


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (Contiguous(), "contiguous"),
        (Sharded(Axis.ROWS), "sharded(axis=axis.ROWS)"),
        (
            Sharded(Axis.COLUMNS, (1, -2), -0.5, 'a "b"', Contiguous(), False),
            "sharded(axis=axis.COLUMNS, parts=(1, -2), share=-0.5, "
            'name="a \\"b\\"", inner=contiguous, even=False)',
        ),
        (Sharded(Axis.ROWS, (3,)), "sharded(axis=axis.ROWS, parts=(3))"),
    ],
)
def test_records_survive_the_text(fact: Fact, text: str) -> None:
    assert records.text_of(fact) == text
    assert read(text) == fact


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sharded(axis=1, b=2)", "unexpected keyword argument 'b'"),
        ("sharded", "missing 1 required positional argument: 'axis'"),
        ("axis.ROWS", "expected a fact"),
        ("axis.DEPTH", "expected one of ROWS, COLUMNS; found DEPTH"),
        ("tiled", "expected one of contiguous, axis, sharded; found tiled"),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(ParseError, match="line 1, column") as caught:
        read(text)
    assert message in str(caught.value)


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(InternalError, match="Other is no registered record"):
        records.text_of(type("Other", (), {})())


def test_two_records_of_one_name_are_refused() -> None:
    with pytest.raises(InternalError, match="two records are named axis"):
        records.record(type("Axis", (), {}))
