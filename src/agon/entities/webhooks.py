"""Webhooks and their deliveries, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """A URL to which a contest's events are sent.

    Attributes:
        events: kinds of events; empty: all.
        staff: whether events for organizers only are sent as well.
        secret: signs deliveries; encrypted with the server's key, and returned only when created.
    """

    id: str
    contest_no: int
    url: str
    events: tuple[str, ...]
    staff: bool
    active: bool
    created_at: datetime
    by: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class DeliveryLog:
    """The delivery of one event to one webhook.

    Attributes:
        attempts: every attempt with its result, oldest first: ``at``, ``status`` or ``error``,
            ``ms``.
    """

    id: str
    webhook_id: str
    event_no: int
    state: Literal["waiting", "delivered", "given-up"]
    attempts: tuple[Mapping[str, Any], ...]
    created_at: datetime


PUBLIC_EVENTS: Final = (
    "contest-edited", "contest-finalised", "contest-frozen", "contest-opened",
    "contest-restored", "contest-unfinalised", "contest-unfrozen", "contest-voided",
    "edition-adopted", "problem-published", "problem-revealed", "rank-changed",
    "snapshot-published",
)  # fmt: skip
"""Kinds of events that everyone who sees a contest gets."""

STAFF_EVENTS: Final = (
    "adjustment-made", "bot-paused", "change-rolled-back", "contest-created", "decision-made",
    "draw-made", "findings-changed", "ledger-imported", "records-voided", "submission-received",
)  # fmt: skip
"""Kinds of events that organizers and operators get."""

EVENT_KINDS: Final = tuple(sorted(PUBLIC_EVENTS + STAFF_EVENTS))
"""Kinds of events a webhook can be subscribed to."""
