"""Parse the pause that a server asks for."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime


def parse_retry_after(text: str) -> timedelta | None:
    """Return the time in a ``Retry-After`` header (seconds or a date); None when it has none.

    Example:
        >>> parse_retry_after("120"), parse_retry_after("soon")
        (datetime.timedelta(seconds=120), None)
    """
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 10**8))
    try:
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(until - datetime.now(UTC), timedelta(0))
