"""Score random communities twice: by agon, and by a naive scorer written from the specification."""

from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agon.disciplines.community.records import SCHEMA
from agon.disciplines.community.rules import CommunityRules
from agon.disciplines.community.scoring import Community, score
from agon.records import read_rows
from disciplines.community import oracle
from disciplines.community.communities import DAY, communities
from sizes import size

Rows = dict[str, list[dict[str, Any]]]

# Thresholds low enough that small communities reach them.
EASY = {
    "min_positive_feedbacks": 2,
    "min_benchmark_contributors": 2,
    "min_feedback_benchmarks": 2,
    "min_feedback_users": 2,
    "min_quality_prompts": 1,
    "min_difficult_prompts": 1,
    "min_wrong_models": 2,
    "min_prompt_reviews": 2,
    "min_reviewer_prompts": 2,
}
ALL_ON = dict.fromkeys(oracle.OPTIONAL, True)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "self_feedback": st.just("ignore"),
        "wrong_answer_unit": st.just("responses"),
        "wrong_answer_threshold": st.sampled_from([0.3, 0.5, 0.7]),
        "time_decay_half_life_days": st.sampled_from([7.0, 30.0]),
        "likes_per_creator": st.sampled_from([1, 2]),
        "daily_feedbacks": st.sampled_from([1, 2]),
        "min_collaborator_prompts": st.just(1),
    },
)
TIMES = st.none() | st.integers(0, 80).map(lambda n: DAY + timedelta(days=n, hours=12))


def same(scored: Community, expected: dict[str, Any]) -> None:
    """Compare every number of three boards."""
    boards = {name: scored.board(name) for name in ("user-score", "contributor", "reviewer")}
    for name, board in boards.items():
        rows = {row["id"]: row for row in board.rows()}
        wanted = {str(user): row for user, row in expected[name].items()}
        assert rows.keys() == wanted.keys()
        for user, row in wanted.items():
            for part in ("components", "counts") if name == "user-score" else ():
                assert rows[user][part].keys() == row[part].keys()
                for key, value in row[part].items():
                    result = rows[user][part][key]
                    assert abs(result - value) < 1e-6, (user, part, key, result, value)
            assert abs(rows[user]["score"] - row["score"]) < 1e-6, (name, user)
        ranks = {str(user): rank for user, rank in oracle.ranks(expected[name]).items()}
        assert {user: row["rank"] for user, row in rows.items()} == ranks
    assert {one.id for one in boards["reviewer"].unscored} == set(map(str, expected["unranked"]))


@settings(max_examples=size(60, at_least=3, dear=True), deadline=None)
@given(tables=communities(), changes=CHANGES, time=TIMES)
def test_both_scorers_agree_on_every_number(
    tables: Rows, changes: dict[str, Any], time: datetime | None
) -> None:
    """On ties, repeats, empty values, missing tables, ids of both kinds, and at any time."""
    rules = {**EASY, **changes}
    records = read_rows(SCHEMA, tables).as_of(time)
    same(score(records, CommunityRules().override(rules)), oracle.score(tables, rules, time))


@settings(max_examples=size(40, at_least=3, dear=True), deadline=None)
@given(tables=communities(), changes=CHANGES, time=TIMES)
def test_both_scorers_agree_with_every_opt_in_on(
    tables: Rows, changes: dict[str, Any], time: datetime | None
) -> None:
    """Components 12 to 15, flags, nominations, impact and decay."""
    rules = {**EASY, **ALL_ON, **changes}
    records = read_rows(SCHEMA, tables).as_of(time)
    same(score(records, CommunityRules().override(rules)), oracle.score(tables, rules, time))
