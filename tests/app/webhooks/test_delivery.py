"""Test deliveries: signed, tried again after growing waits, every attempt in the log."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agon.app.webhooks.address_guard import NO_ADDRESS, CheckedAddress
from agon.app.webhooks.delivery import (
    WAITS,
    DeliveryAnswer,
    WebhookTransport,
    attempt,
    due,
    with_attempt,
)
from agon.app.webhooks.signatures import verify
from agon.entities.webhooks import DeliveryLog, Webhook

AT = datetime(2026, 11, 22, 3, tzinfo=UTC)
SECRET = b"s" * 32
WAITING = DeliveryLog(
    id="d1", webhook_id="w1", event_no=7, state="waiting", attempts=(), created_at=AT
)
WEBHOOK = Webhook(
    id="w1", contest_no=1, url="https://hooks.example/in", secret=b"sealed", events=(),
    staff=False, active=True, created_at=AT, by="ada",
)  # fmt: skip
BAD = DeliveryAnswer(status=500, error=None, ms=3, body="no")


class Recorder:
    """A sender with one response that stores what was sent."""

    def __init__(self, answer: DeliveryAnswer) -> None:
        self.answer = answer
        self.sent: list[tuple[CheckedAddress, dict[str, str], bytes]] = []

    def send(
        self, target: CheckedAddress, *, headers: Mapping[str, str], body: bytes
    ) -> DeliveryAnswer:
        """Store a message and return the response."""
        self.sent.append((target, dict(headers), body))
        return self.answer


def tried(answer: DeliveryAnswer, *, address: str = "9.9.9.9") -> tuple[DeliveryLog, Recorder]:
    """Try a delivery once."""
    sender = Recorder(answer)
    delivery = attempt(
        WAITING, WebhookTransport(sender=sender, resolve=lambda _name, _port: [address]),
        webhook=WEBHOOK, secret=SECRET, body=b"{}", clock=lambda: AT,
    )  # fmt: skip
    return delivery, sender


def test_a_message_is_signed_and_has_the_id_of_its_delivery() -> None:
    """A receiver recognizes repetitions by that id."""
    delivery, sender = tried(DeliveryAnswer(status=204, error=None, ms=5))
    ((target, headers, body),) = sender.sent
    assert verify(SECRET, headers=headers, body=body, now=AT) == "d1"
    assert headers["content-type"] == "application/json"
    assert target.address == "9.9.9.9"
    assert delivery.state == "delivered"
    assert delivery.attempts == (
        {"at": "2026-11-22T03:00:00.000000Z", "ms": 5, "status": 204, "body": ""},
    )
    assert due(delivery) is None


def test_a_name_with_a_private_address_gets_no_message_and_is_tried_again() -> None:
    """The address is checked at every attempt, not only when the webhook is created."""
    delivery, sender = tried(BAD, address="10.0.0.1")
    assert sender.sent == []
    assert delivery.state == "waiting"
    assert delivery.attempts[0]["error"].startswith(NO_ADDRESS)


def test_attempts_wait_longer_each_time_until_the_delivery_is_given_up() -> None:
    """0 s, 5 s, 30 s, 2 min, 15 min, 1 h, 6 h, 24 h."""
    delivery, now, waits = WAITING, AT, []
    while (next_at := due(delivery)) is not None:
        waits.append(next_at - now)
        now = next_at
        delivery = with_attempt(delivery, BAD, at=now)
    assert waits == list(WAITS)
    assert [wait.total_seconds() for wait in waits] == [0, 5, 30, 120, 900, 3600, 21600, 86400]
    assert delivery.state == "given-up"
    assert len(delivery.attempts) == 8


@pytest.mark.parametrize("status", [301, 302, 400, 404, 429, 500, 503])
def test_every_status_other_than_success_is_tried_again(status: int) -> None:
    """Also a redirect: the owner has to configure the right address."""
    delivery = with_attempt(WAITING, replace(BAD, status=status), at=AT)
    assert (delivery.state, due(delivery)) == ("waiting", AT + timedelta(seconds=5))


def test_the_status_gone_ends_a_delivery() -> None:
    """410 means that there will be no receiver."""
    delivery = with_attempt(WAITING, replace(BAD, status=410), at=AT)
    assert delivery.state == "given-up"


@pytest.mark.parametrize(("requested", "waits"), [(1, 5), (60, 60), (10**6, 86400)])
def test_retry_after_lengthens_a_wait_within_reason(requested: int, waits: int) -> None:
    """A receiver under load states when to try again."""
    delivery = with_attempt(WAITING, replace(BAD, retry_after=timedelta(seconds=requested)), at=AT)
    assert due(delivery) == AT + timedelta(seconds=waits)


def test_an_attempt_without_a_response_logs_its_error() -> None:
    """The owner sees the cause."""
    delivery = with_attempt(
        WAITING, DeliveryAnswer(status=None, error="cannot connect", ms=9), at=AT
    )
    assert delivery.attempts[0] == {
        "at": "2026-11-22T03:00:00.000000Z", "ms": 9, "error": "cannot connect"
    }  # fmt: skip
