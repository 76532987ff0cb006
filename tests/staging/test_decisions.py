"""Decisions: recorded, overridden, limited."""

from __future__ import annotations

import pytest

from parloom.staging.decisions import decide, decline, recording
from parloom.staging.errors import UserError
from parloom.staging.locations import Location

WHERE = (Location("step.py", 12),)


def fuse(what: str = "label") -> str:
    """A decision as a pass takes it."""
    return decide(
        f"fuse.{what}", "one loop", ("two loops",), "they fit", WHERE, neutral="two loops"
    )


def test_without_a_recorder_the_choice_stands() -> None:
    decline("fuse.sum", "nothing records")
    assert fuse() == "one loop"


def test_decisions_and_declined_rules_are_recorded_in_order() -> None:
    with recording() as recorder:
        fuse()
        decline("fuse.sum", "it needs the whole array", WHERE)
    first, second = recorder.decisions
    assert (first.id, first.chosen, first.declined) == ("fuse.label", "one loop", False)
    assert list(first.alternatives) == ["one loop", "two loops"]
    assert str(first) == "fuse.label: one loop, because they fit [step.py:12]"
    assert second.declined
    assert str(second) == ("fuse.sum: not applied, because it needs the whole array [step.py:12]")


def test_the_same_id_again_gets_a_number() -> None:
    with recording() as recorder:
        fuse()
        fuse()
    assert [d.id for d in recorder.decisions] == ["fuse.label", "fuse.label_2"]


def test_an_option_without_a_number_holds_for_every_round() -> None:
    with recording({"fuse.label": "two loops"}) as recorder:
        assert [fuse(), fuse()] == ["two loops", "two loops"]
    assert [d.reason for d in recorder.decisions] == ["the option fuse.label"] * 2


def test_an_option_with_a_number_holds_for_that_round() -> None:
    with recording({"fuse.label_2": "two loops"}):
        assert [fuse(), fuse(), fuse()] == ["one loop", "two loops", "one loop"]


def test_an_option_holds_where_the_rule_declined_at_first() -> None:
    with recording({"fuse.label": "two loops"}):
        decline("fuse.label", "a statement is between them", WHERE)
        assert fuse() == "two loops"


def test_a_number_is_given_once() -> None:
    with recording() as recorder:
        for what in ("label", "label", "label_2"):
            fuse(what)
    assert [d.id for d in recorder.decisions] == ["fuse.label", "fuse.label_2", "fuse.label_2_2"]


def test_a_rule_that_declines_again_for_the_same_reason_is_told_once() -> None:
    with recording() as recorder:
        for reason in ("it is whole", "it is whole", "it is read twice"):
            decline("fuse.sum", reason, WHERE)
    assert [d.id for d in recorder.decisions] == ["fuse.sum", "fuse.sum_2"]


def test_an_option_overrides_by_id() -> None:
    with recording({"fuse.label": "two loops"}) as recorder:
        assert fuse() == "two loops"
        assert fuse("sum") == "one loop"
    assert recorder.decisions[0].reason == "the option fuse.label"


def test_numbers_come_from_a_range() -> None:
    with recording({"tile.i": 48}):
        assert decide("tile.i", 32, range(1, 4097), "a cache line") == 48


def test_an_option_that_is_no_alternative_is_an_error() -> None:
    with (
        pytest.raises(UserError, match="'three loops' is no alternative"),
        recording({"fuse.label": "three loops"}),
    ):
        fuse()


def test_an_option_for_no_decision_is_an_error_that_names_the_near_one() -> None:
    def compile_it() -> None:
        with recording({"fuse.lable": "two loops"}):
            fuse()
            decline("fuse.lable", "a declined rule is no decision")

    with pytest.raises(UserError) as caught:
        compile_it()
    assert str(caught.value) == (
        "there is no decision fuse.lable\n"
        "  why: the decisions of this program: fuse.label\n"
        "  instead: fuse.label"
    )


def test_an_error_inside_is_not_hidden_by_unused_options() -> None:
    with pytest.raises(ZeroDivisionError), recording({"fuse.label": "two loops"}):
        _ = 1 // 0


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_behind_the_limit_every_decision_is_neutral(limit: int) -> None:
    with recording(limit=limit) as recorder:
        taken = [fuse(str(k)) for k in range(3)]
        assert decide("tile.i", 32, (1, 32), "decisions without a neutral choice stay") == 32
    assert taken == ["one loop"] * limit + ["two loops"] * (3 - limit)
    assert recorder.decisions[2].reason == f"the limit of {limit} changes is reached"


def test_recorders_nest() -> None:
    with recording() as outer:
        with recording() as inner:
            fuse()
        fuse("sum")
    assert [d.id for d in inner.decisions] == ["fuse.label"]
    assert [d.id for d in outer.decisions] == ["fuse.sum"]
