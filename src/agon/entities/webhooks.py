"""Define webhooks and their deliveries, as plain frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """Hold where a contest's events are sent.

    Attributes:
        secret: what deliveries are signed with, encrypted under the server's key; shown once.
        events: kinds of events; empty: all.
        staff: whether staff events are sent too (its owner is an organiser).
    """

    id: str
    contest_no: int
    url: str
    secret: bytes = field(repr=False)
    events: tuple[str, ...]
    staff: bool
    active: bool
    created_at: datetime
    by: str


@dataclass(frozen=True, kw_only=True)
class DeliveryLog:
    """Hold one event's way to one webhook.

    Attributes:
        event_no: the event.
        state: ``waiting``, ``delivered`` or ``given-up``.
        attempts: oldest first: ``at``, ``status`` or ``error``, ``ms``.
    """

    id: str
    webhook_id: str
    event_no: int
    state: Literal["waiting", "delivered", "given-up"]
    attempts: Sequence[Mapping[str, Any]]
    created_at: datetime
