"""Say what the times of a contest mean now: whether it runs, and what comes next."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from agon.ledger.contest_state import Lifecycle

Phase: TypeAlias = Literal["not started", "open", "frozen", "ended", "final"]
"""Where a contest is in time; its state alone does not say whether it has begun or ended."""


class Timed(Protocol):
    """What has the state and the times of a contest."""

    @property
    def state(self) -> Lifecycle:
        """Its state."""

    @property
    def starts_at(self) -> datetime | None:
        """When participants may begin to add to it; None: once it is open."""

    @property
    def ends_at(self) -> datetime | None:
        """When they may not any more; None: once it is final."""


@dataclass(frozen=True, kw_only=True)
class ContestClock:
    """The clock of a contest.

    Attributes:
        phase: where the contest is.
        next: the next time that its organizers have set; None: there is none.
        next_at: when that is.
    """

    phase: Phase
    next: Literal["start", "end"] | None = None
    next_at: datetime | None = None


def contest_clock(contest: Timed, *, now: datetime) -> ContestClock:
    """Return the clock of a contest at a time: participants add from its start, before its end.

    Example:
        >>> from datetime import UTC
        >>> from types import SimpleNamespace
        >>> spring = SimpleNamespace(state="open", starts_at=None,
        ...                          ends_at=datetime(2026, 12, 24, 18, tzinfo=UTC))
        >>> contest_clock(spring, now=datetime(2026, 12, 24, 17, tzinfo=UTC)).next
        'end'
        >>> contest_clock(spring, now=datetime(2026, 12, 24, 18, tzinfo=UTC)).phase
        'ended'
    """
    if contest.state == "final":
        return ContestClock(phase="final")
    if contest.ends_at is not None and now >= contest.ends_at:
        return ContestClock(phase="ended")
    if contest.starts_at is not None and now < contest.starts_at:
        return ContestClock(phase="not started", next="start", next_at=contest.starts_at)
    if contest.state == "draft":
        return ContestClock(phase="not started")
    phase: Phase = "frozen" if contest.state == "frozen" else "open"
    if contest.ends_at is None:
        return ContestClock(phase=phase)
    return ContestClock(phase=phase, next="end", next_at=contest.ends_at)
