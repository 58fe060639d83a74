"""Name the forms of webhooks and their deliveries."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agon.http.models.base import Asked, PlainText, Told

EventKind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z-]{0,59}$")]


class WebhookAsked(Asked):
    """Ask that events are sent somewhere."""

    url: PlainText = Field(min_length=1, max_length=2048, examples=["https://example.org/agon"])
    events: list[EventKind] = Field(default=[], max_length=50, description="Empty: all kinds.")
    staff: bool = Field(default=True, description="Events for organisers alone as well.")


class WebhookChange(Asked):
    """Change a webhook."""

    active: bool | None = None
    events: list[EventKind] | None = Field(default=None, max_length=50)


class WebhookTold(Told):
    """Tell of a webhook; the secret is nowhere to be had."""

    id: str
    url: str
    events: tuple[str, ...]
    staff: bool
    active: bool
    created_at: datetime
    by: str


class WebhookShown(WebhookTold):
    """Tell of a new webhook with its secret, this once."""

    secret: str = Field(description="What deliveries are signed with (Standard Webhooks).")


class WebhookList(Told):
    """Hold a contest's webhooks."""

    items: list[WebhookTold]


class DeliveryTold(Told):
    """Tell one event's way to a webhook."""

    id: str
    event_no: int
    state: Literal["waiting", "delivered", "given-up"]
    attempts: list[dict[str, Any]]
    created_at: datetime


class DeliveryPage(Told):
    """Hold a page of deliveries, newest first."""

    items: list[DeliveryTold]
    next: str | None
