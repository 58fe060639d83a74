"""Webhooks and their deliveries."""

from dataclasses import asdict

from agon.api.command import Command, Option
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
_EVENTS = Option("--event", metavar="KIND", help="A kind of event, such as snapshot-published; may "
                 "be repeated (default: all).")  # fmt: skip
_QUEUED = "queued; agon webhooks deliveries {contest} {webhook} shows whether it arrived"


@operation("GET", _WEBHOOKS, id="listWebhooks", permission="webhook.manage", cost="quick",
           summary="List webhooks",
           command=Command("webhooks list", blank={"events": "all"},
                           columns=("id", "url", "events", "staff", "active", "by")))  # fmt: skip
def list_webhooks(ctx: ContestContext) -> Items[Webhook]:
    """Return the webhooks of a contest in order of creation.

    $ agon webhooks list
        List where the events of ID are sent.

        Secrets cannot be shown again.

          agon webhooks list spring
    """
    stored = subscriptions.webhooks(ctx.service, ctx.view)
    return Items(items=tuple(map(Webhook.model_validate, stored)))


@operation("POST", _WEBHOOKS, id="createWebhook", permission="webhook.manage",
           cost="quick", records="none", summary="Create a webhook", status=201, secret=True,
           location="/contests/{contest}/webhooks/{result.id}",
           command=Command(
               "webhooks add", once="secret",
               note="webhook {result.id} of {contest}; its secret is shown only once. Test it: "
               "agon webhooks test {contest} {result.id}",
               options={
                   "url": Option(argument=True, metavar="URL"),
                   "events": _EVENTS,
                   "staff": Option("--public-only", switch=(True, False),
                                   help="Only public events, when they become public.")})
)  # fmt: skip
def create_webhook(ctx: ContestContext, request: WebhookCreate) -> WebhookWithSecret:
    """Create a webhook. The response holds the key of its signatures, which is shown only once.

    $ agon webhooks add
        Send the events of ID to URL; prints the secret they are signed with, this once.

        Without --public-only, organizers' events (findings, submissions, voids) are sent as well.

          agon webhooks add spring https://example.org/agon --out hook.secret
          agon webhooks add spring https://example.org/bot --event snapshot-published --public-only
    """
    webhook, secret = subscriptions.subscribe(
        ctx.service,
        ctx.contest.id,
        **request.model_dump(),
        allow_private=ctx.allow_private,
        by=ctx.caller,
    )
    return WebhookWithSecret.model_validate({**asdict(webhook), "secret": secret})


@operation("PATCH", _WEBHOOKS + "/{id}", id="changeWebhook", permission="webhook.manage",
           cost="quick", records="none", summary="Update a webhook",
           command=Command(
               "webhooks change",
               says="{result.id} is {result.active:on|off}: {result.events:all kinds} to "
               "{result.url}",
               any_of=("nothing to change", "active", "events", "all_events"),
               flags={"all_events": "Send events of all kinds."},
               options={"active": Option("--on/--off", help="Switch deliveries on or off."),
                        "events": _EVENTS}))  # fmt: skip
def update_webhook(ctx: ContestContext, webhook: Id, request: WebhookUpdate) -> Webhook:
    """Switch a webhook on or off, or select its kinds of events.

    $ agon webhooks change
        Disable or enable WEBHOOK of ID, or change its kinds of events.

        Events that occur while it is off are not delivered later.

          agon webhooks change spring WEBHOOK --off
          agon webhooks change spring WEBHOOK --on --event contest-finalised
    """
    changed = subscriptions.change(
        ctx.service, ctx.contest.id, webhook, **request.model_dump(), by=ctx.caller
    )
    return Webhook.model_validate(changed)


@operation("DELETE", _WEBHOOKS + "/{id}", id="removeWebhook", permission="webhook.manage",
           cost="quick", records="none", summary="Delete a webhook", status=204,
           command=Command("webhooks remove",
                           says="{webhook} is removed; nothing is sent there any more")
)  # fmt: skip
def delete_webhook(ctx: ContestContext, webhook: Id) -> None:
    """Delete a webhook and the log of its deliveries.

    $ agon webhooks remove
        Remove WEBHOOK of ID with the log of its deliveries; waiting deliveries are not sent.

        agon webhooks change --off switches it off without removing it.

          agon webhooks remove spring WEBHOOK
    """
    subscriptions.unsubscribe(ctx.service, ctx.contest.id, webhook, by=ctx.caller)


@operation("GET", _WEBHOOKS + "/{id}/deliveries", id="listDeliveries",
           permission="webhook.manage", cost="quick", summary="List deliveries",
           command=Command("webhooks deliveries", top=-1,
                           columns=("id", "state", "attempts", "answer", "created_at"))
)  # fmt: skip
def list_deliveries(ctx: ContestContext, page: PageRequest, webhook: Id) -> Page[Delivery]:
    """Return the deliveries to a webhook, newest first, with the result of every attempt.

    $ agon webhooks deliveries
        List the deliveries to WEBHOOK of ID, newest first, each with its last result.

        --format json has every attempt with status, duration and the beginning of the answer.

          agon webhooks deliveries spring WEBHOOK
          agon webhooks deliveries spring WEBHOOK --format json
    """
    stored = subscriptions.deliveries(
        ctx.service, ctx.view, webhook, after=page.after(str), limit=page.sought
    )
    return page.page(stored, key=lambda delivery: delivery.id, item=Delivery.model_validate)


@operation("POST", _WEBHOOKS + "/{id}/test", id="testWebhook", permission="webhook.manage",
           cost="quick", records="none", summary="Send a test event", status=202,
           command=Command("webhooks test", says="{result.id}", note=_QUEUED))  # fmt: skip
def send_test(ctx: ContestContext, webhook: Id) -> Delivery:
    """Send an event of kind ``webhook-tested``, even if the webhook does not select that kind.

    $ agon webhooks test
        Send WEBHOOK of ID an event of kind webhook-tested, whatever kinds it is subscribed to.

        A worker sends it; agon webhooks deliveries shows the result.

          agon webhooks test spring WEBHOOK
    """
    queued_delivery = resend.send_test(ctx.service, ctx.contest.id, webhook, by=ctx.caller)
    return Delivery.model_validate(queued_delivery)


@operation("POST", _WEBHOOKS + "/{id}/deliveries/{delivery}/redeliver", id="redeliver",
           permission="webhook.manage",
           cost="quick", records="none", summary="Send an event again", status=202,
           command=Command("webhooks redeliver", says="{result.id}", note=_QUEUED))  # fmt: skip
def redeliver(ctx: ContestContext, webhook: Id, delivery: Id) -> Delivery:
    """Send the event of a delivery again, as a new delivery.

    $ agon webhooks redeliver
        Send the event of DELIVERY to WEBHOOK of ID again, as a new delivery.

        Use it for deliveries that were given up while the receiver was unavailable.

          agon webhooks redeliver spring WEBHOOK DELIVERY
    """
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
