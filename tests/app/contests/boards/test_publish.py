"""Test that boards are published wholly, once, with their proof, whatever dies meanwhile."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from agon.app.access.permissions import ANONYMOUS, LOCAL
from agon.app.contests.boards import publish as publish_module
from agon.app.contests.boards import snapshots
from agon.app.contests.boards.explain import explain
from agon.app.contests.boards.history import history
from agon.app.contests.boards.pages import page, row
from agon.app.contests.boards.publish import publish, rebuild
from agon.app.contests.boards.stored_rows import NotStored
from agon.app.contests.ingest.records import record
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.replay.replay import replay
from agon.app.replay.unscored import board_or_reasons
from agon.app.service import Service
from agon.entities.contests import Event, Snapshot
from agon.errors import NotFound
from agon.ledger.manifest import manifest_of
from fakes.service import ORGANISER
from fakes.spring import BOTS, play, spring, view


def _events(service: Service, kind: str) -> list[Event]:
    with service.store.read() as session:
        return [event for event in session.events.after(0) if event.kind == kind]


def _snapshots(service: Service) -> list[Snapshot]:
    with service.store.read() as session:
        return session.snapshots.page(1)


def test_a_snapshot_says_what_replaying_the_ledger_says(service: Service) -> None:
    """A published board is worth as much as the ledger behind it: anybody gets the same hash."""
    spring(service)
    published = publish(service, "spring").snapshots
    with service.store.read() as session:
        lines = [one.line for one in session.entries.after(1)]
        head = session.contests.get("spring").head
    for snapshot in published:
        replayed = replay(lines, contest="spring", at=snapshot.seq, board=snapshot.board)
        assert replayed.board_sha256 == snapshot.board_sha256
        assert snapshot.manifest["head_sha256"] == replayed.head.hex() == head.hex()
        replayed.live.close()


def test_a_manifest_is_signed_and_says_what_made_the_board(service: Service) -> None:
    """Who has the manifest can check it without asking this instance."""
    spring(service)
    first = publish(service, "spring").snapshots[0]
    manifest = manifest_of(dict(first.manifest))
    assert manifest.is_signed(first.signature, public=bytes.fromhex(service.signer.public_key))
    assert (manifest.board, manifest.edition) == ("bots", "arena/sentience-1")
    assert (manifest.seq, manifest.rows, manifest.unscored) == (first.seq, 8, 1)


def test_the_default_board_comes_first(service: Service) -> None:
    """Most people look at it, so it is stored before the others are scored."""
    spring(service)
    assert [one.board for one in publish(service, "spring").snapshots] == [
        "bots",
        "judges",
    ]


def test_publishing_again_changes_nothing(service: Service) -> None:
    """Jobs are begun again after a crash; a second run must leave no trace."""
    spring(service)
    first = publish(service, "spring").snapshots
    told = len(_events(service, "snapshot-published"))
    assert publish(service, "spring").snapshots == first
    assert len(_snapshots(service)) == 2
    assert len(_events(service, "snapshot-published")) == told


def test_an_equal_board_at_a_newer_position_stores_no_rows(service: Service) -> None:
    """Most entries leave most boards as they were; their position is noted, their rows are not."""
    spring(service)
    first = publish(service, "spring").snapshots
    record(service, "spring", [("judges", {"id": "j9", "kind": "person"}, None)], by=ORGANISER)
    bots, judges = publish(service, "spring").snapshots
    assert (bots.seq, bots.stored) == (first[0].seq + 1, False)
    assert bots.board_sha256 == first[0].board_sha256
    assert judges.stored
    shown = page(service, view(service, ANONYMOUS), "bots")
    assert shown.snapshot == bots
    assert len(shown.lines) == 8
    told = [(one.body["board"], one.seq) for one in _events(service, "snapshot-published")]
    assert told == [("bots", first[0].seq), ("judges", first[0].seq), ("judges", judges.seq)]


def test_history_holds_only_those_whose_score_changed(service: Service) -> None:
    """A million people do not get a step for each of a million records."""
    spring(service)
    first = publish(service, "spring").snapshots[0].seq
    play(service, 9, 9)
    second = publish(service, "spring").snapshots[0].seq
    seen = view(service, ANONYMOUS)
    stepped = {bot for bot in BOTS if history(service, seen, "bots", bot)[-1].seq == second}
    assert stepped == {"b", "f"}
    assert [one.seq for one in history(service, seen, "bots", "idle")] == [first]


def test_what_a_crash_left_out_is_completed_by_the_next_run(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction stores whole boards: those stored remain, the next run stores the rest."""
    spring(service)
    store_boards = snapshots.store_boards

    def crash(*args: Any) -> list[Snapshot]:
        if args[-1][0].board.name == "judges":
            raise MemoryError
        return store_boards(*args)

    monkeypatch.setattr(publish_module, "store_boards", crash)
    monkeypatch.setattr(publish_module, "MAX_ROWS_PER_TRANSACTION", 1)
    with pytest.raises(MemoryError):
        publish(service, "spring")
    monkeypatch.undo()
    assert [one.board for one in _snapshots(service)] == ["bots"]
    assert [one.stored for one in publish(service, "spring").snapshots] == [True, True]
    assert len(_snapshots(service)) == 2


def test_a_board_and_its_steps_are_stored_together_or_not_at_all(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board whose history is missing would never be completed: it looks published."""
    spring(service)

    def dying(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr(snapshots, "prune", dying)
    with pytest.raises(MemoryError):
        publish(service, "spring")
    monkeypatch.undo()
    assert _snapshots(service) == []
    assert _events(service, "snapshot-published") == []
    with service.store.read() as session:
        assert session.histories.of(1, "bots", "a") == []


def test_another_publisher_in_between_is_noticed(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are found before the lock; who was overtaken finds them anew, so none is lost."""
    spring(service)
    publish(service, "spring")
    with service.store.read() as session:
        middle = session.contests.get("spring").seq
    play(service, 9, 9)
    found = snapshots._steps
    overtaken: list[bool] = []

    def overtaking(*given: object) -> object:
        if not overtaken:
            overtaken.append(True)
            monkeypatch.setattr(snapshots, "_steps", found)
            other = replace(service, replicas=type(service.replicas)())
            publish(other, "spring", at=middle + 1)
        return found(*given)  # type: ignore[arg-type] # handed on as given

    monkeypatch.setattr(snapshots, "_steps", overtaking)
    publish(service, "spring")
    assert overtaken
    bots = [one.seq for one in _snapshots(service) if one.board == "bots"]
    assert sorted(bots) == [middle, middle + 1, middle + 4]
    assert history(service, view(service, ANONYMOUS), "bots", "b")[-1].seq == middle + 4


def test_a_board_that_cannot_be_scored_gives_each_participant_the_reason(
    service: Service,
) -> None:
    """Without a draw no strength is finite; ratings do not wait, and readers get the reason."""
    new = NewContest(id="tiny", discipline="arena", title="Tiny")
    create(service, new, by=LOCAL)
    rows = [("bots", {"id": bot, "name": bot}, None) for bot in "ab"]
    match = {"id": "m", "bot_a": "a", "bot_b": "b", "kind": "rated", "winner": "a"}
    rows.append(("matches", {**match, "played_at": "2026-01-01T00:00:00Z"}, None))
    rows += [
        ("votes", {"match_id": "m", "judge_id": judge, "shown_first": "a", "vote": "A",
                   "voted_at": "2026-01-01T00:00:01Z"}, None)
        for judge in ("x", "y", "z")
    ]  # fmt: skip
    record(service, "tiny", rows, by=LOCAL)
    done = publish(service, "tiny")
    assert [one.board for one in done.snapshots] == ["bots", "judges", "bradley-terry"]
    reason = done.unscorable["bradley-terry"]
    assert "a never lost a point" in reason
    strengths = done.snapshots[-1]
    assert (strengths.rows, strengths.unscored) == (0, 2)
    seen = view(service, LOCAL, "tiny")
    unscored = page(service, seen, "bradley-terry", unscored=True)
    assert [orjson.loads(line) for line in unscored.lines] == [
        {"id": "a", "reason": reason}, {"id": "b", "reason": reason},
    ]  # fmt: skip
    explained = explain(service, seen, "bradley-terry", "a")
    assert (explained.score, explained.reason) == (None, reason)
    with pytest.raises(NotFound, match="a never lost a point"):
        row(service, seen, "bradley-terry", "a")
    with service.replicas.current(service.store, seen.contest) as live:
        assert board_or_reasons(live.result(), "bradley-terry").sha256 == strengths.board_sha256


def test_a_challenge_whose_stake_is_gone_gives_each_participant_the_reason(
    service: Service,
) -> None:
    """Every board of a discipline that cannot be scored; the boards of before do not stay."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=LOCAL)
    submission = {"id": "s", "miner_uid": 7, "submitted_at": "2026-01-01T00:00:00Z"}
    rows = [("submissions", submission, None), ("validators", {"id": "v", "stake": 0}, None)]
    record(service, "net", rows, by=LOCAL)
    done = publish(service, "net")
    assert [one.board for one in done.snapshots] == ["weights", "submissions", "validators"]
    assert set(done.unscorable) == {"weights", "submissions", "validators", "competitions"}
    assert "the total stake at epoch 0 is 0" in done.unscorable["weights"]
    assert [(one.rows, one.unscored) for one in done.snapshots] == [(0, 1)] * 3


def test_an_epoch_without_stake_publishes_nothing_and_says_why(service: Service) -> None:
    """A challenge that has just begun has no board; its freeze must not fail for that."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=LOCAL)
    done = publish(service, "net")
    assert done.snapshots == ()
    assert set(done.unscorable) == {"weights", "submissions", "validators", "competitions"}


def test_every_problem_gets_a_board_of_its_own(service: Service) -> None:
    """A family of boards has a member for each id in the records."""
    create(service, NewContest(id="dojo-1", discipline="dojo", title="Dojo"), by=LOCAL)
    rows = [("problems", {"id": name, "n_check": 200}, None) for name in ("p2", "p1")]
    rows.append(
        ("submissions", {"id": "s1", "problem_id": "p1", "user_id": "ada", "verdict": "ok",
                         "created_at": "2026-01-01T00:00:00Z", "source": "def solver(): ..."}, None)
    )  # fmt: skip
    record(service, "dojo-1", rows, by=LOCAL)
    assert [one.board for one in publish(service, "dojo-1").snapshots] == [
        "season",
        "problem:p1",
        "problem:p2",
    ]


def test_rows_that_are_kept_no_longer_come_back_equal(service: Service) -> None:
    """Old rows are forgotten to save room; the ledger gives them back to the byte."""
    few = replace(service, snapshots_kept=2)
    spring(few)
    before = []
    for number in range(9, 15):
        publish(few, "spring")
        before.append(page(few, view(few, ANONYMOUS), "bots"))
        play(few, number, number)
    publish(few, "spring")
    old = before[0].snapshot
    with pytest.raises(NotStored) as refused:
        page(few, view(few, ANONYMOUS), "bots", as_of=str(old.seq))
    assert (refused.value.contest, refused.value.board, refused.value.seq) == (
        "spring", "bots", old.seq,
    )  # fmt: skip
    events, newest = _events(few, "snapshot-published"), page(few, view(few, ANONYMOUS), "bots")
    steps = history(few, view(few, ANONYMOUS), "bots", "a")
    rebuilt = rebuild(few, "spring", seq=old.seq, board="bots")
    assert rebuilt is not None
    assert rebuilt.manifest == old.manifest
    assert page(few, view(few, ANONYMOUS), "bots", as_of=str(old.seq)).lines == before[0].lines
    # What is newest, what is told and what histories hold are as they were.
    assert page(few, view(few, ANONYMOUS), "bots") == newest
    assert _events(few, "snapshot-published") == events
    assert history(few, view(few, ANONYMOUS), "bots", "a") == steps


def test_bringing_back_old_boards_does_not_push_out_the_newest(service: Service) -> None:
    """Anybody may ask for the past; the present must not have to be rebuilt for it."""
    few = replace(service, snapshots_kept=2)
    spring(few)
    seqs = []
    for number in range(9, 16):
        seqs.append(publish(few, "spring").snapshots[0].seq)
        play(few, number, number)
    publish(few, "spring")
    for seq in seqs:
        rebuild(few, "spring", seq=seq, board="bots")
    assert len(page(few, view(few, ANONYMOUS), "bots").lines) == 8


def test_a_position_the_ledger_has_not_reached_is_refused(service: Service) -> None:
    """A board of the future would be signed as if it had been."""
    spring(service)
    for at in (0, 10**6):
        with pytest.raises(NotFound, match="give 1 to"):
            publish(service, "spring", at=at)
