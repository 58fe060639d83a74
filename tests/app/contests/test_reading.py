"""Test histories, participants, events and findings for their readers."""

from itertools import pairwise
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import page
from agon.app.contests.boards.participants import participant, participants
from agon.app.contests.boards.publish import publish
from agon.app.contests.cases.findings import findings, scan
from agon.app.contests.ledgers.events import events
from agon.app.replay.replay import replay
from agon.app.service import Service
from agon.client.local import Local
from agon.errors import Forbidden, NotFound, Unauthenticated, Unreadable
from fakes.service import ORGANISER, PARTICIPANT
from fakes.spring import BOTS, play, spring, view

pytestmark = pytest.mark.sample(1)
"""Each test runs with one kind of database, client or source; `make test-all` tries all."""


@pytest.mark.exhaustive
def test_a_history_has_the_score_of_every_board(service: Service) -> None:
    """The last step up to a board is the score on that board, for each participant."""
    spring(service)
    pages = []
    for number in range(9, 15):
        publish(service, "spring")
        pages.append(page(service, view(service, ANONYMOUS), "bots"))
        play(service, number, number)
    for bot in BOTS:
        steps = history(service, view(service, ANONYMOUS), "bots", bot, limit=1000)
        for result in pages:
            rows = {row["id"]: row["score"] for row in map(orjson.loads, result.lines)}
            last = [step for step in steps if step.seq <= result.snapshot.seq][-1]
            assert last.score == rows[bot]
        scores = [step.score for step in steps]
        assert all(first != second for first, second in pairwise(scores))


@pytest.mark.exhaustive
def test_a_history_continues_after_its_last_step(service: Service) -> None:
    """Long histories are read in batches, without a gap or a repetition."""
    spring(service)
    for number in range(9, 20):
        publish(service, "spring")
        play(service, number, number)
    access = view(service, ANONYMOUS)
    expected = history(service, access, "bots", "b", limit=1000)
    assert len(expected) > 2
    steps = history(service, access, "bots", "b", limit=1)
    while batch := history(service, access, "bots", "b", limit=1, after=steps[-1].seq):
        steps += batch
    assert steps == expected


def test_histories_of_unknown_ids_and_invalid_limits_are_rejected(service: Service) -> None:
    """An empty list would look like a participant without steps."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="never on board bots"):
        history(service, view(service, ANONYMOUS), "bots", "nobody")
    for limit in (0, 1001):
        with pytest.raises(Unreadable, match="limit"):
            history(service, view(service, ANONYMOUS), "bots", "a", limit=limit)


@pytest.mark.sample(2)
@pytest.mark.parametrize("limit", [1, 4, 9, 100])
def test_each_participant_is_listed_once_scored_or_not(service: Service, limit: int) -> None:
    """Participants without a score follow the board's rows in the same list."""
    spring(service)
    publish(service, "spring")
    access = view(service, ANONYMOUS)
    result = participants(service, access, limit=limit)
    lines = list(result.lines)
    while result.next is not None:
        result = participants(service, access, cursor=result.next, limit=limit)
        lines += result.lines
    board = page(service, access, "bots")
    assert lines == board.lines + page(service, access, "bots", unscored=True).lines
    assert result.total == 9


@pytest.mark.exhaustive
def test_a_participant_is_shown_with_every_board(service: Service) -> None:
    """A participant's page has all boards, with the reason where there is no score."""
    spring(service)
    publish(service, "spring")
    access = view(service, ANONYMOUS)
    (entry,) = participant(service, access, "a")["boards"]
    assert (entry["board"], entry["row"]["id"]) == ("bots", "a")
    assert page(service, access, "bots").lines[entry["index"]] == orjson.dumps(
        entry["row"], option=orjson.OPT_SORT_KEYS
    )
    (entry,) = participant(service, access, "idle")["boards"]
    assert entry["reason"] == "has not qualified and has no rated match"
    assert [entry["board"] for entry in participant(service, access, "j1")["boards"]] == ["judges"]
    with pytest.raises(NotFound):
        participant(service, access, "nobody")


@pytest.mark.exhaustive
def test_events_continue_after_the_last_one(service: Service) -> None:
    """An interrupted stream continues without a gap; staff events are for staff."""
    spring(service)
    publish(service, "spring")
    staff = events(service, view(service, ORGANISER))
    assert [event.kind for event in staff.events][:2] == ["contest-created", "contest-opened"]
    public = events(service, view(service, ANONYMOUS))
    assert {event.kind for event in public.events} == {
        "contest-opened", "rank-changed", "snapshot-published",
    }  # fmt: skip
    assert public.last == staff.last
    heard, last = [], 0
    while (part := events(service, view(service, ANONYMOUS), after=last, limit=1)).last != last:
        heard += part.events
        last = part.last
    assert heard == public.events


@pytest.mark.exhaustive
def test_findings_are_of_the_newest_records_and_for_staff(service: Service) -> None:
    """A finding names participants who may be innocent; staff examine it first."""
    spring(service)
    assert findings(service, view(service, ORGANISER)).seq == 0
    report = scan(service, "spring")
    assert report == findings(service, view(service, ORGANISER))
    assert report.seq == view(service, ORGANISER).contest.seq
    assert {"code", "severity", "message"} <= report.findings[0].keys()
    for caller, error in ((ANONYMOUS, Unauthenticated), (PARTICIPANT, Forbidden)):
        with pytest.raises(error):
            Local(service, by=caller).integrity.findings("spring")


@pytest.mark.exhaustive
def test_a_scan_changes_no_board(service: Service) -> None:
    """Findings never change a score."""
    spring(service)
    before = publish(service, "spring").snapshots
    scan(service, "spring")
    assert publish(service, "spring").snapshots == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("as_time", [False, True])
def test_any_published_board_is_replayed_at_its_position_or_time(
    service: Service, *, as_time: bool
) -> None:
    """Later records do not change the hash of an earlier board."""
    spring(service)
    published: list[Any] = []
    for number in range(9, 13):
        published += publish(service, "spring").snapshots
        play(service, number, number)
    with service.store.read() as session:
        lines = [entry.line for entry in session.entries.after(1)]
    for snapshot in published:
        at = snapshot.at.isoformat() if as_time else str(snapshot.seq)
        result = replay(lines, contest="spring", at=at, board=snapshot.board)
        assert (result.seq, result.board_sha256) == (snapshot.seq, snapshot.board_sha256)
        assert result.head.hex() == snapshot.manifest["head_sha256"]
        result.live.close()


def test_a_replay_takes_other_rules_and_rejects_unknown_positions(service: Service) -> None:
    """Another edition shows what it would give; after the last entry there is nothing to replay."""
    spring(service)
    with service.store.read() as session:
        lines = [entry.line for entry in session.entries.after(1)]
    result = replay(lines, contest="spring", edition="sentience-1")
    assert result.result.edition.full_name == "arena/sentience-1"
    result.live.close()
    with pytest.raises(NotFound, match=f"ends at {len(lines)}"):
        replay(lines, contest="spring", at=len(lines) + 1)
    with pytest.raises(NotFound, match="none by 2020"):
        replay(lines, contest="spring", at="2020-01-01")
    with pytest.raises(NotFound, match="did you mean bots"):
        replay(lines, contest="spring", board="bot")
    with pytest.raises(Unreadable):
        replay(lines, contest="spring", at="yesterday")
