"""Names of records, from table and key: a record that is sent again is recognized."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from agon.kernel.text.plain_json import unstorable
from agon.kernel.times import read_time, written_time
from agon.records import Kind, RowIssue, Table

MAX_ID_BYTES: Final = 500
"""Maximum length of an id in a record, in UTF-8: databases index ids, addresses contain them."""

MAX_KEY_BYTES: Final = 2_500
"""Maximum length of a record's key in UTF-8; PostgreSQL's indexes hold little more."""


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
            value = _encode(value)
        elif table.column(name).kind is Kind.TIMESTAMP:
            value = _instant(value)
        parts.append(escape_part(value))
    return "/".join(parts)


def escape_part(text: str) -> str:
    """Return a part of a key, in which ``/`` and ``%`` are escaped.

    Example:
        >>> escape_part("a/b")
        'a%2Fb'
    """
    if "/" in text or "%" in text:
        return text.replace("%", "%25").replace("/", "%2F")
    return text


def id_issues(
    table: Table, row: Mapping[str, Any], key: str | None, *, number: int | None = None
) -> list[RowIssue]:
    """Return the issues of a row's ids and of its key: too long, or not storable everywhere.

    Args:
        table: the table.
        row: a row that the table allows.
        key: its :func:`record_key`.
        number: its number or line, as issues show it.
    """
    issues = []
    for column in table.columns:
        value = row.get(column.name)
        if column.kind is Kind.ID and isinstance(value, str):
            if (fault := unstorable(value)) is not None:
                shown = ascii(value[:80])[1:-1]
                issues.append(_issue(table, number, column.name, shown, *fault))
            elif (size := len(value.encode())) > MAX_ID_BYTES:
                remedy = f"give an id of at most {MAX_ID_BYTES}"
                reason = f"has {size:,} bytes"
                issues.append(_issue(table, number, column.name, value[:80], reason, remedy))
    if key is not None and not issues and len(key.encode()) > MAX_KEY_BYTES:
        reason = f"has a key of {len(key.encode()):,} bytes"
        issues.append(_issue(table, number, None, None, reason, "give shorter ids"))
    return issues


def _issue(
    table: Table,
    number: int | None,
    column: str | None,
    value: str | None,
    reason: str,
    remedy: str,
) -> RowIssue:
    return RowIssue("wrong-type", table.name, table.name, number, column, value, reason, remedy)


def _encode(value: Any) -> str:
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
