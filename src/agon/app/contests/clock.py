"""Say what the times of a contest mean now: whether it runs, and what comes next."""

from datetime import datetime
from typing import Literal, Protocol

from agon.app.service import Service
from agon.entities.contests import Amendment, Contest, ContestClock, Phase, Snapshot
from agon.ledger.contest_state import Lifecycle
from agon.store.session import Session


class TimedContest(Protocol):
    """What has the state and the times of a contest."""

    @property
    def state(self) -> Lifecycle:
        """Its state."""

    @property
    def void_reason(self) -> str | None:
        """Why it is void; None: it counts."""

    @property
    def starts_at(self) -> datetime | None:
        """When participants may begin to add to it; None: once it is open."""

    @property
    def ends_at(self) -> datetime | None:
        """When they may not any more; None: once it is final."""


def amendment_of(session: Session, contest: Contest) -> Amendment | None:
    """Return the last correction of a final result; None: each board is as it was then.

    Boards decide, not change sets: one that moves nothing, or was rolled back, amends nothing.
    """
    final = contest.finalized_at
    if contest.state != "final" or final is None or contest.seq == final:
        return None
    amended = [
        newest
        for board in contest.boards
        if (newest := amended_board(session, contest, board)) is not None
    ]
    if not amended:
        return None
    last = max(amended, key=lambda snapshot: snapshot.seq)
    causes = session.changes.causes_between(contest.no, final + 1, last.seq)
    applied = [causes[seq] for seq in sorted(causes) if not causes[seq].rolled_back]
    undone = {cause.change for cause in causes.values() if cause.rolled_back}
    cause = next((each for each in reversed(applied) if each.change not in undone), None)
    return Amendment(
        seq=last.seq,
        at=last.at,
        reason=None if cause is None else cause.reason,
        change=None if cause is None else cause.change,
        final_seq=final,
    )


def amended_board(session: Session, contest: Contest, board: str) -> Snapshot | None:
    """Return the newest state of a board of a final contest, where it is not its final result."""
    final = contest.finalized_at
    newest = session.snapshots.latest(contest.no, board)
    if final is None or newest is None or newest.seq <= final:
        return None
    before = session.snapshots.latest(contest.no, board, until=final)
    is_equal = before is not None and before.board_sha256 == newest.board_sha256
    return None if is_equal else newest


def read_clock(session: Session, contest: Contest, *, now: datetime) -> ContestClock:
    """Return the clock of a contest of the database, which knows whether its result is amended.

    Every page, picture, feed, file and response says this one.
    """
    return contest_clock(contest, now=now, amendment=amendment_of(session, contest))


def current_clock(service: Service, contest: Contest) -> ContestClock:
    """Return the clock of a contest of the database now, as :func:`read_clock` does."""
    now = service.clock()
    if contest.state != "final":
        return contest_clock(contest, now=now)
    with service.store.read() as session:
        return read_clock(session, contest, now=now)


def contest_clock(
    contest: TimedContest, *, now: datetime, amendment: Amendment | None = None
) -> ContestClock:
    """Return the clock of a contest at a time: participants add from its start, before its end.

    Example:
        >>> from datetime import UTC
        >>> from types import SimpleNamespace
        >>> spring = SimpleNamespace(state="open", void_reason=None, starts_at=None,
        ...                          ends_at=datetime(2026, 12, 24, 18, tzinfo=UTC))
        >>> contest_clock(spring, now=datetime(2026, 12, 24, 17, tzinfo=UTC)).next
        'end'
        >>> contest_clock(spring, now=datetime(2026, 12, 24, 18, tzinfo=UTC)).phase
        'ended'
    """
    if contest.state == "void":
        return ContestClock(phase="void", void_reason=contest.void_reason)
    if contest.state == "final":
        return ContestClock(phase="amended" if amendment else "final", amendment=amendment)
    if contest.ends_at is not None and now >= contest.ends_at:
        return ContestClock(phase="ended")
    if contest.starts_at is not None and now < contest.starts_at:
        return ContestClock(phase="not started", next="start", next_at=contest.starts_at)
    if contest.state == "draft":
        return ContestClock(phase="not started")
    phase: Phase = "frozen" if contest.state == "frozen" else "open"
    following: Literal["end"] | None = None if contest.ends_at is None else "end"
    return ContestClock(phase=phase, next=following, next_at=contest.ends_at)
