"""Define what a contest is at a position of its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from agon.ledger.entry import genesis

Lifecycle: TypeAlias = Literal["draft", "open", "frozen", "final", "void"]
"""The state of a contest. While it is frozen, new records are stored but not published."""

Visibility: TypeAlias = Literal["public", "private"]

NameDisplay: TypeAlias = Literal["shown", "hidden"]
"""Whether pages show the names of participants next to their ids."""


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """Points that organizers add to a score, or subtract from it.

    Attributes:
        seq: position of its entry.
        until: position from which it has no effect; None while it has.
    """

    seq: int
    board: str
    id: str
    points: float
    change: str | None
    reason: str
    until: int | None = None


@dataclass(frozen=True, kw_only=True)
class ContestState:
    """A contest after the entries of its ledger up to ``seq``.

    Attributes:
        id: its name, used in URLs (``spring-2026``).
        seq: position of the newest entry; 0 before the first.
        head: the chain's hash there (32 bytes).
        boards: the published boards, the default board first.
        edition: full name of the edition in force (``arena/sentience-1``).
        overrides: rules set to other values than the edition's.
        frozen_at: position of the freeze while it lasts; the public sees no later entry.
        finalized_at: position of the final result, once there is one.
        voided_at: position from which the whole contest is void; None while it counts.
        void_reason: why it is void.
        starts_at: the time before which participants may not add to it; None: none.
        ends_at: the time from which participants may not add to it any more; None: none.
        names: whether pages show the names of participants; None: as is usual for the discipline.
    """

    id: str
    seq: int
    head: bytes
    discipline: str = ""
    title: str = ""
    description: str = ""
    visibility: Visibility = "private"
    series: str | None = None
    season: int | None = None
    boards: tuple[str, ...] = ()
    edition: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    state: Lifecycle = "draft"
    frozen_at: int | None = None
    finalized_at: int | None = None
    voided_at: int | None = None
    void_reason: str | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    names: NameDisplay | None = None

    @property
    def is_over(self) -> bool:
        """Return whether it takes nothing more: its result is final, or it is void."""
        return self.state in {"final", "void"}

    @property
    def was_finalized(self) -> bool:
        """Return whether it has a final result, which stays readable in a void contest."""
        return self.finalized_at is not None

    @property
    def public_until(self) -> int | None:
        """Return the last position the public may see; None if there is no limit.

        What comes after a final result are change sets, and those are public.
        """
        return self.frozen_at


def empty_contest(contest_id: str) -> ContestState:
    """Return a contest before its first entry."""
    return ContestState(id=contest_id, seq=0, head=genesis(contest_id))
