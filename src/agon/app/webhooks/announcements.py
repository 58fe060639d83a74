"""Announce an event: store it, and a delivery for every webhook subscribed to it.

Both are stored in the transaction that causes the event, so an event is announced exactly if its
cause is stored.
"""

from typing import TYPE_CHECKING

from agon.app.queue.jobs import deliver_job
from agon.entities.contests import Event
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service


def announce(service: "Service", session: Session, event: Event) -> Event:
    """Store an event and queue its deliveries; return it with its number."""
    stored = session.events.add(event)
    for webhook in session.webhooks.of(stored.contest_no):
        if wants(webhook, stored):
            queue_delivery(service, session, webhook, event_no=stored.no)
    return stored


def queue_delivery(
    service: "Service", session: Session, webhook: Webhook, *, event_no: int
) -> DeliveryLog:
    """Log a new delivery of an event to a webhook and queue its first attempt."""
    delivery = DeliveryLog(
        id=service.new_id(),
        webhook_id=webhook.id,
        event_no=event_no,
        state="waiting",
        attempts=(),
        created_at=service.clock(),
    )
    session.webhooks.log(delivery)
    job = deliver_job(webhook.contest_no, delivery.id, id=service.new_id())
    session.queue.add(job, now=service.clock())
    return delivery


def wants(webhook: Webhook, event: Event) -> bool:
    """Return whether a webhook gets an event: it is active, subscribed, and may see the event."""
    if not webhook.active or (event.staff and not webhook.staff):
        return False
    return not webhook.events or event.kind in webhook.events
