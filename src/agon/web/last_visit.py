"""The cookie that states up to where a signed-in visitor has seen a contest.

It holds two positions with their times and is sent to the pages of its contest only; nothing of it
is stored on the server.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final

LAST_VISIT: Final = "agon_visit"

GAP: Final = timedelta(minutes=30)
"""A page that is loaded later than this after the one before begins another visit."""

_FIELDS: Final = 5
_MAX_DIGITS: Final = 15


@dataclass(frozen=True, kw_only=True)
class LastVisit:
    """What a visitor has seen of a contest.

    Attributes:
        visitor: a short hash of the visitor's name: others on the same device have none.
        since: the last position of the visit before; None: this is the first visit.
        since_at: when that visit ended; None: this is the first visit.
        seen: the last position of this visit.
        seen_at: when it was loaded.
    """

    visitor: str
    since: int | None
    since_at: datetime | None
    seen: int
    seen_at: datetime

    def text(self) -> str:
        """Return the value of the cookie."""
        before = (0, 0) if self.since_at is None else (self.since or 0, _seconds(self.since_at))
        fields = (self.visitor, *before, self.seen, _seconds(self.seen_at))
        return ".".join(map(str, fields))


def last_visit(cookie: str, *, name: str, seq: int, now: datetime) -> LastVisit:
    """Return the positions that a visitor has seen, this page included.

    Args:
        cookie: the value of the cookie; a value that is not one counts as none.
        name: the visitor's name.
        seq: the position of the page.
        now: the time.

    Example:
        >>> morning = datetime(2026, 1, 2, 8, tzinfo=UTC)
        >>> first = last_visit("", name="ada", seq=5, now=morning)
        >>> second = last_visit(first.text(), name="ada", seq=9, now=morning + 2 * GAP)
        >>> first.since, second.since, second.seen
        (None, 5, 9)
    """
    visitor = blake2b(name.encode(), digest_size=4).hexdigest()
    before = _read(cookie)
    if before is None or before.visitor != visitor:
        return LastVisit(visitor=visitor, since=None, since_at=None, seen=seq, seen_at=now)
    if now - before.seen_at > GAP:
        before = replace(before, since=before.seen, since_at=before.seen_at)
    return replace(before, seen=max(seq, before.seen), seen_at=max(now, before.seen_at))


def _read(cookie: str) -> LastVisit | None:
    fields = cookie.split(".")
    numbers = fields[1:]
    if len(fields) != _FIELDS or not all(
        text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS for text in numbers
    ):
        return None
    since, since_at, seen, seen_at = map(int, numbers)
    try:
        times = [datetime.fromtimestamp(each, UTC) for each in (since_at, seen_at)]
    except (ValueError, OverflowError, OSError):  # beyond the year 9999
        return None
    is_first = since_at == 0
    return LastVisit(
        visitor=fields[0],
        since=None if is_first else since,
        since_at=None if is_first else times[0],
        seen=seen,
        seen_at=times[1],
    )


def _seconds(time: datetime) -> int:
    return int(time.timestamp())
