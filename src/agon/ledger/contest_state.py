"""Hold what a contest is at a position of its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Adjustment:
    """Hold points that people decided to give or take.

    Attributes:
        seq: position of its entry.
        until: position from which it has no effect, None while it has.
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
    """Hold what a contest is after its entries up to ``seq``.

    Attributes:
        head: the chain's hash there (32 bytes).
        edition: the edition in force, with ``overrides``.
        boards: the boards that are published.
        frozen_at: position of the freeze while it lasts.
        finalized_at: position of the final result, once there is one.
        adjustments: those in force, in the order made.
    """

    contest: str
    seq: int
    head: bytes
    discipline: str = ""
    title: str = ""
    description: str = ""
    visibility: Literal["public", "private"] = "private"
    series: str | None = None
    season: int | None = None
    boards: tuple[str, ...] = ()
    edition: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    state: Literal["draft", "open", "frozen", "final"] = "draft"
    frozen_at: int | None = None
    finalized_at: int | None = None
    adjustments: tuple[Adjustment, ...] = ()
