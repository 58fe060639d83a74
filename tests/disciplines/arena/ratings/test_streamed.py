"""Matches that are streamed give the same boards as matches in memory."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import agon
from agon.disciplines.arena.ratings import streamed
from agon.errors import NotScorable
from sizes import size

BOTS = ["ada", "bob", "2", "10"]
TIMES = [None, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]
MATCH = st.fixed_dictionaries(
    {
        "bots": st.permutations(BOTS),
        "played_at": st.sampled_from(TIMES),
        "kind": st.sampled_from(["rated", "rated", "rated", "skipped"]),
        "winner": st.sampled_from([None, "a", "b", "tie"]),
        "audit_verdict": st.sampled_from([None, None, "a", "tie"]),
    }
)
IDS = st.sampled_from([lambda number: 20 - number, lambda number: number, "m-{}".format, str])


def tables(
    matches: list[dict[str, Any]], name: Callable[[int], object]
) -> dict[str, list[dict[str, Any]]]:
    """Return matches under ids in their order, with versions of one bot."""
    rows = [
        {"id": name(number), "bot_a": match["bots"][0], "bot_b": match["bots"][1],
         **{key: value for key, value in match.items() if key != "bots"}}
        for number, match in enumerate(matches)
    ]  # fmt: skip
    return {
        "bots": [{"id": bot, "name": bot} for bot in BOTS],
        "versions": [{"bot_id": "ada", "version": "2", "since": TIMES[2]}],
        "matches": rows,
    }


UNKNOWN_LAST = [
    {"bots": bots, "played_at": time, "kind": "rated", "winner": "a", "audit_verdict": None}
    for bots, time in ((BOTS, TIMES[1]), (["ada", "2", "bob", "10"], None))
]


@example(matches=UNKNOWN_LAST, name=lambda number: 20 - number, in_order=False, overturns=False)
@settings(
    deadline=None,
    max_examples=size(15, at_least=4),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(matches=st.lists(MATCH, min_size=1, max_size=12), name=IDS, in_order=st.booleans(),
       overturns=st.booleans())  # fmt: skip
def test_streamed_boards_are_those_of_matches_in_memory(
    monkeypatch: pytest.MonkeyPatch,
    *,
    matches: list[dict[str, Any]],
    name: Callable[[int], object],
    in_order: bool,
    overturns: bool,
) -> None:
    """Ties, voids, audits, equal and unknown times, ids in and out of order, small batches."""
    if in_order:
        matches = sorted(matches, key=lambda match: match["played_at"] or "")
    source = tables(matches, name)
    rules = {"audit_overturns": overturns, "bradley_terry_regularisation": 1.0}
    boards: dict[int, list[object]] = {}
    for least in (10**9, 0):
        monkeypatch.setattr(streamed, "MIN_MATCHES", least)
        monkeypatch.setattr(streamed, "_BATCH", 3)
        result = agon.score("arena", source, overrides=rules)
        assert (type(result.scored).__name__ == "LargeArena") == (not least)
        boards[least] = [result.board(board).sha256 for board in ("bots", "bradley-terry")]
        boards[least] += [result.explain("ada", board="bots").to_dict()]
    assert boards[0] == boards[10**9]


def test_an_arena_with_votes_is_not_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Votes decide matches, and are counted by match."""
    monkeypatch.setattr(streamed, "MIN_MATCHES", 0)
    source = tables([{"bots": BOTS, "played_at": None, "kind": "rated"}], str)
    vote = {"match_id": "0", "judge_id": "j", "shown_first": "a", "vote": "A"}
    source["votes"] = [{**vote, "voted_at": TIMES[1]}]
    result = agon.score("arena", source)
    assert type(result.scored).__name__ == "ScoredArena"
    assert sum(row["wins"] for row in result.board("bots").rows()) == 1


def test_matches_that_do_not_fit_into_memory_are_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel would kill the process; ratings alone are still given."""
    monkeypatch.setattr(streamed, "MIN_MATCHES", 0)
    monkeypatch.setattr(agon.Records, "memory", 100)
    match = {"bots": BOTS, "played_at": None, "kind": "rated", "winner": "a"}
    result = agon.score("arena", tables([match], str))
    assert result.board("bots").rows()[0]["wins"] == 1
    with pytest.raises(NotScorable, match=r"1 matches and 0 votes need .* without votes, ratings"):
        result.explain("ada", board="bots")
