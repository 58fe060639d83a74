"""The times in forms: browsers send them without a zone, so that a field of the form states it."""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Final

from agon.errors import Unreadable
from agon.kernel.times import written_time

ZONE: Final = "zone"
"""The field that states the zone of all times of its form."""

UTC: Final = "UTC"

_HOURS: Final = (*range(-12, 0), *range(1, 15))
_PARTS: Final = ("-09:30", "-03:30", "+03:30", "+04:30", "+05:30", "+05:45", "+06:30", "+08:45",
                 "+09:30", "+10:30", "+12:45")  # fmt: skip
"""Offsets that are no whole hours."""


def _minutes(offset: str) -> int:
    return int(offset[0] + "1") * (60 * int(offset[1:3]) + int(offset[4:]))


ZONES: Final = (
    UTC, *sorted((*(f"{hours:+03d}:00" for hours in _HOURS), *_PARTS), key=_minutes)
)  # fmt: skip
"""The zones that forms offer: UTC, and offsets from it, westernmost first."""


def zoned_times(
    texts: Mapping[str, str], zone: str
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return times in UTC as ISO 8601, and what is wrong with others; empty fields are in neither.

    A time states its offset, or is in the zone of the form; without either it is an error, because
    an end two hours early cannot be seen by who typed it.

    Args:
        texts: field → what was typed.
        zone: the form's zone; empty: it states none.

    Example:
        >>> zoned_times({"ends_at": "2026-12-24T18:00"}, "+02:00")[0]
        {'ends_at': '2026-12-24T16:00:00.000000Z'}
        >>> print(zoned_times({"ends_at": "2026-12-24T18:00"}, "")[1]["ends_at"][0])
        2026-12-24T18:00 has no zone; choose one in Zone (zone=UTC), or write 2026-12-24T18:00Z
    """
    wrong: dict[str, tuple[str, ...]] = {}
    if zone and zone not in ZONES:
        remedy = "choose UTC or an offset such as +02:00"
        wrong[ZONE] = (f"{zone[:40]!r} is no zone of this form; {remedy}",)
    times: dict[str, str] = {}
    for name, text in texts.items():
        if not text.strip():
            continue
        try:
            times[name] = _in_utc(text.strip(), zone)
        except Unreadable as error:
            wrong[name] = (str(error),)
    return times, wrong


def _in_utc(text: str, zone: str) -> str:
    """Return a time of a form in UTC; ``zone`` is empty where the form states none.

    Raises:
        Unreadable: the text is no time, or neither it nor the form has a zone.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Unreadable(
            f"{text[:40]!r} is not a time; write one such as 2026-12-24T18:00"
        ) from None
    if time.tzinfo is None:
        if not zone:
            raise Unreadable(f"{text} has no zone; choose one in Zone (zone=UTC), or write {text}Z")
        minutes = _minutes(zone) if zone in ZONES and zone != UTC else 0
        time = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    try:
        return written_time(time)
    except OverflowError:
        raise Unreadable(f"{text} is not in the years 1 to 9999 in UTC; write another") from None
