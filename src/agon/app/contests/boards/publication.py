"""Publish boards: score at a position of the ledger, and keep what was found with its proof.

Every board is stored in a transaction of its own, with the steps it adds to people's histories
and the event that tells of it: whatever dies meanwhile, a board is published wholly or not at all,
and publishing again completes what is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

import orjson

from agon.app.analysis.compare import difference
from agon.app.analysis.score import Result
from agon.app.contests.boards.snapshots import Cause, Made, keep
from agon.app.replay.replica import LiveContest
from agon.app.service import Service
from agon.entities.contests import Change, Contest, Snapshot
from agon.errors import NotFound, NotScorable
from agon.kernel.boards import Board, board_sha256
from agon.ledger.entry import timestamp
from agon.ledger.manifest import Manifest
from agon.ledger.merkle import Tree
from agon.store.session import Session

_CHANGE = b'"change":'

Progress: TypeAlias = Callable[[float], object]


@dataclass(frozen=True)
class Publication:
    """Hold what publishing did.

    Attributes:
        snapshots: the boards, the default one first.
        unscorable: why others could not be scored, by board.
    """

    snapshots: tuple[Snapshot, ...] = ()
    unscorable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Stop:
    """Name a position to publish at on the way to the newest.

    Attributes:
        change: the change set whose entries alone lie between ``before`` and here; None where
            the position is only to be compared with.
    """

    seq: int
    before: int = 0
    change: Change | None = None
    undone: bool = False


def publish(
    service: Service,
    contest_id: str,
    *,
    at: int | None = None,
    boards: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> list[Snapshot]:
    """Score a contest and publish its boards, the default one first; see :func:`publication`."""
    done = publication(service, contest_id, at=at, boards=boards, progress=progress)
    return list(done.snapshots)


def publication(
    service: Service,
    contest_id: str,
    *,
    at: int | None = None,
    boards: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> Publication:
    """Score a contest at a position and publish its boards.

    What is published already is not stored again: at the same position the snapshot that is there
    is given; a newer position with an equal board keeps the rows where they are. A board that
    cannot be scored is passed over, and told in ``unscorable``.

    Args:
        service: the house.
        contest_id: the contest.
        at: the position; None: the newest.
        boards: which ones; None: all the contest publishes.
        progress: called with the share done, 0 to 1.

    Raises:
        NotFound: there is no such contest, or the ledger has no such position.
    """
    with service.store.read() as session:
        contest = session.contests.get(contest_id)
    with service.lives.at(service.store, contest) as live:
        seq = live.seq if at is None else at
        if not 1 <= seq <= live.seq:
            raise NotFound(f"{contest_id} has no entry {seq}; give 1 to {live.seq}")
        if at is None and boards is None:
            for stop in _stops(service, contest, until=seq):
                _published(service, contest, live, stop)
        return _published(service, contest, live, _Stop(seq), boards=boards, progress=progress)


def rebuild(service: Service, contest_id: str, *, seq: int, board: str) -> Snapshot | None:
    """Bring back the rows of a board that was published at a position and are kept no longer.

    Returns:
        The snapshot with its rows; None where the board cannot be scored there.

    Raises:
        NotFound: there is no such contest or position.
    """
    return next(iter(publish(service, contest_id, at=seq, boards=[board])), None)


def board_names(published: Sequence[str], result: Result) -> list[str]:
    """List the boards to publish; a family (``problem:<id>``) by the ids in the records."""
    names: list[str] = []
    for name in published:
        family, _, member = name.partition(":")
        if not member.startswith("<"):
            names.append(name)
            continue
        ids = result.records.arrow(f"{family}s", ["id"])["id"].to_pylist()
        names += sorted(f"{family}:{one}" for one in ids)
    return names


def _stops(service: Service, contest: Contest, *, until: int) -> list[_Stop]:
    """List the positions that have to be published besides the newest, in order.

    Those around change sets, to tell exactly whom a change moved, whatever was recorded with it;
    and the one a freeze or the end vouches for, where storing it was cut off.
    """
    stops: dict[int, _Stop] = {}
    with service.store.read() as session:
        contest = session.contests.get(contest.id)
        if (held := contest.public_until) is not None and held <= until:
            seen = session.snapshots.latest(contest.no, contest.boards[0], until=held)
            if seen is None or seen.seq < held - 1:
                stops[held - 1] = _Stop(held - 1)
        newest = session.snapshots.latest(contest.no, contest.boards[0])
        known = 0 if newest is None else newest.seq
        for (change_id, undone), seqs in _changed(session, contest, known, until).items():
            with suppress(NotFound):  # an imported ledger comes without its change sets
                change = session.changes.get(contest.no, change_id)
                before = seqs[0] - 1
                stops.setdefault(before, _Stop(before))
                stops[seqs[-1]] = _Stop(seqs[-1], before, change, undone)
    return [stops[seq] for seq in sorted(stops)]


def _changed(
    session: Session, contest: Contest, known: int, until: int
) -> dict[tuple[str, bool], list[int]]:
    """Find where changes were made, or undone (True), from a position on.

    The entries of a change are made in one transaction, so they lie together.
    """
    found: dict[tuple[str, bool], list[int]] = {}
    for one in session.entries.after(contest.no, max(known - 1, 0), until=until):
        if _CHANGE in one.line:
            entry = orjson.loads(one.line)
            change = entry["body"].get("change")
            if change is not None:
                undone = entry["kind"] == "change-rolled-back"
                found.setdefault((change, undone), []).append(one.seq)
    return found


def _published(
    service: Service,
    contest: Contest,
    live: LiveContest,
    stop: _Stop,
    *,
    boards: Sequence[str] | None = None,
    progress: Progress = lambda _: None,
) -> Publication:
    """Score a contest at one position and store its boards."""
    try:
        result = live.result(at=stop.seq)
    except NotScorable as error:
        return Publication((), dict.fromkeys(boards or contest.boards, str(error)))
    names = boards if boards is not None else board_names(contest.boards, result)
    with service.store.read() as session:
        at = session.entries.time_of(contest.no, stop.seq)
    done: list[Snapshot] = []
    unscorable: dict[str, str] = {}
    for count, name in enumerate(names, start=1):
        try:
            made = _made(contest, live, stop, result, name, at=at)
        except NotScorable as error:
            unscorable[name] = str(error)
        else:
            done.append(keep(service, contest, live, made))
        progress(count / len(names))
    return Publication(tuple(done), unscorable)


def scored(contest: Contest, live: LiveContest, *, at: datetime) -> list[Made]:
    """Score a contest's boards where it stands; nothing is stored.

    Args:
        contest: the contest.
        live: the contest, read to the position wanted.
        at: the ledger's time there.

    Returns:
        The boards, the default one first; those that cannot be scored are left out.
    """
    stop, found = _Stop(live.seq), list[Made]()
    with suppress(NotScorable):
        result = live.result(at=stop.seq)
        for name in board_names(contest.boards, result):
            with suppress(NotScorable):
                found.append(_made(contest, live, stop, result, name, at=at))
    return found


def _made(
    contest: Contest, live: LiveContest, stop: _Stop, result: Result, name: str, *, at: datetime
) -> Made:
    """Score a board, with all that is stored of it.

    Raises:
        NotScorable: it cannot be scored.
    """
    board = result.board(name)
    cause = _cause(live, stop, board)
    lines, unscored = board.lines(), board.unscored_lines()
    manifest = _manifest(contest, live, result, board, [*lines, *unscored], seq=stop.seq, at=at)
    return Made(board=board, lines=lines, unscored=unscored, manifest=manifest, at=at, cause=cause)


def _cause(live: LiveContest, stop: _Stop, board: Board) -> Cause | None:
    """Say what a change set moved on a board, where one did."""
    if stop.change is None:
        return None
    before = live.result(at=stop.before).board(board.name)
    return Cause(
        change=stop.change.id,
        kind=stop.change.kind,
        reason=stop.change.reason,
        undone=stop.undone,
        difference=difference(before, board),
    )


def _manifest(
    contest: Contest,
    live: LiveContest,
    result: Result,
    board: Board,
    lines: list[bytes],
    *,
    seq: int,
    at: datetime,
) -> Manifest:
    standing = live.contest_state(at=seq)
    return Manifest(
        contest=contest.id,
        discipline=contest.discipline,
        board=board.name,
        edition=result.edition.full_name,
        overrides=standing.overrides,
        rules_sha256=result.rules_sha256,
        seq=seq,
        head_sha256=standing.head.hex(),
        at=timestamp(at),
        board_sha256=board_sha256(board.name, lines),
        merkle_root=Tree(lines).root.hex(),
        rows=len(board),
        unscored=len(board.unscored),
    )
