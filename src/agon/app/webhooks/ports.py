"""Say what webhooks need of a database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol


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


class Webhooks(Protocol):
    """Keep webhooks and their deliveries."""

    def save(self, webhook: Webhook) -> None:
        """Store a webhook, new or known."""

    def get(self, webhook_id: str) -> Webhook:
        """Return a webhook.

        Raises:
            NotFound: there is none of that id.
        """

    def of(self, contest_no: int) -> list[Webhook]:
        """List a contest's webhooks in order of creation."""

    def remove(self, webhook_id: str) -> None:
        """Remove a webhook and its deliveries."""

    def log(self, delivery: DeliveryLog) -> None:
        """Store a delivery, new or known."""

    def delivery(self, delivery_id: str) -> DeliveryLog:
        """Return a delivery.

        Raises:
            NotFound: there is none of that id.
        """

    def lock_delivery(self, delivery_id: str) -> DeliveryLog:
        """Return a delivery; other writers are kept from it until the session ends.

        Raises:
            NotFound: there is no delivery of that id.
        """

    def deliveries(
        self, webhook_id: str, *, after: str | None = None, limit: int = 100
    ) -> list[DeliveryLog]:
        """List a webhook's deliveries, newest first."""
