"""Select pages of rows that are ordered by time, and ranges of text by how it begins."""

import sys
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Select, tuple_

from agon.kernel.times import to_micros

_SURROGATES: Final = 0xD800
_AFTER_SURROGATES: Final = 0xE000


def oldest_first(
    listing: Select[Any],
    by: tuple[Column[Any], Column[Any]],
    *,
    after: tuple[datetime, str] | None,
    limit: int,
) -> Select[Any]:
    """Select rows in the order of their times, and of their ids where the times are equal.

    Args:
        listing: the rows.
        by: the columns of the time and of the id.
        after: time and id of the row before the page; None: from the beginning.
        limit: maximum number of rows.
    """
    if after is not None:
        listing = listing.where(tuple_(*by) > tuple_(to_micros(after[0]), after[1]))
    return listing.order_by(*by).limit(limit)


def newest_first(
    listing: Select[Any],
    by: tuple[Column[Any], Column[Any]],
    *,
    after: tuple[datetime, str] | None,
    limit: int,
) -> Select[Any]:
    """Select rows as :func:`oldest_first` does, in the opposite order."""
    if after is not None:
        listing = listing.where(tuple_(*by) < tuple_(to_micros(after[0]), after[1]))
    return listing.order_by(*(column.desc() for column in by)).limit(limit)


def next_text(begins: str) -> str | None:
    r"""Return the smallest text after all that begin with one; None if there is none.

    Example:
        >>> next_text("ada"), next_text("a\U0010ffff"), next_text("\U0010ffff")
        ('adb', 'b', None)
    """
    prefix = begins.rstrip(chr(sys.maxunicode))
    if not prefix:
        return None
    last = ord(prefix[-1]) + 1
    # Surrogates are not characters.
    return prefix[:-1] + chr(_AFTER_SURROGATES if last == _SURROGATES else last)
