"""Answer for webhooks and their deliveries."""

from dataclasses import asdict
from typing import Annotated

from fastapi import Path
from starlette.requests import Request
from starlette.responses import Response

from agon.app.access.permissions import View
from agon.app.webhooks import resend, subscriptions
from agon.http.auth import caller_of, sees
from agon.http.models.webhooks import (
    DeliveryPage,
    DeliveryTold,
    WebhookAsked,
    WebhookChange,
    WebhookList,
    WebhookShown,
    WebhookTold,
)
from agon.http.pages import Cursor, Limit, after, linked, page_of
from agon.http.routes.common import WRITES, Parts, Serves, new_router, refusals

router = new_router("webhooks")

WebhookId = Annotated[str, Path(alias="id", pattern=r"^[A-Za-z0-9_-]{1,100}$")]
DeliveryId = Annotated[str, Path(alias="delivery", pattern=r"^[A-Za-z0-9_-]{1,100}$")]
Manages = Annotated[View, sees("webhook.manage")]
_HOOKS = "/contests/{contest}/webhooks"


@router.get(_HOOKS, operation_id="listWebhooks", summary="Webhooks")
def list_webhooks(request: Request, view: Manages, service: Serves) -> WebhookList:
    """List where a contest's events are sent."""
    found = subscriptions.webhooks(service, view, by=caller_of(request))
    return WebhookList(items=[WebhookTold.model_validate(one) for one in found])


@router.post(_HOOKS, operation_id="createWebhook", summary="Add a webhook", status_code=201,
             responses=refusals(*WRITES))  # fmt: skip
def create_webhook(
    request: Request, response: Response, asked: WebhookAsked, view: Manages, parts: Parts
) -> WebhookShown:
    """Send events somewhere, signed under a secret that is shown this once."""
    request.scope["agon.secret"] = True
    made, secret = subscriptions.subscribe(
        parts.service,
        view.contest.id,
        **asked.model_dump(),
        allow_private=parts.settings.webhook_allow_private,
        by=caller_of(request),
    )
    response.headers["location"] = f"/api/v1/contests/{view.contest.id}/webhooks/{made.id}"
    told = asdict(made)
    del told["contest_no"]
    return WebhookShown(**{**told, "secret": secret})


@router.patch(_HOOKS + "/{id}", operation_id="changeWebhook", summary="Change a webhook",
              responses=refusals(*WRITES))  # fmt: skip
def change_webhook(
    request: Request, name: WebhookId, asked: WebhookChange, view: Manages, service: Serves
) -> WebhookTold:
    """Switch a webhook on or off, or choose its events."""
    caller = caller_of(request)
    done = subscriptions.change(service, view.contest.id, name, **asked.model_dump(), by=caller)
    return WebhookTold.model_validate(done)


@router.delete(_HOOKS + "/{id}", operation_id="removeWebhook", summary="Remove a webhook",
               status_code=204, responses=refusals(*WRITES))  # fmt: skip
def remove_webhook(request: Request, name: WebhookId, view: Manages, service: Serves) -> None:
    """Send nothing there any more."""
    subscriptions.unsubscribe(service, view.contest.id, name, by=caller_of(request))


@router.get(_HOOKS + "/{id}/deliveries", operation_id="listDeliveries", summary="Deliveries")
def list_deliveries(
    request: Request,
    response: Response,
    name: WebhookId,
    view: Manages,
    service: Serves,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> DeliveryPage:
    """List deliveries, newest first, every attempt with what came of it."""
    found = subscriptions.deliveries(
        service, view, name, after=after(cursor, kind=str), limit=limit + 1, by=caller_of(request)
    )
    page = page_of(found, limit=limit, key=lambda one: one.id, shown=DeliveryTold.model_validate)
    return DeliveryPage(**linked(request, response, page))


@router.post(_HOOKS + "/{id}/test", operation_id="testWebhook", summary="Send a test",
             status_code=202, responses=refusals(*WRITES))  # fmt: skip
def send_test(request: Request, name: WebhookId, view: Manages, service: Serves) -> DeliveryTold:
    """Send an event of kind ``webhook-tested`` there, whatever kinds were asked for."""
    sent = resend.send_test(service, view.contest.id, name, by=caller_of(request))
    return DeliveryTold.model_validate(sent)


@router.post(_HOOKS + "/{id}/deliveries/{delivery}/redeliver", operation_id="redeliver",
             summary="Deliver once more", status_code=202,
             responses=refusals(*WRITES))  # fmt: skip
def redeliver(
    request: Request, name: WebhookId, delivery: DeliveryId, view: Manages, service: Serves
) -> DeliveryTold:
    """Send an event once more, as a new delivery."""
    caller = caller_of(request)
    sent = resend.redeliver(service, view.contest.id, name, delivery, by=caller)
    return DeliveryTold.model_validate(sent)
