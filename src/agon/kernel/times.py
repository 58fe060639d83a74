"""Format, parse and convert timestamps: one text form for tables, ledgers, boards and responses.

The form is UTC to the microsecond with a ``Z``, always 27 characters, so that texts sort as the
timestamps do.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from agon.errors import Unreadable

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNITS: Final = {
    "day": timedelta(days=1), "hour": timedelta(hours=1), "minute": timedelta(minutes=1)
}  # fmt: skip


def written_time(
    time: datetime, *, to: Literal["microseconds", "milliseconds"] = "microseconds"
) -> str:
    """Return a timestamp as text: UTC, ``Z``, to the microsecond or (truncated) to the millisecond.

    Raises:
        ValueError: the time has no zone.
        OverflowError: in UTC it is outside the years 1 to 9999.

    Example:
        >>> written_time(datetime.fromisoformat("2026-11-21T12:00:00+02:00"))
        '2026-11-21T10:00:00.000000Z'
    """
    if time.tzinfo is None:
        raise ValueError(f"{time} has no zone; give a time with one, such as UTC")
    return time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=to) + "Z"


def read_time(text: str) -> datetime:
    """Parse ISO 8601 text as a timestamp in UTC; text without a zone is taken as UTC.

    Raises:
        ValueError: the text is not an ISO 8601 time.
        OverflowError: in UTC it is outside the years 1 to 9999.

    Example:
        >>> read_time("2026-11-21T12:00:00+02:00").isoformat()
        '2026-11-21T10:00:00+00:00'
    """
    return in_utc(datetime.fromisoformat(text.strip()))


def parse_time(as_of: datetime | str | None) -> datetime | None:
    """Return a time in UTC from ISO 8601 text or a datetime; without a zone it is in UTC.

    Raises:
        Unreadable: the text is not such a time.

    Example:
        >>> parse_time("2026-11-21T12:00:00+02:00").isoformat()
        '2026-11-21T10:00:00+00:00'
    """
    if as_of is None:
        return None
    try:
        return read_time(as_of) if isinstance(as_of, str) else in_utc(as_of)
    except ValueError:
        raise Unreadable(
            f"{as_of!r} is not a time; give ISO 8601 such as 2026-11-21 or 2026-11-21T10:00:00Z"
        ) from None
    except OverflowError:
        raise Unreadable(
            f"{as_of} is not in the years 1 to 9999 in UTC; give a time in these years"
        ) from None


def zone_fault(text: str) -> str | None:
    """Return that a text is a time of day without a zone, with the remedy; None: it is not.

    People who set an end mean a clock on a wall, and an end two hours early cannot be seen in what
    was typed. A date alone is a day in UTC.

    Example:
        >>> zone_fault("2026-12-24T18:00")
        '2026-12-24T18:00 has no zone; write 2026-12-24T18:00Z, or with an offset such as +02:00'
        >>> zone_fault("2026-12-24"), zone_fault("2026-12-24T18:00+02:00"), zone_fault("soon")
        (None, None, None)
    """
    text = text.strip()
    try:
        has_zone = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return None
    if has_zone or len(text) <= len("2026-12-24"):
        return None
    return f"{text} has no zone; write {text}Z, or with an offset such as +02:00"


def in_utc(time: datetime) -> datetime:
    """Return the same time in UTC; a time without a zone is taken as UTC.

    Raises:
        OverflowError: in UTC it is outside the years 1 to 9999.
    """
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def duration_text(duration: timedelta) -> str:
    """Return a duration in words, in its largest unit, rounded down.

    Example:
        >>> [duration_text(timedelta(seconds=count)) for count in (59, 60, 497, 90_000)]
        ['less than a minute', '1 minute', '8 minutes', '1 day']
    """
    for unit, length in _UNITS.items():
        if count := max(duration // length, 0):
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "less than a minute"


def to_micros(time: datetime) -> int:
    """Return the exact number of microseconds since 1970.

    Example:
        >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
        1000005
    """
    return (time - _EPOCH) // _MICROSECOND


def from_micros(count: int) -> datetime:
    """Return the timestamp of microseconds since 1970: the inverse of :func:`to_micros`.

    Example:
        >>> from_micros(1000005).isoformat()
        '1970-01-01T00:00:01.000005+00:00'
    """
    return _EPOCH + timedelta(microseconds=count)
