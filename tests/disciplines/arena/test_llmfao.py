"""Real votes: 124 crowd workers judge 59 language models, with GPT-4's verdicts as audits."""

import csv
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

import agon
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.records import Records, read_rows
from disciplines.arena import oracle

SIDE = {"left": "a", "right": "b", "tie": "tie"}
LABEL = {"left": "A", "right": "B", "tie": "tie"}


def rows(name: str) -> Iterator[dict[str, str]]:
    """Read one of the shipped files."""
    text = (files("agon.examples") / "llmfao" / name).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


@pytest.fixture(scope="module")
def comparisons() -> list[dict[str, str]]:
    """All votes, in file order."""
    return list(rows("crowd-comparisons.csv"))


def models(comparisons: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Write every model as a bot."""
    names = sorted({row[side] for row in comparisons for side in ("left", "right")})
    return [{"id": name, "name": name} for name in names]


def panels(comparisons: list[dict[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Write pairs as matches, workers as judges, GPT-4's verdicts as audits."""
    audits = {row["id"]: SIDE[row["winner"]] for row in rows("gpt4-crowd-comparisons.csv")}
    matches = {
        row["id"]: {
            "id": int(row["id"]),
            "played_at": None,
            "bot_a": row["left"],
            "bot_b": row["right"],
            "kind": "rated",
            "audit_verdict": audits.get(row["id"]),
        }
        for row in comparisons
    }
    votes = [
        {
            "match_id": int(row["id"]),
            "judge_id": f"worker {row['worker']}",
            "shown_first": "a",
            "vote": LABEL[row["winner"]],
            "voted_at": None,
        }
        for row in comparisons
    ]
    return {"bots": models(comparisons), "matches": list(matches.values()), "votes": votes}


@pytest.fixture(scope="module")
def crowd(comparisons: list[dict[str, str]]) -> Records:
    """Return the records of the panels."""
    return read_rows(SCHEMA, panels(comparisons))


def test_one_match_per_vote_gives_the_published_elo_rating(
    comparisons: list[dict[str, str]],
) -> None:
    """K = 4, not rounded, ties a half, in file order: GPT 4 = 1095.5935481722963."""
    matches = [
        {
            "id": number,
            "played_at": None,
            "bot_a": row["left"],
            "bot_b": row["right"],
            "kind": "rated",
            "winner": SIDE[row["winner"]],
        }
        for number, row in enumerate(comparisons, start=1)
    ]
    records = read_rows(SCHEMA, {"bots": models(comparisons), "matches": matches})
    rules = {"k_new": 4, "k_established": 4, "round_changes": False}
    result = agon.score("arena", records, overrides=rules)
    assert result.board("bots").row("GPT 4")["score"] == pytest.approx(1095.593548, abs=5e-7)


def test_pairs_as_matches_and_workers_as_judges_equal_the_second_implementation(
    comparisons: list[dict[str, str]], crowd: Records
) -> None:
    """Every rating and every credibility of a real crowd, audits included."""
    result = agon.score("arena", crowd)
    expected = oracle.score(panels(comparisons), ArenaRules().model_dump())
    for board, score in (("bots", "rating"), ("judges", "credibility")):
        wanted = {name: row[score] for name, row in expected[board].items() if row is not None}
        assert {row["id"]: row["score"] for row in result.board(board).rows()} == wanted
    assert len(result.board("bots")) == 59
    assert len(result.board("judges")) == 124


def test_bradley_terry_leads_with_the_same_model(crowd: Records) -> None:
    """Ratings of all matches at once exist for this crowd, with intervals around them."""
    rows = agon.score("arena", crowd).board("bradley-terry").rows()
    assert "GPT 4" in {row["id"] for row in rows[:3]}
    assert all(row["low"] < row["score"] < row["high"] for row in rows)


def test_findings_name_their_statistics_and_what_is_expected(crowd: Records) -> None:
    """A real crowd's agreement is noted, and no finding is an error."""
    findings = agon.score("arena", crowd).findings
    noted = next(finding for finding in findings if finding.code == "agreement")
    assert 0 < noted.value < 1
    assert all(finding.severity != "error" for finding in findings)
    assert all(finding.message for finding in findings)


@pytest.mark.exhaustive
def test_explanations_sum_for_every_model_and_worker(crowd: Records) -> None:
    """From the first vote to the published score."""
    result = agon.score("arena", crowd)
    for board in ("bots", "judges"):
        for row in result.board(board).rows():
            assert result.explain(row["id"], board=board).score == row["score"]
