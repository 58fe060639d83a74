"""Page through rows that are listed by a moment: those behind one row, so many."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Select, tuple_

from agon.kernel.times import micros


def oldest_first(
    listing: Select[Any],
    by: tuple[Column[Any], Column[Any]],
    *,
    behind: tuple[datetime, str] | None,
    limit: int,
) -> Select[Any]:
    """List rows by a moment and, of one moment, by their id; those behind a row, at most so many.

    Args:
        listing: the rows.
        by: the columns of the moment and of the id.
        behind: moment and id of the row the page begins behind; None: from the beginning.
        limit: the most rows.
    """
    if behind is not None:
        listing = listing.where(tuple_(*by) > tuple_(micros(behind[0]), behind[1]))
    return listing.order_by(*by).limit(limit)


def newest_first(
    listing: Select[Any],
    by: tuple[Column[Any], Column[Any]],
    *,
    behind: tuple[datetime, str] | None,
    limit: int,
) -> Select[Any]:
    """List rows as :func:`oldest_first` does, from the other end."""
    if behind is not None:
        listing = listing.where(tuple_(*by) < tuple_(micros(behind[0]), behind[1]))
    return listing.order_by(*(column.desc() for column in by)).limit(limit)
