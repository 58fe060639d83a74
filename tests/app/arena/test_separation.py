"""What a Bradley–Terry board says of its ranks, on boards whose right answer is known."""

from typing import Any

import numpy as np
import pytest

import agon
from agon.app.arena.rating import RatingTable, rate
from agon.app.arena.robustness import robustness
from agon.disciplines.arena.rules import ArenaRules
from agon.disciplines.arena.scoring import score_contest
from agon.errors import NotScorable


def rated(rows: list[dict[str, Any]], **rules: Any) -> RatingTable:
    """Rate battles by Bradley–Terry, with intervals."""
    return rate(rows, method="bradley-terry", interval=True, overrides=rules)


def counted(*rows: tuple[str, str, int, int]) -> list[dict[str, Any]]:
    """Return battles by their numbers of wins."""
    return [{"model_a": a, "model_b": b, "wins_a": won, "wins_b": lost} for a, b, won, lost in rows]


BRIDGE = counted(
    ("a1", "a2", 651, 349), ("a1", "a3", 788, 212), ("a2", "a3", 645, 355),
    ("b1", "b2", 619, 381), ("b1", "b3", 781, 219), ("b2", "b3", 622, 378), ("a1", "b1", 2, 2),
)  # fmt: skip
ESTABLISHED = counted(
    ("m1", "m2", 40, 40), ("m2", "m3", 40, 40), ("m3", "m4", 40, 40),
    ("m4", "m1", 40, 40), ("m1", "m3", 40, 40), ("m2", "m4", 40, 40),
)  # fmt: skip


@pytest.mark.exhaustive
def test_bots_of_one_pool_are_apart_though_the_pools_hardly_met() -> None:
    """a1 beat a2 651 to 349; only how far the pools are from each other is unknown."""
    made = rated(BRIDGE)
    ranges = {row["id"]: (row["rank_low"], row["rank_high"]) for row in made.rows()}
    assert ranges == {
        "a1": (1, 4), "b1": (1, 4), "a2": (2, 5), "b2": (2, 5), "a3": (3, 6), "b3": (3, 6),
    }  # fmt: skip
    assert made.board.context["intervals"]["simultaneous"] == "neighbours"
    assert "neighbors compared together" in made.board.caption
    assert {row["id"]: row["tier"] for row in made.rows()}["a2"] > 1


@pytest.mark.exhaustive
def test_a_newcomer_moves_nobody_and_widens_nothing() -> None:
    """One win and one loss say nothing of the bots that played 240 matches each."""
    before = {row["id"]: row for row in rated(ESTABLISHED).rows()}
    newcomer = rated(ESTABLISHED + counted(("new", "m1", 1, 1)))
    after = {row["id"]: row for row in newcomer.rows()}
    for name, row in before.items():
        assert row["high"] - row["score"] == pytest.approx(32.97, abs=0.01)
        assert after[name]["high"] - after[name]["score"] == pytest.approx(33, abs=0.2)
        assert after[name]["score"] == pytest.approx(row["score"], abs=1e-6)
    one_win = rated(
        ESTABLISHED + counted(("new", "m1", 1, 0)), bradley_terry_regularisation=0.1
    ).board
    assert one_win.row("m2")["score"] == pytest.approx(1000, abs=3)


def test_center_names_what_has_the_start_rating() -> None:
    """A bot by its id, or the plain mean; differences stay."""
    rows = counted(("ann", "bob", 30, 10), ("bob", "cy", 2, 1), ("cy", "ann", 1, 1))
    weighted, plain, anchored = (
        {row["id"]: row["score"] for row in rated(rows, center=center).rows()}
        for center in ("weighted", "mean", "cy")
    )
    assert sum(plain.values()) / 3 == pytest.approx(1000, abs=1e-5)
    matches = {"ann": 42, "bob": 43, "cy": 5}
    assert sum(weighted[name] * matches[name] for name in matches) / 90 == pytest.approx(1000)
    assert anchored["cy"] == 1000
    for scores in (plain, anchored):
        assert scores["ann"] - scores["bob"] == pytest.approx(weighted["ann"] - weighted["bob"])
    with pytest.raises(NotScorable, match="did you mean cy"):
        rated(rows, center="cyy")


def test_one_tie_has_an_interval() -> None:
    """Its residual is 0; the model's standard error of the difference is 2 in log-odds."""
    [one, other] = rated([{"model_a": "A1", "model_b": "B1", "winner": "tie"}]).rows()
    assert (one["low"], one["high"]) == pytest.approx((1000 - 340.5, 1000 + 340.5), abs=0.1)
    assert (one["rank_low"], other["rank_high"], one["apart"]) == (1, 2, False)


def test_an_undefeated_newcomer_is_unscored_and_the_others_are_not() -> None:
    """It has no finite rating; the message says what gives it one."""
    made = rated(ESTABLISHED + counted(("new", "m1", 3, 0), ("new", "m2", 1, 0)))
    assert [row["score"] for row in made.rows()] == [1000.0] * 4
    [new] = made.board.unscored
    assert new.id == "new"
    assert new.reason == "won all 4 matches; rated after a loss or a tie against a rated bot"
    assert made.explain("new").reason == new.reason


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (counted(("new", "m1", 0, 1)), "lost its only match; rated after a win or a tie"),
        (counted(("x", "y", 1, 1)), "has no match against a rated bot; rated after a tie, or"),
        (counted(("x", "y", 1, 1), ("x", "m1", 2, 0)), "won all 2 matches against rated bots"),
    ],
)
def test_every_unrated_bot_has_its_reason_and_cure(rows: list[dict[str, Any]], reason: str) -> None:
    """The largest group by matches is rated."""
    made = rated(ESTABLISHED + rows)
    assert {row["id"] for row in made.rows()} == {"m1", "m2", "m3", "m4"}
    assert reason in made.board.unscored[0].reason


def test_pools_that_never_met_are_named_and_their_ranks_span_each_other() -> None:
    """A regularization gives all a rating; it does not compare those whom no match compares."""
    rows = counted(("a", "b", 90, 10), ("c", "d", 60, 40))
    made = rated(rows, bradley_terry_regularisation=1)
    ranges = {row["id"]: (row["rank_low"], row["rank_high"]) for row in made.rows()}
    assert ranges["a"] == (1, 3)
    assert ranges["b"] == (2, 4)
    assert "2 groups never met" in made.notes[-1]
    assert made.notes[-1].endswith("{a, b}, {c, d}")


def test_a_bot_that_never_lost_has_an_open_end() -> None:
    """A regularization gives it a finite rating, and no upper end."""
    made = rated(ESTABLISHED + counted(("new", "m1", 4, 0)), bradley_terry_regularisation=0.5)
    row = made.board.row("new")
    assert row["high"] is None
    assert row["low"] < row["score"]
    assert row["rank_low"] == 1
    assert "≥" in made.explain("new").notes[0]
    assert "(≥ " in made.plot().svg


@pytest.mark.exhaustive
def test_votes_needed_part_neighbors_when_they_are_cast() -> None:
    """With so many more of the same matches both are apart, and with a tenth fewer not."""
    rows = counted(("ann", "bob", 55, 45))
    [first, last] = rated(rows).rows()
    assert (first["apart"], last["apart"]) == (False, None)
    factor = 1 + first["votes_needed"] / 100
    more, fewer = (
        rated(counted(("ann", "bob", round(55 * each), round(45 * each)))).rows()[0]["apart"]
        for each in (factor * 1.05, factor * 0.9)
    )
    assert (more, fewer) == (True, False)
    assert rated(counted(("ann", "bob", 50, 50))).rows()[0]["votes_needed"] == 2_000_000_000


def test_an_explanation_says_which_pairs_say_most_about_rank_and_tier() -> None:
    """The direct matches of two bots say most about their difference, and a bridge of pools."""
    notes = " ".join(rated(BRIDGE).explain("a2").notes)
    assert (
        "apart from a1, the head of the tier before: the gap is 113 ± 22, known mostly from "
        "a1 against a2" in notes
    )
    assert "not apart from b2, the bot before: the gap is 14 ± 402, known mostly from a1 a" in notes


@pytest.mark.exhaustive
def test_ten_thousand_bots_with_one_match_each_are_a_board_or_a_reason() -> None:
    """No pair is connected with another: the largest group is one tied pair."""
    dice = np.random.default_rng(1)
    rows = [
        {"model_a": f"a{n}", "model_b": f"b{n}", "winner": str(dice.choice(["a", "b", "tie"]))}
        for n in range(5000)
    ]
    made = rated(rows)
    assert len(made.rows()) == 2
    assert len(made.board.unscored) == 9998
    decided = [row for row in rows if row["winner"] != "tie"]
    with pytest.raises(NotScorable, match="never lost a point"):
        rated(decided)


@pytest.mark.exhaustive
def test_matches_with_unrated_bots_are_counted_apart_everywhere() -> None:
    """Board and explanation counted them differently, and the audit named them as deciding."""
    row = {"model_a": "new", "model_b": "ann", "winner": "model_a"}
    games = [{"model_a": "ann", "model_b": "bob", "winner": winner} for winner in "aabaab"]
    rows = [row] * 3 + games
    made = rated(rows)
    assert "no rating follows from 3 of 9 matches, which are with bots without a rating" in (
        made.notes
    )
    assert made.board.row("ann")["matches"] == 9
    explained = made.explain("ann")
    assert made.notes[-1] in explained.notes
    strength = explained.parts[1]
    assert (strength.inputs["matches"], strength.inputs["unrated_matches"]) == (6, 3)
    assert "3 more with bots without a rating do not count here." in strength.text
    assert "bots without" not in made.explain("bob").parts[1].text
    audited = robustness(rows)
    assert audited.matches == 6
    [first] = audited.ranks
    assert (first.matches, first.share) == (3, 0.5)
    assert first.left_out == ("4", "5", "7")
    [probe] = [each for each in agon.audit(rows).probes if each.name == "robustness"]
    assert "3 of 6 matches" in probe.sentence
    assert probe.figure == 0.5


def test_more_bots_than_a_sandwich_is_computed_for_have_a_board(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table says which rule to set; a contest has bootstrap intervals, and names them."""
    monkeypatch.setattr("agon.disciplines.arena.ratings.strengths._SANDWICH_BOTS", 2)
    battles = [
        {"model_a": a, "model_b": b, "winner": winner}
        for a, b in (("ann", "bob"), ("bob", "cy"), ("cy", "ann"))
        for winner in "aaabb"
    ]
    stated = {"bootstrap_rounds": 20}
    with pytest.raises(NotScorable, match="up to 2 bots, and 3 are rated here: set interval=boot"):
        agon.rate(battles, method="bradley-terry", overrides=stated)
    named = agon.rate(
        battles,
        method="bradley-terry",
        interval=True,
        overrides={**stated, "interval": "bootstrap"},
    )
    records = agon.read_records("arena", battles)
    made = score_contest(records, ArenaRules().override(stated)).board("bradley-terry")
    assert made.caption == named.board.caption
    assert "bootstrap" in made.caption
    assert made.rows() == named.rows()
    assert made.notes[0].endswith("until then this board has interval=bootstrap")
