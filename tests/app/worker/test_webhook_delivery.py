"""Deliveries by jobs: announced with what happened, tried until they arrive, never too early."""

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
from agon.app.webhooks.address_guard import Target
from agon.app.webhooks.delivery import Answer
from agon.app.webhooks.secrets import NONCE_BYTES, encrypt
from agon.app.webhooks.signatures import verify
from agon.app.worker.handlers import post_runners
from agon.app.worker.webhook_delivery import HELD_BACK, Post
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.ledger.entry import Draft
from app.worker.contests import work
from fakes.service import Clock

SECRET = b"s" * 32


class Receiver:
    """Answer with the statuses given, the last one for ever; keep what came."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.came: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []

    def send(self, _: Target, *, headers: Mapping[str, str], body: bytes) -> Answer:
        """Keep and answer."""
        self.came.append(json.loads(body))
        self.headers.append(dict(headers))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Answer(status=status, error=None, ms=1)


@pytest.fixture
def webhook(service: Service) -> Webhook:
    """Hold a public webhook of the contest autumn for openings and freezes."""
    contest = create(service, NewContest(id="autumn", discipline="arena", title="A"), by=LOCAL)
    made = Webhook(
        id="w1", contest_no=contest.no, url="https://hooks.example/in", staff=False, active=True,
        secret=encrypt(SECRET, server_key=service.network_key, webhook_id="w1",
                    nonce=b"n" * NONCE_BYTES),
        events=("contest-opened", "contest-frozen", "edition-adopted"),
        created_at=service.clock(), by="user:olga",
    )  # fmt: skip
    with service.store.write() as session:
        session.webhooks.save(made)
    return made


def enter(service: Service, kind: str, body: Mapping[str, Any]) -> None:
    """Append one entry."""
    with service.store.write() as session:
        contest = session.contests.lock("autumn")
        draft = Draft(kind=kind, body=body, at=service.clock(), by="user:olga")
        append(service, session, contest, [draft])


def adopt(service: Service, *, change: str | None = None) -> None:
    """Append an entry that everybody is told of."""
    body: dict[str, Any] = {
        "edition": "arena/sentience-1", "overrides": {}, "rules_sha256": "0" * 64,
        "change": change, "reason": "the same again",
    }  # fmt: skip
    enter(service, "edition-adopted", body)


def deliver(service: Service, receiver: Receiver) -> None:
    """Work on deliveries until none is due."""
    post = Post(sender=receiver, resolve=lambda _name, _port: ["9.9.9.9"])
    work(service, post_runners(service, post))


def later(service: Service, span: timedelta) -> None:
    """Turn the clock on."""
    clock = service.clock
    assert isinstance(clock, Clock)
    clock.at += span


def logs(service: Service) -> list[DeliveryLog]:
    """Return the webhook's deliveries."""
    with service.store.read() as session:
        return session.webhooks.deliveries("w1")


def test_an_event_reaches_the_webhook_signed(service: Service, webhook: Webhook) -> None:
    """What happened, once, verifiable by whoever holds the secret."""
    open_contest(service, "autumn", by=LOCAL)
    receiver = Receiver(204)
    deliver(service, receiver)
    (message,) = receiver.came
    assert (message["type"], message["contest"], message["data"]) == (
        "contest-opened",
        "autumn",
        {},
    )
    (log,) = logs(service)
    assert log.state == "delivered"
    body = json.dumps(message, sort_keys=True, separators=(",", ":")).encode()
    assert verify(SECRET, headers=receiver.headers[0], body=body, now=service.clock()) == log.id
    assert log.webhook_id == webhook.id


def test_kinds_not_asked_for_and_the_staffs_are_not_sent(
    service: Service, webhook: Webhook
) -> None:
    """A public receiver must never hear what organisers alone may know."""
    with service.store.write() as session:
        session.webhooks.save(replace(webhook, events=()))
    decided = {"case": None, "decision": "warned", "subjects": ["ada"], "reason": "spam"}
    enter(service, "decision-made", decided)
    assert logs(service) == []


@pytest.mark.usefixtures("webhook")
def test_a_delivery_that_fails_is_tried_again_at_its_time(service: Service) -> None:
    """A receiver that restarts loses nothing; every attempt is in the log."""
    open_contest(service, "autumn", by=LOCAL)
    clock = service.clock
    assert isinstance(clock, Clock)
    clock.step = timedelta(0)
    receiver = Receiver(500, 503, 200)
    deliver(service, receiver)
    assert len(receiver.came) == 1
    later(service, timedelta(seconds=10))
    deliver(service, receiver)
    later(service, timedelta(seconds=40))
    deliver(service, receiver)
    (log,) = logs(service)
    assert (log.state, [one["status"] for one in log.attempts]) == ("delivered", [500, 503, 200])
    assert len({one["webhook-id"] for one in receiver.headers}) == 1


@pytest.mark.usefixtures("webhook")
def test_what_the_public_may_not_see_yet_is_held_back(service: Service) -> None:
    """During a freeze a webhook is told no more than a visitor is; afterwards it is told all."""
    open_contest(service, "autumn", by=LOCAL)
    enter(service, "contest-frozen", {"boards": {}})
    adopt(service)
    receiver = Receiver(200)
    deliver(service, receiver)
    later(service, 2 * HELD_BACK)
    deliver(service, receiver)
    assert [one["type"] for one in receiver.came] == ["contest-opened", "contest-frozen"]
    enter(service, "contest-unfrozen", {"reason": "over"})
    later(service, 2 * HELD_BACK)
    deliver(service, receiver)
    assert receiver.came[-1]["type"] == "edition-adopted"


@pytest.mark.usefixtures("webhook")
def test_what_follows_a_final_result_is_told_to_everybody(service: Service) -> None:
    """Amendments are public; their deliveries were held back and looked at each minute for ever."""
    open_contest(service, "autumn", by=LOCAL)
    enter(service, "contest-finalised", {"boards": {}})
    adopt(service, change="c1")
    receiver = Receiver(200)
    deliver(service, receiver)
    assert [one["type"] for one in receiver.came] == ["contest-opened", "edition-adopted"]


def test_a_webhook_that_was_switched_off_or_removed_gets_nothing(
    service: Service, webhook: Webhook
) -> None:
    """Its owner said so; what was under way ends."""
    open_contest(service, "autumn", by=LOCAL)
    with service.store.write() as session:
        session.webhooks.save(replace(webhook, active=False))
    receiver = Receiver(200)
    deliver(service, receiver)
    assert receiver.came == []
    assert [one.state for one in logs(service)] == ["given-up"]
    with service.store.write() as session:
        session.webhooks.save(webhook)
    adopt(service)
    with service.store.write() as session:
        session.webhooks.remove("w1")
    deliver(service, receiver)
    assert receiver.came == []
    with service.store.read() as session:
        states = {job.state for job in session.queue.page(kinds=["deliver"])}
    assert states == {"done"}
