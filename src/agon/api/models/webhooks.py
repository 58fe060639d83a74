"""Webhooks and their deliveries."""

from typing import Annotated

from pydantic import Field, StringConstraints

from agon.api.models.base import PlainText, Request, Resource
from agon.entities import webhooks as entities
from agon.entities.webhooks import EVENT_KINDS

EventKind = Annotated[
    str, StringConstraints(max_length=60), Field(json_schema_extra={"enum": list(EVENT_KINDS)})
]
"""A kind of event; the use case rejects others, with a suggestion."""


class WebhookCreate(Request):
    """A new webhook."""

    url: PlainText = Field(min_length=1, max_length=2048, examples=["https://example.org/agon"])
    events: tuple[EventKind, ...] = Field(
        default=(), max_length=50, description="Kinds of events; empty: all."
    )
    staff: bool = Field(
        default=True, description="Whether events for organizers only are sent as well."
    )


class WebhookUpdate(Request):
    """Changes of a webhook; null leaves a field as it is."""

    active: bool | None = None
    events: tuple[EventKind, ...] | None = Field(default=None, max_length=50)


class Webhook(Resource, entities.Webhook, hide=("contest_no", "secret")):
    """Where a contest's events are sent; the secret is never returned again."""


class WebhookWithSecret(Webhook):
    """A new webhook with its secret, which is returned only once."""

    # Not the encrypted secret of the entity, which the base hides.
    secret: str = Field(  # type: ignore[assignment]
        description="The key of the signatures (Standard Webhooks)."
    )


class Delivery(Resource, entities.DeliveryLog, hide=("webhook_id",)):
    """The delivery of one event to a webhook."""
