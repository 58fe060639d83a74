"""Boards and explanations: order, sums, reasons, and what they do not depend on."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.capabilities import Simulation
from agon.disciplines.community import DISCIPLINE, facts, formulas, id_index
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.disciplines.community.simulate import ATTACKS, simulate
from agon.errors import NotFound
from agon.kernel import marks
from agon.records import read, read_rows
from agon.records.writing import write_tables
from sizes import sample, size

EVERYTHING = {
    name: True
    for name, field in CommunityRules.model_fields.items()
    if field.annotation is bool and name != "cross_validation"
} | {"time_decay_half_life_days": 60}


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    """Simulate a small community with every attack."""
    return simulate(size=60, seed=11, attacks=list(ATTACKS))


@pytest.fixture(scope="module")
def community(simulation: Simulation) -> Community:
    """Score it with every opt-in on."""
    return scored(simulation.tables, **EVERYTHING)


def scored(tables: Any, **rules: Any) -> Community:
    """Score tables under the default rules with some set otherwise."""
    return score(read_rows(DISCIPLINE.schema, tables), CommunityRules().override(rules))


@pytest.mark.sample(2)
@pytest.mark.parametrize("rules", [{}, EVERYTHING, {"sota_list": "dynamic"}])
@pytest.mark.parametrize("board", DISCIPLINE.boards)
def test_every_id_is_explained_and_the_parts_sum_to_the_score(
    simulation: Simulation, board: str, rules: dict[str, Any]
) -> None:
    """On every board, opt-ins off and on; an explanation that does not sum cannot be built."""
    community = scored(simulation.tables, **rules)
    rows = {row["id"]: row for row in community.board(board).rows()}
    unscored = {row.id: row.reason for row in community.board(board).unscored}
    ids = [str(user) for user in simulation.tables["users"]["id"].to_pylist()]
    assert rows.keys() | unscored.keys() == set(ids)
    for name in sample(ids):
        explanation = community.explain(name, board=board)
        assert explanation.parts
        if name in rows:
            assert explanation.score == rows[name]["score"]
            assert explanation.rank == rows[name]["rank"]
        else:
            assert explanation.score is None
            assert explanation.reason == unscored[name]


def test_components_of_the_board_are_the_parts_of_the_explanation(community: Community) -> None:
    """Both follow from one table of components."""
    for row in community.board("user-score").rows(top=10):
        parts = community.explain(row["id"], board="user-score").parts
        assert {part.name: part.points for part in parts} == row["components"]
        assert all(part.inputs["count"] == row["counts"][_count(part.name)] for part in parts)


def _count(name: str) -> str:
    return name.removesuffix("_bonus") if name.endswith("prompts_bonus") else name


def test_the_records_of_a_count_are_as_many_as_the_count(simulation: Simulation) -> None:
    """A reader who doubts a number can look every record up."""
    community = scored(simulation.tables)
    same = {"benchmark_creator", "diverse_feedback_benchmarks", "diverse_feedback_users",
            "quality_prompts", "difficult_prompts_bonus", "h_index", "feedback_activity",
            "collaboration"}  # fmt: skip
    for row in community.board("user-score").rows(top=15):
        for part in community.explain(row["id"], board="user-score").parts:
            if part.name in same:
                assert sum(ref.count for ref in part.records) == part.inputs["count"], part.name


def test_texts_follow_the_rules_in_force(simulation: Simulation) -> None:
    """An overridden threshold shows in the text, not only in the points."""
    community = scored(simulation.tables, min_positive_feedbacks=4, quality_prompts_bonus=80)
    name = community.board("user-score").rows(top=1)[0]["id"]
    parts = {part.name: part for part in community.explain(name, board="user-score").parts}
    part = parts["quality_prompts_bonus"]
    assert "at least 4 positive feedbacks" in part.text
    assert "80 points" in part.text
    assert part.rules["quality_prompts_bonus"] == 80
    assert part.threshold == 3


def test_what_is_missing_is_named_with_the_nearest_prompts() -> None:
    """The text names the steps to the next bonus."""
    tables = {
        "users": [{"id": name} for name in ("ada", "r1", "r2", "r3")],
        "prompts": [{"id": n, "uploader_id": "ada"} for n in (1, 2, 3)],
        "quick_feedbacks": [
            {"user_id": user, "prompt_id": prompt, "opinion": "positive"}
            for prompt, users in ((1, ("r1", "r2", "r3")), (2, ("r1", "r2")))
            for user in users
        ],
    }
    community = scored(tables)
    parts = {part.name: part for part in community.explain("ada", board="user-score").parts}
    assert parts["quality_prompts_bonus"].missing == (
        "2 more prompts with at least 3 positive feedbacks; nearest: 2 (2 of 3), 3 (0 of 3)"
    )
    assert parts["h_index"].text == (
        "h-index 2 (2 prompts with at least 2 positive feedbacks): 2² × 2 = 8 points"
    )
    assert parts["h_index"].missing == (
        "for h-index 3: 4 more positive feedbacks on 2 (2 of 3), 3 (0 of 3)"
    )
    assert parts["feedback_activity"].missing == "1 more feedback given adds 0.5 points"
    reviewer = community.explain("r1", board="reviewer")
    assert reviewer.score is None
    assert reviewer.reason == "rated 1 prompt with at least 3 reviews; 5 are needed"
    assert reviewer.parts[0].missing == "4 more prompts with at least 3 reviews"


def test_an_unknown_user_is_not_found_with_a_suggestion() -> None:
    """A misspelled name is the usual cause."""
    community = scored({"users": [{"id": "ada"}, {"id": "grace"}]})
    with pytest.raises(NotFound, match="did you mean grace"):
        community.explain("grac", board="user-score")


@settings(max_examples=size(8, at_least=1), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(
    simulation: Simulation, community: Community, seed: int
) -> None:
    """Where times distinguish feedback, every board is the same for any order of every table."""
    rng = np.random.default_rng(seed)
    tables = {
        name: table.take(pa.array(rng.permutation(table.num_rows)))
        for name, table in simulation.tables.items()
    }
    shuffled = scored(tables, **EVERYTHING)
    for board in DISCIPLINE.boards:
        assert community.board(board).table.equals(shuffled.board(board).table)
        assert community.board(board).unscored == shuffled.board(board).unscored


def test_parquet_and_csv_give_the_same_boards(simulation: Simulation, tmp_path: Path) -> None:
    """A board depends on what the records say, not on how they are stored."""
    for kind in ("parquet", "csv"):
        (tmp_path / kind).mkdir()
    for name, table in simulation.tables.items():
        plain = table.cast(
            pa.schema([(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type)
                       for f in table.schema])
        )  # fmt: skip
        pyarrow.parquet.write_table(plain, tmp_path / "parquet" / f"{name}.parquet")
        pyarrow.csv.write_csv(plain, tmp_path / "csv" / f"{name}.csv")
    one, other = (
        score(read(DISCIPLINE.schema, tmp_path / kind), CommunityRules())
        for kind in ("parquet", "csv")
    )
    for board in DISCIPLINE.boards:
        assert one.board(board).sha256 == other.board(board).sha256


def test_a_time_before_all_records_scores_none(simulation: Simulation) -> None:
    """Rows without their parents are left out as well."""
    records = read_rows(DISCIPLINE.schema, simulation.tables).as_of(
        datetime(1999, 1, 1, tzinfo=UTC)
    )
    community = score(records, CommunityRules().override(EVERYTHING))
    for board in DISCIPLINE.boards:
        assert len(community.board(board)) == 0


def test_scoring_as_of_a_later_time_never_removes_feedback(simulation: Simulation) -> None:
    """Activity grows with time."""
    records = read_rows(DISCIPLINE.schema, simulation.tables)
    totals = []
    for month in (3, 6, 9, 12):
        seen = records.as_of(datetime(2024, month, 1, tzinfo=UTC))
        board = score(seen, CommunityRules()).board("user-score")
        totals.append(sum(row["counts"]["feedback_activity"] for row in board.rows()))
    assert totals == sorted(totals)
    assert totals[0] < totals[-1] < simulation.tables["quick_feedbacks"].num_rows


def test_a_community_of_users_alone_is_all_zeros() -> None:
    """A missing optional table counts as empty."""
    community = scored({"users": [{"id": 2}, {"id": 10}, {"id": 1}]})
    rows = community.board("user-score").rows()
    assert [(row["rank"], row["id"], row["score"]) for row in rows] == [
        (1, "1", 0.0), (1, "2", 0.0), (1, "10", 0.0)
    ]  # fmt: skip
    assert len(community.board("reviewer").unscored) == 3


def test_badges_carry_the_time_they_were_earned() -> None:
    """The third positive feedback on the third prompt earns the badge, not the first."""
    days = {1: "2026-01-01", 2: "2026-01-05", 3: "2026-01-03"}
    tables = {
        "users": [{"id": name} for name in ("ada", "r1", "r2", "r3")],
        "org_to_people": [{"user_id": "ada", "org_id": 1}],
        "prompts": [{"id": n, "uploader_id": "ada"} for n in (1, 2, 3)],
        "quick_feedbacks": [
            {"user_id": f"r{n}", "prompt_id": prompt, "opinion": "positive",
             "created_at": f"{days[prompt]}T0{n}:00:00Z"}
            for prompt in days for n in (1, 2, 3)
        ],
    }  # fmt: skip
    row = scored(tables, achievements=True).board("user-score").row("ada")
    assert row["badges"] == [
        {"name": "affiliation", "earned": None},
        {"name": "quality_prompts_bonus", "earned": "2026-01-05T03:00:00Z"},
    ]


def test_the_combined_board_shows_specializations(simulation: Simulation) -> None:
    """Three scores, ranks and percentiles; no user specializes by less than the margin."""
    rows = scored(simulation.tables).board("combined").rows()
    names = {"user-score", "contributor", "reviewer"}
    assert all(row["components"].keys() == names for row in rows)
    for row in rows:
        known = sorted((p for p in row["percentiles"].values() if p is not None), reverse=True)
        if row["specialises"] != "none":
            assert row["percentiles"][row["specialises"]] == known[0]
            assert known[0] - known[1] >= 10
            assert known[0] > 50
    assert {row["specialises"] for row in rows} <= names | {"none"}


def test_distinct_tie_ranks_order_equal_scores_by_id() -> None:
    """The rule changes the ranks, never the order."""
    rows = (
        scored({"users": [{"id": n} for n in (3, 1, 2)]}, tie_ranks="distinct")
        .board("user-score")
        .rows()
    )
    assert [(row["rank"], row["id"]) for row in rows] == [(1, "1"), (2, "2"), (3, "3")]


def test_a_dynamic_list_has_the_best_models_of_the_community() -> None:
    """Highest mean over enough prompts, then by slug."""
    models = {"strong": 0.9, "middle": 0.6, "weak": 0.1}
    tables = {
        "users": [{"id": "ada"}],
        "prompts": [{"id": n, "uploader_id": "ada"} for n in range(3)],
        "responses": [{"id": f"{model}{n}", "prompt_id": n, "model": model}
                      for model in models for n in range(3)],
        "scores": [{"response_id": f"{model}{n}", "score": mark}
                   for model, mark in models.items() for n in range(3)],
    }  # fmt: skip
    rules = {"sota_list": "dynamic", "sota_top": 2, "sota_min_prompts": 3}
    assert scored(tables, **rules).facts.difficulty.sota == ("middle", "strong")


def test_compiled_counts_of_feedback_are_those_of_the_interpreter(
    simulation: Simulation, community: Community, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Large communities are read side by side and counted by marks; the boards are the same."""
    monkeypatch.setattr(facts, "COMPILED_FROM", 1)
    for module in (marks, formulas, id_index):
        monkeypatch.setattr(module, "ARRAYS_COMPILED_FROM", 1)
    write_tables(simulation.tables, tmp_path / "records")
    records = read(DISCIPLINE.schema, tmp_path / "records")
    compiled = score(records, CommunityRules().override(EVERYTHING))
    boards = DISCIPLINE.boards
    assert [compiled.board(board).sha256 for board in boards] == [
        community.board(board).sha256 for board in boards
    ]
