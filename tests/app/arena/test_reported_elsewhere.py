"""What users of other rating packages reported as wrong is right here."""

from typing import Any

import numpy as np
import pytest

import agon

Battle = dict[str, Any]


def battles(*results: tuple[str, str, str]) -> list[Battle]:
    """Return battles from both sides and the winner."""
    return [{"model_a": a, "model_b": b, "winner": winner} for a, b, winner in results]


def field(names: list[str], *, times: int = 4) -> list[Battle]:
    """Draw battles of each with each; the same ones under any names."""
    dice = np.random.default_rng(3)
    strength = np.linspace(1, -1, len(names))
    return [
        {"model_a": names[i], "model_b": names[j],
         "winner": "model_a" if dice.random() < 1 / (1 + np.exp(strength[j] - strength[i]))
         else "model_b"}
        for i in range(len(names)) for j in range(len(names)) if i != j for _ in range(times)
    ]  # fmt: skip


def rated(rows: list[Battle], **options: Any) -> dict[str, dict[str, Any]]:
    """Return the rows of a Bradley–Terry board with intervals, by bot."""
    board = agon.rate(rows, method="bradley-terry", interval=True, **options)
    return {row["id"]: row for row in board.rows()}


def test_ratings_do_not_depend_on_names() -> None:
    """autogluon/tabarena 502: m10 sorts before m2 and m02 does not, which changed the estimator."""
    plain, padded = ([form.format(n) for n in range(12)] for form in ("m{}", "m{:02}"))
    one, other = rated(field(plain)), rated(field(padded))
    assert [one[name]["score"] for name in plain] == [other[name]["score"] for name in padded]


@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_an_anchor_widens_no_interval(interval: str) -> None:
    """lm-sys/FastChat 3377: intervals of all models became those of distances to the anchor."""
    rows, rules = field(["a", "b", "mixtral"]), {"interval": interval}
    free = rated(rows, overrides=rules)
    held = rated(rows, overrides=rules, anchor={"mixtral": 1114})
    assert held["mixtral"]["score"] == 1114
    for name in free:
        widths = [row[name]["high"] - row[name]["low"] for row in (free, held)]
        assert widths[0] == pytest.approx(widths[1])


def test_one_bot_that_lost_everything_takes_the_rating_from_nobody() -> None:
    """autogluon/tabarena 494: its −∞ made the mean of all ratings infinite, and each NaN."""
    rows = field(["a", "b"])
    without = rated(rows)
    board = agon.rate(
        rows + battles(*[("a", "lost", "model_a")] * 5), method="bradley-terry", interval=True
    )
    assert {row["id"]: row["score"] for row in board.rows()} == {
        name: pytest.approx(row["score"]) for name, row in without.items()
    }
    assert any("no rating follows from 5 of" in note for note in board.notes)


def test_a_rarely_seen_bot_is_within_its_own_interval() -> None:
    """betagouv/ComparIA 470: resamples without it were ratings of −3,800, and dots lay outside."""
    rows = field(["p", "q", "r"])
    rows += battles(("new", "p", "model_a"), ("q", "new", "model_a"), ("tiny", "p", "tie"))
    for row in rated(rows, overrides={"interval": "bootstrap"}).values():
        assert 0 < row["low"] < row["score"] < row["high"] < 2500


def test_ties_are_half_a_win_for_each_and_zero_to_zero_is_one() -> None:
    """OpenEuroLLM/JudgeArena 1 counted ties as losses; openskill 173 had 0 : 0 won by the first."""
    mostly = battles(("a", "b", "model_a"), ("a", "b", "model_b"), *[("a", "b", "tie")] * 98)
    assert {row["score"] for row in rated(mostly).values()} == {1000.0}
    scores = [{"model_a": "a", "model_b": "b", "points_a": n, "points_b": n} for n in (0, 1)]
    assert {row["score"] for row in rated(scores).values()} == {1000.0}
