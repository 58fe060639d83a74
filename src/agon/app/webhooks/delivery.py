"""Deliver an event to a webhook: signed, retried with growing pauses, each attempt logged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Protocol

from agon.app.webhooks.address_guard import CheckedAddress, Resolve, check_address
from agon.app.webhooks.signatures import signed_headers
from agon.entities.webhooks import DeliveryLog, Webhook
from agon.errors import AgonError
from agon.kernel.times import parse_time, written_time

WAITS: Final = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=15),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(hours=24),
)
"""Pause before each attempt; after the last one the delivery is given up."""

MAX_WAIT: Final = WAITS[-1]
_GOOD = range(200, 300)
_GONE = 410


@dataclass(frozen=True, kw_only=True)
class DeliveryAnswer:
    """The result of one attempt.

    Attributes:
        status: the HTTP status; None without a response.
        error: why there is no response; None with one.
        ms: how long it took.
        body: the first 4 KiB of the response, for the webhook's owner.
        retry_after: the pause the receiver requests.
    """

    status: int | None
    error: str | None
    ms: int
    body: str = ""
    retry_after: timedelta | None = None


class WebhookSender(Protocol):
    """Sends one request over the network."""

    def send(
        self, target: CheckedAddress, *, headers: Mapping[str, str], body: bytes
    ) -> DeliveryAnswer:
        """POST a body to the target's checked address and return the result.

        Certificate and ``Host`` are those of the target's name. A redirect is a response and is not
        followed. A network error becomes the answer's ``error``, never an exception.
        """


@dataclass(frozen=True, kw_only=True)
class WebhookTransport:
    """The network functions that deliveries need.

    Attributes:
        sender: sends over the network.
        resolve: returns the addresses of a name; called at every attempt.
        allow_private: whether webhooks may go to private addresses (``webhook_allow_private``).
    """

    sender: WebhookSender
    resolve: Resolve
    allow_private: bool = False


def attempt(
    delivery: DeliveryLog,
    transport: WebhookTransport,
    *,
    webhook: Webhook,
    secret: bytes,
    body: bytes,
    clock: Callable[[], datetime],
) -> DeliveryLog:
    """Attempt a delivery once and return it with the attempt in its log.

    Args:
        delivery: the log so far; its id is the message's.
        transport: how it is sent.
        webhook: the receiver.
        secret: the webhook's secret, decrypted.
        body: the bytes to send, equal in every attempt.
        clock: returns the time.
    """
    time = clock()
    headers = {
        "content-type": "application/json",
        **signed_headers(secret, id=delivery.id, at=time, body=body),
    }
    try:
        target = check_address(
            webhook.url, resolve=transport.resolve, allow_private=transport.allow_private
        )
    except AgonError as error:
        answer = DeliveryAnswer(status=None, error=str(error), ms=0)
    else:
        answer = transport.sender.send(target, headers=headers, body=body)
    return with_attempt(delivery, answer, at=time)


def with_attempt(delivery: DeliveryLog, answer: DeliveryAnswer, *, at: datetime) -> DeliveryLog:
    """Return a delivery with one more attempt: delivered, given up, or waiting for the next.

    Any 2xx means delivered. It is given up after all :data:`WAITS`, or on 410 (gone).
    """
    attempt: dict[str, Any] = {"at": written_time(at), "ms": answer.ms}
    if answer.status is None:
        attempt["error"] = answer.error or "nothing was answered"
    else:
        attempt |= {"status": answer.status, "body": answer.body}
    if answer.retry_after is not None:
        attempt["retry_after_seconds"] = answer.retry_after.total_seconds()
    attempts = (*delivery.attempts, attempt)
    state: Literal["waiting", "delivered", "given-up"] = "waiting"
    if answer.status in _GOOD:
        state = "delivered"
    elif answer.status == _GONE or len(attempts) >= len(WAITS):
        state = "given-up"
    return replace(delivery, attempts=attempts, state=state)


def due(delivery: DeliveryLog) -> datetime | None:
    """Return when a delivery is attempted next; None when it has ended.

    The receiver's ``Retry-After`` can lengthen a pause up to :data:`MAX_WAIT`, not shorten it.
    """
    if delivery.state != "waiting":
        return None
    if not delivery.attempts:
        return delivery.created_at
    last = delivery.attempts[-1]
    requested = timedelta(seconds=float(last.get("retry_after_seconds", 0)))
    wait = max(WAITS[len(delivery.attempts)], min(requested, MAX_WAIT))
    before = parse_time(str(last["at"]))
    assert before is not None, "text gives a time"  # noqa: S101 (for mypy)
    return before + wait
