"""Webhooks and their deliveries."""

from dataclasses import asdict

from agon.api.models.base import Items, Page
from agon.api.models.webhooks import (
    Delivery,
    Webhook,
    WebhookCreate,
    WebhookUpdate,
    WebhookWithSecret,
)
from agon.api.operation import ContestContext, operation
from agon.api.pages import PageRequest
from agon.api.parameters import Id
from agon.api.transport import Noun
from agon.app.webhooks import resend, subscriptions

_WEBHOOKS = "/contests/{contest}/webhooks"


@operation("GET", _WEBHOOKS, id="listWebhooks", permission="webhook.manage",
           summary="List webhooks")  # fmt: skip
def list_webhooks(ctx: ContestContext) -> Items[Webhook]:
    """Return the webhooks of a contest in order of creation."""
    stored = subscriptions.webhooks(ctx.service, ctx.view)
    return Items(items=tuple(map(Webhook.model_validate, stored)))


@operation("POST", _WEBHOOKS, id="createWebhook", permission="webhook.manage",
           summary="Create a webhook", status=201, secret=True,
           location="/contests/{contest}/webhooks/{result.id}")  # fmt: skip
def create_webhook(ctx: ContestContext, request: WebhookCreate) -> WebhookWithSecret:
    """Create a webhook. The response holds the key of its signatures, which is shown only once."""
    webhook, secret = subscriptions.subscribe(
        ctx.service,
        ctx.contest.id,
        **request.model_dump(),
        allow_private=ctx.allow_private,
        by=ctx.caller,
    )
    return WebhookWithSecret.model_validate({**asdict(webhook), "secret": secret})


@operation("PATCH", _WEBHOOKS + "/{id}", id="changeWebhook", permission="webhook.manage",
           summary="Update a webhook")  # fmt: skip
def update_webhook(ctx: ContestContext, webhook: Id, request: WebhookUpdate) -> Webhook:
    """Switch a webhook on or off, or select its kinds of events."""
    changed = subscriptions.change(
        ctx.service, ctx.contest.id, webhook, **request.model_dump(), by=ctx.caller
    )
    return Webhook.model_validate(changed)


@operation("DELETE", _WEBHOOKS + "/{id}", id="removeWebhook", permission="webhook.manage",
           summary="Delete a webhook", status=204)  # fmt: skip
def delete_webhook(ctx: ContestContext, webhook: Id) -> None:
    """Delete a webhook and the log of its deliveries."""
    subscriptions.unsubscribe(ctx.service, ctx.contest.id, webhook, by=ctx.caller)


@operation("GET", _WEBHOOKS + "/{id}/deliveries", id="listDeliveries",
           permission="webhook.manage", summary="List deliveries")  # fmt: skip
def list_deliveries(ctx: ContestContext, page: PageRequest, webhook: Id) -> Page[Delivery]:
    """Return the deliveries to a webhook, newest first, with the result of every attempt."""
    stored = subscriptions.deliveries(
        ctx.service, ctx.view, webhook, after=page.after(str), limit=page.sought
    )
    return page.page(stored, key=lambda delivery: delivery.id, item=Delivery.model_validate)


@operation("POST", _WEBHOOKS + "/{id}/test", id="testWebhook", permission="webhook.manage",
           summary="Send a test event", status=202)  # fmt: skip
def send_test(ctx: ContestContext, webhook: Id) -> Delivery:
    """Send an event of kind ``webhook-tested``, even if the webhook does not select that kind."""
    queued_delivery = resend.send_test(ctx.service, ctx.contest.id, webhook, by=ctx.caller)
    return Delivery.model_validate(queued_delivery)


@operation("POST", _WEBHOOKS + "/{id}/deliveries/{delivery}/redeliver", id="redeliver",
           permission="webhook.manage", summary="Send an event again", status=202)  # fmt: skip
def redeliver(ctx: ContestContext, webhook: Id, delivery: Id) -> Delivery:
    """Send the event of a delivery again, as a new delivery."""
    queued_delivery = resend.redeliver(
        ctx.service, ctx.contest.id, webhook, delivery, by=ctx.caller
    )
    return Delivery.model_validate(queued_delivery)


class Webhooks(Noun):
    """Webhooks of a contest."""

    list = list_webhooks
    create = create_webhook
    update = update_webhook
    delete = delete_webhook
    deliveries = list_deliveries
    send_test = send_test
    redeliver = redeliver
