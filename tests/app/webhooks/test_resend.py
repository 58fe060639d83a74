"""Test deliveries on request."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agon.app.access.permissions import ANONYMOUS
from agon.app.contests.ledgers import events
from agon.app.contests.lifecycle import transitions
from agon.app.service import Service
from agon.app.webhooks.resend import TESTED, redeliver, send_test
from agon.app.webhooks.subscriptions import subscribe
from agon.client.local import Local
from agon.entities.access import Caller
from agon.entities.webhooks import Webhook
from agon.errors import Conflict, Forbidden, NotFound
from fakes.service import ORGANISER, PARTICIPANT, service_at
from fakes.spring import play, spring, view


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Open a service with the contest ``spring``."""
    opened = service_at(tmp_path)
    spring(opened)
    yield opened
    opened.store.close()


def hook(service: Service, *, staff: bool = True, by: Caller = ORGANISER) -> Webhook:
    """Add a webhook for the end of the contest only."""
    made, _ = subscribe(
        service, "spring", url="https://hooks.example/", events=["contest-finalised"],
        staff=staff, by=by,
    )  # fmt: skip
    return made


def test_a_test_message_goes_only_to_its_webhook(service: Service) -> None:
    """A test must not notify other webhooks or the public."""
    one, other = hook(service), hook(service)
    sent = send_test(service, "spring", one.id, by=ORGANISER)
    with service.store.read() as session:
        assert [log.id for log in session.webhooks.deliveries(one.id)] == [sent.id]
        assert session.webhooks.deliveries(other.id) == []
        queued = session.queue.page(kinds=["deliver"])
    assert [job.payload["delivery"] for job in queued] == [sent.id]
    heard = events.events(service, view(service, ORGANISER)).events[-1]
    assert (heard.kind, heard.no) == (TESTED, sent.event_no)
    public = events.events(service, view(service, ANONYMOUS)).events
    assert TESTED not in [event.kind for event in public]


def test_a_test_message_is_sent_during_a_freeze(service: Service) -> None:
    """An organizer who adds a webhook during a freeze sees whether it works."""
    webhook = hook(service, staff=False)
    frozen = transitions.freeze(service, "spring", by=ORGANISER)
    play(service, 9, 9)
    send_test(service, "spring", webhook.id, by=ORGANISER)
    heard = events.events(service, view(service, ORGANISER)).events[-1]
    assert (heard.kind, heard.seq) == (TESTED, frozen.public_until)


def test_only_an_ended_delivery_is_sent_again_and_only_to_its_webhook(service: Service) -> None:
    """Two simultaneous deliveries of one event would arrive in any order."""
    one, other = hook(service), hook(service)
    sent = send_test(service, "spring", one.id, by=ORGANISER)
    with pytest.raises(Conflict, match="is not finished"):
        redeliver(service, "spring", one.id, sent.id, by=ORGANISER)
    with service.store.write() as session:
        session.webhooks.log(replace(sent, state="given-up", attempts=({"error": "away"},)))
    again = redeliver(service, "spring", one.id, sent.id, by=ORGANISER)
    assert again.id != sent.id
    assert (again.event_no, again.attempts, again.state) == (sent.event_no, (), "waiting")
    with pytest.raises(NotFound, match="has no delivery"):
        redeliver(service, "spring", other.id, sent.id, by=ORGANISER)
    with pytest.raises(NotFound):
        redeliver(service, "spring", one.id, "none", by=ORGANISER)


def test_only_organizers_send_messages(service: Service) -> None:
    """Only its owner may send messages to a webhook."""
    webhook, webhooks = hook(service), Local(service, by=PARTICIPANT).webhooks
    with pytest.raises(Forbidden):
        webhooks.send_test("spring", webhook.id)
    with pytest.raises(Forbidden):
        webhooks.redeliver("spring", webhook.id, "any")
