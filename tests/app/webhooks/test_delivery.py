"""Delivering: signed, tried again with growing waits, every attempt in the log."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agon.app.webhooks.address_guard import Target
from agon.app.webhooks.delivery import WAITS, Answer, attempt, due, with_attempt
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
BAD = Answer(status=500, error=None, ms=3, body="no")


class Recorder:
    """Answer, and keep what was sent."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.sent: list[tuple[Target, dict[str, str], bytes]] = []

    def send(self, target: Target, *, headers: Mapping[str, str], body: bytes) -> Answer:
        """Keep and answer."""
        self.sent.append((target, dict(headers), body))
        return self.answer


def tried(answer: Answer, *, address: str = "9.9.9.9") -> tuple[DeliveryLog, Recorder]:
    """Try a delivery once."""
    sender = Recorder(answer)
    made = attempt(
        WAITING, webhook=WEBHOOK, secret=SECRET, body=b"{}", sender=sender,
        resolve=lambda _name, _port: [address], clock=lambda: AT,
    )  # fmt: skip
    return made, sender


def test_what_is_sent_verifies_and_carries_the_deliverys_id() -> None:
    """A receiver drops what it has seen by that id."""
    made, sender = tried(Answer(status=204, error=None, ms=5))
    ((target, headers, body),) = sender.sent
    assert verify(SECRET, headers=headers, body=body, now=AT) == "d1"
    assert headers["content-type"] == "application/json"
    assert target.address == "9.9.9.9"
    assert made.state == "delivered"
    assert made.attempts == (
        {"at": "2026-11-22T03:00:00.000000Z", "ms": 5, "status": 204, "body": ""},
    )
    assert due(made) is None


def test_a_name_that_turned_private_is_not_sent_to_and_tried_again() -> None:
    """The check is made at every attempt, not when the webhook is made."""
    made, sender = tried(BAD, address="10.0.0.1")
    assert sender.sent == []
    assert made.state == "waiting"
    assert "is private" in made.attempts[0]["error"]


def test_attempts_wait_longer_each_time_then_it_is_given_up() -> None:
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
def test_everything_but_success_is_tried_again(status: int) -> None:
    """A redirect, too: the owner gives the right address."""
    made = with_attempt(WAITING, replace(BAD, status=status), at=AT)
    assert (made.state, due(made)) == ("waiting", AT + timedelta(seconds=5))


def test_gone_is_believed() -> None:
    """410 says that nobody will ever listen there."""
    made = with_attempt(WAITING, replace(BAD, status=410), at=AT)
    assert made.state == "given-up"


@pytest.mark.parametrize(("asked", "waits"), [(1, 5), (60, 60), (10**6, 86400)])
def test_retry_after_lengthens_a_wait_within_reason(asked: int, waits: int) -> None:
    """A receiver under load says when."""
    made = with_attempt(WAITING, replace(BAD, retry_after=timedelta(seconds=asked)), at=AT)
    assert due(made) == AT + timedelta(seconds=waits)


def test_an_attempt_without_an_answer_logs_its_error() -> None:
    """The owner sees why."""
    made = with_attempt(WAITING, Answer(status=None, error="cannot connect", ms=9), at=AT)
    assert made.attempts[0] == {
        "at": "2026-11-22T03:00:00.000000Z", "ms": 9, "error": "cannot connect"
    }  # fmt: skip
