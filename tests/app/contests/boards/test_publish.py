"""Test that boards are published completely, once, with proofs, also after interruptions."""

from collections.abc import Iterator
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
from agon.entities.contests import Event, Snapshot, StoredEntry
from agon.errors import NotFound
from agon.ledger.manifest import manifest_of
from agon.store.entries import Entries
from fakes.service import ORGANISER
from fakes.spring import BOTS, play, spring, view


def _events(service: Service, kind: str) -> list[Event]:
    with service.store.read() as session:
        return [event for event in session.events.after(0) if event.kind == kind]


def _snapshots(service: Service) -> list[Snapshot]:
    with service.store.read() as session:
        return session.snapshots.page(1)


def test_a_snapshot_has_the_hash_of_a_replay(service: Service) -> None:
    """Any reader of the ledger gets the hash of the published board."""
    spring(service)
    published = publish(service, "spring").snapshots
    with service.store.read() as session:
        lines = [entry.line for entry in session.entries.after(1)]
        head = session.contests.get("spring").head
    for snapshot in published:
        replayed = replay(lines, contest="spring", at=snapshot.seq, board=snapshot.board)
        assert replayed.board_sha256 == snapshot.board_sha256
        assert snapshot.manifest["head_sha256"] == replayed.head.hex() == head.hex()
        replayed.live.close()


@pytest.mark.exhaustive
def test_a_manifest_is_signed_and_states_the_origin_of_the_board(service: Service) -> None:
    """A reader can check the manifest without this instance."""
    spring(service)
    first = publish(service, "spring").snapshots[0]
    manifest = manifest_of(dict(first.manifest))
    assert manifest.is_signed(first.signature, public=bytes.fromhex(service.signer.public_key))
    assert (manifest.board, manifest.edition) == ("bots", "arena/sentience-1")
    assert (manifest.seq, manifest.rows, manifest.unscored) == (first.seq, 8, 1)


def test_a_publication_reads_each_entry_once_unless_a_change_set_was_applied(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only entries of change sets are looked for again, and an import of millions has none."""
    spring(service)
    read: list[int] = []
    after = Entries.after

    def counting(self: Entries, *arguments: Any, **keywords: Any) -> Iterator[StoredEntry]:
        for entry in after(self, *arguments, **keywords):
            read.append(entry.seq)
            yield entry

    monkeypatch.setattr(Entries, "after", counting)
    seq = publish(service, "spring").snapshots[0].seq
    assert read == list(range(1, seq + 1))


@pytest.mark.exhaustive
def test_the_default_board_comes_first(service: Service) -> None:
    """It is read most, so it is stored before the others are scored."""
    spring(service)
    assert [snapshot.board for snapshot in publish(service, "spring").snapshots] == [
        "bots",
        "judges",
    ]


@pytest.mark.exhaustive
def test_publishing_again_changes_nothing(service: Service) -> None:
    """Jobs are run again after a crash; a second run must have no effect."""
    spring(service)
    first = publish(service, "spring").snapshots
    events = len(_events(service, "snapshot-published"))
    assert publish(service, "spring").snapshots == first
    assert len(_snapshots(service)) == 2
    assert len(_events(service, "snapshot-published")) == events


@pytest.mark.exhaustive
def test_an_equal_board_at_a_newer_position_stores_no_rows(service: Service) -> None:
    """Most entries do not change most boards; only the position of those is stored."""
    spring(service)
    first = publish(service, "spring").snapshots
    record(service, "spring", [("judges", {"id": "j9", "kind": "person"}, None)], by=ORGANISER)
    bots, judges = publish(service, "spring").snapshots
    assert (bots.seq, bots.stored) == (first[0].seq + 1, False)
    assert bots.board_sha256 == first[0].board_sha256
    assert judges.stored
    result = page(service, view(service, ANONYMOUS), "bots")
    assert result.snapshot == bots
    assert len(result.lines) == 8
    events = [(event.body["board"], event.seq) for event in _events(service, "snapshot-published")]
    assert events == [("bots", first[0].seq), ("judges", first[0].seq), ("judges", judges.seq)]


@pytest.mark.exhaustive
def test_a_history_has_only_changed_scores(service: Service) -> None:
    """A million participants do not get a step for each of a million records."""
    spring(service)
    first = publish(service, "spring").snapshots[0].seq
    play(service, 9, 9)
    second = publish(service, "spring").snapshots[0].seq
    access = view(service, ANONYMOUS)
    stepped = {bot for bot in BOTS if history(service, access, "bots", bot)[-1].seq == second}
    assert stepped == {"b", "f"}
    assert [step.seq for step in history(service, access, "bots", "idle")] == [first]


def test_an_interrupted_publication_is_completed_by_the_next_run(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each transaction stores complete boards; the next run stores the others."""
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
    assert [snapshot.board for snapshot in _snapshots(service)] == ["bots"]
    assert [snapshot.stored for snapshot in publish(service, "spring").snapshots] == [True, True]
    assert len(_snapshots(service)) == 2


def test_a_board_and_its_steps_are_stored_together_or_not_at_all(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A board without its history would never be completed, because it looks published."""
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


@pytest.mark.exhaustive
def test_steps_are_computed_again_after_another_publication(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are computed before the lock; if another publisher was faster, they are recomputed."""
    spring(service)
    publish(service, "spring")
    with service.store.read() as session:
        middle = session.contests.get("spring").seq
    play(service, 9, 9)
    compute = snapshots._update
    overtaken: list[bool] = []

    def overtaking(*arguments: object) -> object:
        if not overtaken:
            overtaken.append(True)
            monkeypatch.setattr(snapshots, "_update", compute)
            second = replace(service, replicas=type(service.replicas)())
            publish(second, "spring", at=middle + 1)
        return compute(*arguments)  # type: ignore[arg-type] # passed on unchanged

    monkeypatch.setattr(snapshots, "_update", overtaking)
    publish(service, "spring")
    assert overtaken
    bots = [snapshot.seq for snapshot in _snapshots(service) if snapshot.board == "bots"]
    assert sorted(bots) == [middle, middle + 1, middle + 4]
    assert history(service, view(service, ANONYMOUS), "bots", "b")[-1].seq == middle + 4


def test_a_board_that_cannot_be_scored_gives_each_participant_the_reason(
    service: Service,
) -> None:
    """Without a draw no strength is finite; other boards are published, with the reason."""
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
    publication = publish(service, "tiny")
    assert [snapshot.board for snapshot in publication.snapshots] == [
        "bots",
        "judges",
        "bradley-terry",
    ]
    reason = publication.unscorable["bradley-terry"]
    assert "a never lost a point" in reason
    strengths = publication.snapshots[-1]
    assert (strengths.rows, strengths.unscored) == (0, 2)
    access = view(service, LOCAL, "tiny")
    unscored = page(service, access, "bradley-terry", unscored=True)
    assert [orjson.loads(line) for line in unscored.lines] == [
        {"id": "a", "reason": reason}, {"id": "b", "reason": reason},
    ]  # fmt: skip
    explained = explain(service, access, "bradley-terry", "a")
    assert (explained.score, explained.reason) == (None, reason)
    with pytest.raises(NotFound, match="a never lost a point"):
        row(service, access, "bradley-terry", "a")
    with service.replicas.current(service.store, access.contest) as live:
        assert board_or_reasons(live.result(), "bradley-terry").sha256 == strengths.board_sha256


@pytest.mark.exhaustive
def test_a_challenge_without_stake_gives_each_participant_the_reason(
    service: Service,
) -> None:
    """No board can be scored; earlier boards are replaced."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=LOCAL)
    submission = {"id": "s", "miner_uid": 7, "submitted_at": "2026-01-01T00:00:00Z"}
    rows = [("submissions", submission, None), ("validators", {"id": "v", "stake": 0}, None)]
    record(service, "net", rows, by=LOCAL)
    publication = publish(service, "net")
    assert [snapshot.board for snapshot in publication.snapshots] == [
        "weights",
        "submissions",
        "validators",
    ]
    assert set(publication.unscorable) == {"weights", "submissions", "validators", "competitions"}
    assert "the total stake at epoch 0 is 0" in publication.unscorable["weights"]
    assert [(snapshot.rows, snapshot.unscored) for snapshot in publication.snapshots] == [
        (0, 1)
    ] * 3


def test_an_epoch_without_stake_publishes_no_board_and_has_the_reason(service: Service) -> None:
    """A new challenge has no board, and must still be frozen."""
    create(service, NewContest(id="net", discipline="challenge", title="Net"), by=LOCAL)
    publication = publish(service, "net")
    assert publication.snapshots == ()
    assert set(publication.unscorable) == {"weights", "submissions", "validators", "competitions"}


def test_every_problem_has_a_board(service: Service) -> None:
    """A family of boards has a member for each id in the records."""
    create(service, NewContest(id="dojo-1", discipline="dojo", title="Dojo"), by=LOCAL)
    rows = [("problems", {"id": name, "n_check": 200}, None) for name in ("p2", "p1")]
    rows.append(
        ("submissions", {"id": "s1", "problem_id": "p1", "user_id": "ada", "verdict": "ok",
                         "created_at": "2026-01-01T00:00:00Z", "source": "def solver(): ..."}, None)
    )  # fmt: skip
    record(service, "dojo-1", rows, by=LOCAL)
    assert [snapshot.board for snapshot in publish(service, "dojo-1").snapshots] == [
        "season",
        "problem:p1",
        "problem:p2",
    ]


@pytest.mark.exhaustive
def test_deleted_rows_are_rebuilt_equal(service: Service) -> None:
    """Old rows are deleted to save space; the ledger gives the same bytes again."""
    few = replace(service, snapshots_kept=2)
    spring(few)
    before = []
    for number in range(9, 15):
        publish(few, "spring")
        before.append(page(few, view(few, ANONYMOUS), "bots"))
        play(few, number, number)
    publish(few, "spring")
    old = before[0].snapshot
    with pytest.raises(NotStored) as error:
        page(few, view(few, ANONYMOUS), "bots", as_of=str(old.seq))
    assert (error.value.contest, error.value.board, error.value.seq) == (
        "spring", "bots", old.seq,
    )  # fmt: skip
    events, newest = _events(few, "snapshot-published"), page(few, view(few, ANONYMOUS), "bots")
    steps = history(few, view(few, ANONYMOUS), "bots", "a")
    rebuilt = rebuild(few, "spring", seq=old.seq, board="bots")
    assert rebuilt is not None
    assert rebuilt.manifest == old.manifest
    assert page(few, view(few, ANONYMOUS), "bots", as_of=str(old.seq)).lines == before[0].lines
    # The newest board, events and histories are unchanged.
    assert page(few, view(few, ANONYMOUS), "bots") == newest
    assert _events(few, "snapshot-published") == events
    assert history(few, view(few, ANONYMOUS), "bots", "a") == steps


@pytest.mark.exhaustive
def test_rebuilding_old_boards_does_not_delete_the_newest(service: Service) -> None:
    """Any reader may request past boards; the newest must not need a rebuild after it."""
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


def test_a_position_after_the_last_entry_is_rejected(service: Service) -> None:
    """A board of the future would be signed."""
    spring(service)
    for at in (0, 10**6):
        with pytest.raises(NotFound, match="give 1 to"):
            publish(service, "spring", at=at)
