"""Name a record by its table and its key, so that the same record is known again."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from agon.kernel.times import read_time, written_time
from agon.records import Kind, Table


def record_key(table: Table, row: Mapping[str, Any]) -> str | None:
    """Return ``table/part/part…``, or None where the table has no key or a part is not given.

    Values that a source reads as equal give equal keys: ``7``, ``7.0`` and ``"7"`` in a column of
    ids, a time in any zone. ``/`` and ``%`` inside a part are written ``%2F`` and ``%25``. Empty
    text counts as not given, as in all records.

    Example:
        >>> from agon.records import Column
        >>> votes = Table("votes", (Column("match", Kind.ID), Column("judge", Kind.ID)),
        ...               key=("match", "judge"))
        >>> record_key(votes, {"match": 7, "judge": "a/b"})
        'votes/7/a%2Fb'
        >>> record_key(votes, {"match": 7}) is None
        True
    """
    if not table.key:
        return None
    parts = [table.name]
    for name in table.key:
        value = row.get(name)
        if value is None or value == "":
            return None
        if not isinstance(value, str):
            value = _written(value)
        elif table.column(name).kind is Kind.TIMESTAMP:
            value = _instant(value)
        if "/" in value or "%" in value:
            value = value.replace("%", "%25").replace("/", "%2F")
        parts.append(value)
    return "/".join(parts)


def _written(value: Any) -> str:
    if isinstance(value, datetime):
        return _instant(value.isoformat())
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _instant(text: str) -> str:
    """Return a time in UTC; text that is not a time stays, and is rejected by validation."""
    try:
        return written_time(read_time(text.replace(" UTC", "Z")))
    except (ValueError, OverflowError):  # the latter at the edge of the first or last year
        return text
