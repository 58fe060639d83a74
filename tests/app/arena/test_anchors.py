"""Anchored ratings: shifted as a whole, with the shift explained."""

from typing import Any

import pytest

from agon.app.arena.rating import RatingMethod, rate
from agon.errors import NotFound, NotScorable, Unreadable

ROWS = [
    {"model_a": "ann", "model_b": "bob", "winner": "a"},
    {"model_a": "bob", "model_b": "cy", "winner": "a"},
    {"model_a": "cy", "model_b": "ann", "winner": "tie"},
    {"model_a": "bob", "model_b": "ann", "winner": "a"},
]


@pytest.mark.sample(1)
@pytest.mark.parametrize("method", ["elo", "bradley-terry"])
def test_an_anchor_shifts_all_ratings_and_intervals_equally(method: RatingMethod) -> None:
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


@pytest.mark.exhaustive
def test_several_anchors_shift_elo_by_their_mean_distance() -> None:
    """Elo in order of play has no likelihood that could hold them."""
    plain = {row["id"]: row["score"] for row in rate(ROWS).rows()}
    fixed = {row["id"]: row["score"] for row in rate(ROWS, anchor={"ann": 900, "cy": 1200}).rows()}
    shift = ((900 - plain["ann"]) + (1200 - plain["cy"])) / 2
    assert fixed == pytest.approx({name: score + shift for name, score in plain.items()})


@pytest.mark.sample(1)
@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_bradley_terry_holds_several_anchors(interval: str) -> None:
    """Each has its rating; the others' points expected against them equal the points taken."""
    rules = {"interval": interval, "bootstrap_rounds": 20}
    anchor = {"ann": 900, "cy": 1200}
    fixed = rate(ROWS, method="bradley-terry", interval=True, overrides=rules, anchor=anchor)
    rows = {row["id"]: row for row in fixed.rows()}
    for name, value in anchor.items():
        assert [rows[name][end] for end in ("score", "low", "high")] == [value] * 3
    bob = rows["bob"]
    assert bob["low"] < bob["score"] < bob["high"]
    expected = sum(
        count / (1 + 10 ** ((other - bob["score"]) / 400)) for other, count in ((900, 2), (1200, 1))
    )
    assert expected == pytest.approx(2, abs=1e-6)  # bob won once against ann, once against cy
    assert fixed.board.context["anchors"] == {"values": anchor, "held": True}
    why = fixed.explain("bob")
    assert sum(part.points for part in why.parts) == pytest.approx(why.score)
    assert [part.name for part in why.parts] == ["anchors", "strength"]
    plain = rate(ROWS, method="bradley-terry", anchor=anchor)
    assert plain.board.row("bob")["score"] == bob["score"]
    assert not plain.has_intervals
    assert plain.board.caption == "anchored at ann=900, cy=1200"


@pytest.mark.sample(2)
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


def test_anchors_that_no_rating_can_meet_are_an_error() -> None:
    """A bot between two anchors a million apart has no computable rating."""
    with pytest.raises(NotScorable, match="too far apart"):
        rate(ROWS, method="bradley-terry", anchor={"ann": 1e6, "cy": 0})
