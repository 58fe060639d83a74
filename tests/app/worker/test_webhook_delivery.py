"""Test deliveries as jobs: queued with their event, tried until accepted, never too early."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agon.app.access.permissions import LOCAL
from agon.app.contests.ledgers.append import append
from agon.app.contests.lifecycle.creation import NewContest, create
from agon.app.contests.lifecycle.transitions import open_contest
from agon.app.service import Service
from agon.app.webhooks.address_guard import CheckedAddress
from agon.app.webhooks.delivery import DeliveryAnswer, WebhookTransport
from agon.app.webhooks.secrets import NONCE_BYTES, encrypt
from agon.app.webhooks.signatures import verify
from agon.app.worker.handlers import post_runners
from agon.app.worker.webhook_delivery import HELD_BACK
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.ledger.entry import Draft
from app.worker.contests import work
from fakes.service import Clock

SECRET = b"s" * 32


class Receiver:
    """A receiver with a list of statuses, the last one repeated, that stores its messages."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.messages: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    def send(self, _: CheckedAddress, *, headers: Mapping[str, str], body: bytes) -> DeliveryAnswer:
        """Store a message and return the next status."""
        self.messages.append(json.loads(body))
        self.headers.append(dict(headers))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return DeliveryAnswer(status=status, error=None, ms=1)


@pytest.fixture
def webhook(service: Service) -> Webhook:
    """Return a public webhook of the contest autumn for openings and freezes."""
    contest = create(service, NewContest(id="autumn", discipline="arena", title="A"), by=LOCAL)
    stored = Webhook(
        id="w1", contest_no=contest.no, url="https://hooks.example/in", staff=False, active=True,
        secret=encrypt(SECRET, server_key=service.network_key, webhook_id="w1",
                    nonce=b"n" * NONCE_BYTES),
        events=("contest-opened", "contest-frozen", "edition-adopted"),
        created_at=service.clock(), by="user:olga",
    )  # fmt: skip
    with service.store.write() as session:
        session.webhooks.save(stored)
    return stored


def enter(service: Service, kind: str, body: Mapping[str, Any]) -> None:
    """Append one entry."""
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        draft = Draft(kind=kind, body=body, at=service.clock(), by="user:olga")
        append(service, session, contest, [draft])


def adopt(service: Service, *, change: str | None = None) -> None:
    """Append an entry that all receivers are notified of."""
    body: dict[str, Any] = {
        "edition": "arena/sentience-1", "overrides": {}, "rules_sha256": "0" * 64,
        "change": change, "reason": "the same again",
    }  # fmt: skip
    enter(service, "edition-adopted", body)


def deliver(service: Service, receiver: Receiver) -> None:
    """Run deliveries until none is due."""
    post = WebhookTransport(sender=receiver, resolve=lambda _name, _port: ["9.9.9.9"])
    work(service, post_runners(service, post))


def later(service: Service, span: timedelta) -> None:
    """Advance the clock."""
    clock = service.clock
    assert isinstance(clock, Clock)
    clock.at += span


def logs(service: Service) -> list[DeliveryLog]:
    """Return the webhook's deliveries."""
    with service.store.read() as session:
        return session.webhooks.deliveries("w1")


def test_an_event_reaches_the_webhook_signed(service: Service, webhook: Webhook) -> None:
    """The event is delivered once, and can be verified with the secret."""
    open_contest(service, "autumn", by=LOCAL)
    receiver = Receiver(204)
    deliver(service, receiver)
    (message,) = receiver.messages
    assert (message["kind"], message["contest"], message["body"]) == (
        "contest-opened",
        "autumn",
        {},
    )
    (log,) = logs(service)
    assert log.state == "delivered"
    body = json.dumps(message, sort_keys=True, separators=(",", ":")).encode()
    assert verify(SECRET, headers=receiver.headers[0], body=body, now=service.clock()) == log.id
    assert log.webhook_id == webhook.id


def test_other_kinds_and_staff_events_are_not_sent(service: Service, webhook: Webhook) -> None:
    """A public receiver must never get what only organizers may see."""
    with service.store.write() as session:
        session.webhooks.save(replace(webhook, events=()))
    decided = {"case": None, "decision": "warned", "subjects": ["ada"], "reason": "spam"}
    enter(service, "decision-made", decided)
    assert logs(service) == []


@pytest.mark.usefixtures("webhook")
def test_a_delivery_that_fails_is_tried_again_at_its_time(service: Service) -> None:
    """A receiver that restarts loses no event; every attempt is in the log."""
    open_contest(service, "autumn", by=LOCAL)
    clock = service.clock
    assert isinstance(clock, Clock)
    clock.step = timedelta(0)
    receiver = Receiver(500, 503, 200)
    deliver(service, receiver)
    assert len(receiver.messages) == 1
    later(service, timedelta(seconds=10))
    deliver(service, receiver)
    later(service, timedelta(seconds=40))
    deliver(service, receiver)
    (log,) = logs(service)
    assert (log.state, [item["status"] for item in log.attempts]) == ("delivered", [500, 503, 200])
    assert len({item["webhook-id"] for item in receiver.headers}) == 1


@pytest.mark.usefixtures("webhook")
def test_hidden_events_are_delivered_after_the_freeze(service: Service) -> None:
    """During a freeze a public webhook gets no more than an anonymous reader."""
    open_contest(service, "autumn", by=LOCAL)
    enter(service, "contest-frozen", {"boards": {}})
    adopt(service)
    receiver = Receiver(200)
    deliver(service, receiver)
    later(service, 2 * HELD_BACK)
    deliver(service, receiver)
    assert [item["kind"] for item in receiver.messages] == ["contest-opened", "contest-frozen"]
    enter(service, "contest-unfrozen", {"reason": "over"})
    later(service, 2 * HELD_BACK)
    deliver(service, receiver)
    assert receiver.messages[-1]["kind"] == "edition-adopted"


def test_a_freeze_does_not_hold_back_that_the_contest_is_void(
    service: Service, webhook: Webhook
) -> None:
    """Receivers learned it after everyone who reads a page; the position stays hidden."""
    with service.store.write() as session:
        session.webhooks.save(replace(webhook, events=("contest-voided",)))
    open_contest(service, "autumn", by=LOCAL)
    enter(service, "contest-frozen", {"boards": {}})
    adopt(service)
    enter(service, "contest-voided", {"reason": "a leak"})
    receiver = Receiver(200)
    deliver(service, receiver)
    (message,) = receiver.messages
    assert (message["kind"], message["seq"], message["body"]) == (
        "contest-voided", 3, {"reason": "a leak"}
    )  # fmt: skip


@pytest.mark.usefixtures("webhook")
def test_amendments_of_a_final_result_are_delivered(service: Service) -> None:
    """Amendments are public; their deliveries must not wait."""
    open_contest(service, "autumn", by=LOCAL)
    enter(service, "contest-finalised", {"boards": {}})
    adopt(service, change="c1")
    receiver = Receiver(200)
    deliver(service, receiver)
    assert [item["kind"] for item in receiver.messages] == ["contest-opened", "edition-adopted"]


def test_a_webhook_that_is_disabled_or_removed_gets_no_delivery(
    service: Service, webhook: Webhook
) -> None:
    """Deliveries in progress end."""
    open_contest(service, "autumn", by=LOCAL)
    with service.store.write() as session:
        session.webhooks.save(replace(webhook, active=False))
    receiver = Receiver(200)
    deliver(service, receiver)
    assert receiver.messages == []
    assert [item.state for item in logs(service)] == ["given-up"]
    with service.store.write() as session:
        session.webhooks.save(webhook)
    adopt(service)
    with service.store.write() as session:
        session.webhooks.remove("w1")
    deliver(service, receiver)
    assert receiver.messages == []
    with service.store.read() as session:
        states = {job.state for job in session.queue.page(kinds=["deliver"])}
    assert states == {"done"}
