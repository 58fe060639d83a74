"""Deliver an event to a webhook: one attempt for each job, the next one queued by the last."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from agon.app.access.permissions import View, before_start
from agon.app.contests.ledgers.event_ids import EventIds
from agon.app.contests.ledgers.events import event_message, visible_event
from agon.app.contests.lifecycle.finality import FINALIZED, VOIDED
from agon.app.queue.jobs import deliver_job
from agon.app.queue.leases import Commit
from agon.app.queue.source import Assignment, JobProgress
from agon.app.webhooks.delivery import WebhookTransport, attempt, due
from agon.app.webhooks.secrets import decrypt
from agon.entities.contests import Contest, Event
from agon.entities.jobs import Job
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import NotFound
from agon.kernel.times import written_time
from agon.store.session import Session

if TYPE_CHECKING:
    from agon.app.service import Service

HELD_BACK: Final = timedelta(minutes=1)
"""Interval between checks whether the public may see an event."""


@dataclass(frozen=True, kw_only=True)
class _Message:
    """A delivery with its webhook, contest and event, and what the public sees of them."""

    delivery: DeliveryLog
    webhook: Webhook
    contest: Contest
    event: Event
    public: View

    @property
    def is_withheld(self) -> bool:
        """Whether the event is later than what the webhook's owner may see."""
        until = self.public.until
        return not self.webhook.staff and until is not None and self.visible.seq > until

    @property
    def visible(self) -> Event:
        """The event as the webhook's owner may see it."""
        return self.event if self.webhook.staff else visible_event(self.public, self.event)

    @property
    def is_undone(self) -> bool:
        """Whether the event is of a step that was taken back before it was sent."""
        now = {FINALIZED: self.contest.finalized_at, VOIDED: self.contest.voided_at}
        return self.event.kind in now and now[self.event.kind] != self.event.seq


def deliver(
    service: "Service", post: WebhookTransport
) -> Callable[[Assignment, JobProgress], dict[str, Any]]:
    """Return the function that sends events; its outcome is the attempt, empty if withheld."""
    ids = EventIds(service.signer)

    def run(assignment: Assignment, progress: JobProgress) -> dict[str, Any]:
        message = _message(service, assignment.payload["delivery"])
        if message is None or message.is_withheld or message.delivery.state != "waiting":
            return {"attempt": None}
        webhook = message.webhook
        if not webhook.active:
            log_entry = {
                "at": written_time(service.clock()),
                "error": "the webhook is switched off",
            }
            return {"attempt": log_entry, "state": "given-up"}
        if message.is_undone:
            log_entry = {"at": written_time(service.clock()), "error": "it was taken back"}
            return {"attempt": log_entry, "state": "given-up"}
        secret = decrypt(webhook.secret, server_key=service.network_key, webhook_id=webhook.id)
        progress.check()
        tried = attempt(
            message.delivery,
            post,
            webhook=webhook,
            secret=secret,
            body=event_message(message.visible, contest=message.contest.id, ids=ids),
            clock=service.clock,
        )
        return {"attempt": dict(tried.attempts[-1]), "state": tried.state}

    return run


def store_deliver(service: "Service", job: Job, outcome: Mapping[str, Any]) -> Commit:
    """Return the function that logs the attempt and queues the next one, if there is one."""

    def finish(session: Session) -> Mapping[str, Any]:
        name = job.payload["delivery"]
        try:
            delivery = session.webhooks.lock_delivery(name)
        except NotFound:
            return {"state": "removed"}
        attempt = outcome["attempt"]
        not_before = service.clock() + HELD_BACK
        if attempt is not None:
            tried = (*delivery.attempts, attempt)
            delivery = replace(delivery, attempts=tried, state=outcome["state"])
            session.webhooks.log(delivery)
            not_before = due(delivery) or not_before
        if delivery.state == "waiting":
            again = deliver_job(job.contest_no, name, id=service.new_id(), not_before=not_before)
            session.queue.add(again, now=service.clock())
        return {"state": delivery.state, "attempts": len(delivery.attempts)}

    return finish


def _message(service: "Service", name: str) -> _Message | None:
    """Return a delivery; None when its webhook was removed."""
    with service.store.read() as session:
        try:
            delivery = session.webhooks.delivery(name)
            webhook = session.webhooks.get(delivery.webhook_id)
        except NotFound:
            return None
        (event,) = session.events.after(
            delivery.event_no - 1, contest_no=webhook.contest_no, limit=1
        )
        contest = session.contests.by_no(webhook.contest_no)
        public = View(contest=contest, until=contest.public_until, staff=False)
        public = before_start(session, public, now=service.clock())
    return _Message(delivery=delivery, webhook=webhook, contest=contest, event=event, public=public)
