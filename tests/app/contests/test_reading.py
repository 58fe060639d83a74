"""Test histories, participants, events and findings as readers get them."""

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


def test_a_history_is_what_the_boards_said_one_after_the_other(service: Service) -> None:
    """The last step up to a board is the score on that board, for everybody, always."""
    spring(service)
    seen = []
    for number in range(9, 15):
        publish(service, "spring")
        seen.append(page(service, view(service, ANONYMOUS), "bots"))
        play(service, number, number)
    for bot in BOTS:
        steps = history(service, view(service, ANONYMOUS), "bots", bot, limit=1000)
        for shown in seen:
            rows = {row["id"]: row["score"] for row in map(orjson.loads, shown.lines)}
            last = [step for step in steps if step.seq <= shown.snapshot.seq][-1]
            assert last.score == rows[bot]
        scores = [step.score for step in steps]
        assert all(one != other for one, other in pairwise(scores))


def test_a_history_is_read_on_behind_its_last_step(service: Service) -> None:
    """Long histories come in portions, without a gap and without a repetition."""
    spring(service)
    for number in range(9, 20):
        publish(service, "spring")
        play(service, number, number)
    seen = view(service, ANONYMOUS)
    whole = history(service, seen, "bots", "b", limit=1000)
    assert len(whole) > 2
    read = history(service, seen, "bots", "b", limit=1)
    while part := history(service, seen, "bots", "b", limit=1, after=read[-1].seq):
        read += part
    assert read == whole


def test_histories_of_nobody_and_bad_limits_are_refused(service: Service) -> None:
    """An empty list would look like a person without a past."""
    spring(service)
    publish(service, "spring")
    with pytest.raises(NotFound, match="never on board bots"):
        history(service, view(service, ANONYMOUS), "bots", "nobody")
    for limit in (0, 1001):
        with pytest.raises(Unreadable, match="limit"):
            history(service, view(service, ANONYMOUS), "bots", "a", limit=limit)


@pytest.mark.parametrize("limit", [1, 4, 9, 100])
def test_everybody_takes_part_once_scored_or_not(service: Service, limit: int) -> None:
    """The unscored come behind the board's rows, in the same list."""
    spring(service)
    publish(service, "spring")
    seen = view(service, ANONYMOUS)
    shown = participants(service, seen, limit=limit)
    lines = list(shown.lines)
    while shown.next is not None:
        shown = participants(service, seen, cursor=shown.next, limit=limit)
        lines += shown.lines
    board = page(service, seen, "bots")
    assert lines == board.lines + page(service, seen, "bots", unscored=True).lines
    assert shown.total == 9


def test_a_participant_is_shown_on_every_board_they_are_on(service: Service) -> None:
    """A person's page tells of all boards at once, with the reason where there is no score."""
    spring(service)
    publish(service, "spring")
    seen = view(service, ANONYMOUS)
    (told,) = participant(service, seen, "a")["boards"]
    assert (told["board"], told["row"]["id"]) == ("bots", "a")
    assert page(service, seen, "bots").lines[told["index"]] == orjson.dumps(
        told["row"], option=orjson.OPT_SORT_KEYS
    )
    (told,) = participant(service, seen, "idle")["boards"]
    assert told["reason"] == "has not qualified and has no rated match"
    assert [one["board"] for one in participant(service, seen, "j1")["boards"]] == ["judges"]
    with pytest.raises(NotFound):
        participant(service, seen, "nobody")


def test_events_resume_behind_the_last_one_heard(service: Service) -> None:
    """A stream that broke goes on without a gap; staff's events are for staff."""
    spring(service)
    publish(service, "spring")
    staff = events(service, view(service, ORGANISER))
    assert [one.kind for one in staff.events][:2] == ["contest-created", "contest-opened"]
    public = events(service, view(service, ANONYMOUS))
    assert {one.kind for one in public.events} == {"contest-opened", "snapshot-published"}
    assert public.last == staff.last
    heard, last = [], 0
    while (part := events(service, view(service, ANONYMOUS), after=last, limit=1)).last != last:
        heard += part.events
        last = part.last
    assert heard == public.events


def test_findings_are_of_the_newest_records_and_for_staff(service: Service) -> None:
    """A finding names people who may be innocent; who runs the contest looks into it first."""
    spring(service)
    assert findings(service, view(service, ORGANISER)).seq == 0
    found = scan(service, "spring")
    assert found == findings(service, view(service, ORGANISER))
    assert found.seq == view(service, ORGANISER).contest.seq
    assert {"code", "severity", "message"} <= found.findings[0].keys()
    for caller, error in ((ANONYMOUS, Unauthenticated), (PARTICIPANT, Forbidden)):
        with pytest.raises(error):
            Local(service, by=caller).integrity.findings("spring")


def test_looking_changes_no_board(service: Service) -> None:
    """Findings inform; they never change a score."""
    spring(service)
    before = publish(service, "spring").snapshots
    scan(service, "spring")
    assert publish(service, "spring").snapshots == before


@pytest.mark.parametrize("as_time", [False, True])
def test_any_published_board_is_replayed_at_its_position_or_time(
    service: Service, *, as_time: bool
) -> None:
    """Whatever was recorded later, the past gives the hash it was published with."""
    spring(service)
    published: list[Any] = []
    for number in range(9, 13):
        published += publish(service, "spring").snapshots
        play(service, number, number)
    with service.store.read() as session:
        lines = [one.line for one in session.entries.after(1)]
    for snapshot in published:
        at = snapshot.at.isoformat() if as_time else str(snapshot.seq)
        done = replay(lines, contest="spring", at=at, board=snapshot.board)
        assert (done.seq, done.board_sha256) == (snapshot.seq, snapshot.board_sha256)
        assert done.head.hex() == snapshot.manifest["head_sha256"]
        done.live.close()


def test_a_replay_takes_other_rules_and_refuses_what_is_not_there(service: Service) -> None:
    """Under another edition it is a what-if; beyond the end there is nothing to replay."""
    spring(service)
    with service.store.read() as session:
        lines = [one.line for one in session.entries.after(1)]
    done = replay(lines, contest="spring", edition="sentience-1")
    assert done.result.edition.full_name == "arena/sentience-1"
    done.live.close()
    with pytest.raises(NotFound, match=f"ends at {len(lines)}"):
        replay(lines, contest="spring", at=len(lines) + 1)
    with pytest.raises(NotFound, match="none by 2020"):
        replay(lines, contest="spring", at="2020-01-01")
    with pytest.raises(NotFound, match="did you mean bots"):
        replay(lines, contest="spring", board="bot")
    with pytest.raises(Unreadable):
        replay(lines, contest="spring", at="yesterday")
