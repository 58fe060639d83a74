"""Matches with a share of the point or a weight: what judges prefer, and what counts more."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agon.app.analysis.score import score
from agon.app.arena.audit import audit
from agon.app.arena.rating import RatingTable, rate
from agon.app.importers import import_records
from agon.kernel.ratings.bradley_terry import bradley_terry
from agon.kernel.ratings.weighted_pairs import weigh_pairs
from agon.records import InvalidRecords


def rated(rows: Any, **rules: Any) -> RatingTable:
    """Rate battles by Bradley–Terry, with intervals."""
    return rate(rows, method="bradley-terry", interval=True, overrides=rules)


def battle(a: str, b: str, **outcome: Any) -> dict[str, Any]:
    """Return a battle."""
    return {"model_a": a, "model_b": b, **outcome}


def test_a_share_is_rated_as_what_it_says() -> None:
    """0.62 of the point is a distance of 400 · log10(0.62 / 0.38), of one uncertain judgment."""
    [first, last] = rated([battle("ann", "bob", score_a=0.62)]).rows()
    assert first["score"] - last["score"] == pytest.approx(400 * np.log10(0.62 / 0.38), abs=1e-5)
    width = 1.959964 * (400 / np.log(10)) / np.sqrt(0.62 * 0.38)
    assert first["gap_high"] - first["gap"] == pytest.approx(width, abs=0.01)
    assert (first["rank_low"], first["rank_high"]) == (1, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("weight", [0.01, 3, 100])
def test_the_weight_of_one_judgment_does_not_make_it_sure(weight: float) -> None:
    """One soft judgment counted a hundred times is as wide as one."""
    single = rated([battle("ann", "bob", score_a=0.62)]).rows()[0]
    weighted = rated([battle("ann", "bob", score_a=0.62, weight=weight)]).rows()[0]
    assert weighted["high"] == pytest.approx(single["high"], abs=1e-4)
    assert weighted["matches"] == 1


@pytest.mark.parametrize(
    ("share", "scores"), [(0.62, (1014.02, 962.61, 1023.37)), (0.618, (1013.55, 963.09, 1023.36))]
)
def test_three_soft_judgments_rank_nobody_for_sure(share: float, scores: tuple[float, ...]) -> None:
    """A share alone is enough: no number of matches has to be made up."""
    made = rated([
        battle("a", "b", share_a=share), battle("b", "c", share_a=0.46),
        battle("c", "a", share_a=0.56),
    ])  # fmt: skip
    assert {row["id"]: row["score"] for row in made.rows()} == pytest.approx(
        dict(zip("abc", scores, strict=True)), abs=0.01
    )
    assert all((row["rank_low"], row["rank_high"]) == (1, 3) for row in made.rows())


def test_it_is_said_which_weights_are_missing() -> None:
    """A judge whose weight was forgotten would else count as the others without a word."""
    battles = [battle("ann", "bob", score_a=0.6, weight=weight) for weight in (2.0, None, 2.0)]
    [note] = [note for note in rated(battles).notes if note.startswith("weight")]
    assert note == "weight: rows without a value count once: 1"
    assert not [note for note in rated(battles[:1]).notes if note.startswith("weight")]


def test_weights_and_shares_move_the_fit_as_copies_of_matches_do() -> None:
    """A match of weight 2 is two matches to the likelihood; shares are between win and loss."""
    dice = np.random.default_rng(3)
    a = dice.integers(0, 5, 80)
    b = (a + dice.integers(1, 5, 80)) % 5
    share, weight = dice.integers(0, 5, 80) / 4, dice.integers(1, 4, 80)
    weighted = bradley_terry(weigh_pairs(a, b, share, weight, players=5), regularization=0.5)
    copies = np.repeat(np.arange(80), weight * 4)
    wins = np.concatenate([
        np.repeat([1.0, 0.0], [round(4 * s), 4 - round(4 * s)])
        for s, w in zip(share, weight, strict=True) for _ in range(w)
    ])  # fmt: skip
    again = weigh_pairs(a[copies], b[copies], wins, np.full(len(wins), 0.25), players=5)
    apart = bradley_terry(again, regularization=0.5).log_strength - weighted.log_strength
    assert np.abs(apart).max() < 1e-7


def test_shares_of_several_battles_are_wins_and_a_rest() -> None:
    """0.667 of 30 is 20 wins and a hundredth of the 21st; 62 of 100 are whole matches."""
    tables = import_records("arena-battles", [battle("a", "b", share_a=0.667, matches=30)]).tables
    assert tables["matches"]["score_a"].drop_null().to_pylist() == [0.01]
    assert tables["matches"]["winner"].to_pylist() == ["a"] * 20 + ["b"] * 10
    whole = import_records("arena-battles", [battle("a", "b", share_a=0.62, matches=100)]).tables
    assert "score_a" not in whole["matches"].column_names
    assert whole["matches"]["winner"].to_pylist().count("a") == 62


def test_preferences_between_one_and_two_are_shares() -> None:
    """AlpacaEval's annotations: 2 prefers the second, 0 is a tie, and none is left out."""
    rows = [
        {"generator_1": "x", "generator_2": "y", "preference": value}
        for value in (1.93, 1.10, None, 0)
    ]
    made = import_records("arena-battles", rows)
    assert made.tables["matches"]["score_a"].to_pylist() == [0.07, 0.9, None]
    assert made.tables["matches"]["winner"].to_pylist() == ["b", "a", "tie"]
    assert "rows without a preference are left out: 1" in made.notes


def test_a_clear_win_counts_three_times() -> None:
    """Arena-Hard's A>>B; what the source weighs itself is multiplied."""
    rows = [
        battle("x", "y", winner=word, weight=2) for word in ("A>>B", "A>B", "A=B", "B>>A", "B<<A")
    ]
    imported = import_records("arena-battles", rows)
    made = imported.tables["matches"]
    assert made["weight"].to_pylist() == [6, 2, 2, 6, 6]
    assert made["winner"].to_pylist() == ["a", "a", "tie", "b", "a"]
    note = "clear wins such as A>>B count 3 times, as in Arena-Hard: 3 rows"
    assert note in imported.notes
    bare = import_records("arena-battles", [battle("x", "y", winner="A>B")])
    assert "weight" not in bare.tables["matches"].column_names
    assert not any("clear wins" in text for text in bare.notes)


def test_bad_shares_and_weights_have_one_message_each() -> None:
    """A weight of 0 or below, and a share outside of 0 to 1."""
    with pytest.raises(InvalidRecords) as caught:
        rate([battle("x", "y", score_a=1.2, weight=0), battle("x", "y", score_a=0.5, weight=-1)])
    assert sorted((issue.row, issue.column) for issue in caught.value.issues) == [
        (1, "score_a"), (1, "weight"), (2, "weight"),
    ]  # fmt: skip


@pytest.mark.parametrize("winner", ["a", "b"])
def test_a_score_against_its_winner_is_an_error(tmp_path: Path, winner: str) -> None:
    """Records state one result."""
    match = {
        "id": 1, "bot_a": "x", "bot_b": "y", "kind": "rated", "winner": winner,
        "score_a": 0.2 if winner == "a" else 0.8, "played_at": None,
    }  # fmt: skip
    (tmp_path / "bots.json").write_text(json.dumps([{"id": n, "name": n} for n in "xy"]))
    tables: dict[str, Any] = {"bots": [{"id": n, "name": n} for n in "xy"], "matches": [match]}
    with pytest.raises(InvalidRecords, match="is not the score of the winner"):
        score("arena", tables)


def test_explanations_boards_and_audits_know_shares() -> None:
    """Elo takes a share as the score; parts sum; the probe that counts wins says it cannot tell."""
    rows = [
        battle(a, b, score_a=share, weight=2)
        for a, b, share in (("a", "b", 0.7), ("b", "c", 0.6), ("c", "a", 0.45), ("a", "c", 0.5))
    ]
    made = rated(rows)
    explained = made.explain("a")
    assert sum(part.points for part in explained.parts) == pytest.approx(explained.score)
    assert explained.parts[1].inputs["points"] == pytest.approx(2 * (0.7 + 0.55 + 0.5))
    elo = rate(rows).explain("a")
    assert "Took 0.7 points against b" in elo.parts[1].text
    assert sum(part.points for part in elo.parts) == pytest.approx(elo.score)
    assert audit(rows)["robustness"].verdict == "cannot tell"
    drawn = rated(rows, interval="bootstrap", bootstrap_rounds=20).rows()
    assert all(row["low"] < row["score"] < row["high"] for row in drawn)
    assert "<svg" in made.plot("wins").svg


def test_clusters_of_weighted_matches_are_added_up_first() -> None:
    """Thirty prompts with three equal soft verdicts say what thirty verdicts say."""
    dice = np.random.default_rng(1)
    rows = [
        battle("abc"[n % 3], "abc"[(n + 1) % 3], score_a=round(float(share), 3), prompt_id=n)
        for n, share in enumerate(dice.uniform(0.1, 0.9, 60))
    ]
    once = rated(rows, cluster="none").rows()
    thrice = rated(rows * 3).rows()
    for one, three in zip(once, thrice, strict=True):
        assert three["score"] == pytest.approx(one["score"], abs=1e-5)
        assert three["high"] - three["score"] == pytest.approx(
            0.58 * (one["high"] - one["score"]), rel=0.8
        )
