"""Ratings by models of ties, positions and styles, and boards of categories, from battles."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agon
from agon.app.arena.rating import RatingTable, rate
from agon.errors import Conflict, NotScorable
from cli.command import Cli


def battles(matches: int = 600) -> list[dict[str, Any]]:
    """Draw battles in which the longer answer, and the first side, has an advantage."""
    dice = np.random.default_rng(4)
    truth = np.linspace(-0.5, 0.5, 4)
    a = dice.integers(0, 4, matches)
    b = (a + dice.integers(1, 4, matches)) % 4
    long_a, long_b = (dice.integers(50, 400, matches) + 90 * (3 - side) for side in (a, b))
    logits = truth[a] - truth[b] + 0.5 + 2.0 * (long_a - long_b) / (long_a + long_b)
    won = dice.random(matches) < 1 / (1 + np.exp(-logits))
    winner = np.where(dice.random(matches) < 0.15, "tie", np.where(won, "model_a", "model_b"))
    return [
        {
            "model_a": f"m{a[n]}", "model_b": f"m{b[n]}", "winner": str(winner[n]),
            "length_a": int(long_a[n]), "length_b": int(long_b[n]), "topic": ("code", "art")[n % 2],
        }
        for n in range(matches)
    ]  # fmt: skip


BATTLES = battles()


def rated(rows: Any = BATTLES, **choices: Any) -> RatingTable:
    """Rate battles by Bradley–Terry, with intervals."""
    return rate(rows, method="bradley-terry", interval=True, **choices)


def parameters(made: RatingTable) -> dict[str, dict[str, Any]]:
    """Return the fitted parameters besides strengths, by name."""
    return {each["name"]: each for each in made.board.context["model"]["parameters"]}


def test_position_and_style_are_fitted_beside_the_strengths() -> None:
    """Both advantages are found; the board shows who moves, as the notes and the JSON do."""
    made = rated(control=["length"], overrides={"position": "fitted"})
    found = parameters(made)
    assert found["position"]["low"] <= 0.5 <= found["position"]["high"]
    assert found["length"]["low"] > 0
    plain = {row["id"]: row for row in rated().rows()}
    for row in made.rows():
        assert row["plain_score"] == pytest.approx(plain[row["id"]]["score"], abs=1e-5)
        assert row["plain_rank"] == plain[row["id"]]["rank"]
    moved = [row["id"] for row in made.rows() if row["rank"] != row["plain_rank"]]
    assert sorted(each["id"] for each in made.board.context["model"]["moves"]) == sorted(moved)
    assert any(note.startswith("position: +") for note in made.notes)
    assert any("rank" in note and "plain model" in note for note in made.notes)
    assert [row["id"] for row in made.rows()] == ["m3", "m2", "m1", "m0"]


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_a_model_of_ties_has_its_parameter_with_an_interval(ties: str) -> None:
    """The expected points of a bot are near the taken ones, and parts sum."""
    made = rated(overrides={"ties": ties})
    assert parameters(made)["ties"]["low"] < parameters(made)["ties"]["high"]
    explained = made.explain("m1")
    assert sum(part.points for part in explained.parts) == pytest.approx(explained.score)
    inputs = explained.parts[1].inputs
    assert inputs["expected"] == pytest.approx(inputs["points"], rel=0.02)


def test_a_difference_may_be_one_column_and_its_form_is_a_rule() -> None:
    """Ratings with length_a − length_b are those with its difference under any unit."""
    form = {"control_form": "difference"}
    both = rated(control=["length"], overrides=form).rows()
    single = [
        {**{key: row[key] for key in ("model_a", "model_b", "winner")},
         "extra": 3.0 * (row["length_a"] - row["length_b"])}
        for row in BATTLES
    ]  # fmt: skip
    for ours, theirs in zip(both, rated(single, control="extra").rows(), strict=True):
        assert ours["score"] == pytest.approx(theirs["score"], abs=1e-4)


def test_styles_are_counted_in_responses() -> None:
    """A table with responses needs no column of their length."""
    rows = [
        {**{key: row[key] for key in ("model_a", "model_b", "winner")},
         "response_a": "w " * row["length_a"], "response_b": "w " * row["length_b"]}
        for row in BATTLES
    ]  # fmt: skip
    counted, stated = rated(rows, control=["length"]), rated(control=["length"])
    assert parameters(counted) == parameters(stated)


def test_a_column_has_a_board_for_each_value_beside_the_whole() -> None:
    """Each is the board of these battles alone."""
    made = rated(by="topic")
    for topic in ("code", "art"):
        alone = rated([row for row in BATTLES if row["topic"] == topic])
        part = made.parts[topic]
        assert not isinstance(part, str)
        assert part.table.equals(alone.board.table)
        assert made.board.context["boards"][topic] == alone.rows()
        ranks = {row["id"]: row["rank"] for row in alone.rows()}
        assert {row["id"]: row[f"rank of {topic}"] for row in made.rows()} == ranks
    with pytest.raises(NotScorable, match="by=nothing: no match has a value"):
        rated(by="nothing")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("rows", "choices", "message"),
    [
        (BATTLES, {"control": ["width"]}, "neither the columns width_a and width_b"),
        ([{**r, "length_a": 7, "length_b": 7} for r in BATTLES], {"control": ["length"]}, "same"),
        (
            [*BATTLES, {**BATTLES[0], "length_a": -3}],
            {"control": ["length"]},
            "-3 is below 0, and control_form=relative divides by the sum",
        ),
        (
            [*BATTLES, {**BATTLES[0], "length_a": None}],
            {"control": ["length"]},
            r"1 of 601 rated matches has no value of length_a \(first: match 601\)",
        ),
        ([{**BATTLES[0], "winner": "tie"}] * 3, {"overrides": {"ties": "davidson"}}, "all matches"),
        (  # ann won all of hers, so that she gets no rating, and her matches say nothing about ties
            [
                {"model_a": "ann", "model_b": "bob", "winner": "model_a"},
                {"model_a": "bob", "model_b": "cy", "winner": "tie"},
                {"model_a": "ann", "model_b": "cy", "winner": "model_a"},
            ],
            {"overrides": {"ties": "davidson"}},
            "all matches are ties among the players that get a rating",
        ),
        (
            [{"model_a": "x", "model_b": "y", "score_a": 0.3}],
            {"overrides": {"ties": "rao-kupper"}},
            "model of wins, losses and ties",
        ),
        (
            BATTLES,
            {"control": ["length"], "overrides": {"interval": "bootstrap"}},
            "resamples the plain model: set interval=sandwich with control=length$",
        ),
        (BATTLES, {"control": ["length"], "anchor": {"m0": 1000, "m1": 1001}}, "state one"),
        (
            [{**row, "weight": 1e300 if n == 5 else 1} for n, row in enumerate(BATTLES)],
            {},
            "some weights so much larger than others",
        ),
    ],
)
def test_what_a_model_cannot_do_is_said(
    rows: list[dict[str, Any]], choices: dict[str, Any], message: str
) -> None:
    """Covariates that are missing or constant, ties without any, and stated limits."""
    with pytest.raises(NotScorable, match=message):
        rated(rows, **choices)


def test_elo_has_no_controls() -> None:
    """It is no likelihood."""
    with pytest.raises(Conflict, match="elo has no controls"):
        rate(BATTLES, control=["length"])


@pytest.mark.exhaustive
def test_the_command_rates_under_controls_by_category(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The options arrive; at 80 columns the table shows who is apart."""
    source = tmp_path / "battles.json"
    source.write_text(json.dumps(BATTLES))
    cli = Cli(capsys)
    options = ["arena", "rate", str(source), "--method", "bradley-terry", "--ci"]
    made = cli(*options, "--control", "length")
    assert (made.code, "plain model" in made.out + made.err) == (0, True)
    shown = cli(*options).out
    left_out = shown.partition("too wide to show")[2]
    assert "apart" in shown.replace(left_out, "")
    assert "votes_needed" not in left_out
    parts = cli(*options, "--by", "topic", "--format", "json")
    assert parts.code == 0, parts.err
    assert "rank of art" in parts.out


@pytest.mark.exhaustive
def test_a_control_is_read_wherever_its_rule_is_in_force(tmp_path: Path) -> None:
    """Scores, explanations, audits and robustness of an edition with controls read their columns.

    Only ``rate`` asked for them, so that an audit said the columns were missing.
    """
    rules = {"control": "length"}
    wanted = {row["id"]: row["score"] for row in rated(control=["length"]).rows()}
    result = agon.score("arena", BATTLES, overrides=rules)
    assert {row["id"]: row["score"] for row in result.board("bradley-terry").rows()} == wanted
    explained = agon.explain("arena", BATTLES, "m1", board="bradley-terry", overrides=rules)
    assert explained.score == wanted["m1"]
    assert "control=length" in agon.audit(BATTLES, overrides=rules).result.rules_title
    source = tmp_path / "battles.json"
    source.write_text(json.dumps(BATTLES))
    level = [{**row, "length_b": row["length_a"]} for row in BATTLES]
    with pytest.raises(NotScorable, match="same in all"):
        agon.score("arena", level, overrides=rules).board("bradley-terry")
    assert any("same in all" in note for note in agon.audit(level, overrides=rules).notes)
    assert agon.score("arena", source, overrides=rules).board("bradley-terry").rows()
