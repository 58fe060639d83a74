"""Publish boards: score them at a position of the ledger and store snapshots with their proofs.

Boards are stored together with the steps they add to histories and with their events. Whatever
fails meanwhile, a board is published completely or not at all, and publishing again completes what
is missing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import orjson

from agon.app.analysis.score import Result
from agon.app.contests.boards.name_changes import store_names
from agon.app.contests.boards.snapshots import SnapshotDraft, store_boards
from agon.app.replay.replica import ContestReplica
from agon.app.replay.unscored import board_of
from agon.app.service import Service
from agon.entities.contests import Contest, Snapshot
from agon.errors import NotFound, NotScorable
from agon.kernel.boards import Board, board_sha256
from agon.ledger.entry import timestamp
from agon.ledger.manifest import Manifest
from agon.ledger.merkle import Tree
from agon.store.session import Session

MAX_ROWS_PER_TRANSACTION: Final = 50_000
"""Maximum number of rows of boards stored together, which bounds how long other writers wait."""

_CHANGE: Final = b'"change":'

Progress: TypeAlias = Callable[[float], object]


@dataclass(frozen=True)
class Publication:
    """The result of publishing.

    Attributes:
        snapshots: the published boards, the default board first.
        unscorable: why boards could not be scored, by name; they are published with each
            participant unscored for that reason, where they have participants.
    """

    snapshots: tuple[Snapshot, ...] = ()
    unscorable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Target:
    """A position to publish at, with the ledger's time there."""

    seq: int
    at: datetime


def publish(
    service: Service,
    contest_id: str,
    *,
    at: int | None = None,
    boards: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> Publication:
    """Score a contest at a position and publish its boards.

    A board that is published already at the position is not stored again. One that is equal to
    the board before it is stored without rows; those of the other serve for both. Names of
    participants are stored first, so that no board is without those of its participants.

    Args:
        service: the service.
        contest_id: the contest.
        at: the position; None: the newest.
        boards: names of boards; None: all that the contest publishes.
        progress: called with the part that is done, from 0 to 1.

    Raises:
        NotFound: there is no such contest, or its ledger has no such position.
    """
    with service.replicas.lend(contest_id) as replica:
        with service.store.read() as session:
            contest = session.contests.get(contest_id)
            replica.read(session, contest)
            seq = replica.seq if at is None else at
            if not 1 <= seq <= replica.seq:
                raise NotFound(f"{contest_id} has no entry {seq}; give 1 to {replica.seq}")
            earlier = _earlier(session, contest, until=seq) if at is None and boards is None else []
            target = _Target(seq=seq, at=session.entries.time_of(contest.no, seq))
            stored = session.names.position(contest.no)
        for before in earlier:
            stored = store_names(service, contest, replica, stored=stored, seq=before.seq)
            _publish_at(service, contest, replica, before)
        store_names(service, contest, replica, stored=stored, seq=seq)
        return _publish_at(service, contest, replica, target, boards=boards, progress=progress)


def rebuild(service: Service, contest_id: str, *, seq: int, board: str) -> Snapshot | None:
    """Restore the deleted rows of a board that was published at a position.

    Returns:
        The snapshot with its rows; None if the board cannot be scored there.

    Raises:
        NotFound: there is no such contest or position.
    """
    snapshots = publish(service, contest_id, at=seq, boards=[board]).snapshots
    return snapshots[0] if snapshots else None


def board_names(published: Sequence[str], result: Result) -> list[str]:
    """Return the boards to publish; a family (``problem:<id>``) has one for each id."""
    names: list[str] = []
    for name in published:
        family, _, member = name.partition(":")
        if not member.startswith("<"):
            names.append(name)
            continue
        ids = result.records.arrow(f"{family}s", ["id"])["id"].to_pylist()
        names += sorted(f"{family}:{id_}" for id_ in ids)
    return names


def draft_boards(contest: Contest, replica: ContestReplica, *, at: datetime) -> list[SnapshotDraft]:
    """Score a contest's boards at its newest position; nothing is stored.

    Args:
        contest: the contest.
        replica: its records, read to that position.
        at: the ledger's time there.

    Returns:
        The boards, the default board first, without those that cannot be scored.
    """
    target, drafts = _Target(seq=replica.seq, at=at), list[SnapshotDraft]()
    with suppress(NotScorable):
        result = replica.result(at=target.seq)
        for name in board_names(contest.boards, result):
            with suppress(NotScorable):
                drafts.append(_draft(contest, replica, target, result, result.board(name)))
    return drafts


def _earlier(session: Session, contest: Contest, *, until: int) -> list[_Target]:
    """Return the positions that have to be published before the newest, in order.

    These are the positions before and after each change set, to show exactly whom it moved,
    whatever else was recorded with it; and the position whose hashes a freeze or final result
    holds, if storing its boards was interrupted.
    """
    targets: dict[int, _Target] = {}

    def add(seq: int) -> None:
        targets[seq] = _Target(seq=seq, at=session.entries.time_of(contest.no, seq))

    newest = session.snapshots.latest(contest.no, contest.boards[0])
    held = contest.frozen_at if contest.finalized_at is None else contest.finalized_at
    if held is not None and held <= until:
        visible = newest
        if newest is not None and newest.seq > held:
            visible = session.snapshots.latest(contest.no, contest.boards[0], until=held)
        if visible is None or visible.seq < held - 1:
            add(held - 1)
    last = 0 if newest is None else newest.seq
    for seqs in _changes(session, contest, max(last, 1), until):
        add(seqs[0] - 1)
        add(seqs[-1])
    return [targets[seq] for seq in sorted(targets)]


def _changes(session: Session, contest: Contest, first: int, last: int) -> Iterable[Sequence[int]]:
    """Return the positions of each change set that was applied or rolled back.

    The entries of a change set are made in one transaction, so their positions are consecutive.
    """
    causes = session.changes.causes_between(contest.no, first, last)
    if not causes:  # of most publications; nor does an imported ledger come with its change sets
        return ()
    known = {(cause.change, cause.rolled_back) for cause in causes.values()}
    positions: dict[tuple[str, bool], list[int]] = {}
    for stored in session.entries.after(contest.no, first - 1, until=last):
        if _CHANGE in stored.line:
            entry = orjson.loads(stored.line)
            cause = (entry["body"].get("change"), entry["kind"] == "change-rolled-back")
            if cause in known:
                positions.setdefault(cause, []).append(stored.seq)
    return positions.values()


def _publish_at(
    service: Service,
    contest: Contest,
    replica: ContestReplica,
    target: _Target,
    *,
    boards: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> Publication:
    """Score a contest at one position and store its boards."""
    result = replica.result(at=target.seq)
    names = boards if boards is not None else board_names(contest.boards, result)
    snapshots: list[Snapshot] = []
    drafts: list[SnapshotDraft] = []
    unscorable: dict[str, str] = {}
    for count, name in enumerate(names, start=1):
        board = board_of(result, name)
        if board.reason is not None:
            unscorable[name] = board.reason
        if board.board is not None:
            drafts.append(_draft(contest, replica, target, result, board.board))
        rows = sum(len(draft.lines) + len(draft.unscored) for draft in drafts)
        if drafts and (rows >= MAX_ROWS_PER_TRANSACTION or count == len(names)):
            snapshots += store_boards(service, contest, replica, drafts)
            drafts = []
        progress(count / len(names))
    return Publication(tuple(snapshots), unscorable)


def _draft(
    contest: Contest,
    replica: ContestReplica,
    target: _Target,
    result: Result,
    board: Board,
) -> SnapshotDraft:
    """Return all that is stored of a board."""
    lines, unscored = board.lines(), board.unscored_lines()
    return SnapshotDraft(
        board=board,
        lines=lines,
        unscored=unscored,
        manifest=_manifest(contest, replica, target, result, board, [*lines, *unscored]),
        at=target.at,
    )


def _manifest(
    contest: Contest,
    replica: ContestReplica,
    target: _Target,
    result: Result,
    board: Board,
    lines: list[bytes],
) -> Manifest:
    state = replica.contest_state(at=target.seq)
    return Manifest(
        contest=contest.id,
        discipline=contest.discipline,
        board=board.name,
        edition=result.edition.full_name,
        overrides=state.overrides,
        rules_sha256=result.rules_sha256,
        seq=target.seq,
        head_sha256=state.head.hex(),
        at=timestamp(target.at),
        board_sha256=board_sha256(board.name, lines),
        merkle_root=Tree(lines).root.hex(),
        rows=len(board),
        unscored=len(board.unscored),
    )
