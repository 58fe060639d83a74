"""Sign what is sent and verify what was received, as the Standard Webhooks specification has it.

The signature is the base64 of HMAC-SHA-256 over ``<id>.<timestamp>.<body>``. Headers:
``webhook-id``, ``webhook-timestamp`` (Unix seconds), ``webhook-signature`` (``v1,<base64>``,
several parted by blanks while a secret is changed).
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
"""Random bytes of a secret we make; we read those of others from 24 on."""
TOLERANCE: Final = timedelta(minutes=5)
_PREFIX = "whsec_"
_VERSION = "v1"
_SHORTEST = 24


def written_secret(secret: bytes) -> str:
    """Write a secret the way its owner is shown it, once.

    Example:
        >>> written_secret(b"0123456789abcdef0123456789abcdef")
        'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
    """
    return _PREFIX + base64.b64encode(secret).decode()


def read_secret(text: str) -> bytes:
    """Read a secret as it was shown.

    Raises:
        Unreadable: it is none; the message does not repeat it.
    """
    try:
        secret = base64.b64decode(text.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        secret = b""
    if not text.startswith(_PREFIX) or len(secret) < _SHORTEST:
        raise Unreadable("this is no webhook secret; copy it whole, from whsec_ to its end")
    return secret


def signature(secret: bytes, *, id: str, timestamp: int, body: bytes) -> str:  # noqa: A002 (the header's word)
    """Sign one message.

    Example:
        >>> signature(b"k" * 32, id="msg_1", timestamp=1_790_000_000, body=b"{}")
        'v1,Tgvgb/pPaug9v9Ohm7bDsFNGiztJbNOGpxr/UHG+Lg0='
    """
    signed = f"{id}.{timestamp}.".encode() + body
    made = hmac.new(secret, signed, hashlib.sha256).digest()
    return f"{_VERSION},{base64.b64encode(made).decode()}"


def signed_headers(secret: bytes, *, id: str, at: datetime, body: bytes) -> dict[str, str]:  # noqa: A002 (the header's word)
    """Return the three headers of a message.

    Args:
        secret: the webhook's secret.
        id: the delivery's id, equal in all its attempts: the receiver drops what it has seen.
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
    """Return a received message's id once its signature and its time are found good.

    Args:
        secret: the webhook's secret.
        headers: all headers; their case does not matter.
        body: the bytes as received, not parsed and written again.
        now: the receiver's time.
        tolerance: how far the timestamp may be from it, either way.

    Raises:
        CheckFailed: a header is missing, the time is too far off, or no signature fits.
    """
    given = {name.casefold(): value for name, value in headers.items()}
    try:
        message = given["webhook-id"]
        stamp = given["webhook-timestamp"]
        signatures = given["webhook-signature"].split()
    except KeyError as missing:
        raise CheckFailed(f"the header {missing.args[0]} is missing; drop the message") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= len("253402300799")):
        raise CheckFailed("webhook-timestamp is no time in Unix seconds; drop the message")
    sent = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=int(stamp))
    if abs(now - sent) > tolerance:
        raise CheckFailed(
            f"the message is of {sent:%Y-%m-%dT%H:%M:%SZ}, more than "
            f"{tolerance.total_seconds():g} s from now; drop it, or set this clock right"
        )
    right = signature(secret, id=message, timestamp=int(stamp), body=body).encode()
    if not any([hmac.compare_digest(right, one.encode()) for one in signatures]):  # noqa: C419 (compares all, whichever fits)
        raise CheckFailed("no signature fits the message under this secret; drop the message")
    return message
