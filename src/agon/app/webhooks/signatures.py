"""Sign and verify messages according to the Standard Webhooks specification.

The signature is the base64 of HMAC-SHA-256 over ``<id>.<timestamp>.<body>``. Headers:
``webhook-id``, ``webhook-timestamp`` (Unix seconds), ``webhook-signature`` (``v1,<base64>``,
several separated by spaces while a secret is changed).
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from agon.errors import CheckFailed, Unreadable

SECRET_BYTES: Final = 32
"""Number of random bytes of a new secret; others may have 24 or more."""
TOLERANCE: Final = timedelta(minutes=5)
_PREFIX = "whsec_"
_VERSION = "v1"
_MIN_SECRET_BYTES = 24


def format_secret(secret: bytes) -> str:
    """Return a secret as text, as its owner gets it.

    Example:
        >>> format_secret(b"0123456789abcdef0123456789abcdef")
        'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
    """
    return _PREFIX + base64.b64encode(secret).decode()


def parse_secret(text: str) -> bytes:
    """Return the bytes of a secret given as text.

    Raises:
        Unreadable: it is not a secret; the message does not repeat it.
    """
    try:
        secret = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.startswith(_PREFIX) or len(secret) < _MIN_SECRET_BYTES:
        raise Unreadable("this is not a webhook secret; copy all of it, from whsec_ to its end")
    return secret


def signature(secret: bytes, *, id: str, timestamp: int, body: bytes) -> str:  # noqa: A002 (the header's word)
    """Return the signature of a message.

    Example:
        >>> signature(b"k" * 32, id="msg_1", timestamp=1_790_000_000, body=b"{}")
        'v1,Tgvgb/pPaug9v9Ohm7bDsFNGiztJbNOGpxr/UHG+Lg0='
    """
    signed = f"{id}.{timestamp}.".encode() + body
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return f"{_VERSION},{base64.b64encode(digest).decode()}"


def signed_headers(secret: bytes, *, id: str, at: datetime, body: bytes) -> dict[str, str]:  # noqa: A002 (the header's word)
    """Return the three headers of a message.

    Args:
        secret: the webhook's secret.
        id: the delivery's id, equal in all its attempts: the receiver discards ids it has seen.
        at: the time of this attempt.
        body: the bytes that are sent.
    """
    timestamp = int(at.timestamp())
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, id=id, timestamp=timestamp, body=body),
    }


def verify(
    secret: bytes,
    *,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime,
    tolerance: timedelta = TOLERANCE,
) -> str:
    """Return a received message's id after verifying its signature and its time.

    Args:
        secret: the webhook's secret.
        headers: all headers; case does not matter.
        body: the bytes as received, not parsed and serialized again.
        now: the receiver's time.
        tolerance: how far the timestamp may be from it, either way.

    Raises:
        CheckFailed: a header is missing, the time differs too much, or no signature matches.
    """
    received = {name.casefold(): value for name, value in headers.items()}
    try:
        message = received["webhook-id"]
        stamp = received["webhook-timestamp"]
        signatures = received["webhook-signature"].split()
    except KeyError as missing:
        raise CheckFailed(f"the header {missing.args[0]} is missing; reject the message") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= len("253402300799")):
        raise CheckFailed("webhook-timestamp is not a time in Unix seconds; reject the message")
    sent_at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(stamp))
    if abs(now - sent_at) > tolerance:
        raise CheckFailed(
            f"the message is of {sent_at:%Y-%m-%dT%H:%M:%SZ}, more than "
            f"{tolerance.total_seconds():g} s from now; reject it, or correct this clock"
        )
    right = signature(secret, id=message, timestamp=int(stamp), body=body).encode()
    if not any([hmac.compare_digest(right, text.encode()) for text in signatures]):  # noqa: C419 (compares all, whichever fits)
        raise CheckFailed("no signature matches the message and this secret; reject the message")
    return message


def verify_webhook(
    secret: str,
    *,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime | None = None,
    tolerance: timedelta = TOLERANCE,
) -> str:
    """Return the id of a message that a webhook received, after verifying that agon sent it.

    Discard messages whose id was received before: a delivery is tried again until it is answered.

    Args:
        secret: the webhook's secret, as its owner got it (``whsec_…``).
        headers: all headers of the request; case does not matter.
        body: its body as received, not parsed and serialized again.
        now: the time to compare the message's with (None: the present).
        tolerance: how far the message's time may be from it, either way.

    Raises:
        CheckFailed: a header is missing, the time differs too much, or no signature matches.
        Unreadable: the secret is not one.

    Example:
        >>> from datetime import UTC, datetime
        >>> at = datetime(2026, 11, 28, 12, tzinfo=UTC)
        >>> headers = signed_headers(b"k" * 32, id="msg_1", at=at, body=b"{}")
        >>> verify_webhook(format_secret(b"k" * 32), headers=headers, body=b"{}", now=at)
        'msg_1'
    """
    return verify(
        parse_secret(secret),
        headers=headers,
        body=body,
        now=datetime.now(UTC) if now is None else now,
        tolerance=tolerance,
    )
