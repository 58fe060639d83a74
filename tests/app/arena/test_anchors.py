"""Anchored ratings: shifted as a whole, with the shift explained."""

from typing import Any

import pytest

from agon.app.arena.rating import rate
from agon.errors import NotFound, Unreadable

ROWS = [
    {"model_a": "ann", "model_b": "bob", "winner": "a"},
    {"model_a": "bob", "model_b": "cy", "winner": "a"},
    {"model_a": "cy", "model_b": "ann", "winner": "tie"},
    {"model_a": "bob", "model_b": "ann", "winner": "a"},
]


@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_an_anchor_shifts_all_ratings_and_intervals_alike(method: str) -> None:
    """Differences, widths and ranks stay; the anchor has its rating."""
    plain = rate(ROWS, method=method, interval=True, overrides={"bootstrap_rounds": 20})
    fixed = rate(
        ROWS, method=method, interval=True, overrides={"bootstrap_rounds": 20}, anchor={"bob": 1500}
    )
    assert fixed.board.row("bob")["score"] == 1500
    shift = 1500 - plain.board.row("bob")["score"]
    for before, after in zip(plain.rows(), fixed.rows(), strict=True):
        assert (after["rank"], after["id"]) == (before["rank"], before["id"])
        for end in ("score", "low", "high"):
            assert after[end] == pytest.approx(before[end] + shift, abs=2e-6)
    assert "anchored at bob=1500" in repr(fixed)
    assert fixed.board.context["anchors"] == {
        "values": {"bob": 1500.0},
        "shift": pytest.approx(shift),
    }
    why = fixed.explain("ann")
    assert why.score == fixed.board.row("ann")["score"]
    assert why.parts[-1].name == "anchors"
    assert why.parts[-1].points == pytest.approx(shift)


def test_several_anchors_are_met_by_least_squares() -> None:
    """The mean of their distances is what all ratings are shifted by."""
    plain = {row["id"]: row["score"] for row in rate(ROWS).rows()}
    fixed = {row["id"]: row["score"] for row in rate(ROWS, anchor={"ann": 900, "cy": 1200}).rows()}
    shift = ((900 - plain["ann"]) + (1200 - plain["cy"])) / 2
    assert fixed == pytest.approx({name: score + shift for name, score in plain.items()})


@pytest.mark.parametrize(
    ("anchor", "error", "message"),
    [
        ({"bobb": 1}, NotFound, "did you mean bob"),
        ({"bob": "high"}, Unreadable, "give a number"),
        ({"bob": float("inf")}, Unreadable, "give a number"),
        ({}, Unreadable, "gpt-4"),
        ("bob=1000", Unreadable, "by id"),
    ],
)
def test_an_anchor_that_cannot_be_used_is_an_error(
    anchor: Any, error: type[Exception], message: str
) -> None:
    """Never ignored."""
    with pytest.raises(error, match=message):
        rate(ROWS, anchor=anchor)
