"""Explanations: parts that sum to what is published, made from the rules in force."""

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from agon.disciplines.challenge import DISCIPLINE
from agon.disciplines.challenge.rules import ChallengeRules
from agon.disciplines.challenge.scoring import ScoredChallenge, score
from agon.errors import NotFound, NotScorable
from agon.kernel.explanations import Explanation, Part
from agon.records import read_rows
from disciplines.challenge.networks import RULES, Tables, networks, scored, tables_of
from sizes import size


def everything(result: ScoredChallenge) -> None:
    """Explain every id on every board; an explanation that does not add up cannot be built."""
    for name in DISCIPLINE.boards:
        board = result.board(name)
        for row in board.rows():
            explanation = result.explain(row["id"], board=name)
            assert (explanation.score, explanation.rank) == (row["score"], row["rank"])
            assert sum(part.points for part in explanation.parts) == pytest.approx(
                row["score"], abs=1e-12
            )
        for one in board.unscored:
            explanation = result.explain(one.id, board=name)
            assert (explanation.score, explanation.rank, explanation.reason) == (
                None,
                None,
                one.reason,
            )


@settings(
    max_examples=size(20, at_least=3, dear=True),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(networks(), RULES)
def test_the_parts_of_every_id_sum_to_its_score(tables: Tables, rules: dict[str, Any]) -> None:
    """Whatever the network and the rules, every number on every board is explained to the end."""
    try:
        result = scored(tables, **rules)
    except NotScorable:
        assume(condition=False)
        raise
    everything(result)


def test_a_simulated_contest_is_explained_to_the_last_id() -> None:
    """Seed 1, a thousand evaluations with every attacker in them."""
    made = DISCIPLINE.simulate(size=1000, seed=1, attacks=list(DISCIPLINE.attacks))
    everything(score(read_rows(DISCIPLINE.schema, dict(made.tables)), ChallengeRules()))


def waterfall(result: ScoredChallenge, uid: str) -> dict[str, Part]:
    """Return the parts of a weight by name."""
    return {part.name: part for part in result.explain(uid, board="weights").parts}


def test_a_weight_is_a_waterfall_from_evaluations_to_u16() -> None:
    """Issue 2, point 5: evaluations, outliers, stake, strategy, decay, emission, cap, u16."""
    tables = tables_of(
        {
            "a": (1, [0.90, 0.91, 0.89, 0.90, 0.10]),
            "b": (2, [0.06] * 5),
            "c": (3, [0.04] * 5),
        },
        competitions=[{"id": "main", "emission_share": 0.8}],
    )
    parts = waterfall(scored(tables, epoch=14), "1")
    assert list(parts) == [
        "evaluations a", "outliers a", "stake a", "consensus a", "strategy main", "decay main",
        "emission main", "cap", "u16",
    ]  # fmt: skip
    assert parts["outliers a"].inputs["outliers"] == ["v5"]
    assert parts["outliers a"].rules["outlier_threshold"] == 3.5
    assert parts["stake a"].inputs["stake_fraction"] == 0.8
    assert parts["strategy main"].points == pytest.approx(0.9)
    assert parts["decay main"].points == pytest.approx(-0.9 * 0.2)
    assert parts["emission main"].points == pytest.approx(-0.9 * 0.8 * 0.2)
    assert parts["cap"].points == pytest.approx(-0.4 * 0.64)
    assert parts["cap"].threshold == pytest.approx(0.32)
    assert parts["u16"].inputs["u16"] == round(0.32 * 65535)
    refs = parts["evaluations a"].records[0]
    assert (refs.table, refs.ids) == (
        "evaluations", ("row 1", "row 2", "row 3", "row 4", "row 5"),
    )  # fmt: skip


def test_the_burn_is_a_waterfall_too() -> None:
    """Decay, empty competitions, what is not assigned, the cap."""
    tables = tables_of(
        {"a": (1, [0.9] * 3), "b": (0, [0.1] * 3)},
        competitions=[
            {"id": "main", "emission_share": 0.6},
            {"id": "none", "emission_share": 0.3},
        ],
    )
    parts = waterfall(scored(tables, epoch=14), "0")
    points = {name: part.points for name, part in parts.items()}
    assert points == pytest.approx(
        {
            "decay main": 0.6 * 0.2,
            "empty none": 0.3,
            "unassigned": 0.1,
            "own": 0.6 * 0.8 * 0.1,
            "cap": 0.6 * 0.8 * 0.9 * 0.5,
            "u16": 0,
        }
    )


def test_the_text_is_made_from_the_rules_in_force() -> None:
    """Another rule, another sentence: no number of the default stands in the text."""
    tables = tables_of({"a": (1, [0.8, 0.8, 0.8, 0.8, 0.2]), "b": (2, [0.1, 0.1])})
    rules = {"min_validators": 5, "outlier_threshold": 7.25, "min_stake_fraction": 0.45}
    result = scored(tables, **rules)
    parts = waterfall(result, "1")
    assert "at least 5" in parts["evaluations a"].text
    assert "7.25" in parts["outliers a"].text
    assert "45 %" in parts["stake a"].text
    missing = result.explain("b", board="submissions")
    assert missing.reason == "2 validators reported; at least 5 must (min_validators)"
    assert missing.parts[0].missing == "3 more validators"


def test_an_outlier_adds_nothing_and_is_explained() -> None:
    """Each evaluation's points are its part of the mean."""
    result = scored(tables_of({"a": (1, [0.80, 0.82, 0.79, 0.81, 0.20])}))
    explanation = result.explain("a", board="submissions")
    last = explanation.parts[-1]
    assert (last.name, last.points, last.inputs["z"]) == ("evaluation of v5", 0.0, -40.47)
    assert "z = -40.47 is further out than 3.5, so it is left out" in last.text
    only = scored(tables_of({"a": (1, [0.80, 0.82, 0.79, 0.81, 0.20])}), exclude_outliers=False)
    last = only.explain("a", board="submissions").parts[-1]
    assert last.points == pytest.approx(0.04)
    assert "only reported" in last.text


def test_too_little_stake_is_explained_with_the_missing_stake() -> None:
    """29 of 100 is a hundredth short of 30 %."""
    tables = tables_of({"a": (1, [0.5, 0.5, 0.5])}, stakes={"v1": 9, "v2": 10, "v3": 10, "v9": 71})
    explanation = scored(tables).explain("a", board="submissions")
    assert explanation.reason is not None
    assert "29 % of all stake" in explanation.reason
    assert explanation.parts[1].missing == "1 % more of all stake"


def test_a_copy_names_its_original() -> None:
    """The earliest submission of a content counts."""
    tables = tables_of({"a": (1, [0.5] * 3), "b": (2, [0.9] * 3)},
                       content_hash={"a": "x", "b": "x"})  # fmt: skip
    explanation = scored(tables).explain("b", board="submissions")
    assert explanation.reason is not None
    assert "has the same content as a" in explanation.reason
    assert explanation.parts[0].records[0].ids == ("b", "a")


def test_a_competition_is_explained_by_improvements_and_maximum_burn() -> None:
    """Decay forecast: grace and stale epochs after the last improvement."""
    first = {(f"v{v}", 0): 0.8 for v in (1, 2, 3)}
    better = {(f"v{v}", 3): 0.816 for v in (1, 2, 3)}
    explanation = scored(tables_of({"a": (1, first), "b": (2, better)}), epoch=15).explain(
        "main", board="competitions"
    )
    assert [part.name for part in explanation.parts] == [
        "improvement in epoch 0", "improvement in epoch 3", "decay",
    ]  # fmt: skip
    assert [part.points for part in explanation.parts] == pytest.approx([0.8, 0.016, 0])
    assert explanation.parts[1].records[0].ids == ("b",)
    assert explanation.context["maximum_burn_in_epoch"] == 3 + 10 + 16
    assert "in epoch 29" in explanation.notes[0]


def test_a_loser_learns_what_the_next_place_takes() -> None:
    """Strategies that go by places name the rival."""
    tables = tables_of({"a": (1, [0.9] * 3), "b": (2, [0.5] * 3), "c": (3, [0.4] * 3)})
    winner = waterfall(scored(tables, strategy="winner_takes_all"), "3")["strategy main"]
    assert winner.missing == "a score above 0.9, which a has on rank 1"
    ranked = waterfall(scored(tables, strategy="ranked"), "3")["strategy main"]
    assert ranked.missing == "a score above 0.5, which b has on rank 2"
    assert waterfall(scored(tables), "3")["strategy main"].missing is None


@pytest.mark.sample(2)
@pytest.mark.parametrize("board", DISCIPLINE.boards)
def test_an_unknown_id_is_not_found(board: str) -> None:
    """The message helps: what is there, or what was meant."""
    result = scored(tables_of({"alpha": (11, [0.5] * 3)}))
    with pytest.raises(NotFound, match="there is no"):
        result.explain("unknown", board=board)
    with pytest.raises(NotFound, match="did you mean alpha"):
        result.explain("alhpa", board="submissions")


def test_an_unregistered_validator_is_explained_by_its_reason() -> None:
    """A stake that comes later is none yet."""
    tables = tables_of({"a": (1, [0.5] * 3)})
    tables["validators"].append({"id": "late", "stake": 5, "epoch": 9})
    explanation: Explanation = scored(tables, epoch=1).explain("late", board="validators")
    assert explanation.reason == "has no stake at or before epoch 1"


@pytest.mark.parametrize(
    ("second", "name", "when"),
    [
        ("2026-01-01T00:00:00Z", "after", "earlier: it is ranked before a"),
        (
            "2026-01-02T00:00:00Z",
            "before",
            "at the same time, and its id comes later: it is ranked after a",
        ),
        ("2026-01-03T00:00:00Z", "before", "later: it is ranked after a"),
    ],
)
def test_the_rank_of_an_equal_score_has_its_reason(second: str, name: str, when: str) -> None:
    """Ranks 2 and 3 at one score look arbitrary until the times of submission are named."""
    times = {"a": "2026-01-02T00:00:00Z", "b": second, "c": "2026-01-01T00:00:00Z"}
    scores = {"a": 0.5, "b": 0.5, "c": 0.6}
    tables = {
        "submissions": [
            {"id": own, "miner_uid": uid, "submitted_at": time}
            for uid, (own, time) in enumerate(times.items(), start=1)
        ],
        "validators": [{"id": f"v{n}", "stake": 1} for n in range(3)],
        "evaluations": [
            {"submission_id": own, "validator_id": f"v{n}", "score": value}
            for own, value in scores.items()
            for n in range(3)
        ],
    }
    with read_rows(DISCIPLINE.schema, tables) as records:
        result = score(records, ChallengeRules())
        explanation = result.explain("a", board="submissions")
        [said] = [part for part in explanation.parts if part.name.startswith("submitted")]
        assert (said.name, said.points) == (f"submitted {name} b", 0.0)
        assert said.text == f"b has the same score and was submitted {when}"
        others = result.explain("c", board="submissions").parts
        assert not [part for part in others if part.name.startswith("submitted")]
