"""Send a test event to a webhook, or an earlier event again."""

from agon.app.access.audit import add_audit_entry
from agon.app.service import Service
from agon.app.webhooks.announcements import queue_delivery
from agon.app.webhooks.subscriptions import webhook_of
from agon.entities.access import Caller
from agon.entities.contests import Event
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import Conflict, NotFound

TESTED = "webhook-tested"
"""The kind of event that a test sends; other webhooks do not get it."""


def send_test(service: Service, contest_id: str, webhook_id: str, *, by: Caller) -> DeliveryLog:
    """Send a webhook an event of kind ``webhook-tested``, whatever kinds it is subscribed to.

    Raises:
        NotFound: there is no such webhook.
        Conflict: it is switched off.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        webhook = _require_active(webhook_of(session, contest, webhook_id))
        event = Event(
            no=0,
            contest_no=contest.no,
            # An event the public may not see yet would be withheld from a public webhook.
            seq=contest.seq if contest.public_until is None else contest.public_until,
            at=service.clock(),
            kind=TESTED,
            body={"webhook": webhook.id},
            staff=True,
        )
        stored = session.events.add(event)
        add_audit_entry(service, session, by=by, action="webhook.test", target=webhook_id)
        return queue_delivery(service, session, webhook, event_no=stored.no)


def redeliver(
    service: Service, contest_id: str, webhook_id: str, delivery_id: str, *, by: Caller
) -> DeliveryLog:
    """Send an event again, as a new delivery with all its attempts.

    Its ``webhook-id`` is new, so that a receiver that discards known ids accepts it; the event in
    its body is the same.

    Raises:
        NotFound: no such webhook or delivery.
        Conflict: the webhook is switched off, or the delivery is not finished.
    """
    with service.store.write() as session:
        contest = session.contests.lock(contest_id)
        webhook = _require_active(webhook_of(session, contest, webhook_id))
        before = session.webhooks.delivery(delivery_id)
        if before.webhook_id != webhook.id:
            raise NotFound(
                f"webhook {webhook.id} has no delivery {delivery_id}; list its deliveries"
            )
        if before.state == "waiting":
            raise Conflict(f"delivery {delivery_id} is not finished; wait, or see its attempts")
        add_audit_entry(service, session, by=by, action="webhook.redeliver", target=delivery_id)
        return queue_delivery(service, session, webhook, event_no=before.event_no)


def _require_active(webhook: Webhook) -> Webhook:
    if not webhook.active:
        raise Conflict(f"webhook {webhook.id} is switched off; switch it on first")
    return webhook
