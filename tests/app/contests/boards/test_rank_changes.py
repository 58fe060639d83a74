"""Test that every publication says whose rank it changed, from where to where, and why."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.publish import publish
from agon.app.contests.boards.rank_changes import MAX_MOVES_PER_EVENT, RankChanges, rank_moves
from agon.app.contests.boards.steps import Ranking
from agon.app.contests.ingest.records import record
from agon.app.contests.ledgers.events import events
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import finalize, freeze, open_contest, unfreeze
from agon.app.service import Service
from fakes.contests import simulated_rows
from fakes.service import ORGANISER
from fakes.spring import play, spring, view


def rank_events(service: Service, contest: str = "spring") -> list[dict[str, Any]]:
    """Return the bodies of the public events about changed ranks."""
    seen = events(service, view(service, ANONYMOUS, contest)).events
    return [dict(event.body) for event in seen if event.kind == "rank-changed"]


@pytest.mark.exhaustive
def test_events_lead_from_each_board_to_the_next(service: Service) -> None:
    """A message about ranks needs no memory of the board before: the events alone make it."""
    spring(service, matches=0)
    known: dict[str, int] = {}
    for first in (1, 9, 10, 40):
        play(service, first, first + 7)
        (bots, *_) = publish(service, "spring").snapshots
    for body in rank_events(service):
        if body["board"] == "bots":
            assert body["causes"] == [{"kind": "records", "count": body["causes"][0]["count"]}]
            assert body["total"] == len(body["moved"]) > 0
            for move in body["moved"]:
                assert known.get(move["id"]) == move["from"]["rank"] != move["to"]["rank"]
                known[move["id"]] = move["to"]["rank"]
    assert len(known) == bots.rows


@pytest.mark.exhaustive
@pytest.mark.parametrize("discipline", ["arena", "challenge", "community", "dojo"])
def test_records_of_each_discipline_announce_ranks(service: Service, discipline: str) -> None:
    """The event does not depend on what is scored; a board on which nobody ranks has none."""
    new = NewContest(id="spring", discipline=discipline, title="S")
    create(service, new, by=ORGANISER)
    open_contest(service, "spring", by=ORGANISER)
    rows = simulated_rows(discipline, 2 if discipline == "dojo" else 12)
    record(service, "spring", rows, by=ORGANISER)
    ranked = {one.board: one.rows for one in publish(service, "spring").snapshots if one.rows}
    assert ranked
    assert {body["board"]: body["total"] for body in rank_events(service)} == ranked
    for body in rank_events(service):
        assert body["causes"] == [{"kind": "records", "count": len(rows)}]


@pytest.mark.exhaustive
def test_ranks_of_a_frozen_contest_are_announced_when_it_opens_again(service: Service) -> None:
    """The public must not learn from an event what the board hides."""
    spring(service)
    publish(service, "spring")
    freeze(service, "spring", by=ORGANISER)
    before = len(rank_events(service))
    play(service, 9, 20)
    publish(service, "spring")
    assert len(rank_events(service)) == before
    unfreeze(service, "spring", reason="over", by=ORGANISER)
    publish(service, "spring")
    assert len(rank_events(service)) > before


@pytest.mark.exhaustive
def test_a_final_result_announces_what_was_not_published_before(service: Service) -> None:
    """Records right before the end move ranks like all others."""
    spring(service)
    publish(service, "spring")
    before = len(rank_events(service))
    play(service, 9, 20)
    finalize(service, "spring", by=ORGANISER)
    (bots, *_) = rank_events(service)[before:]
    assert bots["causes"] == [{"kind": "records", "count": 12 * 4}]


@pytest.mark.exhaustive
def test_equal_boards_announce_nothing(service: Service) -> None:
    """Nobody moved."""
    spring(service)
    publish(service, "spring")
    before = len(rank_events(service))
    owner = {"id": "o1", "handle": "o1"}
    record(service, "spring", [("owners", owner, None)], by=ORGANISER)
    publish(service, "spring")
    assert len(rank_events(service)) == before


def ranking(ranks: dict[str, int]) -> Ranking:
    """Return a ranking with these ranks."""
    rows = sorted(ranks.items(), key=lambda item: item[1])
    columns = {
        "id": pa.array([name for name, _ in rows], pa.string()),
        "rank": pa.array([rank for _, rank in rows], pa.int64()),
        "score": pa.array([-float(rank) for _, rank in rows], pa.float64()),
    }
    return Ranking(pa.table(columns), {"gone": "withdrawn"})


RANKS = st.dictionaries(st.sampled_from("abcdefghij"), st.integers(1, 5))


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(RANKS, RANKS, st.none() | st.integers(0, 4))
def test_moves_are_those_that_loops_find(
    before: dict[str, int], after: dict[str, int], limit: int | None
) -> None:
    """Plain loops are the second implementation; the best rank involved comes first."""
    moves, total = rank_moves(ranking(before), ranking(after), limit=limit)
    expected = {
        name: (before.get(name), after.get(name))
        for name in before.keys() | after.keys()
        if before.get(name) != after.get(name)
    }
    assert total == len(expected)
    assert len(moves) == min(total, total if limit is None else limit)
    listed = [(move["id"], move["from"]["rank"], move["to"]["rank"]) for move in moves]
    assert all(expected[name] == (old, new) for name, old, new in listed)
    best = [min(filter(None, (old, new))) for _, old, new in listed]
    assert best == sorted(best)
    if limit is None:
        assert {name for name, *_ in listed} == expected.keys()


def test_one_that_left_has_the_reason() -> None:
    """No score has a reason."""
    moves, _ = rank_moves(ranking({"gone": 1, "ada": 2}), ranking({"ada": 1}), limit=None)
    reasons = {move["id"]: move["to"].get("reason") for move in moves}
    assert reasons == {"gone": "withdrawn", "ada": None}


def test_a_large_board_lists_the_best_and_counts_all() -> None:
    """One new leader of a large board moves everybody; the event stays small."""
    before = {f"n{place}": place for place in range(1, 2001)}
    after = {"new": 1} | {name: place + 1 for name, place in before.items()}
    moves, total = rank_moves(ranking(before), ranking(after), limit=MAX_MOVES_PER_EVENT)
    assert (len(moves), total) == (MAX_MOVES_PER_EVENT, 2001)
    assert {move["id"] for move in moves[:2]} == {"new", "n1"}
    changes = RankChanges(after=1, moves=moves * 2, total=total, causes=())
    assert [len(body["moved"]) for body in changes.bodies("bots")] == [MAX_MOVES_PER_EVENT] * 2
