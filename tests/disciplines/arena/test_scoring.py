"""The arena's boards: against a second implementation, and on the cases of the spec page."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agon
from agon.app.arena.scored import arena_of
from agon.disciplines import discipline
from agon.disciplines.arena.judges.judge_figures import judge_figures
from agon.disciplines.arena.records import SCHEMA
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotFound, NotScorable
from agon.records import InvalidRecords, read_rows
from disciplines.arena import oracle
from disciplines.arena.arenas import RULES, TIMES, Tables, arenas, bots, match, scored, vote
from sizes import size

GOLDEN = Path(__file__).parent / "golden.json"
CONTRACT = {
    "bots": ["rank", "id", "score", "rating", "matches", "wins", "losses", "ties", "provisional"],
    "judges": ["rank", "id", "score", "credibility", "active", "votes", "agreement"],
    "bradley-terry": ["rank", "id", "score", "low", "high", "rank_low", "rank_high"],
}


def ranked(rows: list[dict[str, Any]]) -> bool:
    """Return whether rows stand in order: score descending, equal scores sharing a rank, ids."""
    order = sorted(rows, key=lambda row: (-row["score"], oracle.id_key(row["id"])))
    ranks = [1 + sum(other["score"] > row["score"] for other in rows) for row in order]
    return rows == order and [row["rank"] for row in rows] == ranks


@settings(max_examples=size(50, at_least=3, dear=True), deadline=None)
@given(arenas(), RULES, st.sampled_from([None, *TIMES[:3]]))
def test_boards_equal_a_second_implementation(
    tables: Tables, rules: dict[str, Any], as_of: datetime | None
) -> None:
    """Dicts and loops from the page alone are the oracle, on ties, gaps and earlier times."""
    result = scored(tables, as_of=as_of, **rules)
    expected = oracle.score(tables, {**ArenaRules().model_dump(), **rules}, as_of)
    for name in ("bots", "judges"):
        board = result.board(name)
        rows = board.rows()
        assert ranked(rows)
        wanted = {who: row for who, row in expected[name].items() if row is not None}
        assert {row["id"] for row in rows} == set(wanted)
        assert {one.id for one in board.unscored} == set(expected[name]) - set(wanted)
        for row in rows:
            for key, value in wanted[row["id"]].items():
                assert row[key] == (pytest.approx(value, abs=2e-6) if value is not None else None)


@settings(max_examples=size(12, at_least=3, dear=True), deadline=None)
@given(arenas(), st.randoms(use_true_random=False))
def test_boards_do_not_depend_on_row_order_or_the_type_of_ids(tables: Tables, dice: Any) -> None:
    """A file may hold rows in any order and numbers as text; the contest is the same."""
    shuffled = {name: dice.sample(rows, len(rows)) for name, rows in tables.items()}
    ids = {"id", "bot_a", "bot_b", "match_id", "judge_id"}
    as_text = {
        name: [
            {key: str(value) if key in ids and value is not None else value
             for key, value in row.items()} for row in rows
        ] for name, rows in tables.items()
    }  # fmt: skip
    wanted = scored(tables)
    for other in (scored(shuffled), scored(as_text)):
        for board in ("bots", "judges"):
            assert other.board(board).sha256 == wanted.board(board).sha256


def test_every_board_has_the_columns_of_the_contract() -> None:
    """Outside checks and pages call these names; further columns may follow."""
    simulation = discipline("arena").simulate(size=200, seed=3, attacks=[])
    records = read_rows(SCHEMA, simulation.tables)
    result = agon.score("arena", records, overrides={"bradley_terry_regularisation": 1})
    for name, columns in CONTRACT.items():
        assert list(result.board(name).rows(top=1)[0])[: len(columns)] == columns


def test_the_golden_board_of_the_edition_never_changes() -> None:
    """The boards of one stored contest under the released edition are stored with it."""
    golden = json.loads(GOLDEN.read_text())
    result = agon.score("arena", read_rows(SCHEMA, golden["records"]), edition="sentience-1")
    for name in ("bots", "judges"):
        columns = CONTRACT[name]
        rows = [{key: row[key] for key in columns} for row in result.board(name).rows()]
        assert rows == golden[name]


def test_an_unknown_board_is_not_found() -> None:
    """The error of a misspelled board names the nearest one."""
    result = scored({"bots": bots("a"), "matches": []})
    with pytest.raises(NotFound, match="judges"):
        result.board("judge")


def test_the_recorded_winner_counts_only_without_votes() -> None:
    """Votes are what happened; `winner` stands in for them in imported data."""
    tables = {
        "bots": bots("a", "b"),
        "matches": [match(1, "a", "b", winner="b"), match(2, "a", "b", winner="b")],
        "votes": [vote(1, "j", "a")],
    }
    rows = {row["id"]: row for row in scored(tables).board("bots").rows()}
    assert (rows["a"]["wins"], rows["a"]["losses"]) == (1, 1)


def test_a_match_without_votes_or_winner_has_not_ended() -> None:
    """Seen between the match and its votes, it neither rates nor counts."""
    result = scored({"bots": bots("a", "b"), "matches": [match(1, "a", "b")]})
    assert result.board("bots").rows() == []
    assert [one.id for one in result.board("bots").unscored] == ["a", "b"]


def test_votes_of_an_inactive_judge_count_as_recorded() -> None:
    """Records are what happened; who should have been seated is the panel's business."""
    pots = [match(n, "a", None, kind="honeypot", honeypot_real="a") for n in range(1, 5)]
    tables = {
        "bots": bots("a", "b"),
        "matches": [*pots, match(9, "a", "b")],
        "votes": [*(vote(n, "j", "b") for n in range(1, 5)), vote(9, "j", "b")],
    }
    result = scored(tables)
    assert result.board("judges").row("j")["active"] is False
    assert result.board("bots").row("b")["wins"] == 1


def test_a_person_listed_under_the_id_of_a_bot_is_in_the_pool_as_a_person() -> None:
    """What a judge is comes from the records: no account of the bot's owner is asked for."""
    tables = {
        "bots": bots("a", "b"),
        "matches": [match(1, "a", "b")],
        "judges": [{"id": "a", "kind": "person"}, {"id": "b", "kind": "bot"}],
    }
    judges = scored(tables).board("judges")
    assert [judges.row(name)["active"] for name in "ab"] == [True, False]


def test_the_vote_of_a_model_has_no_position() -> None:
    """It is made of two calls, one in each order, and is recorded as if side a had been first.

    The side shown first wins half of what people judge, and side a nearly all that a model does:
    neither the fitted position nor a finding is made of that.
    """
    ids = [f"m{number}" for number in range(40)]
    tables: Tables = {
        "bots": bots("x", "y"),
        "judges": [{"id": "openai/m", "kind": "api"}, {"id": "p", "kind": "person"}],
        "matches": [match(name, *("xy" if n % 2 else "yx")) for n, name in enumerate(ids)],
        "votes": [
            *(vote(name, "p", "ab"[n // 4 % 2]) for n, name in enumerate(ids[:16])),
            *(vote(name, "openai/m", "b" if n > 21 else "a") for n, name in enumerate(ids[16:])),
        ],
    }
    made = scored(tables, position="fitted")
    [position] = made.board("bradley-terry").context["model"]["parameters"]
    assert position["value"] == pytest.approx(0, abs=0.01)
    arena = arena_of(made.scored)
    judges: dict[str, Any] = {"facts": arena.facts, "results": arena.results, "rules": arena.rules}
    model, person = ({each.name for each in judge_figures(n, **judges)} for n in range(2))
    assert person - model == {"position"}
    assert "position-bias" not in {finding.code for finding in made.findings}


def test_an_audit_that_sees_a_tie_overrules_no_vote() -> None:
    """It names no side against the consensus (imported verdicts may be ties)."""
    tables = {
        "bots": bots("a", "b"),
        "matches": [match(1, "a", "b", audit_verdict="tie")],
        "votes": [vote(1, "j", "a")],
    }
    assert scored(tables).board("judges").row("j")["credibility"] == 101


def test_a_nonexistent_bradley_terry_rating_is_rejected_with_names_and_remedy() -> None:
    """An infinite rating must not be shown as one; the organizer may set a prior."""
    tables = {"bots": bots("ada", "bob"), "matches": [match(1, "ada", "bob", winner="a")]}
    with pytest.raises(NotScorable, match=r"ada.*never lost.*bradley_terry_regularisation"):
        scored(tables).board("bradley-terry")
    rows = scored(tables, bradley_terry_regularisation=1).board("bradley-terry").rows()
    assert [row["id"] for row in rows] == ["ada", "bob"]
    assert rows[0]["score"] - 1000 == pytest.approx(1000 - rows[1]["score"])


@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_bradley_terry_intervals_hold_the_score_and_order_the_ranks(interval: str) -> None:
    """Ranks that intervals allow contain the rank published; the seed makes bootstraps equal."""
    simulation = discipline("arena").simulate(size=1500, seed=5, attacks=[])
    records = read_rows(SCHEMA, simulation.tables)
    rules = {"interval": interval, "bootstrap_rounds": 40}
    rows = agon.score("arena", records, overrides=rules).board("bradley-terry").rows()
    for row in rows:
        assert row["low"] < row["score"] < row["high"]
        assert row["rank_low"] <= row["rank"] <= row["rank_high"]
    assert agon.score("arena", records, overrides=rules).board("bradley-terry").rows() == rows


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"bot_b": None}, "is empty in a rated match"),
        ({"bot_b": "a"}, "is also bot_a"),
        ({"kind": "honeypot"}, "is empty in a honeypot"),
        ({"kind": "honeypot", "honeypot_real": "b", "bot_b": None}, "names a side without a bot"),
        ({"winner": "c"}, "is not one of the known values"),
        ({"bot_b": "zed"}, "is no id of bots"),
    ],
)
def test_matches_that_cannot_be_are_rejected(row: dict[str, Any], problem: str) -> None:
    """A contradiction in the records is corrected by its author, never guessed."""
    tables = {"bots": bots("a", "b"), "matches": [match(1, "a", "b", **row), match(2, "a", "b")]}
    tables["matches"][1]["honeypot_real"] = None
    with pytest.raises(InvalidRecords, match=problem):
        read_rows(SCHEMA, tables)
