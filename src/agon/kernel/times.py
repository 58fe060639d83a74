"""Format, parse and convert timestamps: one text form for tables, ledgers, boards and responses.

The form is UTC to the microsecond with a ``Z``, always 27 characters, so that texts sort as the
timestamps do.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def written_time(
    moment: datetime, *, to: Literal["microseconds", "milliseconds"] = "microseconds"
) -> str:
    """Return a timestamp as text: UTC, ``Z``, to the microsecond or (truncated) to the millisecond.

    Raises:
        ValueError: the time has no zone.
        OverflowError: in UTC it is outside the years 1 to 9999.

    Example:
        >>> written_time(datetime.fromisoformat("2026-11-21T12:00:00+02:00"))
        '2026-11-21T10:00:00.000000Z'
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no zone; give a time with one, such as UTC")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=to) + "Z"


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


def in_utc(moment: datetime) -> datetime:
    """Return the same time in UTC; a time without a zone is taken as UTC.

    Raises:
        OverflowError: in UTC it is outside the years 1 to 9999.
    """
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def micros(moment: datetime) -> int:
    """Return the exact number of microseconds since 1970.

    Example:
        >>> micros(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC))
        1000005
    """
    return (moment - _EPOCH) // _MICROSECOND


def moment_at(count: int) -> datetime:
    """Return the timestamp that many microseconds after 1970: the inverse of :func:`micros`.

    Example:
        >>> moment_at(1000005).isoformat()
        '1970-01-01T00:00:01.000005+00:00'
    """
    return _EPOCH + timedelta(microseconds=count)
